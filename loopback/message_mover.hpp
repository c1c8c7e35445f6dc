// The messages that one VI of the loop-back transport sends: from its memory to its peer's, a chunk at a time.
#pragma once
#include <optional>
#include <span>

#include "runtime/scheduler.hpp"
#include "vi/vi.hpp"

namespace loopback {
class Endpoint;

/// One message is under way at a time, so that all that VI-ARCH 6.3 says of the order of effects and completions holds.
class MessageMover {
 public:
  explicit MessageMover(Endpoint& endpoint) : endpoint_(endpoint) {}
  /// There is something to send, or may be.
  void wake();
  /// The connection ended. What was under way is flushed by the model.
  void stop();
  /// Without a connection it has nothing to do, and no message is under way longer than its bytes. Between events.
  [[nodiscard]] bool is_consistent() const;

 private:
  struct Message {
    vi::SendWork work;
    std::uint64_t bytes_moved = 0;
    std::optional<vi::ReceiveWork> receive = {};  // the peer's, from the first chunk on

    [[nodiscard]] bool is_read() const { return work.kind == vi::SendKind::RdmaRead; }
    [[nodiscard]] bool takes_receive() const { return work.kind == vi::SendKind::Send || work.has_immediate; }
    /// As the peer's descriptor and its errors tell it (VI-DG 5.2).
    [[nodiscard]] std::uint32_t remote_op_code() const;
    void complete_receive(vi::Vi& peer, std::uint32_t error_bits) const;
  };
  /// What the peer has against a message.
  enum class Refusal : std::uint8_t { QueueEmpty, Descriptor, Protection };

  void move();
  void move_chunk();
  [[nodiscard]] std::optional<Refusal> begin_at_peer();
  [[nodiscard]] std::optional<Refusal> pass(std::span<std::uint8_t> chunk);
  void advance(std::size_t bytes);
  void complete();
  void fail_here();
  void refuse(Refusal refusal);
  static void tell_peer(vi::Vi& peer, const Message& message, Refusal refusal);

  Endpoint& endpoint_;
  std::optional<Message> message_;
  runtime::Timer<MessageMover, &MessageMover::move> turn_{*this};
};

}  // namespace loopback
