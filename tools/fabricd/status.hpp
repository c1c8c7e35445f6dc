// The status of the service.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fc2_fabric/frame/counters.hpp"
#include "fc2_fabric/switch/name_database.hpp"
#include "runtime/scheduler.hpp"
#include "tools/fabricd/live_faults.hpp"

namespace fabricd {
class PortSession;
class Rates;

struct PortStatus {
  std::string name, node;  // of the program, and of the node as it registered it
  std::uint32_t process_id = 0;
  bool logged_in = false;
  std::string n_port_id, port_name, node_name;  // while logged in
  std::vector<std::string> addresses;
  std::uint64_t frames_in = 0, frames_out = 0;  // as the fabric sees it: in from the port, out to it
  std::size_t frames_waiting = 0;               // for the port to take them
  bool stalled = false;                         // it took none for so long that they are discarded
  std::size_t paths = 0;                        // past the service
  bool watched = false;                         // it has none: all of its frames pass the service
  runtime::TimeNs uptime = 0;
  double in_per_second = 0, out_per_second = 0;  // frames, over the last 5 to 10 s; see Rates
  std::string fc4_types;                         // as it registered them
};

/// A VN_Port of an ENode.
struct VnPortStatus {
  std::string n_port_id, mac, port_name;
  std::vector<std::string> addresses;
  std::string node_name;       // as it registered it; empty: it did not
  std::string fc4_types;       // the same
  runtime::TimeNs silent = 0;  // since its latest keep-alive, or its login
};

struct ENodeStatus {
  std::string mac;
  std::string state;  // of its login: machines::fip_forwarder
  std::vector<VnPortStatus> vn_ports{};
  std::uint64_t frames_in = 0, frames_out = 0;  // as the fabric sees it
  std::size_t frames_waiting = 0;
  bool stalled = false;
  double in_per_second = 0, out_per_second = 0;
  runtime::TimeNs silent = 0;  // since the ENode's own latest keep-alive, or its login
};

struct EthernetStatus {
  std::string name, mac;
  std::uint16_t mtu = 0;
  bool up = false;
  std::uint64_t fcoe_in = 0, fcoe_out = 0, fip_in = 0, fip_out = 0, send_drops = 0, kernel_drops = 0, over_long = 0,
                evicted = 0;
  unsigned priority = 0;
  std::vector<std::pair<std::string, std::uint64_t>> discarded{};  // by reason, where there were any
  std::vector<ENodeStatus> e_nodes{};
};

struct FcoeStatus {
  std::string switch_name, fc_map;
  unsigned priority = 0;
  runtime::TimeNs period = 0;
  std::vector<EthernetStatus> interfaces;
  std::uint16_t vlan = 0;  // 0: untagged
};

struct Status {
  std::uint32_t process_id = 0;
  runtime::TimeNs uptime = 0;
  std::uint64_t frames_forwarded = 0;
  std::size_t captures = 0;            // under way
  std::size_t paths = 0;               // between two ports, frames on which pass no switch
  std::uint64_t paths_refused = 0;     // beyond max_paths, or for lack of memory or open files; frames go by the switch
  std::uint64_t history_frames = 0;    // that are kept for capture --last
  runtime::TimeNs history_extent = 0;  // from the oldest of them until now
  std::uint64_t failure_files = 0;     // that were written
  std::uint64_t failures_lost = 0;     // whose file could not be
  std::vector<LiveFaults::State> faults;
  std::uint64_t faults_unjudged = 0;
  std::vector<std::string> links_down;  // by fcvi-ctl
  fc2::Counters counters;
  std::vector<PortStatus> ports;
  std::optional<FcoeStatus> fcoe;  // with --fcoe
};

/// `registered`: its entry in the Name Server, or nullptr.
PortStatus describe(const PortSession& session, const fc2::NameDatabase::Port* registered, const Rates& rates,
                    runtime::TimeNs now);
/// "FC-VI FCP 05": the registered types, by name if there is one.
std::string text_of_types(const wire::ct::Fc4Types& types);
/// The service's status (empty: none runs) with those of the NICs of this host ("nics"), an object each; malformed ones
/// are left out.
std::string with_nics(const std::string& service, const std::vector<std::string>& nics);
/// An object, for programs; and a text made of it, for people. Empty: it was no status.
std::string to_json(const Status& status);
std::string to_text(const std::string& json);
/// Of a service with --fcoe.
bool tells_of_fcoe(const std::string& json);

}  // namespace fabricd
