// What DDP asks of the layer below it: ULPDUs, each a DDP segment, through a stream of octets, each whole and at most
// MULPDU octets (RFC 5041 3; RFC 5044 2.1). The framings: mpa_framing.hpp, ift_framing.hpp.
//
// No I/O of its own: the stream is given with each call. No allocation per ULPDU.
#pragma once
#include <memory>

#include "iwarp/workspace.hpp"
#include "streams/stream.hpp"
#include "wire/iwarp/ddp/header.hpp"
#include "wire/iwarp/mpa/error.hpp"

namespace iwarp {

/// Who takes what arrives. None of these destroys the framing, nor calls it.
class UlpduSink {
 public:
  /// A DDP header, 14 octets if its T is set, else 18, and so many octets of payload behind it.
  virtual void ulpdu_begun(wire::Bytes ddp_header, std::size_t payload_octets) = 0;
  /// Where the next octets of the payload belong, at most so many of them: pieces of memory that are read into straight
  /// from the stream. 0 pieces: give them to payload_received().
  [[nodiscard]] virtual std::size_t payload_room(std::size_t octets, std::span<wire::MutableBytes> pieces) = 0;
  /// So many octets were put there.
  virtual void payload_placed(std::size_t octets) = 0;
  /// Memory of payload_room() cannot be written: what is left of the payload comes by payload_received().
  virtual void payload_unplaced() = 0;
  virtual void payload_received(wire::Bytes octets) = 0;
  /// Of a ULPDU that came before its turn: where its payload belongs as far as can be told now, in pieces that hold all
  /// of it; 0: nowhere, or a field of it is wrong (IFT 8.1). Nothing is told, and nothing changes.
  [[nodiscard]] virtual std::size_t early_room(wire::Bytes /*ddp_header*/, std::size_t /*payload_octets*/,
                                               std::span<wire::MutableBytes> /*pieces*/) const {
    return 0;
  }
  /// The ULPDU is whole, and what protects it was found to be right.
  virtual void ulpdu_ended() = 0;
  /// crc_mismatch or marker_and_length_disagree, which of IFT means any wrong field (RFC 5044 8, ruling I-10). Nothing
  /// more comes: what still arrives is dropped.
  virtual void framing_failed(wire::mpa::ErrorCode error) = 0;

 protected:
  ~UlpduSink() = default;
};

class Framing {
 public:
  virtual ~Framing() = default;
  Framing(const Framing&) = delete;
  Framing& operator=(const Framing&) = delete;

  // --- what is sent
  /// Octets of the largest ULPDU (RFC 5044 4.5), never 0. Asked for each one: it may change between two.
  [[nodiscard]] virtual std::size_t mulpdu() const = 0;
  /// A TCP segment takes so many octets from now on. What was added stays as it is (RFC 5041 3).
  virtual void set_emss(std::size_t emss) = 0;
  /// Of one ULPDU: pieces of payload, and octets of `header`, into which an RDMA header may go too.
  static constexpr std::size_t most_payload_pieces = 32, most_header_bytes = 72;
  /// One more ULPDU can be added. False: flush() first, and then wait while is_blocked().
  [[nodiscard]] virtual bool has_room() const = 0;
  /// `header` is copied; the pieces are lent: they are read here and in flush() and stay unchanged until then. Pre:
  /// has_room(); at most mulpdu() octets and most_payload_pieces.
  virtual void add(wire::Bytes header, std::span<const wire::Bytes> payload) = 0;
  /// Writes what was added, with one call, before the Workspace is used for anything else. What the stream does not
  /// take is copied and kept.
  virtual void flush(streams::Stream& stream) = 0;
  /// Octets of the start-up that the stream has not taken yet stand before all ULPDUs. Before anything is added.
  virtual void keep_first(wire::Bytes octets) = 0;
  /// The stream may take more of what is kept.
  virtual void write_kept(streams::Stream& stream) = 0;
  /// Something is kept: ask_writable() of the stream, then write_kept().
  [[nodiscard]] virtual bool is_blocked() const = 0;

  // --- what is received
  /// One call of Stream::read, and all that follows of what it gave. `more`: another call may give more.
  struct Progress {
    bool more = false;
    bool end = false;  // the other end sends no more
  };
  virtual Progress read(streams::Stream& stream) = 0;
  /// Between two ULPDUs: an end of the stream there is in order.
  [[nodiscard]] virtual bool is_at_boundary() const = 0;

  [[nodiscard]] virtual bool is_consistent() const = 0;

  /// ULPDUs of this stream that were added, or found to be right.
  struct Counts {
    std::uint64_t sent = 0, received = 0;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 protected:
  Framing() = default;
  Counts counts_;
};

}  // namespace iwarp
