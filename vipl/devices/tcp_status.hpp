// What a NIC of VI over TCP tells of itself, for vitcp-portd status.
#pragma once
#include <span>
#include <string>

#include "vitcp/provider.hpp"

namespace vipl {

/// The kind of its status socket.
inline constexpr std::string_view tcp_status_kind = "tcp";
/// A JSON object: `nic`, its name; the process; its addresses; what it did, and what it refused, by reason.
[[nodiscard]] std::string describe(std::string_view name, const vitcp::Provider& provider);

}  // namespace vipl
