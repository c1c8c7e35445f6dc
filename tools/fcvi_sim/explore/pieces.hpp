// An exploration in pieces, and how what was found in them is joined.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tools/fcvi_sim/explore/explore.hpp"

namespace sim::explore {

/// Findings of some runs, to be joined with those of others.
struct Part {
  Findings findings;                   // less distinct_courses
  std::vector<std::uint64_t> courses;  // a number for each, ascending
};

/// An exploration in pieces, which can be explored anywhere and in any order. Piece 0 is the run without a fault; each
/// other one all lists that begin with the same fault.
class Exploration {
 public:
  /// Both outlive it.
  Exploration(const Scenario& scenario, const Options& options);
  /// Explores one, `most_runs` of it at most; 0: all. The first piece that is no. 0 runs no. 0 too, uncounted.
  Part explore(std::uint64_t piece, std::uint64_t most_runs);
  /// How many pieces, by the findings of no. 0; at least 1.
  [[nodiscard]] std::uint64_t pieces(const Findings& first) const;

 private:
  const Scenario& scenario_;
  const Options& options_;
  const std::vector<Fault> kinds_;
  std::uint32_t frames_ = 0;  // that the first fault can hit; 0: not known yet
};

/// Joins parts in the order of pieces. What comes of it does not depend on where they were explored.
class Joining {
 public:
  explicit Joining(const Options& options) : max_runs_(options.max_runs) {}
  /// How many runs may still be joined; the part may have no more of them. `no_limit` without max_runs.
  [[nodiscard]] std::uint64_t room() const;
  static constexpr std::uint64_t no_limit = ~std::uint64_t{0};
  void add(Part part);
  /// max_runs ended it before the last piece.
  void cut_short() { sum_.complete = false; }
  /// Somebody did.
  void interrupt() { sum_.complete = false, sum_.interrupted = true; }
  [[nodiscard]] bool is_cut_short() const { return !sum_.complete; }
  [[nodiscard]] Findings findings();

 private:
  const std::uint64_t max_runs_;
  Findings sum_;
  std::vector<std::uint64_t> courses_;
};

/// As bytes, for other processes of this program.
std::string packed(const Part& part);
Part part_of(const std::string& text);

}  // namespace sim::explore
