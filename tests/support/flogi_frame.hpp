// FLOGI as a frame, of a port that is none of ours: for ends of links that tests make by hand.
#pragma once
#include "fc2_fabric/frame/frame.hpp"
#include "tests/support/made_frame.hpp"
#include "wire/els/login.hpp"
#include "wire/fc_header.hpp"

namespace support {

inline constexpr wire::Wwn stranger{0x3000'0000'0000'0001};

/// With what `like` has, and the Port_Name `stranger`.
inline fc2::FramePtr flogi_frame(fc2::FramePool& pool, wire::els::Login like) {
  like.port_name = stranger;
  return made_frame(pool, els_request_header(wire::well_known::f_port, {}, {1}), bytes_of(like));
}

}  // namespace support
