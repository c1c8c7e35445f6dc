#include "vipl/devices/fc_names.hpp"

namespace vipl {
namespace {

wire::Wwn given_or_local(wire::Wwn given, std::uint64_t hash) {
  constexpr std::uint64_t naa_3 = std::uint64_t{3} << 60, bits_60 = (std::uint64_t{1} << 60) - 1;
  return given != wire::Wwn{} ? given : wire::Wwn{naa_3 | (hash & bits_60)};
}

}  // namespace

FcNames fc_names(const FcChoices& choices, const NodeIdentity& identity) {
  return {given_or_local(choices.node_wwn, identity.node_hash), given_or_local(choices.port_name, identity.nic_hash)};
}

}  // namespace vipl
