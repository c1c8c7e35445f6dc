// Answers for addresses of the local fabric that no port has: a program that connects before its server has started
// gets "no match" at once, as if the server were there and not yet waiting.
#pragma once
#include <deque>
#include <set>

#include "farp/resolver.hpp"
#include "fc2_fabric/drivers/fabric_core.hpp"
#include "fc2_fabric/switch/name_server.hpp"
#include "fc2_fabric/switch/switch.hpp"
#include "fcvi/provider.hpp"

namespace fabricd {

/// Addresses that ports had once. For one more than the limit the first is evicted, so that invented ones cannot
/// keep others out.
class FormerAddresses {
 public:
  explicit FormerAddresses(std::size_t limit) : limit_(limit) {}
  void add(const wire::IpAddress& address);
  [[nodiscard]] bool contains(const wire::IpAddress& address) const { return addresses_.contains(address); }
  [[nodiscard]] std::size_t size() const { return addresses_.size(); }

 private:
  const std::size_t limit_;
  std::set<wire::IpAddress> addresses_;
  std::deque<wire::IpAddress> oldest_;  // of those
};

/// An N_Port with an FC-VI provider and no VI. The Name Server returns it for an address that no port has registered
/// now, if that is of the local fabric's own range (every node's default address is) or if a port had registered it
/// before. It registers nothing itself, so that it is not found otherwise.
class StandIn final : private fc2::AddressStandIn {
 public:
  StandIn(fc2::Switch& fabric, fc2::drivers::FabricCore& core);
  ~StandIn();
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  /// IPv6 fdfc:7669::/64.
  [[nodiscard]] static bool is_local(const wire::IpAddress& address);
  static constexpr std::size_t max_remembered = 65'536;  // addresses

 private:
  void address_registered(const wire::IpAddress& address) override;
  [[nodiscard]] std::optional<wire::FcId> port_for(const wire::IpAddress& address) const override;

  fc2::Switch& fabric_;
  fc2::NPort port_;
  farp::Resolver resolver_;
  fcvi::Provider provider_;
  FormerAddresses registered_{max_remembered};
};

}  // namespace fabricd
