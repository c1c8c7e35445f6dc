#include "iwarp/sctp_startup.hpp"

#include <utility>

namespace iwarp {
using machines::iwarp::Failure;

// --- the active side -----------------------------------------------------------------------------------------------

SctpInitiator::~SctpInitiator() {
  stop_seeking();
  if (session_ != nullptr) session_->leave_front();
}

void SctpInitiator::start() {
  services_.scheduler.schedule_after(timer_, services_.config.startup_timeout);
  peers_.open_session(request_.to, request_.from, *this);
}

void SctpInitiator::stop_seeking() {
  services_.scheduler.cancel(timer_);
  if (session_ == nullptr) peers_.forget(*this);
}

void SctpInitiator::withdraw() {
  if (session_ != nullptr) return session_->withdraw();
  stop_seeking();
  fail(Failure::Withdrawn);
}

void SctpInitiator::time_expired() {
  stop_seeking();
  reason_ = streams::Reason::timed_out;
  fail(Failure::NotReachable);
}

void SctpInitiator::session_opened(SctpSession& session) {
  services_.scheduler.cancel(timer_);
  session_ = &session;
  session.connect(*this, stream_, std::move(request_.private_data), request_.enhanced);
}

void SctpInitiator::session_refused(streams::Reason reason) {
  services_.scheduler.cancel(timer_);
  reason_ = reason;
  fail(Failure::NotReachable);
}

void SctpInitiator::fail(Failure failure) {
  ++services_.counters.startups_failed;
  services_.counters.failures.count(failure);
  listener_.startup_failed(failure, {});
}

void SctpInitiator::session_connected(const PeerOffer& peer) {
  session_ = nullptr;
  listener_.connected(peer);
}

void SctpInitiator::session_failed(Failure failure, const PeerOffer& peer) {
  session_ = nullptr;
  listener_.startup_failed(failure, peer);
}

// --- the passive side ----------------------------------------------------------------------------------------------

SctpResponder::SctpResponder(PassiveStartupOwner& owner, SctpSession& session) : owner_(owner), session_(&session) {
  session.set_front(*this);
}

SctpResponder::~SctpResponder() {
  if (session_ != nullptr) session_->leave_front();
}

void SctpResponder::over() {
  session_ = nullptr;
  owner_.startup_over();
}

void SctpResponder::accept(RdmapStream& stream, StartupListener& listener, std::vector<std::uint8_t> private_data) {
  listener_ = &listener;
  session_->accept(stream, std::move(private_data));
}

void SctpResponder::reject(std::vector<std::uint8_t> private_data) {
  SctpSession& session = *session_;
  session.reject(std::move(private_data));
  session.leave_front();
  over();
}

void SctpResponder::session_connected(const PeerOffer& peer) {
  over();
  listener_->connected(peer);
}

void SctpResponder::session_failed(Failure failure, const PeerOffer& peer) {
  over();
  if (listener_ != nullptr) listener_->startup_failed(failure, peer);
}

std::optional<streams::Reason> SctpListener::listen(const streams::Address& at) {
  SessionPort& own = *this;
  auto listening = peers_.listen(at, own);
  if (!listening) return listening.error();
  listening_ = std::move(*listening);
  return std::nullopt;
}

void SctpListener::session_offered(SctpSession& session, const PeerOffer& offer) {
  PassiveStartupOwner& owner = *this;
  auto responder = std::make_unique<SctpResponder>(owner, session);
  SctpResponder& made = *responder;
  add(std::move(responder));
  owner.offered(made, offer);
}

}  // namespace iwarp
