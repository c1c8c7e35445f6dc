#include "loopback/message_mover.hpp"

#include <algorithm>
#include <utility>

#include "loopback/endpoint.hpp"
#include "loopback/hub.hpp"
#include "state_machines/consistency.hpp"

namespace loopback {
namespace status = vi::status;

std::uint32_t MessageMover::Message::remote_op_code() const {
  if (is_read()) return status::op_rdma_read;
  return work.kind == vi::SendKind::Send ? status::op_receive : status::op_remote_rdma_write;
}

void MessageMover::Message::complete_receive(vi::Vi& peer, std::uint32_t error_bits) const {
  const auto immediate = work.has_immediate ? std::optional(work.immediate_data) : std::nullopt;
  peer.complete_receive(*receive, error_bits, remote_op_code(), work.length_bytes, immediate);
}

void MessageMover::wake() {
  runtime::Scheduler& scheduler = endpoint_.hub().scheduler();
  if (endpoint_.peer() != nullptr && !turn_.pending()) scheduler.schedule(turn_, scheduler.now());
}

void MessageMover::stop() {
  endpoint_.hub().scheduler().cancel(turn_);
  message_.reset();
}

bool MessageMover::is_consistent() const {
  if (endpoint_.peer() == nullptr) return !message_ && !turn_.pending();
  if (!message_) return true;
  const bool unfinished = message_->bytes_moved < message_->work.length_bytes;
  return turn_.pending() && unfinished && (!message_->receive || message_->takes_receive());
}

/// Calls of the model may end the connection: then there is no peer any more, and no message.
void MessageMover::move() {
  if (!message_) {
    auto work = endpoint_.vi().begin_send();
    if (!work || endpoint_.peer() == nullptr) return;
    message_.emplace(Message{.work = *work});
  }
  move_chunk();
  wake();
  FCVI_ASSERT_CONSISTENT(*this);
}

void MessageMover::move_chunk() {
  const std::uint64_t left = message_->work.length_bytes - message_->bytes_moved;
  const auto chunk = endpoint_.hub().chunk(static_cast<std::size_t>(std::min<std::uint64_t>(left, chunk_bytes)));
  if (!message_->is_read() && !message_->work.data.gather(chunk)) return fail_here();
  auto refusal = message_->bytes_moved == 0 ? begin_at_peer() : std::nullopt;
  if (!refusal) refusal = pass(chunk);
  if (refusal) return refuse(*refusal);
  return message_->is_read() && !message_->work.data.scatter(chunk) ? fail_here() : advance(chunk.size());
}

/// The receive descriptor first, then the target (VI-ARCH 2.5.3 knows one error of a message).
std::optional<MessageMover::Refusal> MessageMover::begin_at_peer() {
  vi::Vi& peer = endpoint_.peer()->vi();
  const vi::SendWork& work = message_->work;
  if (message_->takes_receive()) {
    message_->receive = peer.claim_receive(work.kind == vi::SendKind::Send ? work.length_bytes : 0);
    if (!message_->receive) return Refusal::QueueEmpty;
    if (message_->receive->error_bits != 0) return Refusal::Descriptor;
  }
  if (work.kind == vi::SendKind::Send) return std::nullopt;
  const vi::Access access = message_->is_read() ? vi::Access::RemoteRead : vi::Access::RemoteWrite;
  const bool granted =
      peer.remote_memory(work.remote_handle, work.remote_address, work.length_bytes, access) != nullptr;
  return granted ? std::nullopt : std::optional(Refusal::Protection);
}

/// To the peer's memory, or from it.
std::optional<MessageMover::Refusal> MessageMover::pass(std::span<std::uint8_t> chunk) {
  const vi::SendWork& work = message_->work;
  const vi::Vi& peer = endpoint_.peer()->vi();
  const std::uint64_t address = work.remote_address + message_->bytes_moved;
  bool passed = false;
  switch (work.kind) {
    case vi::SendKind::Send: passed = message_->receive->data.scatter(chunk); break;
    case vi::SendKind::RdmaWrite: passed = peer.write_remote(work.remote_handle, address, chunk); break;
    case vi::SendKind::RdmaRead: passed = peer.read_remote(work.remote_handle, address, chunk); break;
  }
  return passed ? std::nullopt : std::optional(Refusal::Protection);
}

void MessageMover::advance(std::size_t bytes) {
  const bool first = message_->bytes_moved == 0;
  message_->bytes_moved += bytes;
  const bool last = message_->bytes_moved == message_->work.length_bytes;
  if (last) return complete();
  if (first && !message_->is_read()) endpoint_.vi().set_partly_sent(message_->work, true);  // VI-DG 5.2 bit 4
}

/// At Reliable Reception the receiver first: a send is complete when its data are there (VI-ARCH 2.5.3). Else it is
/// complete when all was sent, whatever becomes of it there.
void MessageMover::complete() {
  const Message message = *std::exchange(message_, std::nullopt);
  const bool receiver_first = endpoint_.vi().attributes().reliability == vi::ReliabilityLevel::ReliableReception;
  if (!receiver_first) endpoint_.vi().complete_send(message.work, 0);
  if (message.receive && endpoint_.peer() != nullptr) message.complete_receive(endpoint_.peer()->vi(), 0);
  if (receiver_first) endpoint_.vi().complete_send(message.work, 0);
}

/// Our own memory is gone. At Unreliable Delivery the connection persists, and the peer has a part of the message
/// (VI-ARCH 2.5.1); else the model stops us, and the peer hears of that.
void MessageMover::fail_here() {
  const Message message = *std::exchange(message_, std::nullopt);
  Endpoint* const peer = endpoint_.peer();
  endpoint_.vi().complete_send(message.work, status::protection_error);
  if (message.receive && endpoint_.peer() == peer)
    message.complete_receive(peer->vi(), status::transport_error | status::partial_error);
}

/// Unreliable Delivery: dropped, the connection persists. Reliable Delivery: it ends, but the message was sent.
/// Reliable Reception, and any RDMA Read: the sender's descriptor tells it too (VI-ARCH 2.5.1 to 2.5.3).
void MessageMover::refuse(Refusal refusal) {
  const Message message = *std::exchange(message_, std::nullopt);
  const vi::ReliabilityLevel level = endpoint_.vi().attributes().reliability;
  if (!is_reliable(level)) {
    tell_peer(endpoint_.peer()->vi(), message, refusal);
    return endpoint_.vi().complete_send(message.work, 0);
  }
  Endpoint& peer = *endpoint_.peer();
  endpoint_.unlink({"the peer could not receive a message"},
                   {"the peer sent a message that could not be received here"});
  tell_peer(peer.vi(), message, refusal);
  const bool of_target = refusal == Refusal::Protection && message.work.kind != vi::SendKind::Send;
  const bool told = message.is_read() || level == vi::ReliabilityLevel::ReliableReception;
  const std::uint32_t bits = of_target ? status::rdma_protection_error : status::remote_descriptor_error;
  endpoint_.vi().complete_send(message.work, told ? bits : 0);
  peer.lost();
  endpoint_.lost();
}

/// By its descriptor, if it has one to do with it; else asynchronously (VI-DG 3.8.1).
void MessageMover::tell_peer(vi::Vi& peer, const Message& message, Refusal refusal) {
  if (message.receive) {
    const std::uint32_t found = message.receive->error_bits;
    return message.complete_receive(peer, found != 0 ? found : status::protection_error);
  }
  const vi::ErrorCode of_memory = message.is_read() ? vi::ErrorCode::RdmaRProt : vi::ErrorCode::RdmaWProt;
  peer.report(refusal == Refusal::QueueEmpty ? vi::ErrorCode::RecvQEmpty : of_memory, vi::ResourceCode::Vi, 0,
              message.remote_op_code());
}

}  // namespace loopback
