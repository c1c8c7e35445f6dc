// A queue pair of the type RC: work requests into an RDMAP stream, completions out of it.
#pragma once
#include <boost/circular_buffer.hpp>

#include "verbs/builders.hpp"
#include "verbs/completion_queue.hpp"
#include "verbs/memory.hpp"
#include "verbs/shared_receives.hpp"

#pragma GCC visibility push(default)  // for both libraries
namespace verbs {
class Connection;

/// What a program may ask of a queue pair beyond ibv_qp_init_attr: IBV_QP_EX_WITH_...
struct QueuePairConfig {
  ibv_qp_init_attr attributes{};
  bool has_builders = false;  // ibv_wr_...
};

class QueuePair final : public ibv_qp_ex {
 public:
  /// Or errno: EINVAL beyond what a queue pair may have, ENOMEM beyond what the device has, EOPNOTSUPP another type.
  [[nodiscard]] static boost::system::result<QueuePair*> make(ProtectionDomain& domain, const QueuePairConfig& config);
  ~QueuePair();
  static QueuePair& of(ibv_qp* queue_pair) {
    return static_cast<QueuePair&>(*reinterpret_cast<ibv_qp_ex*>(queue_pair));
  }

  // --- the program, any thread, outside. 0, or errno.
  int post_send(ibv_send_wr* request, ibv_send_wr** bad);
  int post_receive(ibv_recv_wr* request, ibv_recv_wr** bad);
  /// By hand: INIT, RTR and RTS where the connection has brought it there already, SQD never; ERR ends the connection.
  int modify(const ibv_qp_attr& attributes, int mask);
  void query(ibv_qp_attr& attributes, ibv_qp_init_attr& init) const;
  [[nodiscard]] Acknowledgements& events() { return events_; }
  [[nodiscard]] bool has_builders() const { return has_builders_; }
  [[nodiscard]] Builders& builders() { return builders_; }

  // --- its connection, inside
  [[nodiscard]] bool is_free() const { return connection_ == nullptr && state() == IBV_QPS_INIT; }
  /// Of what the queue pair knows.
  [[nodiscard]] iwarp::StreamConfig stream_config(bool immediate_data);
  [[nodiscard]] bool shares_receives() const { return shared_ != nullptr; }
  /// Pre: shares_receives().
  [[nodiscard]] std::optional<iwarp::ReceiveRequest> take_receive() { return shared_->take(); }
  /// Receives that were posted go to the stream.
  void attach(Connection& connection);
  void established() { set_state(IBV_QPS_RTS); }
  void completed(const iwarp::Completion& completion);
  /// The stream is no more, or is about to be: all that is left is flushed.
  void ended();
  void tell(ibv_event_type event);
  [[nodiscard]] ibv_qp_state state() const { return qp_base.state; }

 private:
  struct PostedSend {
    std::uint64_t id = 0;
    ibv_wc_opcode opcode{};
    bool signaled = false;
    bool is_first_half = false;  // of two messages for one request: its outcome is told with the second one's
  };
  struct PostedReceive {
    std::uint64_t id = 0;
    iwarp::ReceiveRequest request{};  // until there is a stream
  };

  QueuePair(ProtectionDomain& domain, const QueuePairConfig& config, Place place);
  void push_event(ibv_event_type event);
  void set_state(ibv_qp_state state) { qp_base.state = state; }
  [[nodiscard]] int post_one(const ibv_send_wr& request);
  [[nodiscard]] int post_one(const ibv_recv_wr& request);
  [[nodiscard]] iwarp::LocalPiece copy_inline(const ibv_send_wr& request);
  void submit(const iwarp::SendRequest& request, const PostedSend& posted);
  void submit_message(const iwarp::SendRequest& request, const PostedSend& posted);
  void complete_send(iwarp::Status status, std::uint32_t octets);
  void complete_receive(const iwarp::Completion& completion);
  [[nodiscard]] ibv_wc completion_of(std::uint64_t id, iwarp::Status status) const;
  void flush();
  void fail_unconnected();

  const Place place_;
  ProtectionDomain& domain_;
  CompletionQueue& send_queue_;
  CompletionQueue& receive_queue_;
  SharedReceives* const shared_;  // nullptr: it has receives of its own
  const ibv_qp_cap limits_;
  const bool signals_all_, has_builders_;
  Connection* connection_ = nullptr;
  std::atomic<std::uint32_t> sends_used_{0}, receives_used_{0};  // until the program has polled their completions
  boost::circular_buffer<PostedSend> sends_;                     // those that are not complete
  boost::circular_buffer<PostedReceive> receives_;
  std::uint32_t untold_ = 0;  // complete, without a completion
  std::vector<std::uint8_t> inline_memory_;
  std::optional<iwarp::STag> inline_stag_;
  std::uint32_t next_inline_ = 0;
  Builders builders_;
  Acknowledgements events_;
  bool told_error_ = false;
  bool has_immediate_data_ = false;          // of its connection
  std::optional<iwarp::Status> first_half_;  // that failed
};

}  // namespace verbs
#pragma GCC visibility pop
