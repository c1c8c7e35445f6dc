#include "farp/registration.hpp"

#include <array>
#include <utility>

#include "fc2_fabric/remote_port.hpp"
#include "wire/ct/rft_id.hpp"
#include "wire/ct/ripp_id.hpp"
#include "wire/els/scr.hpp"

namespace farp {
namespace {
namespace well_known = wire::well_known;

template <class Message>
std::array<std::uint8_t, Message::size()> bytes_of(const Message& message) {
  std::array<std::uint8_t, Message::size()> bytes;
  message.write(bytes);
  return bytes;
}
}  // namespace

void Registration::fabric_logged_in() {
  stop();
  if (config_.use_name_server) port_.remote_port(well_known::name_server).log_in();
  else name_server_unavailable();
}

void Registration::name_server_logged_in() {
  stop();
  step_ = 0;
  retries_left_ = config_.retries;
  request_step();
}

// FC-VI 7.4: every port supports FARP, so that it can be found all the same.
void Registration::name_server_unavailable() {
  step_ = config_.own_addresses.size() + 1;  // only SCR is left
  retries_left_ = config_.retries;
  become_ready();
  request_step();
}

void Registration::stop() {
  if (request_ != nullptr) port_.abort(*std::exchange(request_, nullptr));
  ready_ = false;
}

void Registration::next() {
  ++step_;
  retries_left_ = config_.retries;
  if (step_ == config_.own_addresses.size() + 1) become_ready();
  request_step();
}

void Registration::become_ready() {
  ready_ = true;
  on_ready_();
}

void Registration::request_step() {
  if (!port_.online() || request_ != nullptr) return;  // the listener may have changed what was true
  const std::size_t addresses = config_.own_addresses.size();
  if (step_ < addresses) {
    wire::ct::RippId ripp_id;
    ripp_id.port_id = port_.n_port_id();
    ripp_id.ip_address = config_.own_addresses[step_];
    request(well_known::name_server, wire::RCtl::unsolicited_control, wire::Type::ct, bytes_of(ripp_id));
  } else if (step_ == addresses) {
    wire::ct::RftId rft_id;
    rft_id.port_id = port_.n_port_id();
    rft_id.types.add(wire::Type::fc_vi);
    request(well_known::name_server, wire::RCtl::unsolicited_control, wire::Type::ct, bytes_of(rft_id));
  } else if (step_ == addresses + 1 && config_.register_state_changes) {
    request(well_known::fabric_controller, wire::RCtl::els_request, wire::Type::els, bytes_of(wire::els::Scr{}));
  }
}

void Registration::request(wire::FcId d_id, wire::RCtl r_ctl, wire::Type type, std::span<const std::uint8_t> payload) {
  request_ = port_.request(d_id, r_ctl, type, payload, *this, 2 * port_.r_a_tov());
  if (request_ == nullptr) next();  // no exchange is free: a port in that state is not found by its address
}

// A reject is final: the server does not keep what we register, and FARP has to do.
void Registration::sequence_received(fc2::Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t>) {
  request_ = nullptr;
  if (exchange.is_open()) port_.release(exchange);
  next();
}

void Registration::exchange_failed(fc2::Exchange&, fc2::ExchangeFailure failure) {
  request_ = nullptr;
  if (failure == fc2::ExchangeFailure::PortLoggedOut) return;  // begins again after the next login
  if (retries_left_-- > 0) request_step();
  else next();
}

}  // namespace farp
