// A connection that a scenario describes, and what moves over it: in the terms of the VI model, of no transport.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/fcvi_sim/scenario/bounds.hpp"
#include "vi/types.hpp"
#include "wire/types.hpp"

namespace sim {

inline constexpr std::size_t max_workloads = 10'000;
inline constexpr std::uint64_t max_transfer_bytes = 0xFFFFFFFF;
inline constexpr std::uint32_t max_segments =
    250;  // VI-DG 4.5: at least 252 per descriptor; one is the address segment

enum class Operation : std::uint8_t { Send, RdmaWrite, RdmaRead };
std::string_view to_string(Operation operation);
enum class Side : std::uint8_t { Client, Server };
constexpr Side other(Side side) { return side == Side::Client ? Side::Server : Side::Client; }

/// What a transfer moves: a file, or bytes drawn from the seed.
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

/// Descriptors of one queue that complete one after the other.
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
  /// States of FC-VI 8.2 through which the endpoints went, after Idle.
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

}  // namespace sim
