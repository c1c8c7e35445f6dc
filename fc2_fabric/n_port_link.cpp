// An N_Port's link: how it comes by its N_Port_ID, and how it loses it.
#include <cassert>

#include "fc2_fabric/link.hpp"
#include "fc2_fabric/link_services.hpp"
#include "fc2_fabric/login_session.hpp"
#include "fc2_fabric/n_port.hpp"
#include "fc2_fabric/remote_port.hpp"

namespace fc2 {

void AttachedNPort::link_active() { port_.link_up(end_.output()); }
void AttachedNPort::link_offline() { port_.link_down(); }

void NPort::begin_link(FrameOutput& output) {
  if (link_up_) link_down();
  output_ = &output;
  transmitter_.attach(&output);
  link_up_ = true;
}

void NPort::link_up(FrameOutput& output) {
  begin_link(output);
  if (config_.fixed_id != wire::FcId{}) {
    online_ = true;
    for (auto& [id, port] : remote_ports_) port->link_up();
    return;
  }
  fabric_login_->link_up();
  fabric_login_->log_in();
}

void NPort::link_up_without_fabric(FrameOutput& output, wire::FcId own) {
  assert(own != wire::FcId{} && config_.fixed_id == wire::FcId{});
  begin_link(output);
  has_fabric_ = false;
  e_d_tov_ = config_.e_d_tov;
  r_a_tov_ = config_.r_a_tov;
  in_order_ = config_.in_order_without_fabric;
  class_2_ = config_.end_to_end_credit != 0;
  go_online(own);
}

void NPort::link_down() {
  if (!link_up_) return;
  link_up_ = false;
  transmitter_.attach(nullptr);
  output_ = nullptr;
  if (has_fabric_) fabric_login_->link_down();
  has_fabric_ = config_.fixed_id == wire::FcId{};
  set_offline();
}

void NPort::log_out_of_fabric() { fabric_login_->log_out(); }

void NPort::set_online(wire::FcId id, const wire::els::Login& fabric) {
  if (output_ != nullptr) output_->set_bb_credit(fabric.bb_credit);
  if (fabric.has(wire::els::feature::f_port)) take_timeouts(fabric);
  in_order_ = !fabric.has(wire::els::feature::f_port) ||
              (fabric.class_3.service_options & wire::els::class_option::sequential_delivery) != 0;
  class_2_ = config_.end_to_end_credit != 0 && fabric.class_2.valid();
  go_online(id);
}

void NPort::go_online(wire::FcId id) {
  n_port_id_ = id;
  online_ = true;
  for (auto& [peer, port] : remote_ports_) port->link_up();
  for (PortListener* listener : listeners_) listener->fabric_logged_in();
}

// With oneself there is no login that could end (FC-VI 7.7.2 asks none of a loopback), but what was under way is lost too.
void NPort::log_out_of_self() {
  fail_exchanges(n_port_id_, ExchangeFailure::PortLoggedOut);
  RemotePort* self = find_remote_port(n_port_id_);
  if (self == nullptr) return;  // nobody asked for it
  for (PortListener* listener : listeners_) listener->remote_port_logged_out(*self);
}

// A fabric that tells no value leaves ours.
void NPort::take_timeouts(const wire::els::Login& fabric) {
  const bool in_ns = fabric.has(wire::els::feature::e_d_tov_ns);
  if (fabric.r_a_tov_ms() != 0) r_a_tov_ = fabric.r_a_tov_ms() * millisecond;
  if (fabric.e_d_tov != 0) e_d_tov_ = in_ns ? TimeNs{fabric.e_d_tov} : fabric.e_d_tov * millisecond;
}

void NPort::set_offline() {
  if (!online_) return;
  online_ = false;
  for (auto& [peer, port] : remote_ports_) port->link_down();
  log_out_of_self();
  n_port_id_ = config_.fixed_id;  // the next FLOGI is sent without an address
}

wire::els::Login NPort::login_parameters(wire::els::Command command) const {
  namespace feature = wire::els::feature;
  wire::els::Login login{.command = command, .bb_credit = output_ != nullptr ? output_->own_bb_credit() : std::uint16_t{0}};
  // FC-VI 5.6; ruling 12 for the bit of C. A FLOGI says nothing of relative offsets: there the bit means R_A_TOV.
  if (config_.continuously_increasing_seq_cnt) login.features |= feature::seq_cnt;
  if (config_.continuously_increasing_relative_offset && command != wire::els::Command::flogi)
    login.features |= feature::continuously_increasing_relative_offset;
  login.receive_data_field_size = config_.receive_data_field_bytes;
  login.total_concurrent_sequences = 255;
  login.relative_offset_by_category = 0x00FF;
  login.e_d_tov = static_cast<std::uint32_t>(e_d_tov_ / millisecond);
  login.port_name = config_.port_name;
  login.node_name = config_.node_name;
  login.class_3.service_options = wire::els::class_option::valid | wire::els::class_option::sequential_delivery;
  login.class_3.receive_data_field_size = config_.receive_data_field_bytes;
  login.class_3.concurrent_sequences = 255;
  login.class_3.open_sequences_per_exchange = 1;
  if (config_.end_to_end_credit == 0) return login;
  login.class_2 = login.class_3;
  login.class_2.end_to_end_credit = config_.end_to_end_credit;
  if (config_.ack_0) {
    login.class_2.initiator_control = wire::els::class_control::initiator_ack_0;
    login.class_2.recipient_control = wire::els::class_control::recipient_ack_0;
  }
  return login;
}

}  // namespace fc2
