// Carries out one request to the Name Server (FC-GS): a port registers only for itself and its node, and
// may query everything.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "fc2_fabric/switch/name_database.hpp"
#include "wire/ct/command.hpp"
#include "wire/ct/reject.hpp"

namespace fc2 {
class AddressStandIn;

/// The CT_IU of a reject.
[[nodiscard]] std::vector<std::uint8_t> reject(wire::ct::RejectReason reason,
                                               wire::ct::RejectExplanation why = wire::ct::RejectExplanation::none);

class NameClerk {
 public:
  NameClerk(NameDatabase& database, AddressStandIn* stand_in, wire::FcId source)
      : database_(database), stand_in_(stand_in), source_(source) {}
  /// The CT_IU that answers `iu`, an accept or a reject. Its preamble was parsed and has this `command`.
  [[nodiscard]] std::vector<std::uint8_t> carry_out(wire::ct::Command command, std::span<const std::uint8_t> iu);

 private:
  NameDatabase& database_;
  AddressStandIn* const stand_in_;
  const wire::FcId source_;
};

}  // namespace fc2
