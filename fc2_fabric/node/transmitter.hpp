// Decides which frame an N_Port sends next. Pull, not push: frames are made when the link can take them, so that
// what waits is work (bounded, in the consumers' queues), not buffers.
#pragma once
#include <cstdint>

#include "fc2_fabric/frame/frame_output.hpp"

namespace fc2 {

/// Makes frames of one ordered stream (the messages of one VI, the read data of one RDMA Read). In the round while
/// it has something to send.
class FrameSource {
 public:
  enum class Next {
    Made,       // `frame` is complete
    MadeLast,   // the same, and there is nothing more to send: leaves the round as if it were Exhausted
    Exhausted,  // nothing to send: leaves the round until submitted again
    Blocked,    // has work, but must wait (for a SEQ_ID): stays in the round
  };
  virtual Next next_frame(Frame& frame) = 0;
  /// Where its next frame goes: some outputs have a place for it then. 0: it does not say.
  [[nodiscard]] virtual wire::FcId destination() const { return {}; }
  /// Offers the output frames that it would make next, at most so many. How many went; 0: nothing has happened, and it
  /// is asked for a single one.
  [[nodiscard]] virtual std::size_t send_run(FrameOutput& /*output*/, std::size_t /*most*/) { return 0; }

 protected:
  FrameSource() = default;
  virtual ~FrameSource();  // leaves the round

 private:
  friend class Transmitter;
  class Transmitter* transmitter_ = nullptr;
  FrameSource* previous_ = nullptr;
  FrameSource* following_ = nullptr;
};

/// Whole frames first come, first served (link services, connection IUs, responses), then the sources in turn, a
/// frame each: no message starves another (VI-ARCH 2.5.1).
class Transmitter final : private Event, private OutputListener {
 public:
  Transmitter(Scheduler& scheduler, FramePool& pool) : scheduler_(scheduler), pool_(pool) {}
  ~Transmitter();
  void attach(FrameOutput* output);  // nullptr: link down, everything waiting is dropped
  [[nodiscard]] bool attached() const { return output_ != nullptr; }
  /// The link is away for a moment: gives out, one by one, what has not been sent. nullptr: that was all.
  FramePtr take_back();
  void send(FramePtr frame);
  /// Also for a source in the round that waits no more.
  void submit(FrameSource& source);
  void withdraw(FrameSource& source);
  /// What blocked sources wait for (a SEQ_ID) may be there again.
  void resume() {
    if (blocked_) wake();
  }
  /// Whole frames.
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] bool idle() const { return waiting_.empty() && round_ == nullptr; }
  [[nodiscard]] std::uint64_t frames_sent() const { return frames_sent_; }
  /// Between its members, whenever none of its functions runs: the round is whole, and what can be sent will be.
  [[nodiscard]] bool is_consistent() const;

 private:
  // Where the link has no rate, frames must still reach the far end before all of a long message was made.
  static constexpr std::size_t frames_per_turn = 32;
  void fire(TimeNs now) override;
  void output_resumed() override { wake(); }
  void wake();
  [[nodiscard]] std::size_t send_run(std::size_t most);
  bool send_one();
  bool pull();
  bool take(FrameSource& source, FrameSource::Next next, FramePtr frame);
  void put_out(FramePtr frame);
  void ask_the_only(FrameSource& source);
  void go_on(TimeNs now, std::size_t sent);
  [[nodiscard]] bool round_is_whole() const;

  Scheduler& scheduler_;
  FramePool& pool_;
  FrameOutput* output_ = nullptr;
  FrameQueue waiting_;
  FrameSource* round_ = nullptr;  // ring; next to be asked
  std::size_t round_size_ = 0;
  bool blocked_ = false;          // a source of the round was blocked when it was asked
  bool amid_sequence_ = false;    // the last frame that a source made was not the last of its Sequence (class 3)
  FrameSource* asked_ = nullptr;  // its next_frame() runs: it need not be woken
  std::uint64_t frames_sent_ = 0;
};

}  // namespace fc2
