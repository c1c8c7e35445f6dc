// A scenario with all defaults filled in. docs/scenarios.md explains each.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fc2_fabric/link/channel.hpp"
#include "fc2_fabric/switch/fabric_config.hpp"
#include "fc2_fabric/switch/switch_config.hpp"
#include "tools/faults/connections.hpp"
#include "tools/faults/rules.hpp"
#include "tools/fcvi_sim/scenario/port_event.hpp"
#include "tools/fcvi_sim/scenario/segment_fault.hpp"
#include "tools/fcvi_sim/scenario/workload.hpp"
#include "vi/types.hpp"
#include "wire/types.hpp"

namespace sim {

inline constexpr std::size_t max_ports = 1'000'000;
inline constexpr std::size_t max_links = 1000;  // between switches
inline constexpr std::size_t max_loops = 100;
inline constexpr std::size_t max_faults = 1000;

struct SwitchSpec {
  std::string name = "switch";
  std::uint8_t domain = 1, priority = 128;  // the domain: where it is free
};

struct SwitchLinkSpec {
  std::string name;
  std::size_t from = 0, to = 0;  // positions in switches
  fc2::LinkConfig link = {};
  bool capture = true;
};

/// A public arbitrated loop: with a FL_Port of a switch.
struct LoopSpec {
  std::string name;
  std::size_t at_switch = 0;  // position in switches
  fc2::LinkConfig link = {};  // all of it, and from one port to the next
};

/// How a host's TCP cuts what it sends, and how much it holds; and what its VI/TCP provider is configured with
/// (vitcp::ProviderConfig).
struct TcpSpec {
  std::uint32_t segment_bytes = 1460;  // octets of a TCP segment
  bool drawn_segments = false;         // each of a size from the seed, up to that
  std::uint32_t send_buffer_bytes = 256 * 1024, receive_buffer_bytes = 512 * 1024;
  std::uint16_t port = 8474;
  std::uint32_t vi_segment_bytes = 65535;  // the longest VI segment
  bool asks_for_crc = false, grants_crc = true;
  bool descriptor_flow_control = true;
  bool takes_urgent_marks = true, sends_urgent_marks = false;
  std::uint16_t rdma_read_window = 16;
  runtime::TimeNs request_timeout = 10 * runtime::second, close_timeout = 2 * runtime::second;
};

struct PortSpec {
  std::string name;
  std::size_t at_switch = 0;                // position in switches; that of its loop, if it is on one
  std::optional<std::size_t> at_loop = {};  // position in loops: there, and not at a port of the switch
  bool is_private = false;                  // there: without the fabric
  wire::Wwn port_name{}, node_name{};
  std::vector<wire::IpAddress> addresses = {};  // at least one; the first is the NIC's
  bool use_name_server = true;
  fc2::LinkConfig link = {};
  std::uint16_t receive_data_field_bytes = 2112;
  // Drawn from the seed if absent.
  std::optional<std::uint16_t> first_ox_id = {};
  std::optional<std::uint32_t> first_handle = {}, first_connection_id = {};
  std::uint64_t max_iu_bytes = 0;  // 0: the provider's most
  std::uint32_t pipeline_depth = 31;
  std::uint64_t reorder_pool_bytes = 256u << 20;
  bool preference = false;
  bool class_2 = false;                 // its messages go in class 2, where the other port offers it too
  std::uint16_t end_to_end_credit = 0;  // 0: it offers class 3 only
  bool ack_0 = false;
  runtime::TimeNs ulp_timeout = 0;  // 0: R_A_TOV
  bool capture = true;
  TcpSpec tcp = {};  // where hosts are on TCP: then nothing above that only a N_Port has
};

/// An asynchronous error of a NIC.
struct ErrorExpectation {
  std::size_t port = 0;
  vi::ErrorCode error{};
  TimeBound at = {};
};

/// One IU on the wire, as its sender sent it or a fault rewrote it; over TCP one VI segment. A member that is not set
/// matches anything.
struct WireExpectation {
  std::string where;                                   // in the scenario: for messages
  std::string message;                                 // as wire::message_name
  std::optional<std::size_t> from = {}, to = {};       // ports
  std::optional<std::vector<std::string>> flags = {};  // exactly these
  std::optional<wire::fcvi::Reason> reason = {};
  // Equal numbers, equal ids; others, others. Over TCP `connection` is one TCP connection.
  std::optional<std::uint64_t> exchange = {}, connection = {};
  std::optional<bool> ends_exchange = {}, gives_initiative = {}, lost = {};
  std::vector<faults::FieldRange> fields = {};
  std::vector<SegmentFieldRange> segment_fields = {};  // over TCP, instead
  std::optional<std::uint64_t> payload_bytes = {};
  TimeBound at = {};
};

/// A kind of message that `wire` lists.
struct WireMessage {
  std::string message;
  std::vector<faults::FieldRange> fields = {};         // of its first frame
  std::vector<SegmentFieldRange> segment_fields = {};  // over TCP, instead
};

/// Frames that a port discarded.
struct DiscardExpectation {
  std::size_t port = 0;
  std::string_view reason;  // one of known_discard_names()
  std::uint64_t times = 0;
};

/// The most that a port stored at once of frames that overtook others.
struct KeptExpectation {
  std::size_t port = 0;
  Bound bytes;
};

struct Expectations {
  std::optional<std::vector<WireExpectation>> wire = {};     // in this order, and no other of wire_messages
  std::vector<WireMessage> wire_messages = {};               // none: IUs of FC-VI and basic link services
  bool wire_frames = false;                                  // every frame is an item of `wire`, not every IU
  std::optional<runtime::TimeNs> wire_from = {};             // earlier frames do not count
  std::optional<std::vector<ErrorExpectation>> errors = {};  // in the order of time, and no other
  std::map<std::string, Bound> ius;  // by name, as the ports sent them (and what the fabric's services answered)
  Bound discards{0, 0};
  bool discards_given = false;  // else frames of `background` do not count that found no FC-4, or a port logged out
  std::optional<std::vector<DiscardExpectation>> discard_list = {};  // these, and no other
  std::vector<KeptExpectation> kept = {};
  Bound asynchronous_errors;  // of all NICs
  std::optional<runtime::TimeNs> max_duration;
};

/// FC-VI 4.2, 7.7. Tcp: hosts on a network that carries TCP, and no Fibre Channel.
enum class TopologyKind : std::uint8_t { Fabric, PointToPoint, PrivateLoop, Tcp };

struct FaultSpec {
  faults::Rule rule;
  std::optional<SegmentFault> segment = {};  // over TCP: what befalls, instead of rule.action and rule.match.fields
  std::optional<PortEvent> event = {};       // when a frame matches, or `at` a time
  std::optional<runtime::TimeNs> at = {};
  Bound times = {};        // how often it must happen
  std::string where = {};  // in the file: "FILE:LINE"
};

struct Scenario {
  std::string name;
  std::uint64_t seed = 1;
  runtime::TimeNs time_limit = 60 * runtime::second;  // simulated
  runtime::TimeNs linger = 0;                         // from the end of the programs to the logout of the ports
  std::string file;                                   // what transfers without data move
  TopologyKind topology = TopologyKind::Fabric;
  bool in_order = true;  // what the fabric promises
  fc2::FabricConfig fabric = {};
  std::vector<SwitchSpec> switches = std::vector<SwitchSpec>(1);  // at least one
  std::vector<SwitchLinkSpec> switch_links;
  std::vector<LoopSpec> loops;
  std::vector<PortSpec> ports;
  std::vector<WorkloadSpec> workloads;
  std::vector<WorkloadGroup> workload_groups;
  std::vector<BackgroundSpec> background;  // at most max_background
  std::vector<FaultSpec> faults;           // at most max_faults
  Expectations expectations;
  std::vector<std::string> warnings;  // settings against a standard's advice, with their place
};

/// Of the servers, and of both peers, by workload.
inline std::vector<faults::ConnectionPoint> connection_points_of(const Scenario& scenario) {
  std::vector<faults::ConnectionPoint> all;
  for (std::size_t i = 0; i < scenario.workloads.size(); ++i) {
    const WorkloadSpec& workload = scenario.workloads[i];
    all.push_back({workload.server_address, workload.discriminator, i});
    if (workload.peer_to_peer) all.push_back({workload.client_address, workload.discriminator, i});
  }
  return all;
}

}  // namespace sim
