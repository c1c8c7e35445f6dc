// Any text as a packet comment, in front of any frame: what it tells of the frame's way stays within its limits, and
// changes the frame within its bounds.
#include "property.hpp"
#include "tools/fcvi_sim/capture/comment.hpp"
#include "tools/fcvi_sim/capture/way.hpp"

namespace {
using wire::fuzz::fail;
using sim::capture::Way;

void check_frame(const Way& way, wire::Bytes frame, std::string_view comment) {
  std::vector<std::uint8_t> changed(frame.begin(), frame.end());
  changed.shrink_to_fit();
  way.change(changed);
  if (changed.size() > frame.size()) fail("longer than it was sent", comment);
  if (!way.size_bytes && changed.size() != frame.size()) fail("cut, though nothing was said of it", comment);
  if (way.size_bytes && changed.size() > *way.size_bytes) fail("longer than it was cut to", comment);
  if (!way.bit || way.size_bytes || !way.fields.empty()) return;
  way.change(changed);
  if (!std::equal(changed.begin(), changed.end(), frame.begin(), frame.end()))
    fail("a bit that was turned twice is another", comment);
}

}  // namespace

/// The comment ends with the first zero.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const wire::Bytes input(data, size);
  const auto end = std::find(input.begin(), input.end(), 0);
  const std::string comment(input.begin(), end);
  const auto way = sim::capture::way_told_by(comment);
  if (!way) return 0;
  if (sim::capture::told_by(comment) == sim::capture::Tells::lost) fail("lost, and on its way", comment);
  if (way->copies > 1'000'000 || way->overtaken_by > 1'000'000) fail("more frames than its limit", comment);
  if (way->delay < 0) fail("arrives before it was sent", comment);
  if (way->crc_error && !way->bit && !way->size_bytes) fail("a wrong CRC without a cause", comment);
  for (const auto& [field, value] : way->fields)
    if (field == nullptr) fail("a field that there is not", comment);
  const auto rest = static_cast<std::size_t>(input.end() - end);
  check_frame(*way, input.last(rest - (rest != 0 ? 1 : 0)), comment);
  return 0;
}
