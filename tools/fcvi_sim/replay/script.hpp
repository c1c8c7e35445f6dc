// What the VI user of a captured port did, derived from the frames that the port sent and received: made VIs, waited,
// asked for connections, accepted, posted, disconnected.
#pragma once
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "fcvi/configuration.hpp"
#include "tools/fcvi_sim/replay/conversation.hpp"
#include "vi/types.hpp"

namespace sim::replay {

/// Registered memory that the peer reached by RDMA. Its handle is the captured one: it was the port's to choose.
struct MemorySpec {
  wire::MemHandle handle{};
  std::uint64_t begin = 0, end = 0;
  bool write = false, read = false;
};

struct ViSpec {
  wire::FcviHandle handle = wire::FcviHandle::unassigned;  // captured
  vi::ViAttributes attributes = {};
  fcvi::ConnectionOptions options = {};
  std::vector<std::uint32_t> receives;  // bytes of each receive descriptor, in order
  std::vector<MemorySpec> memory;
  std::size_t connected_at = 0;  // position among the conversation's frames: behind its set-up
};

/// `vi` is a position in Script::vis, `wait` tells the requests that came apart.
namespace call {
struct Wait {
  std::size_t wait = 0;
  vi::NetAddress local;
};
/// Whoever waited is gone.
struct Withdraw {
  std::size_t wait = 0;
};
struct Connect {
  std::size_t vi = 0;
  vi::NetAddress local, remote;
  bool peer_to_peer = false;
  runtime::TimeNs timeout = runtime::never;
};
struct Accept {
  std::size_t vi = 0, wait = 0;
};
struct Reject {
  std::size_t wait = 0;
};
struct Post {
  std::size_t vi = 0;
  std::uint16_t control = 0;
  std::uint32_t immediate_data = 0;
  std::uint64_t remote_address = 0;
  wire::MemHandle remote_handle{};
  std::vector<std::uint8_t> bytes;  // of RDMA Read: as many as are asked for
};
/// Into memory that the peer is about to read.
struct Fill {
  std::size_t vi = 0;
  wire::MemHandle handle{};
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
};
struct Disconnect {
  std::size_t vi = 0;
};
/// Lists the ports of the fabric.
struct List {
  std::set<std::string> wanted;  // names of the nodes whose addresses it asks for
};
/// Logs in with a port for another FC-4's sake.
struct LogIn {
  wire::FcId port{};
};
struct LogOut {};     // of the fabric
struct LinkBreak {};  // the link goes and comes, by NOS, OLS or LIP: who was logged in still is
}  // namespace call

using Call = std::variant<call::Wait, call::Withdraw, call::Connect, call::Accept, call::Reject, call::Post, call::Fill,
                          call::Disconnect, call::List, call::LogIn, call::LogOut, call::LinkBreak>;

struct Script {
  std::vector<ViSpec> vis;
  /// By position among the conversation's frames: what happens just before that frame, in order.
  std::multimap<std::size_t, Call> calls;
  std::set<std::size_t> links_down;  // positions: before that frame the link was down, and no login outlasted it
  bool link_takes_ahead = false;     // the next frame as soon as the last one left, not when it may leave itself
  runtime::TimeNs ulp_timeout = 0;   // FCVI_ULP_TIMEOUT, where the port has another than R_A_TOV; 0: it has not
  std::string error;                 // the capture begins amid a connection
};

Script script_of(const Conversation& conversation);

}  // namespace sim::replay
