// Where hosts wait for ConnectRequests.
#pragma once
#include <cstdint>

namespace wire::vitcp {

/// TCP port of hosts whose configuration names none: the draft reserves one, without a number (ruling V-12).
inline constexpr std::uint16_t default_port = 8474;

}  // namespace wire::vitcp
