#include "verbs/connection.hpp"

#include "verbs/queue_pair.hpp"

namespace verbs {
using machines::iwarp::Failure;
namespace {
constexpr runtime::TimeNs retry_interval = 50 * runtime::millisecond;
}

Connection::Connection(Device& device, ConnectionUser& user, QueuePair& queue_pair, const Depths& depths)
    : device_(device), user_(&user), queue_pair_(&queue_pair),
      stream_(device.services(), *this, queue_pair.stream_config(depths.ird, depths.ord)) {
  queue_pair.attach(*this);
}

Connection::~Connection() = default;

void Connection::connect(const iwarp::MpaRequest& request, const Patience& patience) {
  request_ = request;
  patience_ = patience;
  retry_until_ = device_.services().scheduler.now() + patience.refused_retry;
  attempt();
}

/// A peer that only closes may be one that listens anew, or one that does not know revision 2 (RFC 6581 10): asked by
/// the last attempt.
void Connection::attempt() {
  request_.may_fall_back = device_.services().scheduler.now() >= retry_until_;
  iwarp::StartupListener& own = *this;
  initiator_.emplace(device_.services(), own, stream_, request_);
  initiator_->start();
}

bool Connection::tries_again(Failure failure) {
  if (!initiator_ || request_.may_fall_back || !stream_.is_idle()) return false;
  if (failure == Failure::Invalid) retry_until_ = 0;  // perhaps a reply of revision 1
  const streams::Reason reason = initiator_->stream_failure().value_or(streams::Reason::refused);
  const bool refused = reason == streams::Reason::refused || reason == streams::Reason::reset;
  if (failure != Failure::Invalid && failure != Failure::PeerClosed && !(failure == Failure::NotReachable && refused))
    return false;
  device_.services().scheduler.schedule_after(attempt_, retry_interval);
  return true;
}

void Connection::accept(iwarp::MpaResponder& responder, std::vector<std::uint8_t> private_data,
                        const Patience& patience) {
  patience_ = patience;
  responder_ = &responder;
  responder.accept(stream_, *this, std::move(private_data));
  if (queue_pair_ != nullptr && state_ != State::closing) queue_pair_->established();
}

// --- the end -------------------------------------------------------------------------------------------------------

void Connection::close() {
  if (stream_.is_closed() || std::exchange(state_, State::closing) == State::closing) return;
  stream_.close();
}

void Connection::disconnect() { state_ == State::starting ? withdraw() : close(); }

void Connection::abort() {
  if (state_ == State::starting) return withdraw();
  state_ = State::closing;
  if (!stream_.is_closed()) stream_.abort();
}

void Connection::withdraw() {
  if (responder_ != nullptr) return responder_->withdraw();
  if (attempt_.pending()) {
    device_.services().scheduler.cancel(attempt_);
    return startup_failed(Failure::Withdrawn, {});
  }
  if (initiator_) initiator_->withdraw();
}

void Connection::user_gone() {
  user_ = nullptr;
  disconnect();
}

void Connection::queue_pair_gone() {
  queue_pair_ = nullptr;
  disconnect();
}

void Connection::tell_disconnected() {
  if (state_ == State::starting || std::exchange(told_end_, true)) return;
  if (user_ != nullptr) user_->disconnected();
}

// --- what the stream tells -----------------------------------------------------------------------------------------

void Connection::completed(const iwarp::Completion& completion) {
  if (queue_pair_ != nullptr) queue_pair_->completed(completion);
}

void Connection::error_found(const iwarp::CapturedError& error) {
  const bool access = error.cause.layer == wire::rdmap::Layer::rdma && error.cause.type == 1;
  if (queue_pair_ != nullptr) queue_pair_->tell(access ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_FATAL);
}

void Connection::terminate_received(const wire::rdmap::Cause&, wire::Bytes) {
  if (queue_pair_ != nullptr) queue_pair_->tell(IBV_EVENT_QP_FATAL);
}

/// This end has nothing to say either: verbs know no half-open connection.
void Connection::disconnected() {
  const runtime::Scheduler& scheduler = device_.services().scheduler;
  device_.services().scheduler.schedule(close_, scheduler.now());
  tell_disconnected();
}

void Connection::lost() { tell_disconnected(); }

void Connection::closed() {
  tell_disconnected();
  if (queue_pair_ != nullptr) queue_pair_->ended();
  if (user_ != nullptr) user_->connection_over();
  over();
}

// --- what the start-up tells ---------------------------------------------------------------------------------------

void Connection::connected(const iwarp::PeerOffer& peer) {
  responder_ = nullptr;
  state_ = State::established;
  peer_ = peer;
  if (patience_.first_fpdu_delay == 0) return tell_established();
  device_.services().scheduler.schedule_after(established_, patience_.first_fpdu_delay);
}

void Connection::tell_established() {
  if (state_ != State::established) return;
  if (queue_pair_ != nullptr) queue_pair_->established();
  if (user_ != nullptr) user_->established(peer_);
}

/// Of a stream that was there already closed() follows.
void Connection::startup_failed(Failure failure, const iwarp::PeerOffer& peer) {
  if (tries_again(failure)) return;
  responder_ = nullptr;
  state_ = State::closing;
  told_end_ = true;
  if (stream_.is_idle()) {
    if (QueuePair* const queue_pair = std::exchange(queue_pair_, nullptr)) queue_pair->ended();
    if (user_ != nullptr) user_->connection_over();
    device_.services().scheduler.schedule(over_, device_.services().scheduler.now());
  }
  if (user_ != nullptr) user_->startup_failed(failure, initiator_ ? initiator_->stream_failure() : std::nullopt, peer);
}

}  // namespace verbs
