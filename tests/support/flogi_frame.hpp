// FLOGI as a frame, of a port that is none of ours: for ends of links that tests make by hand.
#pragma once
#include "fc2_fabric/frame/frame.hpp"
#include "wire/els/login.hpp"
#include "wire/fc_header.hpp"

namespace support {

inline constexpr wire::Wwn stranger{0x3000'0000'0000'0001};

/// With what `like` has, and the Port_Name `stranger`.
inline fc2::FramePtr flogi_frame(fc2::FramePool& pool, wire::els::Login like) {
  fc2::FramePtr frame = pool.take();
  wire::FcHeader{.r_ctl = wire::RCtl::els_request,
                 .d_id = wire::well_known::f_port,
                 .type = wire::Type::els,
                 .f_ctl = wire::f_ctl::single_frame_request,
                 .ox_id = {1}}
      .write(frame->bytes);
  like.port_name = stranger;
  like.write(frame->data_field());
  frame->size_bytes = fc2::frame_header_bytes + wire::els::Login::size();
  frame->sof = wire::Sof::i3;
  frame->eof = wire::Eof::t;
  return frame;
}

}  // namespace support
