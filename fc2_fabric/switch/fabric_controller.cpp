#include "fc2_fabric/switch/fabric_controller.hpp"

#include <algorithm>
#include <utility>

#include "fc2_fabric/switch/fabric_directory.hpp"
#include "wire/els/ls_acc.hpp"
#include "wire/els/rscn.hpp"
#include "wire/els/scr.hpp"
#include "wire/header_fields.hpp"

namespace fc2 {
using wire::els::RejectExplanation;
using wire::els::RejectReason;

namespace {
std::vector<std::uint8_t> rscn_of(std::vector<wire::els::RscnPage> pages) {
  const wire::els::Rscn rscn{.pages = std::move(pages)};
  std::vector<std::uint8_t> payload(rscn.pages.empty() ? 0 : rscn.size());
  if (!payload.empty()) rscn.write(payload);
  return payload;
}
}  // namespace

FabricController::Notice::Notice(const AffectedAddresses& changed)
    : addresses(std::make_shared<const AffectedAddresses>(changed)), payload(rscn_of(changed.pages())) {}

FabricController::FabricController(NPort& port, TimeNs delay) : port_(port), delay_(delay) {
  port_.add_els_user(*this);
}
FabricController::~FabricController() { port_.remove_els_user(*this); }

void FabricController::forget_all() {
  registered_.clear();
  domains_.clear();
  port_.scheduler().cancel(*this);
}

// --- what N_Ports send -------------------------------------------------------------------------------------------

bool FabricController::els_received(Exchange& exchange, const wire::FcHeader& header,
                                    std::span<const std::uint8_t> payload) {
  if (!exchange.has_initiative()) return false;
  const auto command = wire::els::command_of(payload);
  if (command == wire::els::Command::scr) return scr_received(exchange, header.s_id, payload), true;
  if (command == wire::els::Command::rscn) return rscn_received(exchange, header.s_id, payload), true;
  return false;
}

void FabricController::accept(Exchange& exchange) {
  std::array<std::uint8_t, wire::els::LsAcc::size()> accept;
  wire::els::LsAcc{}.write(accept);
  port_.accept_els(exchange, accept);
}

void FabricController::scr_received(Exchange& exchange, wire::FcId source, std::span<const std::uint8_t> payload) {
  if (take_registration(source, payload)) return accept(exchange);
  port_.counters().discard(Discard::BadPayload);
  port_.reject_els(exchange, RejectReason::logical_error, RejectExplanation::none);
}

bool FabricController::take_registration(wire::FcId source, std::span<const std::uint8_t> payload) {
  const auto request = wire::els::Scr::parse(payload);
  if (!request) return false;
  switch (request->function) {
    case wire::els::ScrFunction::fabric_detected: registered_[source].functions |= fabric_detected; return true;
    case wire::els::ScrFunction::n_port_detected: registered_[source].functions |= n_port_detected; return true;
    case wire::els::ScrFunction::full: registered_[source].functions |= fabric_detected | n_port_detected; return true;
    case wire::els::ScrFunction::clear: forget(source); return true;
  }
  return false;
}

// FC-LS: an N_Port reports an event at itself to the Fabric Controller, which notifies the registered ports. It may
// report of no other port.
void FabricController::rscn_received(Exchange& exchange, wire::FcId source, std::span<const std::uint8_t> payload) {
  const auto rscn = wire::els::Rscn::parse(payload);
  if (!rscn) {
    port_.counters().discard(Discard::BadPayload);
    return port_.reject_els(exchange, RejectReason::logical_error, RejectExplanation::invalid_payload_length);
  }
  const bool own = std::all_of(rscn->pages.begin(), rscn->pages.end(), [&](const wire::els::RscnPage& page) {
    return page.format == wire::els::AddressFormat::port && page.address == source;
  });
  if (!own) return port_.reject_els(exchange, RejectReason::unable_to_perform, RejectExplanation::invalid_n_port_id);
  accept(exchange);
  directory_->port_reported(source);
}

// --- what they are told ------------------------------------------------------------------------------------------

void FabricController::come_back_after(TimeNs delay) {
  if (!pending()) port_.scheduler().schedule_after(*this, delay);
}

void FabricController::domain_changed(std::uint8_t domain) {
  if (registered_.empty()) return;  // a later registration is for later changes
  domains_.add_domain(domain);
  come_back_after(delay_);
}

void FabricController::fire(TimeNs) {
  notify(std::exchange(domains_, {}), {});
  for (auto& [id, registrant] : registered_) tell_rest(id, registrant);
}

void FabricController::notify(const AffectedAddresses& noticed, const AffectedAddresses& reported) {
  AffectedAddresses both = noticed;
  both.add(reported);
  const Notice of_fabric(noticed), of_ports(reported), full(both);
  for (auto& [id, registrant] : registered_) {
    const bool fabric = (registrant.functions & fabric_detected) != 0,
               ports = (registrant.functions & n_port_detected) != 0;
    tell(id, registrant, fabric && ports ? full : fabric ? of_fabric : of_ports);
  }
}

void FabricController::tell(wire::FcId id, Registrant& registrant, const Notice& notice) {
  if (notice.payload.empty()) return;
  if (registrant.unanswered == nullptr && registrant.changed.empty()) return send(id, registrant, notice);
  registrant.changed.add(*notice.addresses);
  tell_rest(id, registrant);
}

// One RSCN at a time to each port, however fast the fabric changes. One whose answer is late may have been lost: the
// next one repeats its content.
void FabricController::tell_rest(wire::FcId id, Registrant& registrant) {
  if (registrant.changed.empty()) return;
  const bool waits = registrant.unanswered != nullptr && port_.scheduler().now() - registrant.told_at < port_.e_d_tov();
  if (waits) return come_back_after(port_.e_d_tov());
  AffectedAddresses changed = std::exchange(registrant.changed, {});
  if (registrant.unanswered != nullptr) changed.add(*registrant.told);
  send(id, registrant, Notice(changed));
}

void FabricController::send(wire::FcId id, Registrant& registrant, const Notice& notice) {
  const bool itself = notice.addresses->names(id);  // a port is not told of itself
  const auto without = itself ? rscn_of(notice.addresses->pages(id)) : std::vector<std::uint8_t>{};
  if (itself && without.empty()) return;
  registrant.told_at = port_.scheduler().now();
  registrant.told = notice.addresses;
  registrant.repeated = false;
  registrant.unanswered = port_.request(id, wire::RCtl::els_request, wire::Type::els, itself ? without : notice.payload,
                                        *this, 2 * port_.r_a_tov());
}

FabricController::Registrant* FabricController::waiting_for(const Exchange& exchange) {
  const auto found = registered_.find(exchange.peer());
  return found == registered_.end() || found->second.unanswered != &exchange ? nullptr : &found->second;
}

void FabricController::sequence_received(Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t>) {
  if (Registrant* registrant = waiting_for(exchange)) {
    registrant->unanswered = nullptr;
    registrant->told.reset();
    tell_rest(exchange.peer(), *registrant);
  }
  if (exchange.is_open()) port_.release(exchange);  // an answer that does not say that it is the last
}

// FC-LS: an RSCN is answered within 2 x R_A_TOV, as any ELS. It is repeated once, with later changes; a port that is
// silent again is gone.
void FabricController::exchange_failed(Exchange& exchange, ExchangeFailure failure) {
  Registrant* registrant = waiting_for(exchange);
  if (registrant == nullptr) return;
  registrant->unanswered = nullptr;
  const auto told = std::exchange(registrant->told, nullptr);
  const bool again = failure == ExchangeFailure::ReplyTimeout && !registrant->repeated;
  if (again) registrant->changed.add(*told);
  tell_rest(exchange.peer(), *registrant);
  registrant->repeated = again;
}

}  // namespace fc2
