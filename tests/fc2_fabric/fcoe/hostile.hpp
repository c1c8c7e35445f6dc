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
  wire::FcHeader header;
  header.r_ctl = wire::RCtl::unsolicited_control;
  header.type = wire::Type::fcp;
  header.d_id = d_id;
  header.s_id = s_id;
  return fc2::fcoe::encapsulate(destination, source, made_frame(pool, header, zeros(data_bytes))).to_bytes();
}

/// FLOGI, FDISC or LOGO inside FIP; a LOGO for `s_id`.
inline wire::fip::FipMessage login_request(wire::fip::DescriptorType type, wire::Wwn port_name, wire::FcId s_id = {},
                                           wire::OxId ox_id = {1}) {
  namespace fip = wire::fip;
  wire::FcHeader header;
  header.r_ctl = wire::RCtl::els_request;
  header.type = wire::Type::els;
  header.d_id = wire::well_known::f_port;
  header.s_id = s_id;
  header.f_ctl = wire::f_ctl::first_sequence | wire::f_ctl::end_sequence | wire::f_ctl::sequence_initiative;
  header.ox_id = ox_id;
  header.rx_id = wire::RxId::unassigned;
  const bool logo = type == fip::DescriptorType::logo;
  std::vector<std::uint8_t> frame(fc2::frame_header_bytes +
                                  (logo ? wire::els::Logo::size() : wire::els::Login::size()));
  header.write(frame);
  const wire::MutableBytes payload = wire::MutableBytes(frame).subspan(fc2::frame_header_bytes);
  if (logo) {
    wire::els::Logo{.n_port_id = s_id, .port_name = port_name}.write(payload);
  } else {
    wire::els::Login login{.command = type == fip::DescriptorType::flogi ? wire::els::Command::flogi
                                                                         : wire::els::Command::fdisc};
    login.receive_data_field_size = login.class_3.receive_data_field_size = 2112;
    login.class_3.service_options = wire::els::class_option::valid;
    login.port_name = login.node_name = port_name;
    login.write(payload);
  }
  fip::FipMessage message{fip::Operation::link_service, fip::subcode::link_service_request, fip::flag::fpma, {}, {}};
  message.descriptors.push_back(fip::EncapsulatedFrame{type, std::move(frame)});
  message.descriptors.push_back(fip::Mac{});
  return message;
}

}  // namespace support
