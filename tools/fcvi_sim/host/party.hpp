// One side of a connection while it moves data.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "tools/fcvi_sim/host/arrivals.hpp"
#include "tools/fcvi_sim/host/content.hpp"
#include "tools/fcvi_sim/host/control_messages.hpp"
#include "tools/fcvi_sim/host/endpoint.hpp"
#include "tools/fcvi_sim/host/workload_result.hpp"

namespace sim {

/// Receives besides the window: Done, and the first messages of the next transfer's other direction.
inline constexpr std::uint32_t spare_receives = 4;

/// A program cannot go on: thrown and caught within a program.
struct Broken {
  std::string why;
};

class Party {
 public:
  Party(Node& node, const WorkloadSpec& workload, Side side, const ContentStore& contents, WorkloadResult& result);
  [[nodiscard]] Endpoint& endpoint() { return endpoint_; }
  /// All transfers, in order. Throws Broken.
  Task<> transfer();

 private:
  /// Memory of a run in which this side is the target; made when its first receive is posted.
  struct Buffer {
    Layout layout;
    Region region;
    std::shared_ptr<const Content> content;  // RDMA Read: what it holds
    Region reply;                            // what is sent for each message, where the transfer has replies
    // Where messages come one in the place of the other:
    std::shared_ptr<const Content> expected = nullptr;
    std::uint64_t compared = 0;  // how many of them were: their places are free
    bool different = false;      // one of those was
  };
  struct Received {
    Arrival arrival;
    Completion completion;
    ControlBytes bytes{};
  };

  /// What an initiator works with.
  struct Attempt {
    Offer offer;
    Layout layout;
    Region region;
    std::shared_ptr<const Content> content;
    Traffic before;
    runtime::TimeNs began;
  };
  Task<> initiate(std::size_t run);
  Task<Attempt> begin(std::size_t run);
  Task<> finish(std::size_t run, const Attempt& attempt);
  Task<> offer(std::size_t run);
  Task<> both_ways(std::size_t run);
  Task<> post_messages(std::size_t run, const Attempt& attempt);
  Task<> post_at_pace(std::size_t run, const Offer& offer, const Layout& layout, const Region& region);
  /// Where messages are sent from places that others had: of the half that begins with `message` the places are free,
  /// and they hold what is to be sent.
  Task<> refill(std::size_t run, std::uint64_t message, const Attempt& attempt);
  Task<> wait_for_room(std::size_t run, std::uint64_t message, const Offer& offer);
  Task<> answers(std::size_t run);
  Task<> take_reply(std::size_t run);
  Task<> reply(std::size_t run);
  void check_reply(const Arrival& arrival, const Completion& completion);
  /// What an initiator gets: where they land, and what each must be.
  struct Replies {
    Region region;
    std::shared_ptr<const Content> expected;
  };
  Replies& replies_of(std::size_t run);
  [[nodiscard]] std::shared_ptr<const Content> reply_content_of(std::size_t run) const;
  void note_due(std::size_t run, runtime::TimeNs due);
  void note_there(std::size_t run, std::uint64_t message, runtime::TimeNs at);
  void note_sent(const Completion& completion);
  Task<> conclude(std::size_t run, const Offer& offer, const Layout& layout, const Region& region);
  Task<> serve(std::size_t run);
  Task<> receive_messages(std::size_t run);
  /// What came in the place of that message of the run.
  void take_message(std::size_t run, std::uint64_t place, const Received& received);
  /// The message that it is, or none. Pre: messages may be lost.
  [[nodiscard]] std::optional<std::uint64_t> find_message(std::uint64_t place, const Received& received);
  /// Done has come in the place of a message: no other message comes.
  [[nodiscard]] bool is_over(std::size_t run, std::uint64_t place, const Received& received);
  /// Where messages come one in the place of the other: those before `end` that were not, their places are free then.
  void compare(std::size_t run, std::uint64_t end);
  Task<> judge(std::size_t run);
  void note_run_finished(std::size_t run);
  void post_message(const TransferSpec& transfer, std::uint64_t message, const Offer& offer, const Layout& layout,
                    const Region& region);

  template <class Message>
  Task<Message> receive_control(std::size_t run);
  Task<Received> receive();
  [[nodiscard]] std::string name_of(std::size_t run) const;
  template <class Message>
  Task<> send_control(Message message);
  Task<> reap();
  Task<> reap_all();
  void post_receives();
  /// Its place is free.
  [[nodiscard]] bool has_place(const Arrival& arrival);
  void post_arrival(const Arrival& arrival);
  Buffer& buffer_of(std::size_t run);
  [[nodiscard]] std::shared_ptr<const Content> content_of(std::size_t run) const;
  [[nodiscard]] Layout layout_of(const TransferSpec& transfer, bool target) const;
  TransferResult& result_of(std::size_t run) { return result_.transfers[arrivals_.runs()[run].index]; }
  [[nodiscard]] const TransferSpec& transfer_of(std::size_t run) const { return *arrivals_.runs()[run].transfer; }
  [[nodiscard]] runtime::TimeNs now() { return endpoint_.node().driver().now(); }

  const WorkloadSpec& workload_;
  const Side side_;
  const ContentStore& contents_;
  WorkloadResult& result_;
  Arrivals arrivals_;
  Endpoint endpoint_;
  Region control_out_, control_in_;
  std::uint32_t next_out_ = 0, next_in_ = 0;
  std::deque<Arrival> posted_;
  std::deque<std::uint32_t> posted_slots_;  // of control_in_, for the control arrivals among them
  const bool notes_times_;
  const bool bears_losses_;  // messages may be lost: those behind one come in its place
  // Where they may:
  std::shared_ptr<const Content> sent_content_ = nullptr;
  std::uint64_t next_message_ = 0, came_ = 0;  // the first that may still come; how many did
  std::optional<Done> early_done_ = {};
  /// A descriptor of the send queue: a message of that run, or none.
  struct Sent {
    std::size_t run;
    std::optional<std::uint64_t> message;
  };
  std::deque<Sent> sent_;                   // where times are noted
  std::map<std::size_t, Replies> replies_;  // by run
  std::uint64_t replied_ = 0;               // of the run under way
  std::uint64_t allowed_ = 0;               // the same: messages that the target has room for
  std::map<std::size_t, Buffer> buffers_;
  std::uint32_t first_error_ = 0;  // of this run's descriptors
  std::vector<Piece> pieces_;
};

}  // namespace sim
