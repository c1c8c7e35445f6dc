// The formats of RDMA over TCP that need nothing but their octets: what the fuzzer tries on any input.
#pragma once
#include <boost/mp11/list.hpp>

#include "wire/iwarp/ift/frame.hpp"
#include "wire/iwarp/mpa/fpdu.hpp"
#include "wire/iwarp/mpa/startup_frame.hpp"
#include "wire/iwarp/rdmap/opcode.hpp"
#include "wire/iwarp/rdmap/terminate.hpp"

namespace wire::iwarp {

using Messages = boost::mp11::mp_list<mpa::StartupFrame, mpa::EnhancedData, mpa::Marker, ddp::Header, rdmap::Control,
                                      rdmap::ReadRequest, rdmap::ImmediateData, rdmap::Terminate,
                                      ift::AdaptionIndication, ift::FrameHeader>;

}  // namespace wire::iwarp
