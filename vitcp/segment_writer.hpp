// Segments into the stream: headers, copied payload and spans of registered memory gathered into one write.
//
// A segment that was added is sent, whole and as it was: what the stream does not take at once is copied, so that no
// memory of the consumer is looked at later. Many small segments go out with one write. No allocation per segment; the
// copy of what the stream did not take is allocated when a connection is blocked, has at most what one write has, and
// is given back when the connection has nothing to send.
#pragma once
#include <array>
#include <vector>

#include "vitcp/channel.hpp"
#include "wire/vitcp/rdma_header.hpp"

namespace vitcp {

class SegmentWriter {
 public:
  explicit SegmentWriter(Channel& channel) : channel_(channel) {}

  /// The stream has not taken all that was flushed: nothing is added until it has.
  [[nodiscard]] bool is_blocked() const { return tail_begin_ != tail_.size(); }
  /// Octets of payload that a segment of this type can have now: at most what fits one; nothing: the batch is full, and
  /// is to be flushed. Segments of zero octets have room where there is any.
  [[nodiscard]] std::optional<std::size_t> payload_room(wire::vitcp::SegmentType type) const;
  /// Payload of that many octets is copied, not lent.
  [[nodiscard]] bool copies(std::size_t payload_octets) const {
    return copies_all() || payload_octets <= copied_payload_octets;
  }

  // One segment: begin(), its payload in one of three ways, end().
  void begin(const wire::vitcp::SegmentHeader& header, const wire::vitcp::RdmaHeader* rdma, std::size_t payload_octets);
  /// The next so many octets of it: the caller writes them before it calls this again, or end(). Most often at most
  /// copied_at_once: so the CRC goes over them while they are in the nearest cache. Pre: copies().
  [[nodiscard]] wire::MutableBytes copied_payload(std::size_t octets);
  static constexpr std::size_t copied_at_once = 8192;
  /// A piece of it, in registered memory that is there now; by flush() at the latest it is read.
  [[nodiscard]] bool can_lend(std::size_t pieces) const { return piece_count_ + pieces + 2 <= pieces_.size(); }
  void lend(std::span<const std::byte> memory);
  /// Memory that flush() will read is in the batch.
  [[nodiscard]] bool lends() const { return lent_octets_ != 0; }
  /// The payload cannot be had: zeros stand for it (VI-TCP 2.2.2.2.5); the header says so. At most
  /// most_padding_octets.
  void pad();
  static constexpr std::size_t most_padding_octets = 16'384;
  void end();
  /// As if begin() had not been called. Pre: nothing of it was lent.
  void drop();

  /// Octets of the set-up that stand before all that is added. Before anything is.
  void keep_first(std::vector<std::uint8_t> octets) { tail_ = std::move(octets); }
  /// Writes what was added, with one call. What the stream does not take is kept.
  void flush(streams::Stream& stream);
  /// The stream may take more of what is kept.
  void write_kept(streams::Stream& stream);
  /// Nothing was added since the last flush.
  [[nodiscard]] bool is_empty() const { return piece_count_ == 0 && used_ == 0; }
  /// Memory of a segment that was begun has gone: nothing goes out behind what was taken (ruling V-31).
  [[nodiscard]] bool is_cut() const { return cut_.has_value(); }
  /// The type of that segment. Pre: is_cut().
  [[nodiscard]] wire::vitcp::SegmentType cut_type() const { return *cut_; }
  /// There is nothing to send: memory is given back.
  void rest();
  [[nodiscard]] bool is_consistent() const;

 private:
  static constexpr std::size_t copied_payload_octets = 4096;  // or the message behind it has to wait for flush()
  static constexpr std::size_t lent_octets_at_once = 131'072;
  struct Piece {
    wire::Bytes octets;
    bool lent = false;
    wire::vitcp::SegmentType type{};  // of its segment, if it is lent
  };
  /// The CRC has to be known before the payload goes out; and at Unreliable Delivery the connection outlives memory
  /// that goes.
  [[nodiscard]] bool copies_all() const { return channel_.terms.crc || !channel_.is_reliable(); }
  [[nodiscard]] wire::MutableBytes room() const;
  void close_piece();
  void cover();
  void keep(std::size_t taken);
  [[nodiscard]] bool keep_piece(const Piece& piece, std::size_t from);

  Channel& channel_;
  std::array<Piece, 64> pieces_;
  std::size_t piece_count_ = 0;
  std::size_t used_ = 0, piece_begin_ = 0, segment_begin_ = 0;  // in Workspace::out
  std::size_t payload_octets_ = 0, lent_octets_ = 0;
  std::uint32_t crc_ = 0;            // of the present segment, where it has one: of its octets from segment_begin_ to
  std::size_t covered_ = 0;          // here
  wire::vitcp::SegmentType type_{};  // of the segment that was begun last
  std::vector<std::uint8_t> tail_;
  std::size_t tail_begin_ = 0;
  std::optional<wire::vitcp::SegmentType> cut_;
};

}  // namespace vitcp
