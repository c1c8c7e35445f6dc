// The hosts file of the name service. Lines as in /etc/hosts:
//
//   10.1.0.1  node1.example.org  node1   # address, its name, other names
//   fdfc:7669::1  node2
//
// An address is IPv4 or IPv6; a name has letters, digits, '.', '-', '_' and ':'. A name may be on several lines: it has
// all their addresses, in the order of the file (NameIndex of VipNSGetHostByName). The name of an address is the first
// one on its first line. Empty lines and text after a '#' are ignored.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "vipl/configuration/configuration.hpp"
#include "vipl/names/name_source.hpp"

namespace vipl {

class HostsFile final : public NameSource {
 public:
  /// `file` names it in messages: "FILE:LINE:COLUMN: expected an IPv4 or IPv6 address, got ...".
  [[nodiscard]] static ConfigurationResult<HostsFile> parse(std::string_view text, const std::string& file);
  [[nodiscard]] static ConfigurationResult<HostsFile> load(const std::string& path);
  /// The first of these files that exists; empty if there is none.
  [[nodiscard]] static ConfigurationResult<HostsFile> load_first(const std::vector<std::string>& paths);
  /// The one that a NIC is configured with; empty: the first that exists of the usual places.
  [[nodiscard]] static ConfigurationResult<HostsFile> load_for(const std::string& configured);

  Answer addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const override;
  Answer name_of(const wire::IpAddress& address, std::string& found) const override;
  /// Each address with its name.
  [[nodiscard]] const std::map<wire::IpAddress, std::string>& hosts() const { return addresses_; }

 private:
  struct Name {
    std::string name;  // with its domain
    wire::IpAddress address;
  };
  std::map<std::string, std::vector<Name>, std::less<>> names_;  // by short name, in the order of the file
  std::map<wire::IpAddress, std::string> addresses_;

  class Parser;
};

}  // namespace vipl
