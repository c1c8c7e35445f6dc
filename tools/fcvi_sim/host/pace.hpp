// The gaps between the messages of a transfer, or the frames of background traffic.
#pragma once
#include "tools/fcvi_sim/scenario/random.hpp"
#include "tools/fcvi_sim/scenario/workload.hpp"

namespace sim {

/// The same specification and random numbers give the same gaps, whatever happens in the run.
class Pace {
 public:
  Pace(const PaceSpec& spec, Random random) : spec_(spec), random_(random) {}
  /// Before the first burst: none where gaps are fixed.
  runtime::TimeNs first_gap() { return spec_.poisson ? next_gap() : 0; }
  /// From one burst to the next. What is left of a nanosecond counts for later ones.
  runtime::TimeNs next_gap();

 private:
  std::uint64_t drawn();

  const PaceSpec spec_;
  Random random_;
  std::uint64_t rest_ = 0;  // in PaceSpec::gap_units
};

}  // namespace sim
