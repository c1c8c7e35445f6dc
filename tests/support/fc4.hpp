// An FC-4 for tests of N_Ports, with the rules of FC-VI (5.6, 5.8.5, 5.8.7).
#pragma once
#include "fc2_fabric/node/fc4.hpp"

namespace support {

inline constexpr fc2::Fc4 fc4{
    .type = wire::Type::fc_vi, .continuous_seq_cnt = true, .relative_offset = true, .repeats_device_header = true};

}  // namespace support
