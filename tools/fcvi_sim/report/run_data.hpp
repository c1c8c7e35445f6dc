// What a report of a run has besides frames, as JSON.
#pragma once
#include "tools/fcvi_sim/report/frames.hpp"
#include "tools/fcvi_sim/report/page.hpp"
#include "tools/fcvi_sim/report/report.hpp"

namespace sim::report {

/// docs/report.md describes the members. Nothing in it depends on real time.
[[nodiscard]] PageData run_data(const Run& run, const Frames& frames);

}  // namespace sim::report
