// What the service tells of itself.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "fc2_fabric/counters.hpp"
#include "fc2_fabric/name_database.hpp"
#include "fc2_fabric/scheduler.hpp"

namespace fabricd {
class PortSession;

struct PortStatus {
  std::string name;
  std::uint32_t process_id = 0;
  bool logged_in = false;
  std::string n_port_id, port_name, node_name;  // while logged in
  std::vector<std::string> addresses;
  std::uint64_t frames_in = 0, frames_out = 0;  // as the fabric sees it: in from the port, out to it
  std::size_t frames_waiting = 0;               // for the port to take them
  bool stalled = false;                         // it took none for so long that they are discarded
  fc2::TimeNs uptime = 0;
};

struct Status {
  std::uint32_t process_id = 0;
  fc2::TimeNs uptime = 0;
  std::uint64_t frames_forwarded = 0;
  fc2::Counters counters;
  std::vector<PortStatus> ports;
};

/// `registered`: its entry in the Name Server, or nullptr.
PortStatus describe(const PortSession& session, const fc2::NameDatabase::Port* registered, fc2::TimeNs now);
/// An object, for programs; and the same for people, made of it. Empty: that was no status.
std::string to_json(const Status& status);
std::string to_text(const std::string& json);

}  // namespace fabricd
