#include "fcvi/disconnector.hpp"

#include <utility>

#include "fc2_fabric/remote_port.hpp"
#include "fcvi/connection.hpp"
#include "fcvi/core.hpp"
#include "wire/fcvi/disconnect_resp.hpp"

namespace fcvi {
namespace dn = machines::disconnect_originator;
using wire::fcvi::Reason;

Disconnector::Disconnector(Connection& connection) : connection_(connection) {}
Disconnector::~Disconnector() {
  for (fc2::Exchange* exchange : {exchange_, notice_})
    if (exchange != nullptr) connection_.core().port().abort(*exchange);
}

template <class E>
void Disconnector::process(const E& event) {
  machine_.process(event, *this);
  if (const auto outcome = std::exchange(outcome_, std::nullopt))
    connection_.disconnect_complete(*outcome == dn::DisconnectOutcome::Success);
}

void Disconnector::request() { process(dn::DisconnectRequested{}); }
void Disconnector::port_logged_out() { process(dn::PortLoggedOut{}); }
void Disconnector::expired() { process(dn::ResponseTimeout{}); }

bool Disconnector::awaits_answer() const {
  return notice_ != nullptr || machine_.is_any_of<dn::AwaitResponse, dn::AwaitResponseRetry>();
}

fc2::Exchange* Disconnector::send(bool application, std::optional<Reason> reason) {
  Core& core = connection_.core();
  fc2::Exchange* exchange = core.port().originate(connection_.peer_port(), wire::Type::fc_vi, *this);
  if (exchange == nullptr) return nullptr;  // the response timer repeats it
  wire::fcvi::DisconnectRqst request;
  request.handle = connection_.peer_handle();
  request.vi_app_discon = application;
  request.conn_setup_abort = !connection_.was_connected();
  if (request.conn_setup_abort) request.connection_id = connection_.setup_id();  // 6.12.2
  else request.last_msg_id = connection_.receiver().last_completed();
  if (request.conn_setup_abort) reason = Reason::connection_setup_timeout;       // D.1 rule 2 a
  if (reason) request.status = {.reason = *reason};
  std::array<std::uint8_t, 32> bytes;
  request.write(bytes);
  core.port().send(*exchange, wire::RCtl::unsolicited_control, bytes, {}, {.transfer_initiative = true},
                   application ? 0 : core.ulp_timeout());
  ++core.counters.ius_sent;
  return exchange;
}

void Disconnector::notify(Reason reason) {
  if (notice_ == nullptr && port_logged_in()) notice_ = send(false, reason);
}

void Disconnector::send_disconnect_rqst() { exchange_ = send(true, reason_); }

void Disconnector::start_response_timer() {
  connection_.core().scheduler().schedule_after(timer_, connection_.core().ulp_timeout());
}
void Disconnector::stop_response_timer() { connection_.core().scheduler().cancel(timer_); }

void Disconnector::abort_exchange() {
  if (exchange_ != nullptr) connection_.core().port().abort(*std::exchange(exchange_, nullptr));
}

bool Disconnector::port_logged_in() const {
  fc2::NPort& port = connection_.core().port();
  if (!port.online() || connection_.peer_port() == wire::FcId{}) return false;
  if (connection_.peer_port() == port.n_port_id()) return true;  // loopback
  const fc2::RemotePort* remote = port.find_remote_port(connection_.peer_port());
  return remote != nullptr && remote->logged_in();
}

void Disconnector::count_stale() { connection_.core().discard(fc2::Discard::UnexpectedIu); }
void Disconnector::unexpected(std::string_view, std::string_view, std::string_view) { connection_.core().unexpected(); }

void Disconnector::sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first, std::span<const std::uint8_t> iu) {
  const auto response = wire::fcvi::DisconnectResp::parse(first.device_header_size(), iu);
  const bool notice = &exchange == notice_;
  if (!response || first.r_ctl != wire::RCtl::solicited_control) {
    connection_.core().discard(fc2::Discard::BadPayload);
    // The time-out goes on, unless that was the exchange's last sequence: then nothing can come any more (8.6.2 a).
    return exchange.is_open() ? void() : exchange_failed(exchange, fc2::ExchangeFailure::SequenceError);
  }
  ++connection_.core().counters.ius_received;
  (notice ? notice_ : exchange_) = nullptr;
  connection_.core().port().release(exchange);  // the peer may have forgotten Last_Sequence (5.8.4)
  if (notice) connection_.notice_answered();
  else process(dn::ResponseReceived{});
}

void Disconnector::exchange_failed(fc2::Exchange& exchange, fc2::ExchangeFailure failure) {
  if (&exchange == notice_) {
    notice_ = nullptr;
    return;
  }
  exchange_ = nullptr;
  if (failure != fc2::ExchangeFailure::PortLoggedOut) process(dn::ExchangeError{});
}

}  // namespace fcvi
