// Times that tests of protocol endpoints write often. In one place, so that sources can be compiled as one (JOINED).
#pragma once
#include "runtime/time.hpp"

namespace support {

inline constexpr runtime::TimeNs us = runtime::microsecond, ms = runtime::millisecond, s = runtime::second;
inline constexpr runtime::TimeNs r_a_tov = 10 * s;  // FC-FS 29.2.1.4: the default of a fabric
inline constexpr runtime::TimeNs soon = 10 * ms;    // no time-out of the protocol is over

}  // namespace support
