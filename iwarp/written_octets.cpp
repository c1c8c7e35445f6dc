#include "iwarp/written_octets.hpp"

#include <algorithm>
#include <bit>

namespace iwarp {
namespace {

struct Addresses {
  std::uint64_t begin, end;
};
Addresses addresses_of(wire::MutableBytes piece) {
  const auto begin = static_cast<std::uint64_t>(std::bit_cast<std::uintptr_t>(piece.data()));
  return {begin, begin + piece.size()};
}
bool overlap(wire::MutableBytes one, wire::MutableBytes other) {
  const Addresses left = addresses_of(one), right = addresses_of(other);
  return left.begin < right.end && right.begin < left.end;
}
bool are_the_same(wire::MutableBytes one, wire::MutableBytes other) {
  return one.data() == other.data() && one.size() == other.size();
}

}  // namespace

bool WrittenOctets::may_place_early(const Pieces& pieces) const {
  return !lost_track_ && std::none_of(pieces.begin(), pieces.end(), [this](wire::MutableBytes piece) {
    const auto [begin, end] = addresses_of(piece);
    return placed_.touches(begin, end) || early_.touches(begin, end);
  });
}

WrittenOctets::Id WrittenOctets::place_early(const Pieces& pieces) {
  for (const wire::MutableBytes piece : pieces) {
    const auto [begin, end] = addresses_of(piece);
    early_.add(begin, end);
  }
  placements_.emplace(++last_, Placement{pieces});
  look_at_size();
  return last_;
}

bool WrittenOctets::is_at(Id id, const Pieces& pieces) const {
  const Pieces& placed = placements_.at(id).pieces;
  return std::equal(pieces.begin(), pieces.end(), placed.begin(), placed.end(), are_the_same);
}

void WrittenOctets::end_early(Id id) {
  const auto found = placements_.find(id);
  if (found->second.intact)
    for (const wire::MutableBytes piece : found->second.pieces) {
      const auto [begin, end] = addresses_of(piece);
      early_.remove(begin, end);
    }
  placements_.erase(found);
}

/// All of each that lies there: what is left of it is no longer anybody's.
void WrittenOctets::void_early(wire::MutableBytes piece) {
  const auto [begin, end] = addresses_of(piece);
  if (!early_.touches(begin, end)) return;
  for (auto& [id, placement] : placements_) {
    const auto meets = [piece](wire::MutableBytes other) { return overlap(piece, other); };
    if (!placement.intact || std::none_of(placement.pieces.begin(), placement.pieces.end(), meets)) continue;
    placement.intact = false;
    for (const wire::MutableBytes other : placement.pieces) {
      const auto [first, last] = addresses_of(other);
      early_.remove(first, last);
    }
  }
}

void WrittenOctets::place(wire::MutableBytes piece) {
  if (lost_track_) return;
  void_early(piece);
  const auto [begin, end] = addresses_of(piece);
  placed_.add(begin, end);
  look_at_size();
}

void WrittenOctets::renew(wire::MutableBytes piece) {
  if (lost_track_) return;
  void_early(piece);
  const auto [begin, end] = addresses_of(piece);
  placed_.remove(begin, end);
}

/// What was early is void then, too: it comes again, in order.
void WrittenOctets::look_at_size() {
  if (placed_.size() + early_.size() <= most_ranges) return;
  lost_track_ = true;
  placed_ = {};
  early_ = {};
  for (auto& [id, placement] : placements_) placement.intact = false;
}

}  // namespace iwarp
