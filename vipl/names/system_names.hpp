// The system's resolver: DNS, /etc/hosts, as nsswitch.conf says.
#pragma once
#include "vipl/names/name_source.hpp"

namespace vipl {

/// getaddrinfo and getnameinfo may block for as long as the system's resolver is configured to.
class SystemNames final : public NameSource {
 public:
  /// Link-local addresses of IPv6 are left out: they mean nothing without their interface.
  Answer addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const override;
  /// Does not ask for addresses that derive from node names (node_identity.hpp): only the fabric knows them.
  Answer name_of(const wire::IpAddress& address, std::string& found) const override;
};

}  // namespace vipl
