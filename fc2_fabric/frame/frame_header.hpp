// Single fields of a frame's header, for whoever needs no more of it.
#pragma once
#include "fc2_fabric/frame/frame.hpp"
#include "wire/bytes.hpp"
#include "wire/types.hpp"

namespace fc2 {

[[nodiscard]] inline wire::FcId d_id_of(const Frame& frame) { return {wire::load_big<3>(frame.bytes.data() + 1)}; }
[[nodiscard]] inline wire::FcId s_id_of(const Frame& frame) { return {wire::load_big<3>(frame.bytes.data() + 5)}; }

}  // namespace fc2
