// FC-VI as an N_Port knows an FC-4.
#pragma once
#include "fc2_fabric/node/fc4.hpp"

namespace fcvi {

/// FC-VI 5.6: SEQ_CNT increases continuously over an Exchange. 5.8.7: the Parameter field is a relative offset in every
/// frame. Connections only with a port that advertised both at login. 5.8.5: the Device_Header stands in every frame.
inline constexpr fc2::Fc4 fc4{
    .type = wire::Type::fc_vi, .continuous_seq_cnt = true, .relative_offset = true, .repeats_device_header = true};

}  // namespace fcvi
