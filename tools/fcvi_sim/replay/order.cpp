#include "tools/fcvi_sim/replay/order.hpp"

#include <algorithm>
#include <iterator>

namespace sim::replay {
namespace {
// A call shows on the wire at most so much later, and behind at most so many frames that came.
constexpr capture::Time most_delay = 1'000'000;
constexpr std::size_t most_frames = 4;

bool is_movable(const Call& call) {
  return std::holds_alternative<call::Post>(call) || std::holds_alternative<call::Disconnect>(call) ||
         std::holds_alternative<call::Connect>(call) || std::holds_alternative<call::Accept>(call);
}
}  // namespace

OrderSearch::Progress OrderSearch::play(const Script& script) {
  --plays_left_;
  Player player(conversation_, script, traits_, {tolerance_, false});
  player.run();
  return {player.frames_compared() + player.frames_handed_over(), player.position(), player.differences().empty()};
}

/// Before the frame that came last before that place.
std::optional<std::size_t> OrderSearch::earlier_place(std::size_t at) const {
  const std::vector<CapturedFrame>& frames = conversation_.frames;
  const capture::Time time = frames[at].at;
  for (std::size_t i = at; i-- > 0 && time - frames[i].at <= most_delay;)
    if (!frames[i].sent) return i;
  return std::nullopt;
}

/// Tries the calls before the frame where it stopped, the latest first.
bool OrderSearch::improve(Script& script, Progress& progress) {
  const std::size_t last = std::min(progress.position, conversation_.frames.size() - 1);
  const std::size_t first = last - std::min(last, most_frames);
  for (std::size_t at = last + 1; at-- > first;) {
    const auto [begin, end] = script.calls.equal_range(at);
    for (auto call = begin; call != end; ++call) {
      if (!is_movable(call->second)) continue;
      auto place = earlier_place(at);
      for (std::size_t i = 0; place && i < most_frames && plays_left_ > 0; ++i, place = earlier_place(*place)) {
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

Script OrderSearch::find(Script script) {
  Progress progress = play(script);
  while (!progress.to_the_end && plays_left_ > 0 && improve(script, progress)) {}
  return script;
}

}  // namespace sim::replay
