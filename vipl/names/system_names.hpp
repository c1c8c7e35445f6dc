// What the system's resolver knows: DNS, /etc/hosts, whatever nsswitch.conf says.
#pragma once
#include "vipl/names/name_source.hpp"

namespace vipl {

/// getaddrinfo and getnameinfo may block for as long as the system's resolver is configured to.
class SystemNames final : public NameSource {
 public:
  Answer addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const override;
  /// Addresses that come of node names (node_identity.hpp) are not asked for: nobody else has them.
  Answer name_of(const wire::IpAddress& address, std::string& found) const override;
};

}  // namespace vipl
