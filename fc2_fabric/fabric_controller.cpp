#include "fc2_fabric/fabric_controller.hpp"

#include "wire/els/ls_acc.hpp"
#include "wire/els/scr.hpp"

namespace fc2 {
using wire::els::RejectExplanation;
using wire::els::RejectReason;

FabricController::FabricController(NPort& port, TimeNs delay) : port_(port), delay_(delay) { port_.add_els_user(*this); }
FabricController::~FabricController() { port_.remove_els_user(*this); }

bool FabricController::els_received(Exchange& exchange, const wire::FcHeader& header,
                                    std::span<const std::uint8_t> payload) {
  if (static_cast<wire::els::Command>(payload[0]) != wire::els::Command::scr || !exchange.has_initiative()) return false;
  if (!take_registration(header.s_id, payload)) {
    port_.counters().discard(Discard::BadPayload);
    port_.reject_els(exchange, RejectReason::logical_error, RejectExplanation::none);
    return true;
  }
  std::array<std::uint8_t, wire::els::LsAcc::size()> accept;
  wire::els::LsAcc{}.write(accept);
  port_.accept_els(exchange, accept);
  return true;
}

bool FabricController::take_registration(wire::FcId source, std::span<const std::uint8_t> payload) {
  const auto request = wire::els::Scr::parse(payload);
  if (!request) return false;
  switch (request->function) {
    case wire::els::ScrFunction::fabric_detected:
    case wire::els::ScrFunction::n_port_detected:
    case wire::els::ScrFunction::full: registered_.insert(source); return true;
    case wire::els::ScrFunction::clear: registered_.erase(source); return true;
  }
  return false;
}

void FabricController::state_changed(wire::FcId id) {
  changed_.insert(id);
  if (!pending()) port_.scheduler().schedule_after(*this, delay_);
}

// A port is not told of itself.
wire::els::Rscn FabricController::notification_for(wire::FcId id) const {
  wire::els::Rscn rscn;
  if (changed_.size() - changed_.count(id) > max_pages) {
    rscn.pages.push_back({.format = wire::els::AddressFormat::fabric});
    return rscn;
  }
  for (const wire::FcId changed : changed_)
    if (changed != id) rscn.pages.push_back({.format = wire::els::AddressFormat::port, .address = changed});
  return rscn;
}

void FabricController::fire(TimeNs) {
  for (const wire::FcId id : registered_) {
    const wire::els::Rscn rscn = notification_for(id);
    if (rscn.pages.empty()) continue;
    std::vector<std::uint8_t> payload(rscn.size());
    rscn.write(payload);
    port_.request(id, wire::RCtl::els_request, wire::Type::els, payload, *this, 2 * port_.r_a_tov());
  }
  changed_.clear();
}

void FabricController::sequence_received(Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t>) {
  if (exchange.is_open()) port_.release(exchange);  // an answer that does not say that it is the last
}

}  // namespace fc2
