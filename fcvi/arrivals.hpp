// Which pieces of a whole are here, whatever their order: bytes of a message by relative offset, or messages of a
// stream.
#pragma once
#include <cstdint>
#include <memory>

#include <boost/container/small_vector.hpp>

#include "runtime/scheduler.hpp"

namespace fcvi {

/// Ranges that came, in order, and since when what lies before each is known to be missing (FC-VI B.2.5 rules 4c a) to
/// c), 6e a)). A piece is [begin, end), and its frames have SEQ_CNT first to last: relative offset and SEQ_CNT go on
/// together (5.6), so that frames whose offsets meet and whose SEQ_CNTs do not are not of one message. Offsets never
/// repeat (5.2.1).
class Arrivals {
 public:
  enum class Piece : std::uint8_t {
    New,
    Duplicate,  // all of it is here
    Conflict,   // some of it is here, or its SEQ_CNT does not go with its neighbours'
  };
  struct Range {
    std::uint32_t begin = 0, end = 0;
    std::uint16_t first_seq_cnt = 0, last_seq_cnt = 0;
    runtime::TimeNs missed_since = 0;  // what lies before it: no later than what lies before the next range
  };
  using Ranges = boost::container::small_vector<Range, 2>;

  [[nodiscard]] Piece classify(const Range& piece) const;
  /// Pre: classify() says New. `piece.missed_since` counts if nothing behind the piece is here; else that is known
  /// already.
  void add(const Range& piece);
  /// Of a message of `length` bytes. False: the piece stands alone, and there are more ranges than a fabric makes of
  /// frames worth sending; each costs those behind it a move.
  [[nodiscard]] bool has_room(const Range& piece, std::uint64_t length) const;
  /// Bytes of memory that add(piece) needs; 0 where the piece joins a range, or there is room for one more.
  [[nodiscard]] std::size_t bytes_to_grow(const Range& piece) const;
  /// Memory beside the object.
  [[nodiscard]] std::size_t heap_bytes() const;

  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] bool contains(std::uint32_t at) const;
  [[nodiscard]] bool is_whole(std::uint32_t length) const {
    return ranges_.size() == 1 && ranges_.front().begin == 0 && ranges_.front().end == length;
  }
  /// All before it came.
  [[nodiscard]] std::uint32_t prefix() const { return empty() || ranges_.front().begin != 0 ? 0 : ranges_.front().end; }
  /// Nothing at it or behind it came: SCexp of B.2.5 rules 4c d) and 6e c), or Mexp of 4c e), in our count.
  [[nodiscard]] std::uint32_t frontier() const { return empty() ? 0 : ranges_.back().end; }
  /// Since when what is missing at `at` is known to be; runtime::never when nothing behind it came.
  [[nodiscard]] runtime::TimeNs missed_since(std::uint32_t at) const;
  /// The oldest of all that is missing before the frontier, which is the first; runtime::never if nothing is.
  [[nodiscard]] runtime::TimeNs oldest_gap() const;
  /// Where the last gap ends that is missed since `due` or longer; 0 if there is none.
  [[nodiscard]] std::uint32_t end_of_gaps(runtime::TimeNs due) const;
  /// All before `end`, where a range begins, counts as here.
  void fill_before(std::uint32_t end);
  /// The first `count` are over; all others are counted from there.
  void forget_first(std::uint32_t count);
  /// Gives back all memory. (shrink_to_fit() would take the room within the object away, too.)
  void clear() {
    std::destroy_at(&ranges_);
    std::construct_at(&ranges_);
  }
  [[nodiscard]] const Ranges& ranges() const { return ranges_; }

 private:
  static constexpr std::size_t inline_ranges = 2;
  [[nodiscard]] bool joins_one(const Range& piece) const { return contains(piece.end) || contains(piece.begin - 1); }
  Ranges ranges_;
};

}  // namespace fcvi
