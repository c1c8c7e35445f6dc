#include "tools/fcvi_perf/samples.hpp"

#include <algorithm>
#include <cmath>

namespace perf {

double Samples::mean() const { return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }

double Samples::quantile(double part) const {
  if (count_ == 0) return 0;
  auto left = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(part * static_cast<double>(count_))));
  std::size_t i = 0;
  for (; i < buckets && counts_[i] < left; ++i) left -= counts_[i];
  const double middle = (static_cast<double>(begin_of(i)) + static_cast<double>(begin_of(i + 1)) - 1) / 2;
  return std::clamp(middle, static_cast<double>(least_), static_cast<double>(most_));
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> Samples::histogram() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> filled;
  for (std::size_t i = 0; i < buckets; ++i)
    if (counts_[i] != 0) filled.emplace_back(begin_of(i), counts_[i]);
  return filled;
}

}  // namespace perf
