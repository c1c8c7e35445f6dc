#include "fcvi/disconnector.hpp"

#include <utility>

#include "fc2_fabric/node/remote_port.hpp"
#include "state_machines/consistency.hpp"
#include "state_machines/row_effects.hpp"
#include "wire/fcvi/disconnect_resp.hpp"
#include "wire/fcvi/disconnect_rqst.hpp"

namespace fcvi {
namespace dn = machines::disconnect_originator;

Disconnector::~Disconnector() {
  if (exchange_ != nullptr) services().port.abort(*exchange_);
}

template <class E>
void Disconnector::process(const E& event) {
  machine_.process(event, *this);
  static_assert(fsm::most_pending<dn::Def, dn::CompleteSuccess, dn::CompleteNotReachable> <=
                decltype(outbox_)::capacity);
  outbox_.drain([this](dn::DisconnectOutcome outcome) {
    endpoint_.listener.disconnect_complete(by_, outcome == dn::DisconnectOutcome::Success);
  });
  FCVI_ASSERT_CONSISTENT(*this);
}

/// While an answer is awaited, a timer runs; only then an exchange may be open.
bool Disconnector::is_consistent() const {
  return outbox_.empty() && (is_under_way() ? timer_.pending() : exchange_ == nullptr);
}

void Disconnector::request() { process(dn::DisconnectRequested{}); }
void Disconnector::port_logged_out() { process(dn::PortLoggedOut{}); }

void Disconnector::expired() {
  if (machine_.is<dn::Unanswered>())
    process(dn::DisconnectRequested{});
  else
    process(dn::ResponseTimeout{});
}

bool Disconnector::is_under_way() const { return machine_.is_any_of<dn::AwaitResponse, dn::AwaitResponseRetry>(); }

void Disconnector::send_disconnect_rqst() {
  exchange_ = services().port.originate(endpoint_.peer_port, wire::Type::fc_vi, *this);
  if (exchange_ == nullptr) return;  // none is free: the response timer repeats it
  wire::fcvi::DisconnectRqst request;
  request.handle = endpoint_.peer_handle;
  request.vi_app_discon = by_ == By::Application;
  request.conn_setup_abort = !endpoint_.was_connected();
  if (request.conn_setup_abort)
    request.connection_id = endpoint_.setup_id;  // 6.12.2
  else
    request.last_msg_id = endpoint_.last_completed.value_or(wire::MsgId{});  // 0: none
  if (const auto reason = endpoint_.listener.reason_told(by_)) request.status = {.reason = *reason};
  std::array<std::uint8_t, 32> bytes;
  request.write(bytes);
  services().port.send(*exchange_, wire::RCtl::unsolicited_control, bytes, {}, {.transfer_initiative = true});
  ++services().counters.ius_sent;
}

void Disconnector::start_response_timer() { services().scheduler.schedule_after(timer_, services().ulp_timeout()); }
void Disconnector::stop_response_timer() { services().scheduler.cancel(timer_); }

void Disconnector::abort_exchange() {
  if (exchange_ != nullptr) services().port.abort(*std::exchange(exchange_, nullptr));
}

/// With the login that the connection had; another one of the same port is another story (7.7.1).
bool Disconnector::port_logged_in() const {
  fc2::NPort& port = services().port;
  if (endpoint_.logged_out || endpoint_.peer_port == wire::FcId{}) return false;
  if (endpoint_.peer_port == port.n_port_id()) return true;  // loopback
  return port.remote_port(endpoint_.peer_port).logged_in();
}

void Disconnector::count_stale() { services().discard(fc2::Discard::UnexpectedIu); }
void Disconnector::on_row(const fsm::Row& row) { services().fired(row); }
void Disconnector::unexpected(std::string_view, std::string_view, std::string_view) { services().unexpected(); }

void Disconnector::sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first,
                                     std::span<const std::uint8_t> iu) {
  const auto response = wire::fcvi::DisconnectResp::parse(first.device_header_size(), iu);
  if (!response || first.r_ctl != wire::RCtl::solicited_control) {
    services().discard(fc2::Discard::BadPayload);
    // The time-out goes on, unless that was the exchange's last sequence: then nothing can come any more (8.6.2 a).
    return exchange.is_open() ? void() : exchange_failed(exchange, fc2::ExchangeFailure::SequenceError);
  }
  ++services().counters.ius_received;
  endpoint_.listener.disconnect_resp_received(*response);
  exchange_ = nullptr;
  services().port.release(exchange);  // the peer may have forgotten Last_Sequence (5.8.4)
  process(dn::ResponseReceived{});
}

void Disconnector::exchange_failed(fc2::Exchange&, fc2::ExchangeFailure failure) {
  exchange_ = nullptr;
  if (failure != fc2::ExchangeFailure::PortLoggedOut) process(dn::ExchangeError{});
}

}  // namespace fcvi
