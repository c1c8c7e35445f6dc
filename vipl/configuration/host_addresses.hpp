// The addresses of this host's interfaces, for NICs whose addresses are the host's own.
#pragma once
#include <vector>

#include "wire/types.hpp"

namespace vipl {

/// Those of interfaces that are up, in the system's order, IPv4 first, 16 at most; loopback addresses only where there
/// are no others, link-local ones of IPv6 never (they mean nothing without an interface). Never empty: 127.0.0.1 where
/// the system tells none.
[[nodiscard]] std::vector<wire::IpAddress> host_addresses();

/// The choice among all that the system tells.
[[nodiscard]] std::vector<wire::IpAddress> usable_addresses(const std::vector<wire::IpAddress>& all);

}  // namespace vipl
