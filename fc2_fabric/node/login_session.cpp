#include "fc2_fabric/node/login_session.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "fc2_fabric/node/frames_before_login.hpp"
#include "state_machines/consistency.hpp"
#include "state_machines/row_effects.hpp"
#include "wire/els/adisc.hpp"
#include "wire/els/logo.hpp"
#include "wire/els/ls_acc.hpp"

namespace fc2 {
namespace pl = machines::port_login;
using wire::els::Command;

template <class E>
void LoginSession::process(const E& event) {
  machine_.process(event, *this);
  settle();
}
template void LoginSession::process(const pl::LinkUp&);
template void LoginSession::process(const pl::Timeout&);
template void LoginSession::process(const pl::LinkDown&);
template void LoginSession::process(const pl::LoginRequested&);
template void LoginSession::process(const pl::LogoutRequested&);

// A listener may have the session go on: what that reports is told before what is left here, as it happened.
void LoginSession::settle() {
  static_assert(
      fsm::most_in_a_row<pl::Def, pl::ReportLoggedIn, pl::ReportRejected, pl::ReportTimeout, pl::ReportLinkDown,
                         pl::ReportWithdrawn, pl::ReportLoggedOut, pl::ReportSuspended, pl::ReportResumed> <=
      decltype(reports_)::capacity);
  auto batch = std::exchange(reports_, {});
  batch.drain([this](Report report) { release(report); });
  FCVI_ASSERT_CONSISTENT(*this);
}

bool LoginSession::is_consistent() const {
  const bool may_ask = machine_.is_any_of<pl::LoginPending, pl::LogoutPending>() || validating();
  const bool may_wait = may_ask || machine_.is<pl::RetryPending>();
  return reports_.empty() && (may_wait || !pending()) &&
         (request_kind_ == Request::Discovery || may_ask || request_ == nullptr) && retries_left_ >= 0;
}

void LoginSession::release(Report report) {
  switch (report) {
    case Report::LoggedIn: return logged_in_now();
    case Report::LoginFailed: return login_failed_now();
    case Report::LoggedOut: return logged_out_now();
    case Report::Suspended: return suspended_now();
    case Report::Resumed: return resumed_now();
  }
}

void LoginSession::log_in() {
  if (!machine_.is_any_of<pl::LoginPending, pl::RetryPending>()) retries_left_ = port_.config().login_retries;
  process(pl::LoginRequested{});
}

void LoginSession::log_in_anew() {
  if (!logging_in()) {
    implicit_logout();
    return log_in();
  }
  retries_left_ = port_.config().login_retries + 1;  // the time-out counts one
  process(pl::Timeout{});
}

void LoginSession::log_out() {
  if (!machine_.is<pl::LogoutPending>()) retries_left_ = port_.config().login_retries;
  process(pl::LogoutRequested{});
}

void LoginSession::login_received(Exchange& exchange, const wire::els::Login& login) {
  incoming_ = &exchange;
  if (peer_ == port_.n_port_id()) return accept_own_login(login);
  incoming_login_ = &login;  // read while that event is processed, at no other time
  process(pl::LoginReceived{});
  incoming_ = nullptr;
}

void LoginSession::logout_received(Exchange& exchange) {
  incoming_ = &exchange;
  process(pl::LogoutReceived{});
  incoming_ = nullptr;
}

// PLOGI of a port to itself: one login with one side, whose machine hears of its own accept.
void LoginSession::accept_own_login(const wire::els::Login& login) {
  incoming_login_ = &login;
  accept_login();
  incoming_ = nullptr;
}

void LoginSession::implicit_logout() {
  if (logged_in()) process(pl::LogoutReceived{});
}

void LoginSession::link_down_if_up() {
  if (!machine_.is_any_of<pl::Offline, pl::Suspended>()) link_down();
}

// An ADISC of ours that is not answered yet says nothing new when it is: both ask whether it is still awaited.

void LoginSession::validated() {
  if (!validating()) return;
  stop_timer();
  process(pl::Validated{});
}

void LoginSession::validation_failed() {
  if (!validating()) return;
  retries_left_ = port_.config().login_retries;
  process(pl::ValidationFailed{});
}

bool LoginSession::link_loss_logs_out() const { return !services_.owner.keeps_login(peer_); }

bool LoginSession::logging_in() const { return machine_.is_any_of<pl::LoginPending, pl::RetryPending>(); }

void LoginSession::peer_is_gone() {
  if (logged_in()) return process(pl::LogoutReceived{});
  if (machine_.is<pl::RetryPending>()) return process(pl::LogoutRequested{});
  if (!machine_.is<pl::LoginPending>()) return;
  forget_request();
  process(pl::LoginRejected{.retryable = false});
}

bool LoginSession::login_presumed() {
  if (!machine_.is<pl::LoginPending>()) return false;
  if (port_.in_order())
    process(pl::LoginPresumed{});
  else
    start(
        port_.e_d_tov());  // the frame may have overtaken LS_ACC, which is waited for so long, and then asked for again
  return true;
}

void LoginSession::request(Request kind, std::span<const std::uint8_t> payload, TimeNs timeout) {
  request_kind_ = kind;
  request_ = services_.requests.request_els(peer_, payload, *this, timeout);
}

void LoginSession::send_login() {
  std::array<std::uint8_t, wire::els::Login::size()> payload;
  own_parameters(login_command()).write(payload);
  rejected_at_.reset();
  services_.frames_before_login.asked(peer_);
  // The machine's own time-out repeats it sooner; that of the exchange ends a request that the machine left alone.
  request(Request::Login, payload, 3 * port_.r_a_tov());
}

// FC-LS: N_Port_ID and Port_Name say who is logged out: after a change of address the one that logged in.
void LoginSession::send_logout() {
  std::array<std::uint8_t, wire::els::Logo::size()> payload;
  const bool to_fabric = peer_ == wire::well_known::f_port;
  const wire::FcId id = own_id_ == wire::FcId{} || to_fabric ? port_.n_port_id() : own_id_;
  wire::els::Logo{.n_port_id = id, .port_name = port_.config().port_name}.write(payload);
  request(Request::Logout, payload, 0);  // the machine's own time-out ends it
}

void LoginSession::fire(TimeNs) {
  if (validating()) return discovery_overdue();
  process(pl::Timeout{});
}

// Without a login there is nothing to ask for, and the timer is another's.
void LoginSession::discover_address() {
  if (!validating()) return;
  discovery_ends_ = port_.scheduler().now() + 2 * port_.r_a_tov();
  discovery_wait_ = port_.e_d_tov();
  ask_for_address();
  if (request_ == nullptr) validation_failed();  // no exchange is free: a mapping must not be used unproved
}

void LoginSession::discovery_overdue() {
  if (port_.scheduler().now() >= discovery_ends_) return validation_failed();
  discovery_wait_ *= 2;
  ask_for_address();
}

// The one before is left alone: its ABTS would find nobody either.
void LoginSession::ask_for_address() {
  const TimeNs left = discovery_ends_ - port_.scheduler().now();
  start(std::min(discovery_wait_, left));
  std::array<std::uint8_t, wire::els::Adisc::size()> payload;
  wire::els::Adisc{
      .port_name = port_.config().port_name, .node_name = port_.config().node_name, .n_port_id = port_.n_port_id()}
      .write(payload);
  request(Request::Discovery, payload, left);
}

void LoginSession::accept_login() {
  overtaken_until_ = 0;
  services_.frames_before_login.forget(peer_);
  peer_parameters_ = *incoming_login_;
  std::array<std::uint8_t, wire::els::Login::size()> payload;
  own_parameters(Command::ls_acc).write(payload);
  services_.requests.accept_els(*incoming_, payload);
}

void LoginSession::reject_login() {
  if (!rejected_at_) rejected_at_ = port_.scheduler().now();
  overtaken_until_ = 0;  // there is one such PLOGI at most: a port that began anew asks again and is heard
  services_.requests.reject_els(*incoming_, wire::els::RejectReason::command_in_progress,
                                wire::els::RejectExplanation::command_in_progress);
}

void LoginSession::accept_logout() {
  if (incoming_ == nullptr) return;
  std::array<std::uint8_t, wire::els::LsAcc::size()> payload;
  wire::els::LsAcc{}.write(payload);
  services_.requests.accept_els(*incoming_, payload);
}

void LoginSession::forget_request() {
  if (request_ != nullptr) services_.requests.abort(*std::exchange(request_, nullptr));
}

void LoginSession::start(TimeNs delay) { port_.scheduler().schedule_after(*this, delay); }
void LoginSession::start_timer() {
  start(port_.answer_time(port_.config().login_retries - retries_left_, retries_left_));
}
void LoginSession::start_retry_delay() { start(port_.e_d_tov()); }
void LoginSession::stop_timer() { port_.scheduler().cancel(*this); }
void LoginSession::report_logged_in() {
  own_id_ = port_.n_port_id();
  reports_.push(Report::LoggedIn);
}
bool LoginSession::peer_login_wins() const { return incoming_login_->port_name > port_.config().port_name; }
bool LoginSession::peer_asks_again() const {
  return rejected_at_ && port_.scheduler().now() - *rejected_at_ >= port_.e_d_tov();
}
/// FC-FS: no frame is older than R_A_TOV.
bool LoginSession::overtaken_by_accept() const {
  return port_.scheduler().now() < overtaken_until_ && !peer_login_wins() &&
         incoming_login_->port_name == peer_parameters_.port_name;
}
void LoginSession::on_row(const fsm::Row& row) { fsm::tell(port_.config().rows, row); }
void LoginSession::unexpected(std::string_view, std::string_view, std::string_view) {
  ++port_.counters().unexpected_events;
}

void LoginSession::sequence_received(Exchange& exchange, const wire::FcHeader& first,
                                     std::span<const std::uint8_t> iu) {
  if (&exchange == request_) {  // else it was left alone, and what it says is known
    request_ = nullptr;
    switch (request_kind_) {
      case Request::Login: reply_to_login(first, iu); break;
      case Request::Logout: process(pl::LogoutAnswered{}); break;
      case Request::Discovery: reply_to_discovery(iu); break;
    }
  }
  services_.requests.finish(exchange);
}

/// What may be otherwise the next time; a login that came there with another length was damaged under way.
static bool is_retryable(const wire::els::LsRjt& reject) {
  using Reason = wire::els::RejectReason;
  return reject.reason == Reason::logical_busy || reject.reason == Reason::unable_to_perform ||
         reject.reason == Reason::command_in_progress ||
         reject.explanation == wire::els::RejectExplanation::invalid_payload_length;
}

/// A fabric or a port that takes no class 3, or smaller frames than FC-FS allows, is of no use to us, whatever it
/// accepts.
static bool is_usable(const wire::els::Login& accept, Command asked) {
  const std::uint16_t size = asked != Command::plogi
                                 ? accept.receive_data_field_size  // a FLOGI's classes have none of their own
                                 : accept.class_3.receive_data_field_size;
  return accept.class_3.valid() && size >= min_data_field_bytes;
}

void LoginSession::reply_to_login(const wire::FcHeader& header, std::span<const std::uint8_t> payload) {
  const auto accept = wire::els::Login::parse(payload);
  if (accept && accept->command == Command::ls_acc) {
    if (!is_usable(*accept, login_command())) return process(pl::LoginRejected{.retryable = false});
    peer_parameters_ = *accept;
    if (!port_.in_order()) overtaken_until_ = port_.scheduler().now() + port_.r_a_tov();
    accepted_at(header.d_id);
    return process(pl::LoginAccepted{});
  }
  const auto reject = wire::els::LsRjt::parse(payload);
  if (!reject) port_.counters().discard(Discard::BadPayload);
  process(pl::LoginRejected{.retryable = !reject || is_retryable(*reject)});
}

// FC-VI 7.7.3: the three addresses of the ACC, exactly as they were. Who cannot tell now is asked again; who has no
// login with us has said all.
void LoginSession::reply_to_discovery(std::span<const std::uint8_t> payload) {
  const auto accept = wire::els::Adisc::parse(payload);
  const bool same = accept && accept->command == Command::ls_acc && confirms(*accept);
  if (same) return validated();
  const auto reject = wire::els::LsRjt::parse(payload);
  const bool login_missing = reject && reject->explanation == wire::els::RejectExplanation::n_port_login_required;
  if (!reject || login_missing || !is_retryable(*reject)) validation_failed();
}

bool LoginSession::confirms(const wire::els::Adisc& adisc) const {
  return adisc.n_port_id == peer_ && adisc.port_name == peer_parameters_.port_name &&
         adisc.node_name == peer_parameters_.node_name;
}

void LoginSession::exchange_failed(Exchange& exchange, ExchangeFailure) {
  if (&exchange != request_) return;
  request_ = nullptr;
  // The time-out stands, of the machine or of the discovery; its expiry repeats them.
}

}  // namespace fc2
