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
  /// Until what a switch learns of its ports is in the common directory: in answers of the Name Server, and in RSCNs.
  /// 0: at once. Else no switch knows sooner of another than this, or than its ISLs carry it: ISLs need a latency and
  /// credit, what arrives at one time is taken in an order of its own, and the switches can be simulated apart. ISLs
  /// and switches go down and come back in each copy of the fabric at the same time.
  TimeNs directory_delay = 0;
  [[nodiscard]] bool has_independent_switches() const { return directory_delay > 0; }
};

/// What comes first of all that happens at one time where switches are independent (Scheduler::schedule_first).
namespace instant_rank {
inline constexpr std::uint32_t program = 1;        // for drivers: what begins or ends a run
inline constexpr std::uint32_t directory = 2;      // the DirectoryFeed
inline constexpr std::uint32_t paths = 3;          // the fabric's configuration
inline constexpr std::uint32_t links = 16;         // ISLs: Link::ranks for each, in their order
inline constexpr std::uint32_t faults = 1U << 20;  // for drivers: of ISLs and switches, behind what ISLs carry
}  // namespace instant_rank

}  // namespace fc2
