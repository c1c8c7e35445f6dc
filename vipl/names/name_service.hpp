// The name service of one open NIC (VI-DG 3.9): own name and address first, then each source in turn.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vipl/names/name_source.hpp"

namespace vipl {

/// Knows one name: the system's name of this host. Asked after the fabric's nodes: programs look up the result
/// of gethostname() to learn their own address, also if $FCVI_NODE gives another name; but another node may
/// have that name.
class HostNameSource final : public NameSource {
 public:
  HostNameSource(std::string host_name, std::vector<wire::IpAddress> own_addresses)
      : host_name_(std::move(host_name)), own_addresses_(std::move(own_addresses)) {}
  Answer addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const override;
  Answer name_of(const wire::IpAddress&, std::string&) const override { return Answer::Unknown; }

 private:
  const std::string host_name_;
  const std::vector<wire::IpAddress> own_addresses_;
};

/// For fabrics without a name server: the address that a node of that name has unless it is configured otherwise.
class DerivedNames final : public NameSource {
 public:
  Answer addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const override;
  Answer name_of(const wire::IpAddress&, std::string&) const override { return Answer::Unknown; }
};

/// Immutable: all calls are thread-safe, and block as long as their sources do.
class NameService {
 public:
  using Answer = NameSource::Answer;

  /// The first source that knows a name answers; `own_addresses` are not empty.
  NameService(std::string own_name, std::vector<wire::IpAddress> own_addresses,
              std::vector<std::unique_ptr<const NameSource>> sources);

  /// The index-th distinct address of a host. The own name, "localhost" and loopback addresses mean the NIC itself.
  /// Addresses that no host on a fabric can have are not found; to a NIC whose own is a loopback address the others of
  /// that kind are hosts.
  [[nodiscard]] Answer find_address(const std::string& name, std::size_t index, wire::IpAddress& found) const;
  [[nodiscard]] Answer find_name(const wire::IpAddress& address, std::string& found) const;

 private:
  [[nodiscard]] bool means_own_host(const std::string& name) const;
  Answer addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const;

  const std::string own_name_;
  const std::vector<wire::IpAddress> own_addresses_;
  const std::vector<std::unique_ptr<const NameSource>> sources_;
};

}  // namespace vipl
