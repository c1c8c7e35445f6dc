#include "tools/fcvi_sim/soak/progress.hpp"

#include <algorithm>
#include <cstdio>

#include "settings/units.hpp"

namespace sim::soak {
namespace {

constexpr std::chrono::milliseconds every_on_terminal{200};
constexpr std::chrono::seconds every_line{10};

std::string time_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return settings::format_count(count) + " " + (count == 1 ? one : many);
}

}  // namespace

std::string progress_line(const Totals& totals, std::optional<std::uint64_t> of_runs, double share,
                          double runs_per_second, std::optional<double> seconds_left) {
  constexpr std::size_t width = 20;
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * width);
  std::string text = "[" + std::string(full, '#') + std::string(width - full, '.') + "] ";
  text += of_runs ? settings::format_count(totals.runs) + " of " + settings::format_count(*of_runs) + " runs"
                  : counted(totals.runs, "run", "runs");
  text +=
      ", " + counted(totals.frames, "frame", "frames") + ", " + counted(totals.failures.size(), "failure", "failures");
  text += ", " + settings::format_count(static_cast<std::uint64_t>(runs_per_second)) + " runs/s";
  if (seconds_left) text += ", " + time_text(*seconds_left) + " left";
  return text;
}

Progress::Progress(const Plan& plan, const Totals& before, bool terminal)
    : plan_(plan), first_(before.next - before.runs), runs_before_(before.runs), terminal_(terminal) {}

std::string Progress::line(const Totals& totals, Clock::time_point now) const {
  const double seconds = std::chrono::duration<double>(now - began_).count();
  const double rate = seconds > 0 ? static_cast<double>(totals.runs - runs_before_) / seconds : 0;
  std::optional<std::uint64_t> of_runs;
  std::optional<double> left;
  double share = 0;
  if (plan_.last != Plan::no_end) {
    of_runs = plan_.last - first_ + 1;
    share = static_cast<double>(totals.runs) / static_cast<double>(*of_runs);
    if (rate > 0) left = static_cast<double>(*of_runs - totals.runs) / rate;
  }
  if (plan_.until) {
    const double time = std::max(0.0, std::chrono::duration<double>(*plan_.until - now).count());
    share = std::max(share, seconds / (seconds + time));
    left = left ? std::min(*left, time) : time;
  }
  return progress_line(totals, of_runs, share, rate, left);
}

void Progress::show(const Totals& totals) {
  const auto now = Clock::now();
  if (now - shown_ < (terminal_ ? Clock::duration(every_on_terminal) : Clock::duration(every_line))) return;
  shown_ = now;
  visible_ = true;
  std::fprintf(stderr, terminal_ ? "\r%s\033[K" : "%s\n", line(totals, now).c_str());
}

void Progress::end() {
  if (terminal_ && visible_) std::fputs("\r\033[K", stderr);
  visible_ = false;
}

}  // namespace sim::soak
