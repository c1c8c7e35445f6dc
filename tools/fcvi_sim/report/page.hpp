// The page itself: what stands in page/, with the data of one report.
#pragma once
#include <string>
#include <string_view>

#include "tools/fcvi_sim/report/frames.hpp"

namespace sim::report {

/// What is known besides frames, as JSON; docs/report.md describes it. Of a capture there is a head only.
struct PageData {
  std::string head, rows = {}, series = {};
};

/// `title`: any text.
[[nodiscard]] std::string make_page(std::string_view title, const PageData& data, const Frames& frames);

}  // namespace sim::report
