// Octets that go out with one write: own ones in the Workspace, and lent memory among them.
#pragma once
#include <vector>

#include "iwarp/workspace.hpp"
#include "streams/stream.hpp"

namespace iwarp {

/// Of one stream. Between flush() and the next append() the Workspace may serve others.
class OutputBatch {
 public:
  explicit OutputBatch(Workspace& workspace) : workspace_(workspace) {}

  /// A batch that has so many is written first: what the stream does not take of it is copied.
  static constexpr std::size_t most_octets = 131'072;
  /// Room for so many own octets in so many pieces, lent ones included.
  [[nodiscard]] bool has_room(std::size_t octets, std::size_t pieces) const {
    return used_ + lent_ < most_octets && used_ + octets <= Workspace::out_octets &&
           piece_count_ + pieces + 1 <= Workspace::out_pieces;
  }
  void append(wire::Bytes own);
  void lend(wire::Bytes memory);

  /// What the stream does not take is copied.
  void flush(streams::Stream& stream);
  void keep_first(std::vector<std::uint8_t> octets) { kept_ = std::move(octets); }
  void write_kept(streams::Stream& stream);
  [[nodiscard]] bool is_blocked() const { return kept_begin_ != kept_.size(); }
  [[nodiscard]] bool is_consistent() const { return kept_begin_ <= kept_.size() && piece_begin_ <= used_; }

 private:
  void close_piece();
  void keep(std::size_t taken);

  Workspace& workspace_;
  std::size_t used_ = 0, piece_begin_ = 0, piece_count_ = 0;  // of Workspace::out, of Workspace::pieces
  std::size_t lent_ = 0;                                      // octets of memory
  std::vector<std::uint8_t> kept_;                            // given back when the stream has taken all of it
  std::size_t kept_begin_ = 0;
};

}  // namespace iwarp
