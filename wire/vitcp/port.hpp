// Where hosts wait for ConnectRequests.
#pragma once
#include <cstdint>

namespace wire::vitcp {

/// TCP port of hosts whose configuration names none: the draft reserves one port (VI-TCP 2.2.2.2.1) without a number,
/// and nobody has registered one (ruling V-12).
inline constexpr std::uint16_t default_port = 8474;

}  // namespace wire::vitcp
