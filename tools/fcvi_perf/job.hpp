/// What is measured: the client's choice, sent to the server before anything else.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "vipl.h"

namespace perf {

enum class Operation : std::uint32_t { Send, Write, Read };
enum class Measure : std::uint32_t { Latency, Bandwidth };
/// How an end learns that a descriptor is complete.
enum class Completion : std::uint32_t { Polling, Waiting };

const char* to_string(Operation operation);
const char* to_string(Measure measure);
const char* to_string(Completion completion);

inline constexpr std::uint64_t max_message_bytes = 16U << 20U;
inline constexpr std::uint64_t max_connections = 32768;
inline constexpr std::uint64_t max_depth = 65536;
inline constexpr std::uint64_t max_buffer_bytes = 4ULL << 30U;
/// Receives beside those for data, and Sends beside those of data, for credits and ends.
inline constexpr std::uint64_t notices = 16;
inline constexpr std::uint64_t latency_depth = 8;

/// Both ends lay out their memory by it, so that an address of one is known to the other. Sent as it is: both ends are
/// of one byte order and one version, as `magic` shows.
struct Job {
  static constexpr std::uint64_t expected_magic = 0x3166'7265'7069'7666;  // "fvipref1"
  std::uint64_t magic = expected_magic;
  Operation operation = Operation::Send;
  Measure measure = Measure::Latency;
  Completion completion = Completion::Polling;
  std::uint32_t level = VIP_SERVICE_RELIABLE_DELIVERY;  ///< one VIP_SERVICE_...
  std::uint32_t completion_queue = 0;                   ///< bool: both work queues have one
  std::uint32_t both_directions = 0;                    ///< bool, bandwidth only
  std::uint32_t immediate = 0;                          ///< bool: RDMA Writes with immediate data
  std::uint32_t check = 0;                              ///< bool: receivers compare every byte
  std::uint32_t passive_waits = 0;                      ///< bool: the target of RDMA waits in any case
  std::uint32_t progress = 0;                           ///< bool: a poller of memory polls its work queue too
  std::uint64_t max_bytes = 0;                          ///< the largest message, bytes
  std::uint64_t tx_depth = 1;                           ///< data descriptors under way, of a connection
  std::uint64_t rx_depth = 1;                           ///< posted receives for data, of a connection
  std::uint64_t connections = 1;
  std::uint64_t buffers = 1;  ///< each way, of a connection, used in turn
  std::uint64_t timeout_ms = 20000;

  /// Data arrives in receives, not only in memory.
  [[nodiscard]] bool consumes_receives() const {
    return operation == Operation::Send || (operation == Operation::Write && immediate != 0);
  }
};

/// "" if it can be carried out; else what is wrong, beginning with the option that says so. For what the command line
/// gave and for what a client sent.
std::string why_not(const Job& job);

/// Where things lie in the registered memory of either end, in bytes from its start. Asked several times for each
/// message: one connection, and one buffer, take no division.
class Layout {
 public:
  explicit Layout(const Job& job);
  [[nodiscard]] std::uint64_t bytes() const { return connection_bytes_ * connections_; }
  [[nodiscard]] std::uint64_t sends() const { return sends_; }
  [[nodiscard]] std::uint64_t receives() const { return receives_; }
  [[nodiscard]] std::uint64_t send_descriptor(std::uint64_t connection, std::uint64_t number) const {
    return connection * connection_bytes_ + number * sizeof(VIP_DESCRIPTOR);
  }
  [[nodiscard]] std::uint64_t receive_descriptor(std::uint64_t connection, std::uint64_t number) const {
    return send_descriptor(connection, sends_ + number);
  }
  /// Data that this end sends, or that its peer reads.
  [[nodiscard]] std::uint64_t source(std::uint64_t connection, std::uint64_t number) const {
    return connection * connection_bytes_ + descriptor_bytes_ + (buffers_ == 1 ? 0 : number % buffers_) * stride_;
  }
  /// Data that comes: by Sends, by the peer's RDMA Writes, by this end's RDMA Reads.
  [[nodiscard]] std::uint64_t target(std::uint64_t connection, std::uint64_t number) const {
    return source(connection, number) + buffers_ * stride_;
  }
  [[nodiscard]] std::uint64_t connection_of(std::uint64_t offset) const {
    return connections_ == 1 ? 0 : offset / connection_bytes_;
  }
  /// Of a descriptor: sends first, then receives.
  [[nodiscard]] std::uint64_t number_of(std::uint64_t offset) const {
    return (connections_ == 1 ? offset : offset % connection_bytes_) / sizeof(VIP_DESCRIPTOR);
  }

 private:
  std::uint64_t connections_, buffers_, sends_, receives_, descriptor_bytes_, stride_, connection_bytes_;
};

/// One size of a sweep, one pass of it. Sent to the server too.
struct Phase {
  std::uint64_t bytes = 0;        ///< of a message; 0: there is no further phase
  std::uint64_t iterations = 0;   ///< of all connections together; 0: by time
  std::uint64_t duration_ns = 0;  ///< 0: by count
};

/// What one end saw of a phase.
struct Tally {
  std::uint64_t sent = 0;        ///< messages that it sent, wrote or read
  std::uint64_t elapsed_ns = 0;  ///< until the peer had all of them
  std::uint64_t cpu_ns = 0;      ///< of its process (with threads: of both ends)
  std::uint64_t errors = 0;      ///< messages with wrong content
};

}  // namespace perf
