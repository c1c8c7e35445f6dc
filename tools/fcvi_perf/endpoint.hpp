/// One end: its NIC, its registered memory, its VIs, and how it takes completions. Failures end the program: a
/// benchmark has nothing to go on with. Used by one thread.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tools/fcvi_perf/job.hpp"
#include "tools/vip_common/vip_common.h"

namespace perf {

/// Says it and ends the program with EXIT_FAILED. Of several threads the first one speaks.
[[noreturn]] void fail(const std::string& what);
template <class What>
inline void check(VIP_RETURN result, const What& what) {
  if (result != VIP_SUCCESS) fail(std::string(what) + ": " + result_text(result));
}

/// Short messages without data: what their immediate data says.
enum class Notice : std::uint32_t { Data, Credit, End, Answer };
inline constexpr std::uint32_t notice_count_mask = 0x0FFF'FFFF;
constexpr std::uint32_t to_immediate(Notice notice, std::uint64_t count) {
  return static_cast<std::uint32_t>(notice) << 28U | (static_cast<std::uint32_t>(count) & notice_count_mask);
}
constexpr Notice notice_of(std::uint32_t immediate) { return static_cast<Notice>(immediate >> 28U & 3U); }

struct Event {
  std::uint64_t connection;
  bool received;  ///< else sent
  VIP_DESCRIPTOR* descriptor;
};

/// The other end's memory, laid out as this one's.
struct Memory {
  std::uint64_t address = 0;
  std::uint64_t handle = 0;
};

/// Tells how long nothing happened, at little cost for each look.
class Patience {
 public:
  explicit Patience(std::uint64_t timeout_ms) : timeout_ns_(timeout_ms * 1'000'000) {}
  void idle() {
    if (++looks_ % looks_per_clock == 0) look_at_clock();
  }
  void progress() {
    if (looks_ >= looks_per_clock) begun_ns_ = 0;
    looks_ = 0;
  }

 private:
  // A poll in vain may sleep for milliseconds in the library: many between two looks would be longer than the timeout.
  static constexpr std::uint32_t looks_per_clock = 64;
  void look_at_clock();
  std::uint64_t timeout_ns_, begun_ns_ = 0;
  std::uint32_t looks_ = 0;
};

class Endpoint {
 public:
  explicit Endpoint(const std::string& device);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  [[nodiscard]] VIP_NIC_HANDLE nic() const { return nic_; }
  /// "" if the NIC can do it; else the option that asks for too much.
  [[nodiscard]] std::string why_not(const Job& job) const;
  /// Memory, VIs and posted receives for it. `is_passive`: it only is the target of RDMA.
  void prepare(const Job& job, bool is_passive);
  [[nodiscard]] VIP_VI_HANDLE vi(std::uint64_t connection) const { return connections_[connection].vi; }
  [[nodiscard]] Memory memory() const { return {reinterpret_cast<std::uintptr_t>(room_), handle_}; }
  void set_peer(const Memory& peer) { peer_ = peer; }
  [[nodiscard]] const Layout& layout() const { return *layout_; }
  [[nodiscard]] std::uint8_t* at(std::uint64_t offset) const { return room_ + offset; }
  [[nodiscard]] bool waits() const { return waits_; }

  /// Posts message `number` of this size: from source(number), for RDMA to or from the peer's buffer of that number.
  void post_data(std::uint64_t connection, std::uint64_t number, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t data_under_way(std::uint64_t connection) const {
    const Connection& of = connections_[connection];
    return of.data_posted - of.data_done;
  }
  /// A Send without data. false: all descriptors for it are under way.
  bool post_notice(std::uint64_t connection, Notice notice, std::uint64_t count);
  void repost(const Event& received);
  [[nodiscard]] bool is_data(const Event& sent) const {
    return layout_->number_of(offset_of(sent.descriptor)) < layout_->sends() - notices;
  }
  /// The number of the receive, and so of its buffer.
  [[nodiscard]] std::uint64_t receive_number(const Event& received) const {
    return layout_->number_of(offset_of(received.descriptor)) - layout_->sends();
  }

  /// Whatever is complete on any connection.
  bool any(Event& event);
  /// The next completion, in the job's way. `receive`: which queue to wait at where there is no completion queue.
  Event next(bool receive);
  /// The next receive of this connection; sends that complete meanwhile are counted.
  Event next_receive(std::uint64_t connection);
  /// The same for the oldest send.
  void next_send(std::uint64_t connection);
  /// One look without waiting; false: nothing there.
  bool take_receive(std::uint64_t connection, Event& event);
  bool take_send(std::uint64_t connection, Event& event);
  /// Takes back what is sent, without waiting.
  void collect_sends(std::uint64_t connection);

  /// Ends all connections and frees what prepare() made.
  void release();

 private:
  struct Connection {
    VIP_VI_HANDLE vi = nullptr;
    std::uint64_t data_posted = 0, data_done = 0, notices_posted = 0, notices_done = 0;
    std::uint64_t next_data = 0;  ///< descriptor of the next data to be sent
    [[nodiscard]] bool sends() const { return data_posted + notices_posted != data_done + notices_done; }
  };
  [[nodiscard]] std::uint64_t offset_of(const void* in_room) const {
    return static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(in_room) - room_);
  }
  [[nodiscard]] VIP_DESCRIPTOR* descriptor_at(std::uint64_t offset) const {
    return reinterpret_cast<VIP_DESCRIPTOR*>(room_ + offset);
  }
  void create_vi(Connection& connection);
  void post_receive(std::uint64_t connection, VIP_DESCRIPTOR* descriptor, std::uint64_t number);
  void count(const Event& sent);
  bool from_queue(Event& event, VIP_VI_HANDLE vi, bool received);
  bool any_of_queue(Event& event);
  bool any_of_connections(Event& event);
  Event wait_at_queue();
  Event wait_at_vi(std::uint64_t connection, bool receive);
  /// A completed descriptor, or the end of the program.
  static void judge(VIP_RETURN result, const VIP_DESCRIPTOR* descriptor);

  VIP_NIC_HANDLE nic_ = nullptr;
  VIP_NIC_ATTRIBUTES attributes_{};
  Job job_;
  std::optional<Layout> layout_;
  bool waits_ = false;
  std::uint8_t* room_ = nullptr;
  VIP_MEM_HANDLE handle_ = 0;
  VIP_CQ_HANDLE queue_ = nullptr;
  Memory peer_;
  std::vector<Connection> connections_;
  std::uint64_t turn_ = 0;
  static constexpr std::uint64_t sends_first_times = 16;  ///< the last of so many looks is for receives first
  std::uint64_t looks_ = 0;
  Patience patience_{1};
};

}  // namespace perf
