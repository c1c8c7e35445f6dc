// What the ULP asks of an RDMAP Stream, and what it is told (RFC 5040 1.1, 3, 5).
#pragma once
#include <boost/container/static_vector.hpp>

#include "iwarp/memory.hpp"
#include "wire/iwarp/rdmap/opcode.hpp"

namespace iwarp {

/// Local memory: a part of a region of the stream's protection domain.
struct LocalPiece {
  STag stag{};
  std::uint64_t offset = 0;  // Tagged Offset
  std::uint32_t octets = 0;
};
inline constexpr std::size_t most_local_pieces = 8;
using LocalPieces = boost::container::static_vector<LocalPiece, most_local_pieces>;
/// Octets of all pieces.
[[nodiscard]] inline std::uint64_t octets_of(const LocalPieces& pieces) {
  std::uint64_t octets = 0;
  for (const LocalPiece& piece : pieces) octets += piece.octets;
  return octets;
}

enum class Operation : std::uint8_t {
  send,  // Send, with Invalidate, with Solicited Event, with both
  rdma_write,
  rdma_read,         // into one local piece
  immediate_data,    // 8 octets into a receive's completion (RFC 7306 6), with Solicited Event or without
  local_invalidate,  // nothing goes out
  receive,           // of completions only
};
[[nodiscard]] std::string_view to_string(Operation operation);

/// An operation of the send queue. Its memory is the stream's until it completes.
struct SendRequest {
  std::uint64_t id = 0;
  Operation operation = Operation::send;
  LocalPieces pieces{};               // at most 2^32 - 1 octets together
  STag remote_stag{};                 // of RDMA Write and Read; of local_invalidate the STag
  std::uint64_t remote_offset = 0;    // Tagged Offset
  std::optional<STag> invalidates{};  // of a Send: the other end's STag
  bool solicited_event = false;       // of a Send, or Immediate Data
  std::uint64_t immediate = 0;        // of Immediate Data
  bool fence = false;                 // begins when all RDMA Reads before it are complete (RFC 5040 5.5 rule 12)
};

/// A buffer for one Send, or Immediate Data, of the other end.
struct ReceiveRequest {
  std::uint64_t id = 0;
  LocalPieces pieces{};
};

/// Buffers of several streams: each Send takes one when it begins.
class ReceiveSource {
 public:
  /// From within a stream's reading; calls no stream. Nothing: there is none, and the stream ends.
  [[nodiscard]] virtual std::optional<ReceiveRequest> take_receive() = 0;

 protected:
  ~ReceiveSource() = default;
};

enum class Status : std::uint8_t {
  success,
  flushed,           // the stream ended before
  local_protection,  // the stream may not do that with local memory
  local_length,      // more octets than a message can have, or an RDMA Read with more than one piece
};
[[nodiscard]] std::string_view to_string(Status status);

/// An operation is over. Those of the send queue complete in the order in which they were submitted (RFC 5040 5.5 rule
/// 15), receives in theirs.
struct Completion {
  std::uint64_t id = 0;
  Operation operation = Operation::receive;
  Status status = Status::success;
  std::uint32_t octets = 0;                  // received, or read; of Immediate Data: of the RDMA Write just before it
  bool solicited_event = false;              // of a receive
  std::optional<STag> invalidated{};         // of a receive: our STag that the Send has invalidated
  std::optional<std::uint64_t> immediate{};  // of a receive: Immediate Data
};

/// An error, as a Terminate Message tells it (RFC 5040 4.8, 7.1).
struct CapturedError {
  wire::rdmap::Cause cause{};
  std::optional<std::uint16_t> segment_length{};
  std::optional<wire::ddp::Header> ddp_header{};
  std::optional<wire::rdmap::ReadRequest> read_request{};
  [[nodiscard]] wire::rdmap::Terminate to_terminate() const {
    return {cause, segment_length, ddp_header, read_request};
  }
};

}  // namespace iwarp
