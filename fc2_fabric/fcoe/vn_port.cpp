#include "fc2_fabric/fcoe/vn_port.hpp"

#include <utility>

#include "wire/els/command.hpp"
#include "wire/fc_header.hpp"
#include "wire/header_fields.hpp"

namespace fc2::fcoe {
using wire::fip::DescriptorType;

std::optional<DescriptorType> fip_type_of(const Frame& frame) {
  const auto header = wire::FcHeader::parse(frame.content());
  const bool request = header && header->r_ctl == wire::RCtl::els_request && frame.size_bytes > frame_header_bytes;
  if (!request || header->d_id != wire::well_known::f_port) return {};
  const auto command = wire::els::command_of(frame.content().subspan(frame_header_bytes));
  if (command == wire::els::Command::flogi) return DescriptorType::flogi;
  if (command == wire::els::Command::fdisc) return DescriptorType::fdisc;
  if (command == wire::els::Command::logo) return DescriptorType::logo;
  return {};
}

void VnPort::take_up() {
  if (std::exchange(up_, true)) return;
  n_port.link_up(link.to_wire);
}

void VnPort::take_up_without_fabric(wire::FcId own) {
  up_ = true;
  n_port.link_up_without_fabric(link.to_wire, own);
}

bool VnPort::forget_link() {
  pending.reset();
  mac.reset();
  id = {};
  return std::exchange(up_, false);
}

void VnPort::take_down() {
  if (!forget_link() && !n_port.interrupted()) return;
  n_port.link_down();
  link.clear();
  link.to_wire.resume();
}

void VnPort::interrupt() {
  if (!forget_link()) return;
  n_port.fabric_interrupted();
  link.clear();
  link.to_wire.resume();
}

void VnPort::receive(FramePtr frame) {
  if (const auto type = fip_type_of(*frame)) return user_.vn_port_sends_els(*this, *frame, *type);
  user_.vn_port_sends(*this, std::move(frame));
}

}  // namespace fc2::fcoe
