#include "tools/fcvi_sim/capture/decode.hpp"

#include <sys/stat.h>

#include <memory>
#include <set>

#include "tools/fcvi_sim/capture/filters.hpp"
#include "tools/fcvi_sim/capture/selection.hpp"

namespace sim::capture {
namespace {

std::string text_of(Style style, const Seen& seen, const std::vector<Interface>& interfaces) {
  switch (style) {
    case Style::line: return line_of(seen, interfaces) + "\n";
    case Style::tree: return tree_of(seen, interfaces) + "\n";
    case Style::json: return json_of(seen, interfaces) + "\n";
  }
  return {};
}

/// Frames may come one by one: from a terminal, a pipe, a device.
bool is_live(const std::string& path) {
  struct stat about {};
  return path == "-" || (::stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode));
}

/// Copies of frames are known among the latest of so many (Tracker): no need to remember more.
constexpr std::size_t most_shown = 65'536;

}  // namespace

DecodeResult decode(const DecodeOptions& options, std::FILE* output) {
  FollowOption follow;
  Filters filters;
  if (const std::string error = parse_follow(options.follow, follow); !error.empty()) return {error, {}};
  if (const std::string error = filters.set(options.filters); !error.empty()) return {error, {}};
  Reading reading;
  if (const std::string error = reading.open(options.path); !error.empty()) return {error, {}};

  const bool lists = follow.what != Follow::everything && follow.index == 0, live = is_live(options.path);
  Census census(follow.what);
  Follower follower(follow, [&](const Seen& seen) {
    const std::string text = text_of(options.style, seen, reading.interfaces());
    std::fwrite(text.data(), 1, text.size(), output);
    if (live) std::fflush(output);
  });
  std::set<std::uint64_t> shown;  // of --once: numbers of frames where they were seen first
  for (Seen seen; std::ferror(output) == 0 && reading.next(seen);) {
    if (!filters.take(seen, reading.interfaces())) continue;
    if (options.once && !shown.insert(seen.same != 0 ? seen.same : seen.packet.number).second) continue;
    if (shown.size() > most_shown) shown.erase(shown.begin());
    if (lists)
      census.count(seen);
    else
      follower.offer(seen);
  }
  if (lists) std::fputs(census.text(reading.tracker()).c_str(), output);
  std::string error = reading.error();
  if (error.empty()) error = unknown_number(follow, reading);
  return {std::move(error), filters.warning()};
}

}  // namespace sim::capture
