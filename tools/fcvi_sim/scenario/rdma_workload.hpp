// A stream of RDMA that a scenario describes: its start-up, the memory of both ends, what they do, what must come of it
// (RFC 5040, 5041, 5044, 6581; draft-williams-iwarp-ift-01).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "iwarp/work.hpp"
#include "tools/fcvi_sim/scenario/bounds.hpp"
#include "tools/fcvi_sim/scenario/side.hpp"

namespace sim {

inline constexpr std::size_t max_rdma_regions = 64, max_rdma_operations = 1000;
inline constexpr std::uint64_t max_rdma_bytes = 64u << 20;  // of a region
inline constexpr std::uint32_t max_rdma_repeat = 10'000;    // of an operation
inline constexpr std::uint64_t max_rdma_repeats = 100'000;  // of all operations of a stream
inline constexpr std::uint64_t max_rdma_memory = 1u << 30;  // of a stream: its regions twice, its operations' data once
inline constexpr std::uint16_t first_rdma_port =
    7174;  // where a workload has none of its own: this (rping's), counted up
inline constexpr std::size_t max_rdma_private_data = 508;  // of revision 2

enum class RdmaFraming : std::uint8_t { Mpa, Ift };

/// One value for each end.
template <class T>
struct ByEnd {
  T client{}, server{};
  [[nodiscard]] T& of(Side side) { return side == Side::Client ? client : server; }
  [[nodiscard]] const T& of(Side side) const { return side == Side::Client ? client : server; }
};

/// Registered memory of one end.
struct RdmaRegionSpec {
  std::string name;
  Side at = Side::Client;
  std::uint64_t size_bytes = 0;
  bool random = false;  // drawn from the seed; else zeros
  iwarp::Rights rights{};
  bool other_domain = false;  // of a protection domain that is not the stream's
};

/// What an end does. Each begins when the one before it is over at both ends, unless that says otherwise.
enum class RdmaAction : std::uint8_t {
  Send,
  RdmaWrite,
  RdmaRead,
  Invalidate,  // local
  Wait,
  Terminate,  // the ULP found an error of its own
  Close,
  Abort,
};
[[nodiscard]] std::string_view to_string(RdmaAction action);
[[nodiscard]] constexpr bool moves_data(RdmaAction action) { return action <= RdmaAction::RdmaRead; }
[[nodiscard]] constexpr bool ends_stream(RdmaAction action) { return action >= RdmaAction::Terminate; }

enum class RdmaPlaced : std::uint8_t { Yes, No, Any };

/// What became of an operation at its own end.
enum class RdmaOutcome : std::uint8_t { Success, Flushed, LocalProtection, LocalLength, Refused };
[[nodiscard]] std::string_view to_string(RdmaOutcome outcome);

struct RdmaOperationSpec {
  std::string where;  // in the file
  RdmaAction action = RdmaAction::Send;
  Side by = Side::Client;
  /// Positions in regions: what is sent, written or read, and where it goes. A Send without `to`: nobody waits for it.
  std::optional<std::size_t> from = {}, to = {};
  std::uint64_t from_offset = 0, to_offset = 0;
  std::uint32_t size_bytes = 0;
  std::uint32_t receive_bytes = 0;  // of a Send: the room that waits for it
  bool solicited_event = false, fence = false;
  std::optional<std::size_t> invalidates = {};  // a region: of the other end by a Send, of its own by Invalidate
  std::uint32_t repeat = 1;
  bool overlaps = false;  // the next one begins at once
  runtime::TimeNs wait = 0;
  RdmaOutcome outcome = RdmaOutcome::Success;
  RdmaPlaced placed = RdmaPlaced::Yes;  // `to` has the data when the stream has ended; or nothing of it changed
};

/// How a start-up ended at one end: RdmaStart::connected, none, or a name of machines::iwarp::Failure.
inline constexpr std::string_view rdma_connected = "connected", rdma_no_start = "none";

/// How a stream ended at one end.
enum class RdmaEnding : std::uint8_t {
  None,     // there was none, or it did not end
  Closed,   // in order
  Lost,     // the LLP stream broke
  GivenUp,  // nothing came for `patience`
};
[[nodiscard]] std::string_view to_string(RdmaEnding ending);

/// An error that an end found, and that the other one was told by a Terminate Message.
struct RdmaTerminateExpectation {
  Side by = Side::Server;
  std::uint8_t layer = 0, type = 0, code = 0;
  bool arrives = true;  // at the other end
};

/// Completions of one end that follow one another.
struct RdmaCompletionExpectation {
  std::string where;
  iwarp::Operation operation{};
  RdmaOutcome outcome = RdmaOutcome::Success;
  std::uint64_t count = 1;
  std::optional<std::uint32_t> octets = {};
  std::optional<bool> solicited_event = {};
  std::optional<std::size_t> invalidated = {};  // a region
  TimeBound at = {};
};

/// Octets of a region when the stream has ended.
struct RdmaContentExpectation {
  std::string where;
  std::size_t region = 0;
  std::uint64_t offset = 0, size_bytes = 0;
  std::optional<std::size_t> equals = {};  // as those of that region had been, from equals_offset on
  std::uint64_t equals_offset = 0;
  bool unchanged = false;
  std::string sha256 = {};
};

struct RdmaExpectation {
  ByEnd<std::string> start{std::string(rdma_connected), std::string(rdma_connected)};
  ByEnd<std::string> private_data{};  // that the end was told; empty: whatever
  ByEnd<RdmaEnding> ending{RdmaEnding::Closed, RdmaEnding::Closed};
  std::vector<RdmaTerminateExpectation> terminates;                            // and no other errors
  ByEnd<std::optional<std::vector<RdmaCompletionExpectation>>> completions{};  // all, in order
  std::vector<RdmaContentExpectation> contents;
};

/// What a start-up says, and what each end can do.
struct RdmaEndSpec {
  bool crc = true;       // MPA: prefers it; IFT: sends it and checks it
  bool markers = false;  // MPA: wants them in what it receives
  std::uint16_t ird = 16, ord = 16;
  std::string private_data = {};
};

struct RdmaSpec {
  RdmaFraming framing = RdmaFraming::Mpa;
  std::uint16_t tcp_port = 0;  // of the server
  std::uint8_t revision = 2;   // of MPA
  bool fall_back = true;       // to revision 1
  bool peer_to_peer = true;    // RFC 6581 9.2, with these RTR indications offered
  bool send_rtr = false, rdma_write_rtr = true, rdma_read_rtr = false;
  bool rejects = false;  // the server's ULP
  ByEnd<RdmaEndSpec> ends{};
  runtime::TimeNs startup_timeout = 10 * runtime::second, close_timeout = 10 * runtime::second;
  runtime::TimeNs patience = 30 * runtime::second;  // without news an end gives the stream up
  std::vector<RdmaRegionSpec> regions;
  std::vector<RdmaOperationSpec> operations;
  RdmaExpectation expect;
};

}  // namespace sim
