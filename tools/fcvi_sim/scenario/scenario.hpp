// A scenario with all defaults filled in. The schema is in tools/scenarios/README.md.
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fc2_fabric/link/channel.hpp"
#include "fc2_fabric/frame/counters.hpp"
#include "fc2_fabric/switch/fabric.hpp"
#include "tools/faults/rules.hpp"
#include "vi/types.hpp"
#include "wire/types.hpp"

namespace sim {

inline constexpr std::size_t max_ports = 10'000;
inline constexpr std::size_t max_links = 1000;  // between switches
inline constexpr std::size_t max_loops = 100;
inline constexpr std::size_t max_workloads = 10'000;
inline constexpr std::size_t max_faults = 1000;
inline constexpr std::uint64_t max_transfer_bytes = 0xFFFFFFFF;
inline constexpr std::uint32_t max_segments =
    250;  // VI-DG 4.5: at least 252 per descriptor; one is the address segment

/// A bound of an expectation; both ends are included.
struct Bound {
  std::uint64_t min = 0;
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  [[nodiscard]] bool holds(std::uint64_t value) const { return value >= min && value <= max; }
};
/// "exactly 3", "at least 3", "at most 3", "3 to 5".
std::string to_string(const Bound& bound);

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

struct PortSpec {
  std::string name;
  std::size_t at_switch = 0;                // position in switches
  std::optional<std::size_t> at_loop = {};  // position in loops: there, and not at a switch
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
};

enum class Operation : std::uint8_t { Send, RdmaWrite, RdmaRead };
std::string_view to_string(Operation operation);
enum class Side : std::uint8_t { Client, Server };
constexpr Side other(Side side) { return side == Side::Client ? Side::Server : Side::Client; }

/// The data of a transfer: a file, or bytes drawn from the seed.
struct DataSpec {
  std::string path;  // empty: random
  std::uint64_t size_bytes = 0;
};

struct TransferSpec {
  Operation operation = Operation::Send;
  DataSpec data = {};
  std::uint64_t message_bytes = 65536;  // the last message may be shorter; data of no bytes is one message
  std::uint32_t segments = 1;           // of each message, at both ends (remote RDMA memory is one piece)
  std::optional<std::uint32_t> immediate = {};
  Side initiator = Side::Client;
  std::uint32_t repeat = 1;
  bool concurrent = false;            // at the same time as the one before it, which goes the other way
  std::uint32_t expected_status = 0;  // error bits of vi::status::
  [[nodiscard]] std::uint64_t message_count() const {
    return data.size_bytes == 0 ? 1 : (data.size_bytes + message_bytes - 1) / message_bytes;
  }
};

/// Both ends included.
struct TimeBound {
  runtime::TimeNs min = 0, max = runtime::never;
  [[nodiscard]] bool holds(runtime::TimeNs value) const { return value >= min && value <= max; }
};
std::string to_string(const TimeBound& bound);

/// Consecutive completions of descriptors of one queue.
struct CompletionExpectation {
  std::string where = {};        // file and line
  std::uint32_t error_bits = 0;  // of vi::status::; 0: success
  std::uint64_t count = 1;
  TimeBound at = {};  // of each
};
using CompletionExpectations = std::optional<std::vector<CompletionExpectation>>;

struct WorkloadExpectation {
  vi::Return connect = vi::Return::Success;
  std::optional<vi::Return> disconnect = {};  // none: Success, where connect is
  std::optional<vi::Return> accept = {}, server_disconnect = {};
  vi::State client_state = vi::State::Idle, server_state = vi::State::Idle;  // when the programs have ended
  /// States of FC-VI 8.2 of the endpoints, after Idle.
  std::optional<std::vector<std::string>> client_states = {}, server_states = {};
  std::optional<TimeBound> connect_time = {}, accept_time = {};  // that the calls took
  std::optional<std::string> gives_up = {};                      // why the first program that gave up did so
  /// Every descriptor of these queues, in the order of completion, and no other.
  CompletionExpectations client_sends = {}, client_receives = {}, server_sends = {}, server_receives = {};
};

/// One connection: a client program and a server program, or two peers, of which the one that begins the first transfer
/// is called the client.
struct WorkloadSpec {
  std::string name;
  std::string group = {};                                    // that it was made with by `count`; empty: alone
  std::size_t client = 0, server = 0;                        // positions in ports
  wire::IpAddress client_address = {}, server_address = {};  // of those of the ports; by default the first
  std::string discriminator = {};                            // default: the name
  vi::ViAttributes attributes = {};                          // of both ends
  bool peer_to_peer = false;                                 // both call VipConnectPeerRequest
  bool reject = false;                                       // the server program calls VipConnectReject
  runtime::TimeNs start = 0;                                 // after all ports are ready
  runtime::TimeNs server_start = 0;                          // ... and the server program that much later
  runtime::TimeNs connect_timeout = 5 * runtime::second;
  Side disconnect_by = Side::Client;
  bool disconnect_by_both = false;  // neither waits for the other
  runtime::TimeNs hold = 0;         // between the last transfer and VipDisconnect of the side that disconnects first
  runtime::TimeNs second_hold = 0;  // ... and between its end there and VipDisconnect of the other side
  bool clean_up = false;            // VipDisconnect also where the connection was not made and the endpoint is not Idle
  std::uint32_t queue_depth = 64;   // descriptors that each end keeps posted
  std::vector<TransferSpec> transfers = {};
  WorkloadExpectation expect = {};
};

/// An asynchronous error of a NIC.
struct ErrorExpectation {
  std::size_t port = 0;
  vi::ErrorCode error{};
  TimeBound at = {};
};

/// One IU on the wire, as its sender sent it or a fault rewrote it. A member that is not set matches anything.
struct WireExpectation {
  std::string where;                                   // in the scenario: for messages
  std::string message;                                 // as wire::message_name
  std::optional<std::size_t> from = {}, to = {};       // ports
  std::optional<std::vector<std::string>> flags = {};  // exactly these
  std::optional<wire::fcvi::Reason> reason = {};
  std::optional<std::uint64_t> exchange = {}, connection = {};  // equal numbers, equal ids; others, others
  std::optional<bool> ends_exchange = {}, gives_initiative = {}, lost = {};
  std::vector<faults::FieldRange> fields = {};
  std::optional<std::uint64_t> payload_bytes = {};
  TimeBound at = {};
};

/// A kind of message that `wire` lists.
struct WireMessage {
  std::string message;
  std::vector<faults::FieldRange> fields = {};  // of its first frame
};

/// Frames that a port discarded.
struct DiscardExpectation {
  std::size_t port = 0;
  fc2::Discard reason{};
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
  std::optional<std::vector<DiscardExpectation>> discard_list = {};  // these, and no other
  std::vector<KeptExpectation> kept = {};
  Bound asynchronous_errors;  // of all NICs
  std::optional<runtime::TimeNs> max_duration;
};

/// FC-VI 4.2, 7.7.
enum class TopologyKind : std::uint8_t { Fabric, PointToPoint, PrivateLoop };

/// An event of a port, a link between switches or a switch, not of a frame.
struct PortEvent {
  enum class Kind : std::uint8_t {
    LinkDown,   // unplugged: every login ends at once
    Cut,        // no signal for a while: logins wait to be validated (FC-VI 7.7)
    Nos,        // a link failure that is over at once
    Ols,        // online to offline and back
    LinkReset,  // LR
    Lip,        // of the loop, by this port
    Replug,     // into another port of the switch: another N_Port_ID
    LogOut,
    ImplicitLogOut,
    SwitchLinkDown,
    SwitchDown
  };
  Kind kind = Kind::LinkDown;
  std::size_t port = 0, peer = 0;  // position of the port, link or switch; LogOut: and of the peer
  runtime::TimeNs duration = 0;    // of what goes down; 0: for good
};

struct FaultSpec {
  faults::Rule rule;
  std::optional<PortEvent> event = {};  // when a frame matches, or `at` a time
  std::optional<runtime::TimeNs> at = {};
  Bound times = {};  // how often it must happen
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
  std::vector<FaultSpec> faults;  // at most max_faults
  Expectations expectations;
  std::vector<std::string> warnings;  // settings against a standard's advice, with their place
};

}  // namespace sim
