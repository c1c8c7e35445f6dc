// The page as the build made it of page/ and third_party/uplot.
#pragma once
#include <string_view>

namespace sim::report {

/// page.html with its style sheets and scripts; a title goes into "<!--title-->", data into "<!--data-->".
[[nodiscard]] std::string_view page_source();

}  // namespace sim::report
