// Frames that nobody sound would send, for tests.
#pragma once
#include "tests/fc2_fabric/fcoe/ethernet_world.hpp"
#include "tests/support/made_frame.hpp"
#include "wire/els/login.hpp"
#include "wire/els/logo.hpp"

namespace support {

/// An FCoE frame that holds an unsolicited data frame.
inline std::vector<std::uint8_t> fcoe_frame(fc2::FramePool& pool, const wire::MacAddress& destination,
                                            const wire::MacAddress& source, wire::FcId d_id, wire::FcId s_id,
                                            std::size_t data_bytes = 32) {
  const wire::FcHeader header{
      .r_ctl = wire::RCtl::unsolicited_control, .d_id = d_id, .s_id = s_id, .type = wire::Type::fcp};
  return fc2::fcoe::encapsulate(destination, source, made_frame(pool, header, zeros(data_bytes))).to_bytes();
}

/// FLOGI, FDISC or LOGO inside FIP; a LOGO for `s_id`.
inline wire::fip::FipMessage login_request(wire::fip::DescriptorType type, wire::Wwn port_name, wire::FcId s_id = {},
                                           wire::OxId ox_id = {1}) {
  namespace fip = wire::fip;
  wire::els::Login login{.command = type == fip::DescriptorType::flogi ? wire::els::Command::flogi
                                                                       : wire::els::Command::fdisc};
  login.receive_data_field_size = login.class_3.receive_data_field_size = 2112;
  login.class_3.service_options = wire::els::class_option::valid;
  login.port_name = login.node_name = port_name;
  auto frame = bytes_of_frame(els_request_header(wire::well_known::f_port, s_id, ox_id),
                              type == fip::DescriptorType::logo
                                  ? bytes_of(wire::els::Logo{.n_port_id = s_id, .port_name = port_name})
                                  : bytes_of(login));
  fip::FipMessage message{fip::Operation::link_service, fip::subcode::link_service_request, fip::flag::fpma, {}, {}};
  message.descriptors.push_back(fip::EncapsulatedFrame{type, std::move(frame)});
  message.descriptors.push_back(fip::Mac{});
  return message;
}

}  // namespace support
