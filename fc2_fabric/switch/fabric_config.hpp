// How a fabric of several switches is made.
#pragma once
#include <cstdint>

#include "fc2_fabric/frame/time.hpp"

namespace fc2 {

/// Which of several paths of equal cost a frame takes.
enum class Multipath : std::uint8_t {
  PortPair,  // the same for all frames of a pair of ports: they arrive in order (FC-VI 3.1.12)
  Exchange,  // the same for all frames of an exchange: exchanges may overtake each other
  Frame,     // in turn: frames may overtake each other
};

/// What happens to two fabrics with the same Domain_ID when an ISL joins them (FC-SW).
enum class DomainConflict : std::uint8_t {
  Reassign,  // the side whose principal switch loses gets other Domain_IDs: its N_Ports must log in anew
  Isolate,   // the ISL is isolated: there remain two fabrics
};

struct FabricConfig {
  TimeNs reconfiguration_delay = 10 * millisecond;  // from a change of switches or ISLs to new Domain_IDs and paths
  Multipath multipath = Multipath::PortPair;        // others make it an out-of-order fabric, and FLOGI's accept says so
  DomainConflict domain_conflict = DomainConflict::Reassign;
};

}  // namespace fc2
