// The world-wide names of a NIC's N_Port. What the configuration leaves open is derived from the NIC's identity: NAA 3h
// (locally assigned), the lower 60 bits of the node's hash for the Node_Name, of the NIC's for the Port_Name. So each
// process and NIC is an N_Port of its own.
#pragma once
#include "vipl/configuration/node_identity.hpp"

namespace vipl {

struct FcNames {
  wire::Wwn node_name{};
  wire::Wwn port_name{};
};
[[nodiscard]] FcNames fc_names(const FcChoices& choices, const NodeIdentity& identity);

}  // namespace vipl
