// A frame's header, or single fields of it for whoever needs no more.
#pragma once
#include "fc2_fabric/frame/frame.hpp"
#include "wire/header_fields.hpp"

namespace fc2 {

[[nodiscard]] inline wire::FcHeader header_of(const Frame& frame) {
  return wire::FcHeader::read(std::span<const std::uint8_t, max_frame_bytes>(frame.bytes).first<frame_header_bytes>());
}
[[nodiscard]] inline wire::RCtl r_ctl_of(const Frame& frame) { return wire::r_ctl_of(frame.bytes); }
[[nodiscard]] inline wire::FcId d_id_of(const Frame& frame) { return wire::d_id_of(frame.bytes); }
[[nodiscard]] inline wire::FcId s_id_of(const Frame& frame) { return wire::s_id_of(frame.bytes); }
[[nodiscard]] inline wire::Type type_of(const Frame& frame) { return wire::type_of(frame.bytes); }
[[nodiscard]] inline wire::OxId ox_id_of(const Frame& frame) { return wire::ox_id_of(frame.bytes); }

}  // namespace fc2
