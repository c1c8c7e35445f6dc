// The page itself: what stands in page/, with the data of one report.
#pragma once
#include <string>
#include <string_view>

#include "tools/fcvi_sim/report/frames.hpp"

namespace sim::report {

/// `head`: JSON of what is known besides frames; docs/report.md describes it. `title`: any text.
[[nodiscard]] std::string make_page(std::string_view title, std::string_view head, const Frames& frames);

}  // namespace sim::report
