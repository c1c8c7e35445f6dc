#include "fcvi/epoch.hpp"

#include <algorithm>

namespace fcvi {
namespace {
/// Takes [begin, end) out of all of them.
void cut(Epoch::Parts& parts, std::uintptr_t begin, std::uintptr_t end) {
  Epoch::Parts left;
  for (const Epoch::Part& part : parts) {
    if (part.begin < begin) left.push_back({part.begin, std::min<std::size_t>(part.end, begin)});
    if (end < part.end) left.push_back({std::max<std::size_t>(part.begin, end), part.end});
  }
  parts = std::move(left);
}
}  // namespace

Epoch::Parts Epoch::not_overwritten(wire::MsgId by, std::uintptr_t target, std::size_t length) const {
  Parts parts{{target, target + length}};
  for (auto later = open.upper_bound(by); later != open.end(); ++later) {
    const OpenMessage& message = later->second;
    if (message.target == 0 || message.refused) continue;  // what comes of a refused one is not written
    if (message.target >= target + length || target >= message.target + message.message.length()) continue;
    const std::uint32_t placed =
        message.held.empty() ? message.message.length() : message.held.front().offset;  // its end waits
    const std::size_t from =
        target > message.target ? target - message.target : 0;  // of its bytes, those that lie there
    const std::size_t to = std::min<std::size_t>(placed, target + length - message.target);
    const Arrivals::Ranges& all = message.arrivals.ranges();
    auto range =
        std::partition_point(all.begin(), all.end(), [from](const Arrivals::Range& each) { return each.end <= from; });
    for (; range != all.end() && range->begin < to; ++range)
      cut(parts, message.target + range->begin, message.target + std::min<std::size_t>(range->end, placed));
  }
  for (Part& part : parts) part = {part.begin - target, part.end - target};
  return parts;
}

}  // namespace fcvi
