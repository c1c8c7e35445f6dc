#include "farp/registration.hpp"

#include <utility>

#include "fc2_fabric/node/remote_port.hpp"
#include "state_machines/consistency.hpp"
#include "state_machines/row_effects.hpp"
#include "wire/message_bytes.hpp"
#include "wire/ct/rft_id.hpp"
#include "wire/ct/ripp_id.hpp"
#include "wire/ct/rnn_id.hpp"
#include "wire/ct/rsnn_nn.hpp"
#include "wire/ct/rspn_id.hpp"
#include "wire/ct/symbolic_name.hpp"
#include "wire/els/scr.hpp"

namespace farp {
namespace pr = machines::port_registration;
using wire::bytes_of;
namespace {
namespace well_known = wire::well_known;

std::string symbolic(const std::string& name) { return name.substr(0, wire::ct::SymbolicName::max_length); }
}  // namespace

// What a step before has left to do, when its listener led to one of these, is done no more.
void Registration::fabric_logged_in() {
  effects_.clear();
  process(pr::FabricLoggedIn{});
}

void Registration::name_server_logged_in() {
  effects_.clear();
  process(pr::NameServerLoggedIn{});
}

void Registration::stop() {
  effects_.clear();
  process(pr::LoggedOut{});
}

void Registration::name_server_unavailable() { process(pr::NameServerUnavailable{}); }

// --- the machine -------------------------------------------------------------------------------------------------

/// It asks while it registers, unless the link is away; one thing, with tries left.
bool Registration::is_consistent() const {
  const bool registers = machine_.is<pr::Registering>(), subscribes = machine_.is<pr::RegisteringForStateChanges>();
  if (!effects_.empty()) return false;
  if (request_ == nullptr) return !(registers || subscribes) || !port_.online();
  const bool knows_what = subscribes ? step_ == Step::StateChanges : registers && step_ <= Step::Types;
  return knows_what && retries_left_ >= 0 && (step_ != Step::Address || address_ < config_.own_addresses.size());
}

template <class E>
void Registration::process(const E& event) {
  machine_.process(event, *this);
  static_assert(fsm::most_pending<pr::Def, pr::AbortRequest, pr::LogInToNameServer, pr::BeginWithFirst, pr::GoToNext,
                                  pr::GoToStateChanges, pr::Ask, pr::AskAgain, pr::ReportReady, pr::ValidateLogins> <=
                decltype(effects_)::capacity);
  effects_.drain([this](Effect effect) { carry_out(effect); });
  FCVI_ASSERT_CONSISTENT(*this);
}

void Registration::carry_out(Effect effect) {
  switch (effect) {
    case Effect::AbortRequest: return do_abort();
    case Effect::LogInToNameServer: return port_.remote_port(well_known::name_server).log_in();
    case Effect::BeginWithFirst: return do_begin_with_first();
    case Effect::GoToNext: return do_go_to_next();
    case Effect::GoToStateChanges: return prepare(Step::StateChanges);
    case Effect::Ask: return do_ask();
    case Effect::AskAgain: --retries_left_; return do_ask();
    case Effect::ReportReady: return on_ready_();
    case Effect::ValidateLogins: return on_notified_();
  }
}

void Registration::on_row(const fsm::Row& row) { fsm::tell(port_.config().rows, row); }
void Registration::unexpected(std::string_view, std::string_view, std::string_view) {
  ++port_.counters().unexpected_events;
}

// --- the requests ------------------------------------------------------------------------------------------------

bool Registration::is_wanted(Step step) const {
  switch (step) {
    case Step::Address: return !config_.own_addresses.empty();
    case Step::NodeName:  // a name server that did not see the fabric login has no node to name
    case Step::SymbolicNodeName: return !config_.symbolic_node_name.empty();
    case Step::SymbolicPortName: return !config_.symbolic_port_name.empty();
    case Step::Types:
    case Step::StateChanges: break;
  }
  return true;
}

void Registration::prepare(Step step) {
  step_ = step;
  retries_left_ = config_.retries;
}

void Registration::do_abort() {
  if (request_ != nullptr) port_.abort(*std::exchange(request_, nullptr));
}

void Registration::do_begin_with_first() {
  address_ = 0;
  prepare(Step::Address);
  if (!is_wanted(step_)) do_go_to_next();
}

void Registration::do_go_to_next() {
  if (step_ == Step::Address && address_ + 1 < config_.own_addresses.size()) {
    ++address_;
    return prepare(Step::Address);
  }
  Step next = step_;
  do next = static_cast<Step>(static_cast<int>(next) + 1);
  while (!is_wanted(next));
  prepare(next);
}

// While the link is away nothing is asked: the next fabric login begins anew.
void Registration::do_ask() {
  if (!port_.online()) return;
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
    case Step::StateChanges: break;  // nothing with the Name Server
  }
  return {};
}

void Registration::request(wire::FcId d_id, wire::RCtl r_ctl, wire::Type type, std::span<const std::uint8_t> payload) {
  request_ = port_.request(d_id, r_ctl, type, payload, *this,
                           port_.answer_time(config_.retries - retries_left_, retries_left_));
  if (request_ == nullptr)
    machine_.process(pr::NoExchange{}, *this);  // whoever drains the effects goes on with its own
}

void Registration::sequence_received(fc2::Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t>) {
  request_ = nullptr;
  if (exchange.is_open()) port_.release(exchange);
  process(pr::Answered{});
}

void Registration::exchange_failed(fc2::Exchange&, fc2::ExchangeFailure failure) {
  request_ = nullptr;
  if (failure == fc2::ExchangeFailure::PortLoggedOut) return process(pr::RequestEnded{});
  process(pr::AnswerMissing{});
}

}  // namespace farp
