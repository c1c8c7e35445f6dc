// What one direction of a TCP connection carries: its segments, between which nothing stands.
#pragma once
#include <memory>
#include <optional>

#include "tools/fcvi_sim/scenario/segment_fault.hpp"
#include "wire/vitcp/segment.hpp"

namespace sim {

/// A segment, as its sender wrote it.
struct StreamSegment {
  SegmentForm form = SegmentForm::Vi;
  std::string_view name;      // lives for ever
  wire::MutableBytes octets;  // its own, without what the stream has between them; those of the codec until write()
  std::size_t payload_bytes = 0;
  bool has_crc = false;                      // its last four octets
  const wire::vitcp::Segment* vi = nullptr;  // of a VI segment
};

/// Octets that wait, in two pieces.
struct WaitingOctets {
  wire::Bytes first, rest;
  std::size_t offset = 0;  // of the first that belongs to the segment
  [[nodiscard]] std::size_t size() const { return first.size() + rest.size() - offset; }
  void copy(wire::MutableBytes to) const;  // the first of them
};

/// Of one direction, which shares with the other what both ends agreed on. read() and write() by turns.
class StreamCodec {
 public:
  virtual ~StreamCodec() = default;
  StreamCodec(const StreamCodec&) = delete;
  StreamCodec& operator=(const StreamCodec&) = delete;

  /// Each segment begins a TCP segment (RFC 5044 5.1; Wireshark finds FPDUs with markers nowhere else).
  [[nodiscard]] virtual bool is_aligned() const { return false; }
  /// So many octets the segment at their front has in the stream; nullopt: too few are there to tell.
  [[nodiscard]] virtual std::optional<std::size_t> size_of(const WaitingOctets& waiting) const = 0;
  /// Pre: `stream`, which stays until write(), is the whole segment.
  virtual StreamSegment read(wire::MutableBytes stream) = 0;
  /// What somebody made of its octets goes into the stream's; `seal`: with CRCs that are right.
  virtual void write(bool seal) = 0;

 protected:
  StreamCodec() = default;
};

struct StreamCodecs {
  std::unique_ptr<StreamCodec> to_acceptor, to_connector;
};
[[nodiscard]] StreamCodecs vi_codecs();
/// `ift`: over IFT, else over MPA.
[[nodiscard]] StreamCodecs rdma_codecs(bool ift);

}  // namespace sim
