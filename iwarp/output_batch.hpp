// Octets that go out together: own ones in the Workspace, and lent memory among them. With one write, if the frames
// fill segments exactly; else with one for each group of frames that begins a segment (RFC 5044 5.1, ruling M-12).
#pragma once
#include "iwarp/workspace.hpp"
#include "streams/stream.hpp"

namespace iwarp {

[[nodiscard]] inline std::size_t octets_of(std::span<const wire::Bytes> pieces) {
  std::size_t octets = 0;
  for (const wire::Bytes piece : pieces) octets += piece.size();
  return octets;
}

/// Of one stream. Between flush() and the next append() the Workspace may serve others.
class OutputBatch {
 public:
  explicit OutputBatch(Workspace& workspace) : workspace_(workspace) {}
  ~OutputBatch() { workspace_.places.give_back(kept_); }
  OutputBatch(const OutputBatch&) = delete;
  OutputBatch& operator=(const OutputBatch&) = delete;

  /// A batch that has so many is written first: what the stream does not take of it is copied.
  static constexpr std::size_t most_octets = 131'072;
  /// Room for so many own octets in so many pieces, lent ones included.
  [[nodiscard]] bool has_room(std::size_t octets, std::size_t pieces) const {
    return used_ + lent_ < most_octets && cut_count_ < Workspace::out_cuts && used_ + octets <= Workspace::out_octets &&
           piece_count_ + pieces + 1 <= Workspace::out_pieces;
  }
  /// A segment of the stream takes so many octets; 0: frames go out as they come.
  void set_segment(std::size_t octets) { segment_ = octets; }
  /// A frame of at most so many octets follows. It begins a segment if it does not fit what is left of the present one.
  void begin_frame(std::size_t octets);
  void append(wire::Bytes own);
  void lend(wire::Bytes memory);

  /// What the stream does not take is copied.
  void flush(streams::Stream& stream);
  /// Pre: nothing is kept; at most OctetPlaces::batch_octets.
  void keep_first(wire::Bytes octets);
  void write_kept(streams::Stream& stream);
  [[nodiscard]] bool is_blocked() const { return kept_begin_ != kept_end_; }
  [[nodiscard]] bool is_consistent() const {
    return kept_begin_ <= kept_end_ && kept_end_ <= kept_.octets().size() && piece_begin_ <= used_;
  }

 private:
  void close_piece();
  [[nodiscard]] std::size_t write(streams::Stream& stream);
  void keep(std::size_t taken);

  Workspace& workspace_;
  std::size_t used_ = 0, piece_begin_ = 0, piece_count_ = 0;  // of Workspace::out, of Workspace::pieces
  std::size_t lent_ = 0;                                      // octets of memory
  std::size_t segment_ = 0;
  std::size_t cut_count_ = 0, run_begin_ = 0;  // of Workspace::cuts; octet of the batch where the last one is
  OctetPlaces::Place kept_;                    // given back when the stream has taken all of it
  std::size_t kept_begin_ = 0, kept_end_ = 0;
};

}  // namespace iwarp
