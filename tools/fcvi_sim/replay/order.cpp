#include "tools/fcvi_sim/replay/order.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "wire/fcvi/device_header.hpp"

namespace sim::replay {
namespace {
// A call shows on the wire at most so much later, and behind at most so many frames that came.
constexpr capture::Time most_delay = 1'000'000;
constexpr std::size_t most_frames = 4;
// At most so many frames wait to be taken in, while the port sends at most so many; all that may lie between.
constexpr std::size_t most_waiting = 8, most_passed = 8, widest = 64;

bool is_movable(const Call& call) {
  return std::holds_alternative<call::Post>(call) || std::holds_alternative<call::Disconnect>(call) ||
         std::holds_alternative<call::Connect>(call) || std::holds_alternative<call::Accept>(call);
}

/// How fast the port's link takes frames, anywhere in the capture.
enum class Pace : std::uint8_t {
  of_data,   // by frames with data alone; where there are none, it never rests
  of_frames  // where there are none, by all
};

/// For each frame where the time began in which the port sent one frame right behind the other, as fast as its link
/// takes them.
std::vector<std::size_t> busy_times(const std::vector<CapturedFrame>& frames, Pace pace) {
  const auto pace_between = [&](std::size_t before, std::size_t at) {
    return static_cast<double>(frames[at].at - frames[before].at) / static_cast<double>(frames[before].bytes.size());
  };
  const auto for_each_sent = [&](const auto& each) {
    std::optional<std::size_t> before;
    for (std::size_t at = 0; at < frames.size(); ++at)
      if (frames[at].sent) each(std::exchange(before, at), at);
  };
  constexpr double unknown = std::numeric_limits<double>::max();
  const auto fastest_behind = [&](std::size_t least_bytes) {
    double fastest = unknown;
    for_each_sent([&](std::optional<std::size_t> before, std::size_t at) {
      if (before && frames[*before].bytes.size() > least_bytes) fastest = std::min(fastest, pace_between(*before, at));
    });
    return fastest;
  };
  double fastest = fastest_behind(1024);
  if (fastest == unknown && pace == Pace::of_frames) fastest = fastest_behind(0);
  std::vector<std::size_t> since(frames.size());
  for (std::size_t at = 0; at < since.size(); ++at) since[at] = at;
  for_each_sent([&](std::optional<std::size_t> before, std::size_t at) {
    const bool full = before && pace_between(*before, at) <= 2 * fastest;
    if (full) since[at] = since[*before];
  });
  return since;
}

/// Positions of the frames with messages that came, by FCVI_HANDLE.
using Arrivals = std::map<std::uint32_t, std::vector<std::size_t>>;

Arrivals arrivals_of(const std::vector<CapturedFrame>& frames) {
  Arrivals arrivals;
  for (std::size_t at = 0; at < frames.size(); ++at) {
    const CapturedFrame& frame = frames[at];
    if (frame.sent || !frame.is_fc_vi()) continue;
    const auto fields = wire::fcvi::DeviceHeader::parse(frame.header.device_header_size(), frame.data_field());
    if (fields && fields->handle != wire::FcviHandle::unassigned) arrivals[fields->handle.value].push_back(at);
  }
  return arrivals;
}

/// Behind the last of them before that position; 0: there is none.
std::size_t begin_behind_last(const Arrivals& arrivals, wire::FcviHandle handle, std::size_t position) {
  const auto found = arrivals.find(handle.value);
  if (found == arrivals.end()) return 0;
  const auto next = std::lower_bound(found->second.begin(), found->second.end(), position);
  return next == found->second.begin() ? 0 : *std::prev(next) + 1;
}

/// Calls and breaks of the link before frames from `first` to `last`, where those on their way to the port come
/// to stand behind the others. What was before one of them was before the next of the others, too.
void move_calls(Script& script, const std::vector<CapturedFrame>& frames, std::size_t first, std::size_t last) {
  std::multimap<std::size_t, Call> moved;
  std::set<std::size_t> links_down;
  std::size_t place = first;
  for (std::size_t at = first; at <= last; ++at) {
    const auto [begin, end] = script.calls.equal_range(at);
    for (auto call = begin; call != end; ++call) moved.emplace(place, std::move(call->second));
    script.calls.erase(begin, end);
    if (script.links_down.erase(at) != 0) links_down.insert(place);
    if (!frames[at].on_its_way) ++place;
  }
  script.calls.merge(moved);
  script.links_down.merge(links_down);
}

}  // namespace

std::size_t earliest_place(const std::vector<CapturedFrame>& frames, const Call& call, std::size_t at) {
  if (!std::holds_alternative<call::Disconnect>(call) || at >= frames.size()) return 0;
  std::size_t place = busy_times(frames, Pace::of_frames)[at];
  while (place > 0 && (frames[place - 1].sent || frames[place - 1].on_its_way)) --place;
  return place;
}

OrderSearch::Progress OrderSearch::play(const Script& script) {
  --plays_left_;
  Player player(conversation_, script, traits_, {tolerance_, false});
  player.run();
  Progress progress{player.frames_compared() + player.frames_handed_over(), player.frames_compared(), player.position(),
                    player.differences().empty(), player.position()};
  if (progress.to_the_end) return progress;
  const Difference& difference = player.differences().front();
  if (difference.kind == Difference::Kind::missing)
    progress.cause = std::max<std::size_t>(progress.position, 1) - 1;
  else
    progress.unexpected = words_of(difference.now.bytes);
  if (difference.kind == Difference::Kind::extra)
    progress.cause = std::min(progress.position, begin_behind(difference.at));
  return progress;
}

/// Position of the first frame that came or left behind that time.
std::size_t OrderSearch::begin_behind(capture::Time time) const {
  const std::vector<CapturedFrame>& frames = conversation_.frames;
  const auto found =
      std::find_if(frames.begin(), frames.end(), [&](const CapturedFrame& one) { return one.at > time; });
  return static_cast<std::size_t>(found - frames.begin());
}

bool OrderSearch::improve(Script& script, Progress& progress) {
  return call_earlier(script, progress) || take_later(script, progress);
}

// --- calls before frames that came -------------------------------------------------------------------------------

/// Before the frame that came last before that place.
std::optional<std::size_t> OrderSearch::earlier_place(std::size_t at) const {
  const std::vector<CapturedFrame>& frames = conversation_.frames;
  const capture::Time time = frames[at].at;
  for (std::size_t i = at; i-- > 0 && time - frames[i].at <= most_delay;)
    if (!frames[i].sent) return i;
  return std::nullopt;
}

/// Tries the calls before the frame where it stopped, the latest first.
bool OrderSearch::call_earlier(Script& script, Progress& progress) {
  const std::size_t last = std::min(progress.position, conversation_.frames.size() - 1);
  const std::size_t first = last - std::min(last, most_frames);
  for (std::size_t at = last + 1; at-- > first;) {
    const auto [begin, end] = script.calls.equal_range(at);
    for (auto call = begin; call != end; ++call) {
      if (!is_movable(call->second)) continue;
      const std::size_t earliest = earliest_place(conversation_.frames, call->second, at);
      auto place = earlier_place(at);
      for (std::size_t i = 0; place && *place >= earliest && i < most_frames && plays_left_ > 0;
           ++i, place = earlier_place(*place)) {
        Script other = script;
        auto moved = other.calls.lower_bound(at);
        std::advance(moved, std::distance(begin, call));
        auto node = other.calls.extract(moved);
        node.key() = *place;
        other.calls.insert(std::move(node));
        const Progress now = play(other);
        if (now.frames <= progress.frames && !now.to_the_end) continue;
        script = std::move(other);
        progress = now;
        return true;
      }
    }
  }
  return false;
}

// --- frames on their way behind frames that the port sent --------------------------------------------------------

capture::Time OrderSearch::recorded_at(const CapturedFrame& frame) const {
  const auto found = recorded_at_.find(frame.number);
  return found == recorded_at_.end() ? frame.at : found->second;
}

/// Those on their way where it stopped, or where what was not to come was made.
bool OrderSearch::take_later(Script& script, Progress& progress) {
  const std::size_t stop = progress.position, cause = progress.cause;
  return take_later_from(stop, script, progress) || (cause != stop && take_later_from(cause, script, progress));
}

/// Behind the next frame that was captured within the port or sent by it, behind further ones, or to the end.
bool OrderSearch::take_later_from(std::size_t position, Script& script, Progress& progress) {
  const std::vector<CapturedFrame>& frames = conversation_.frames;
  std::size_t passed = 0;
  for (std::size_t last = std::max<std::size_t>(position, 1) - 1; last < frames.size(); ++last) {
    if (frames[last].on_its_way && last + 1 < frames.size()) continue;
    if (take_behind(position, last, script, progress)) return true;
    if (++passed == most_passed) return false;
  }
  return false;
}

/// The latest alone first: they keep their order.
bool OrderSearch::take_behind(std::size_t position, std::size_t last, Script& script, Progress& progress) {
  const std::vector<CapturedFrame>& frames = conversation_.frames;
  std::size_t waiting = 0;
  for (std::size_t first = std::min(position, last); first-- > 0 && last - first < widest;) {
    if (!frames[first].on_its_way) continue;
    if (frames[last].at - recorded_at(frames[first]) > tolerance_ || ++waiting > most_waiting) return false;
    if (plays_left_ == 0) return false;
    if (try_behind(first, last, script, progress)) return true;
  }
  return false;
}

/// That a frame comes later that nobody captured is not further.
bool OrderSearch::try_behind(std::size_t first, std::size_t last, Script& script, Progress& progress) {
  std::vector<CapturedFrame>& frames = conversation_.frames;
  const auto begin = frames.begin() + static_cast<std::ptrdiff_t>(first);
  const std::vector<CapturedFrame> before(begin, frames.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  Script other = script;
  move_calls(other, frames, first, last);
  put_behind(first, last);
  Progress now = play(other);
  const bool same_again = !now.unexpected.empty() && now.unexpected == progress.unexpected;
  if (now.to_the_end || (now.compared > progress.compared && !same_again)) {
    for (const CapturedFrame& frame : before)
      if (frame.on_its_way) recorded_at_.try_emplace(frame.number, frame.at);
    script = std::move(other);
    progress = std::move(now);
    return true;
  }
  std::copy(before.begin(), before.end(), begin);
  return false;
}

void OrderSearch::put_behind(std::size_t first, std::size_t last) {
  std::vector<CapturedFrame>& frames = conversation_.frames;
  const capture::Time taken_at = frames[last].at;
  const auto begin = frames.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = frames.begin() + static_cast<std::ptrdiff_t>(last) + 1;
  const auto waiting = std::stable_partition(begin, end, [](const CapturedFrame& frame) { return !frame.on_its_way; });
  std::for_each(waiting, end, [&](CapturedFrame& frame) { frame.at = std::max(frame.at, taken_at); });
}

// --- messages that waited behind others --------------------------------------------------------------------------

/// Each post as early as it may have been, if it goes further so: as soon as its connection was there, or the last
/// frame of its connection before it had come, in a time in which the link did not rest.
void OrderSearch::post_ahead(Script& script, Progress& progress) {
  const Script original = script;
  for (const bool is_answer : {false, true}) {
    Script other = posted_ahead(original, is_answer);
    const Progress now = play(other);
    if (now.frames <= progress.frames && !now.to_the_end) continue;
    script = std::move(other);
    progress = now;
    if (now.to_the_end) return;
  }
}

/// `is_answer`: what is posted answers what came last.
Script OrderSearch::posted_ahead(const Script& script, bool is_answer) const {
  const std::vector<std::size_t> busy_since = busy_times(conversation_.frames, Pace::of_data);
  const Arrivals arrivals = is_answer ? arrivals_of(conversation_.frames) : Arrivals();
  Script other = script;
  other.calls.clear();
  for (const auto& [at, call] : script.calls) {
    std::size_t place = at;
    if (const auto* post = std::get_if<call::Post>(&call); post != nullptr && at < busy_since.size()) {
      const ViSpec& vi = script.vis[post->vi];
      place = std::min(at, std::max({busy_since[at], vi.connected_at, begin_behind_last(arrivals, vi.handle, at)}));
    }
    other.calls.emplace(place, call);
  }
  return other;
}

/// On a loop the link takes a frame and then waits until it has won arbitration: what is more urgent comes too late.
void OrderSearch::take_ahead(Script& script, Progress& progress) {
  Script other = script;
  other.link_takes_ahead = true;
  const Progress now = play(other);
  if (now.frames <= progress.frames && !now.to_the_end) return;
  script = std::move(other);
  progress = now;
}

Script OrderSearch::find(Script script) {
  Progress progress = play(script);
  if (!progress.to_the_end && traits_.own_id) take_ahead(script, progress);
  if (!progress.to_the_end) post_ahead(script, progress);
  while (!progress.to_the_end && plays_left_ > 0 && improve(script, progress)) {}
  return script;
}

}  // namespace sim::replay
