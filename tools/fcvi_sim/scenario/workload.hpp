// A connection that a scenario describes, and what moves over it: in the terms of the VI model, of no transport.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/fcvi_sim/scenario/bounds.hpp"
#include "tools/fcvi_sim/scenario/rdma_workload.hpp"
#include "tools/fcvi_sim/scenario/side.hpp"
#include "vi/types.hpp"
#include "wire/types.hpp"

namespace sim {

inline constexpr std::size_t max_workloads = 10'000;
inline constexpr std::uint64_t max_transfer_bytes = 0xFFFFFFFF;
inline constexpr std::uint32_t max_segments =
    250;  // VI-DG 4.5: at least 252 per descriptor; one is the address segment
inline constexpr std::uint32_t least_lost_bytes = 64;  // of messages that may be lost: the programs' own fit there, too

enum class Operation : std::uint8_t { Send, RdmaWrite, RdmaRead };
std::string_view to_string(Operation operation);

/// What a transfer moves: a file, or bytes drawn from the seed.
struct DataSpec {
  std::string path;  // empty: random
  std::uint64_t size_bytes = 0;
};

/// When the messages of a transfer are due. Open loop: at times that nothing which happens in the run changes. Closed
/// loop: a time after the answers to those before.
struct PaceSpec {
  enum class Loop : std::uint8_t { None, Open, Closed };  // None: each as soon as there is room for it
  Loop loop = Loop::None;
  std::uint64_t gap = 0;    // from one burst to the next; closed: the think time; in gap_units. At most max_gap
  bool poisson = false;     // gaps are exponentially distributed with that mean, drawn from the seed; else all equal
  std::uint32_t burst = 1;  // messages that are due at the same time
  static constexpr std::uint64_t gap_units = 65536;  // a nanosecond has so many: rates need not be whole ones
};
inline constexpr runtime::TimeNs max_gap = 1000 * runtime::second;
inline constexpr std::uint32_t max_reply_bytes = 1U << 20;

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
  PaceSpec pace = {};
  std::optional<std::uint32_t> reply_bytes = {};  // the target answers each message with so many
  /// Messages that each end has memory for, at most as many as its queues have descriptors: filled and compared by
  /// halves. None: for all of them.
  std::optional<std::uint32_t> buffers = {};
  /// Messages that may be under way where each end keeps so many descriptors posted.
  [[nodiscard]] std::uint32_t window(std::uint32_t queue_depth) const { return buffers.value_or(queue_depth); }
  /// Its messages are posted at times of their own, or after the answers to others.
  [[nodiscard]] bool is_paced() const { return pace.loop != PaceSpec::Loop::None || reply_bytes.has_value(); }
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

/// Which descriptors of one queue fail, by position from 1; flushed ones do not count. All others succeed.
struct FailureExpectation {
  Bound count = {};
  std::optional<std::vector<std::uint64_t>> positions = {};
};

/// What of the latencies of all messages.
enum class LatencyPoint : std::uint8_t { P50, P90, P99, P99_9, Max, Mean };
std::string_view to_string(LatencyPoint point);
inline constexpr LatencyPoint latency_points[] = {LatencyPoint::P50,   LatencyPoint::P90, LatencyPoint::P99,
                                                  LatencyPoint::P99_9, LatencyPoint::Max, LatencyPoint::Mean};

/// Of the messages of a workload, or of all workloads of a group.
struct MessageExpectation {
  struct Latency {
    LatencyPoint point = {};
    TimeBound bound = {};
  };
  std::vector<Latency> latencies = {};
  std::optional<Bound> bytes_per_second = {}, messages_per_second = {};
  std::optional<TimeBound> recovery = {};  // from the last fault to the next message that is due
  [[nodiscard]] bool is_any() const {
    return latencies.empty() && !bytes_per_second && !messages_per_second && !recovery;
  }
};

/// Of a group of workloads together.
struct GroupExpectation {
  MessageExpectation messages = {};
  std::optional<ShareBound> fairness = {};  // Jain's index of their throughputs
  std::optional<Bound> survivors = {};      // members that do what `expect` says; the others may fail
  [[nodiscard]] bool measures() const { return !messages.is_any() || fairness; }
};

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
  /// The same queues.
  std::optional<FailureExpectation> failed_client_sends = {}, failed_client_receives = {}, failed_server_sends = {},
                                    failed_server_receives = {};
  MessageExpectation messages = {};
  /// Messages that never came as a whole; where it is given, the target does not wait for them.
  std::optional<Bound> lost = {};
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
  /// It is a stream of RDMA, and no connection of VIs: of the rest only name, group, ends, addresses and start count.
  std::optional<RdmaSpec> rdma = {};
  std::vector<TransferSpec> transfers = {};
  WorkloadExpectation expect = {};
  bool is_exception = false;  // of its group: `expect` is its own
  bool measured = false;      // its group's expectations ask for the times of its messages

  /// Its own VI completes a message before it is known to have arrived, and no program of the other side hears of it.
  [[nodiscard]] bool has_unseen_arrivals() const {
    return attributes.reliability != vi::ReliabilityLevel::ReliableReception &&
           std::ranges::any_of(transfers, [](const TransferSpec& one) {
             return one.operation == Operation::RdmaWrite && !one.immediate;
           });
  }
  /// All of its transfers have, repetitions included.
  [[nodiscard]] std::uint64_t message_count() const {
    std::uint64_t count = 0;
    for (const TransferSpec& transfer : transfers) count += transfer.message_count() * transfer.repeat;
    return count;
  }
  /// Of each message is noted when it was due, and when it was there.
  [[nodiscard]] bool notes_times() const {
    return measured || !expect.messages.is_any() || std::ranges::any_of(transfers, &TransferSpec::is_paced);
  }
};

/// The workloads that one entry made by `count`.
struct WorkloadGroup {
  std::string name;
  std::size_t first = 0, count = 0;  // positions in workloads
  GroupExpectation expect = {};
};

inline constexpr std::size_t max_background = 1000;

/// Frames of another FC-4 between two ports, which share links and credit with the workloads: each alone in its
/// exchange, in class 3, to a port that may not know that FC-4. They go while the programs run.
struct BackgroundSpec {
  std::string name;
  std::size_t from = 0, to = 0;     // positions in ports
  std::uint8_t type = 0x08;         // TYPE of FC-FS
  std::uint32_t data_bytes = 2048;  // of each frame's data field
  PaceSpec pace = {};               // open loop
  runtime::TimeNs start = 0;        // after all ports are ready
  runtime::TimeNs until = runtime::never;
};

}  // namespace sim
