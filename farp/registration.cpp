#include "farp/registration.hpp"

#include <utility>

#include "fc2_fabric/node/remote_port.hpp"
#include "state_machines/consistency.hpp"
#include "wire/message_bytes.hpp"
#include "wire/ct/rft_id.hpp"
#include "wire/ct/ripp_id.hpp"
#include "wire/ct/rnn_id.hpp"
#include "wire/ct/rsnn_nn.hpp"
#include "wire/ct/rspn_id.hpp"
#include "wire/ct/symbolic_name.hpp"
#include "wire/els/scr.hpp"

namespace farp {
using wire::bytes_of;
namespace {
namespace well_known = wire::well_known;

std::string symbolic(const std::string& name) { return name.substr(0, wire::ct::SymbolicName::max_length); }
}  // namespace

void Registration::fabric_logged_in() {
  stop();
  if (config_.use_name_server && port_.has_fabric())
    port_.remote_port(well_known::name_server).log_in();
  else
    name_server_unavailable();
}

void Registration::name_server_logged_in() {
  stop();
  address_ = 0;
  prepare(is_wanted(Step::Address) ? Step::Address : step_after(Step::Address));
  request_step();
}

// FC-VI 7.4: every port supports FARP, so that it can be found all the same.
void Registration::name_server_unavailable() {
  prepare(step_after(Step::Types));
  become_ready();
  request_step();
}

void Registration::stop() {
  if (request_ != nullptr) port_.abort(*std::exchange(request_, nullptr));
  ready_ = false;
}

/// Others find the port when nothing is left to be told to the Name Server.
bool Registration::is_consistent() const {
  const bool asks = request_ != nullptr;
  const bool knows_what = step_ != Step::Done && (step_ != Step::Address || address_ < config_.own_addresses.size());
  return (!asks || (knows_what && retries_left_ >= 0)) && (!ready_ || step_ > Step::Types);
}

bool Registration::is_wanted(Step step) const {
  switch (step) {
    case Step::Address: return !config_.own_addresses.empty();
    case Step::NodeName:  // a name server that did not see the fabric login has no node to name
    case Step::SymbolicNodeName: return !config_.symbolic_node_name.empty();
    case Step::SymbolicPortName: return !config_.symbolic_port_name.empty();
    case Step::StateChanges: return config_.register_state_changes && port_.has_fabric();
    case Step::Types:
    case Step::Done: break;
  }
  return true;
}

Registration::Step Registration::step_after(Step step) const {
  do {
    step = static_cast<Step>(static_cast<int>(step) + 1);
  } while (!is_wanted(step));
  return step;
}

void Registration::prepare(Step step) {
  step_ = step;
  retries_left_ = config_.retries;
}

void Registration::next() {
  const bool more_addresses = step_ == Step::Address && ++address_ < config_.own_addresses.size();
  const bool registered = step_ == Step::Types;
  prepare(more_addresses ? Step::Address : step_after(step_));
  if (registered) become_ready();
  request_step();
}

void Registration::become_ready() {
  ready_ = true;
  on_ready_();
}

void Registration::request_step() {
  if (!port_.online() || request_ != nullptr) return;  // the listener may have changed what was true
  if (step_ == Step::Done) return;
  if (step_ == Step::StateChanges)
    return request(well_known::fabric_controller, wire::RCtl::els_request, wire::Type::els, bytes_of(wire::els::Scr{}));
  request(well_known::name_server, wire::RCtl::unsolicited_control, wire::Type::ct, registration_of(step_));
}

std::vector<std::uint8_t> Registration::registration_of(Step step) const {
  namespace ct = wire::ct;
  const wire::FcId port_id = port_.n_port_id();
  const wire::Wwn node_name = port_.config().node_name;
  switch (step) {
    case Step::Address: return bytes_of(ct::RippId{.port_id = port_id, .ip_address = config_.own_addresses[address_]});
    case Step::NodeName: return bytes_of(ct::RnnId{.port_id = port_id, .node_name = node_name});
    case Step::SymbolicNodeName:
      return bytes_of(ct::RsnnNn{.node_name = node_name, .symbolic_name = symbolic(config_.symbolic_node_name)});
    case Step::SymbolicPortName:
      return bytes_of(ct::RspnId{.port_id = port_id, .symbolic_name = symbolic(config_.symbolic_port_name)});
    case Step::Types: {
      ct::RftId rft_id{.port_id = port_id};
      for (const wire::Type type : port_.fc4_types()) rft_id.types.add(type);
      return bytes_of(rft_id);
    }
    case Step::StateChanges:
    case Step::Done: break;  // nothing with the Name Server
  }
  return {};
}

void Registration::request(wire::FcId d_id, wire::RCtl r_ctl, wire::Type type, std::span<const std::uint8_t> payload) {
  request_ = port_.request(d_id, r_ctl, type, payload, *this,
                           port_.answer_time(config_.retries - retries_left_, retries_left_));
  if (request_ == nullptr) next();  // no exchange is free: a port in that state is not found by its address
}

// A reject is final: the server does not keep what we register, and FARP has to do.
void Registration::sequence_received(fc2::Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t>) {
  request_ = nullptr;
  if (exchange.is_open()) port_.release(exchange);
  next();
  FCVI_ASSERT_CONSISTENT(*this);
}

void Registration::exchange_failed(fc2::Exchange&, fc2::ExchangeFailure failure) {
  request_ = nullptr;
  if (failure == fc2::ExchangeFailure::PortLoggedOut) return;  // begins again after the next login
  if (retries_left_-- > 0)
    request_step();
  else
    next();
  FCVI_ASSERT_CONSISTENT(*this);
}

}  // namespace farp
