// Whose streams are how many, where their number is limited: a host that opens many does not keep out others.
#pragma once
#include <algorithm>
#include <map>

#include "wire/types.hpp"

namespace vitcp::port_service {

class Senders {
 public:
  void add(const wire::IpAddress& from) { ++counts_[sender_of(from)]; }
  /// Of the sender that has this address.
  [[nodiscard]] std::size_t count_of(const wire::IpAddress& from) const {
    const auto found = counts_.find(sender_of(from));
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  // A site has at least a /64 to itself, and any address of it.
  static wire::IpAddress sender_of(wire::IpAddress address) {
    if (!address.is_v4_mapped()) std::fill(address.bytes.begin() + 8, address.bytes.end(), std::uint8_t{0});
    return address;
  }
  std::map<wire::IpAddress, std::size_t> counts_;
};

}  // namespace vitcp::port_service
