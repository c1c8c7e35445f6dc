#include "farp/address_entry.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "fc2_fabric/node/remote_port.hpp"
#include "state_machines/consistency.hpp"
#include "state_machines/row_effects.hpp"
#include "wire/ct/accept.hpp"
#include "wire/ct/gid_ipp.hpp"

namespace farp {
namespace ar = machines::address_resolution;

AddressEntry::~AddressEntry() { forget_query(); }

template <class E>
void AddressEntry::process(const E& event) {
  machine_.process(event, *this);
  static_assert(fsm::most_pending<ar::Def, ar::BroadcastFarp, ar::ReportResolved, ar::ReportFailed> <=
                decltype(effects_)::capacity);
  effects_.drain([this](Effect effect) { carry_out(effect); });
  FCVI_ASSERT_CONSISTENT(*this);
}
template void AddressEntry::process(const ar::ResolveRequested&);
template void AddressEntry::process(const ar::Invalidated&);

void AddressEntry::carry_out(Effect effect) {
  switch (effect) {
    case Effect::OwnAddressFound: return farp_reply_received(port_.n_port_id());
    case Effect::ReportResolved: return owner_.settled(*this, true);
    case Effect::ReportFailed: return owner_.settled(*this, false);
  }
}

/// The timer runs and a query may be open while an answer is awaited; addresses are there once it came.
bool AddressEntry::is_consistent() const {
  const bool asks = pending() == !idle() && (query_ == nullptr || machine_.is<ar::QueryingNameServer>());
  return effects_.empty() && answer_.empty() && asks && (n_port_ids_.empty() || machine_.is<ar::Resolved>());
}

void AddressEntry::farp_reply_received(wire::FcId id) {
  replied_ = id;
  process(ar::FarpReplyReceived{});
}

bool AddressEntry::maps_to(wire::FcId id) const {
  return std::find(n_port_ids_.begin(), n_port_ids_.end(), id) != n_port_ids_.end();
}

void AddressEntry::fire(runtime::TimeNs) {
  if (!machine_.is<ar::QueryingNameServer>()) return process(ar::FarpTimeout{});
  forget_query();
  process(ar::NameServerTimeout{});
}

// --- the Name Server: FC-VI 7.6 ----------------------------------------------------------------------------------

void AddressEntry::query_name_server() {
  ++tries_;
  wire::ct::GidIpp gid_ipp;
  gid_ipp.ip_address = address_;
  std::array<std::uint8_t, wire::ct::GidIpp::size()> payload;
  gid_ipp.write(payload);
  query_ =
      port_.request(wire::well_known::name_server, wire::RCtl::unsolicited_control, wire::Type::ct, payload, *this, 0);
}

void AddressEntry::start_query_timer() {
  const int repeated = tries_ - 1;
  port_.scheduler().schedule_after(*this, port_.answer_time(repeated, config_.retries - repeated));
}

void AddressEntry::forget_query() {
  if (query_ != nullptr) port_.abort(*std::exchange(query_, nullptr));
}

bool AddressEntry::name_server_available() const {
  const fc2::RemotePort* server = port_.find_remote_port(wire::well_known::name_server);
  return config_.use_name_server && server != nullptr && server->logged_in();
}

void AddressEntry::sequence_received(fc2::Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t> iu) {
  query_ = nullptr;
  if (exchange.is_open()) port_.release(exchange);
  take_answer(iu);
}

void AddressEntry::take_answer(std::span<const std::uint8_t> iu) {
  auto list = wire::ct::GidIppAccept::parse(iu);
  if (!list) return process(ar::NameServerRejected{});
  answer_ = std::move(list->port_ids);
  process(ar::NameServerAccepted{.count = static_cast<std::uint32_t>(answer_.size())});
}

void AddressEntry::exchange_failed(fc2::Exchange&, fc2::ExchangeFailure failure) {
  query_ = nullptr;
  if (failure == fc2::ExchangeFailure::PortLoggedOut)
    process(ar::Invalidated{});
  else
    process(ar::NameServerTimeout{});
}

// --- FARP: FC-VI 7.5 ---------------------------------------------------------------------------------------------

void AddressEntry::broadcast_farp() {
  ++tries_;
  owner_.send_farp_request(address_);
  if (port_.online() && owner_.is_own(address_)) effects_.push(Effect::OwnAddressFound);
}

void AddressEntry::start_farp_timer() {
  port_.scheduler().schedule_after(*this, config_.farp_timeout > 0 ? config_.farp_timeout : port_.e_d_tov());
}

void AddressEntry::add_address() {
  if (maps_to(replied_)) return;
  if (n_port_ids_.size() >= config_.max_ports_of_address && !make_room())
    return port_.counters().discard(fc2::Discard::NoResources);
  n_port_ids_.push_back(replied_);
}

// Answers with addresses that nobody has must not shut out the one that comes late, nor displace the one that came
// first: of the later half, the oldest with which there is no login.
bool AddressEntry::make_room() {
  const auto is_stranger = [&](wire::FcId id) {
    const fc2::RemotePort* remote = port_.find_remote_port(id);
    return id != port_.n_port_id() && (remote == nullptr || !(remote->logged_in() || remote->logging_in()));
  };
  const auto first = std::find_if(n_port_ids_.begin() + static_cast<std::ptrdiff_t>(n_port_ids_.size() / 2),
                                  n_port_ids_.end(), is_stranger);
  if (first == n_port_ids_.end()) return false;
  n_port_ids_.erase(first);
  ++port_.counters().addresses_evicted;
  return true;
}

void AddressEntry::on_row(const fsm::Row& row) { fsm::tell(port_.config().rows, row); }
void AddressEntry::unexpected(std::string_view, std::string_view, std::string_view) {
  ++port_.counters().unexpected_events;
}

}  // namespace farp
