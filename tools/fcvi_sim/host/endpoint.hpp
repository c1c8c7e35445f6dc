// A VI as a simulated program uses it: posts descriptors that stand in registered memory, awaits calls and
// completions.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "tools/fcvi_sim/host/driver.hpp"
#include "tools/fcvi_sim/host/memory.hpp"
#include "tools/fcvi_sim/host/node.hpp"
#include "tools/fcvi_sim/host/workload_result.hpp"
#include "vi/descriptor.hpp"
#include "vi/vi.hpp"

namespace sim {

/// A dequeued descriptor, as the program finds it.
struct Completion {
  std::uint32_t status = 0;  // whole; vi::status::
  std::uint32_t length_bytes = 0;
  std::uint32_t immediate_data = 0;
  std::uint64_t address = 0;  // of the descriptor
  runtime::TimeNs at = 0;     // where they are kept: keep_completion_times()
  [[nodiscard]] std::uint32_t error() const { return status & vi::status::error_mask; }
};

/// A descriptor to post. Addresses are registered ones, all pieces in the region of `handle`.
struct Posting {
  std::uint16_t control = vi::control::op_send_receive;
  std::span<const Piece> pieces;
  std::uint64_t base = 0;  // added to the pieces' addresses
  wire::MemHandle handle{};
  std::uint32_t immediate_data = 0;
  std::uint64_t remote_address = 0;  // RDMA
  wire::MemHandle remote_handle{};
};

class Endpoint {
 public:
  /// Room for `depth` descriptors of at most `segments` data segments in each queue. `label`: for diagrams.
  Endpoint(Node& node, const vi::ViAttributes& attributes, std::uint32_t depth, std::uint32_t segments,
           std::string label = {});
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  [[nodiscard]] Node& node() { return node_; }
  [[nodiscard]] vi::Vi& vi() { return *vi_; }
  [[nodiscard]] const std::string& label() const { return label_; }
  [[nodiscard]] vi::Ptag ptag() const { return ptag_; }
  Region allocate(std::uint64_t size_bytes, bool rdma_write = false, bool rdma_read = false) {
    return node_.allocate(size_bytes, {ptag_, rdma_write, rdma_read});
  }

  Task<vi::Return> connect(const vi::NetAddress& local, const vi::NetAddress& remote, vi::TimeNs timeout);
  /// VipConnectPeerRequest and VipConnectPeerWait.
  Task<vi::Return> connect_peer(const vi::NetAddress& local, const vi::NetAddress& remote, vi::TimeNs timeout);
  Task<vi::Return> accept(vi::ConnectionToken token);
  Task<vi::Return> disconnect();
  /// co_await: the connection was lost, or the peer disconnected.
  Signal& lost() { return lost_; }

  /// Returns the descriptor's address.
  std::uint64_t post_send(const Posting& posting) { return post(send_, posting); }
  std::uint64_t post_receive(const Posting& posting) { return post(receive_, posting); }
  [[nodiscard]] std::uint32_t sends_posted() const { return send_.posted; }
  [[nodiscard]] std::uint32_t receives_posted() const { return receive_.posted; }
  /// co_await next_send(): the oldest descriptor, when it is completed. Pre: one is posted.
  [[nodiscard]] auto next_send() { return Next(*this, send_); }
  [[nodiscard]] auto next_receive() { return Next(*this, receive_); }
  /// The same without waiting.
  std::optional<Completion> take_send() { return dequeue(send_); }
  std::optional<Completion> take_receive() { return dequeue(receive_); }
  /// How many completions the model has announced.
  [[nodiscard]] std::uint64_t completions_announced() const { return completions_announced_; }
  /// From now on `log` is told of each completion of a queue. Pre: it outlives this.
  void log_completions(bool receive_queue, std::vector<SeenCompletion>& log) {
    Queue& queue = receive_queue ? receive_ : send_;
    queue.log = &log;
    queue.watched = true;
  }
  /// From now on each Completion says when it was.
  void keep_completion_times();
  /// Dequeues all that is completed; after a disconnect that is all.
  void dequeue_all();

 private:
  friend class Node;
  struct Queue {
    Region descriptors;
    std::uint32_t depth = 0, slot_bytes = 0;
    std::uint32_t next_slot = 0, posted = 0;
    std::vector<std::uint64_t> done;  // completed descriptors, by their count modulo depth
    std::uint64_t completed = 0, dequeued = 0;
    std::vector<SeenCompletion>* log = nullptr;
    std::vector<runtime::TimeNs> done_at;  // as `done`; empty: not kept
    bool watched = false;                  // by either
    std::coroutine_handle<> waiter;
    bool receive = false;
  };
  class Next {
   public:
    Next(Endpoint& endpoint, Queue& queue) : endpoint_(endpoint), queue_(queue) {}
    bool await_ready() { return (completion_ = endpoint_.dequeue(queue_)).has_value(); }
    void await_suspend(std::coroutine_handle<> waiter) { queue_.waiter = waiter; }
    Completion await_resume();

   private:
    Endpoint& endpoint_;
    Queue& queue_;
    std::optional<Completion> completion_;
  };

  // From inside the model.
  void completed(bool receive_queue, std::uint64_t descriptor_address);
  [[nodiscard]] std::uint64_t taken_count(bool receive_queue) const;
  void asynchronous_error(vi::ErrorCode error);

  std::uint64_t post(Queue& queue, const Posting& posting);
  void note_completion(Queue& queue, std::uint64_t descriptor_address);
  std::optional<Completion> dequeue(Queue& queue);

  Node& node_;
  std::string label_;
  vi::Ptag ptag_;
  vi::Vi* vi_ = nullptr;
  Signal lost_;
  Queue send_, receive_;
  std::uint64_t completions_announced_ = 0;
};

}  // namespace sim
