// What another source knows, as far as a NIC can reach it.
#pragma once
#include <memory>
#include <utility>

#include "vipl/names/name_source.hpp"

namespace vipl {

/// For NICs whose addresses are the network's: of a name's addresses those of IPv4 or IPv6, as the NIC has them; first
/// those of the family of its first address, which programs connect from.
class ReachableNames final : public NameSource {
 public:
  ReachableNames(std::unique_ptr<const NameSource> source, std::vector<wire::IpAddress> own_addresses)
      : source_(std::move(source)), own_addresses_(std::move(own_addresses)) {}
  Answer addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const override;
  Answer name_of(const wire::IpAddress& address, std::string& found) const override {
    return source_->name_of(address, found);
  }

 private:
  const std::unique_ptr<const NameSource> source_;
  const std::vector<wire::IpAddress> own_addresses_;  // at least one
};

}  // namespace vipl
