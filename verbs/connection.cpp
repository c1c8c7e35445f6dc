#include "verbs/connection.hpp"

#include "iwarp/mpa_initiator.hpp"
#include "iwarp/sctp_startup.hpp"
#include "verbs/framings.hpp"
#include "verbs/queue_pair.hpp"

namespace verbs {
using machines::iwarp::Failure;
namespace {
constexpr runtime::TimeNs retry_interval = 50 * runtime::millisecond;
}

Connection::Connection(Device& device, ConnectionUser& user, QueuePair& queue_pair, const Depths& depths,
                       bool immediate_data)
    : device_(device), user_(&user), queue_pair_(&queue_pair),
      stream_(device.services(), *this, stream_config(depths, immediate_data)) {
  queue_pair.attach(*this);
}

Connection::~Connection() = default;

iwarp::StreamConfig Connection::stream_config(const Depths& depths, bool immediate_data) {
  iwarp::StreamConfig config = queue_pair_->stream_config(immediate_data);
  config.ird = depths.ird;
  config.ord = depths.ord;
  if (queue_pair_->shares_receives()) config.shared_receives = this;
  return config;
}

void Connection::connect(const Request& request) {
  request_ = request;
  first_fpdu_delay_ = request.terms.first_fpdu_delay;
  retry_until_ = device_.services().scheduler.now() + request.terms.refused_retry;
  attempt();
}

void Connection::attempt() {
  last_attempt_ = device_.services().scheduler.now() >= retry_until_;
  asking_.reset();  // before the next one takes its place at the stream
  switch (request_.terms.framing) {
    case Framing::mpa: return attempt_over_mpa();
    case Framing::ift: return attempt_over_ift();
    case Framing::sctp: return attempt_over_sctp();
  }
}

/// A peer that only closes may be one that listens anew, or one that does not know revision 2 (RFC 6581 10): asked by
/// the last attempt.
void Connection::attempt_over_mpa() {
  iwarp::StartupListener& own = *this;
  const iwarp::MpaRequest wanted{.to = request_.to,
                                 .from = request_.from,
                                 .private_data = request_.private_data,
                                 .options = mpa_options_of(request_.terms),
                                 .revision = request_.terms.revision,
                                 .may_fall_back = last_attempt_,
                                 .peer_to_peer = request_.terms.peer_to_peer,
                                 .rtr_delay = request_.terms.first_fpdu_delay};
  auto initiator = std::make_unique<iwarp::MpaInitiator>(device_.services(), own, stream_, wanted);
  iwarp::MpaInitiator& made = *initiator;
  asking_ = std::move(initiator);
  made.start();
}

void Connection::attempt_over_ift() {
  iwarp::StartupListener& own = *this;
  auto adaption = std::make_unique<iwarp::IftAdaption>(device_.services(), ift_options_of(request_.terms));
  iwarp::IftAdaption& made = *adaption;
  asking_ = std::move(adaption);
  made.connect(request_.to, request_.from, stream_, own);
}

void Connection::attempt_over_sctp() {
  iwarp::SctpPeers* const peers = device_.process().sctp_peers();
  if (peers == nullptr) return startup_failed(Failure::NotReachable, {});
  iwarp::StartupListener& own = *this;
  iwarp::SctpRequest wanted{.to = request_.to,
                            .from = request_.from,
                            .private_data = request_.private_data,
                            .enhanced = request_.terms.revision == 2};
  auto initiator = std::make_unique<iwarp::SctpInitiator>(device_.services(), *peers, own, stream_, std::move(wanted));
  iwarp::SctpInitiator& made = *initiator;
  asking_ = std::move(initiator);
  made.start();
}

bool Connection::tries_again(Failure failure) {
  if (asking_ == nullptr || last_attempt_ || !stream_.is_idle()) return false;
  if (failure == Failure::Invalid) retry_until_ = 0;  // perhaps a reply of revision 1
  const streams::Reason reason = asking_->stream_failure().value_or(streams::Reason::refused);
  const bool refused = reason == streams::Reason::refused || reason == streams::Reason::reset;
  const bool closed = failure == Failure::PeerClosed || failure == Failure::NotAdmitted;
  if (failure != Failure::Invalid && !closed && !(failure == Failure::NotReachable && refused)) return false;
  device_.services().scheduler.schedule_after(attempt_, retry_interval);
  return true;
}

void Connection::accept(iwarp::PassiveStartup& startup, std::vector<std::uint8_t> private_data,
                        runtime::TimeNs first_fpdu_delay) {
  first_fpdu_delay_ = first_fpdu_delay;
  asked_ = &startup;
  startup.accept(stream_, *this, std::move(private_data));
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
  if (asked_ != nullptr) return asked_->withdraw();
  if (attempt_.pending()) {
    device_.services().scheduler.cancel(attempt_);
    return startup_failed(Failure::Withdrawn, {});
  }
  if (asking_ != nullptr) asking_->withdraw();
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

std::optional<iwarp::ReceiveRequest> Connection::take_receive() {
  return queue_pair_ == nullptr ? std::nullopt : queue_pair_->take_receive();
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
  asked_ = nullptr;
  state_ = State::established;
  peer_ = peer;
  if (first_fpdu_delay_ == 0) return tell_established();
  device_.services().scheduler.schedule_after(established_, first_fpdu_delay_);
}

void Connection::tell_established() {
  if (state_ != State::established) return;
  if (queue_pair_ != nullptr) queue_pair_->established();
  if (user_ != nullptr) user_->established(peer_);
}

/// Of a stream that was there already closed() follows.
void Connection::startup_failed(Failure failure, const iwarp::PeerOffer& peer) {
  if (tries_again(failure)) return;
  asked_ = nullptr;
  state_ = State::closing;
  told_end_ = true;
  if (stream_.is_idle()) {
    if (QueuePair* const queue_pair = std::exchange(queue_pair_, nullptr)) queue_pair->ended();
    if (user_ != nullptr) user_->connection_over();
    device_.services().scheduler.schedule(over_, device_.services().scheduler.now());
  }
  if (user_ != nullptr)
    user_->startup_failed(failure, asking_ != nullptr ? asking_->stream_failure() : std::nullopt, peer);
}

}  // namespace verbs
