// Which octets of memory were written by what the streams of one core placed: in order, or early and not yet confirmed
// (IFT 8.2). An early placement may only fill what nobody has written, and is void once anything is placed over it.
//
// Octets are those of memory, not of regions: two regions may share some. No thread but the core's.
#pragma once
#include <map>
#include <span>

#include <boost/container/static_vector.hpp>

#include "iwarp/work.hpp"
#include "streams/octet_ranges.hpp"

namespace iwarp {

class WrittenOctets {
 public:
  /// Ranges that are kept at most. Who makes more has us lose track: nothing is early from then on.
  static constexpr std::size_t most_ranges = 65'536;
  using Pieces = boost::container::static_vector<wire::MutableBytes, most_local_pieces>;
  /// One early placement; never 0.
  using Id = std::uint64_t;

  /// Early placement there is allowed.
  [[nodiscard]] bool may_place_early(const Pieces& pieces) const;
  /// Pre: may_place_early().
  Id place_early(const Pieces& pieces);
  /// Nothing was placed over any of it.
  [[nodiscard]] bool is_whole(Id id) const { return placements_.at(id).intact; }
  /// These pieces are those of then.
  [[nodiscard]] bool is_at(Id id, const Pieces& pieces) const;
  /// It is over: right, and placed in order now; or wrong: what is left of it counts as never written.
  void end_early(Id id);
  /// In order, as all is that counts.
  void place(wire::MutableBytes piece);
  /// A buffer that its owner gives away anew, or memory that is none any more: it counts as never written.
  void renew(wire::MutableBytes piece);
  [[nodiscard]] bool lost_track() const { return lost_track_; }
  /// Early placements that are not over.
  [[nodiscard]] std::size_t early_count() const { return placements_.size(); }

 private:
  struct Placement {
    Pieces pieces;
    bool intact = true;
  };
  void void_early(wire::MutableBytes piece);
  void look_at_size();

  streams::OctetRanges placed_, early_;
  std::map<Id, Placement> placements_;
  Id last_ = 0;
  bool lost_track_ = false;
};

}  // namespace iwarp
