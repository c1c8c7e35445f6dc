#include "tools/fabricd/failure_files.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <new>
#include <utility>

namespace fabricd {
using fc2::FrameHistory;
using runtime::TimeNs;

namespace {
constexpr TimeNs look_interval = 20 * runtime::millisecond;
// Between two steps of a copy when no frames come: others have their turn.
constexpr TimeNs step_interval = 100 * runtime::microsecond;
}  // namespace

FailureFiles::FailureFiles(runtime::Scheduler& scheduler, Recorder& recorder, FailureConfig config)
    : scheduler_(scheduler), recorder_(recorder), writer_(std::move(config)) {
  if (writer_.config().most_files != 0) recorder_.set_failure_listener(this);
}

void FailureFiles::end() {
  recorder_.set_failure_listener(nullptr);
  watched_ = false;
}

// What pauses or is to have an aftermath is written now: kinds whose frames were copied before have a file each.
void FailureFiles::finish() {
  end();
  for (std::size_t files = 0; files <= failures_.size(); ++files) {
    if (const auto result = writer_.wait()) tell(*result);
    write(runtime::never, runtime::never);
    while (copying_) copy_more();
    write(runtime::never, runtime::never);
  }
}

// --- what failed -------------------------------------------------------------------------------------------------

void FailureFiles::Failures::add(const std::string& what) {
  const bool is_new = !what.empty() && std::find(names.begin(), names.end(), what) == names.end();
  if (is_new && names.size() < most_named)
    names.push_back(what);
  else
    ++more;
}

bool FailureFiles::names_more(FailureKind kind) const { return of(kind).names.size() < most_named; }

void FailureFiles::failed(FailureKind kind, const std::string& what, FrameHistory::Number frame) {
  Failures& failures = of(kind);
  const TimeNs now = scheduler_.now();
  if (now - std::exchange(failures.last_failure, now) > quiet) failures.pause = 0;
  failures.add(what);
  if (std::exchange(failures.due, true)) return;
  failures.frame = frame;
  failures.due_at = std::max(now + aftermath, failures.soonest());
  watch();
  await_next();
}

// --- the ring ----------------------------------------------------------------------------------------------------

void FailureFiles::watch() {
  watched_ = std::any_of(failures_.begin(), failures_.end(),
                         [](const Failures& one) { return one.due && one.frame != 0 && !one.frames; });
}

// Newer frames soon displace those of a failure: they are written at once, or, in a pause, copied.
void FailureFiles::look_at_ring() {
  const TimeNs now = scheduler_.now();
  for (Failures& failures : failures_) {
    if (!failures.due || failures.frame == 0 || failures.frames) continue;
    if (!recorder_.history().is_half_way_out(failures.frame)) continue;
    failures.due_at = std::max(now, failures.soonest());
    if (failures.due_at > now || writer_.is_busy()) copy(failures);
  }
  write_due();
}

void FailureFiles::copy(Failures& failures) {
  failures.frame = 0;  // whatever comes of it, once
  try {
    failures.ports = recorder_.names();
    failures.frames = std::make_unique<fc2::HistoryCopy>(recorder_.history());
  } catch (const std::bad_alloc&) {  // a copy at the end of the pause may have what others left
    return;
  }
  copy_more();
  if (copying_) scheduler_.schedule(copy_timer_, scheduler_.now() + step_interval);
}

// A step of each copy.
void FailureFiles::copy_more() {
  copying_ = false;
  for (Failures& failures : failures_)
    if (failures.frames && failures.frames->step()) copying_ = true;
}

void FailureFiles::copy_in_time() {
  if (copying_) copy_more();
  if (copying_)
    scheduler_.schedule(copy_timer_, scheduler_.now() + step_interval);
  else
    write_due();
}

// --- files -------------------------------------------------------------------------------------------------------

void FailureFiles::await_next() {
  TimeNs next = runtime::never;
  for (const Failures& failures : failures_)
    if (failures.due) next = std::min(next, failures.due_at);
  if (next == runtime::never)
    scheduler_.cancel(due_);
  else
    scheduler_.schedule(due_, writer_.is_busy() || copying_ ? std::max(next, scheduler_.now() + look_interval) : next);
}

void FailureFiles::write_due() {
  const TimeNs now = scheduler_.now();
  if (!writer_.is_busy()) write(now, now);
  watch();
  await_next();
}

// What is due at `until`: what has frames of its own, or all that share those of now, also what is due later if its
// pause is over at `soonest`.
void FailureFiles::write(TimeNs until, TimeNs soonest) {
  const auto is_due = [&](const Failures& one) { return one.due && one.due_at <= until; };
  const auto first = std::find_if(failures_.begin(), failures_.end(), is_due);
  if (first == failures_.end()) return;
  if (!first->frames) {
    first->shares = true;
    copy(*first);
  }
  if (first->frames && !first->frames->is_complete()) return;  // until the last step
  at_ = std::max(scheduler_.now(), at_ + 1);                   // no two files have one name
  FailureWriter::Job job;
  job.at = at_;
  job.names = std::move(first->ports);
  job.what = names_for(*first, soonest);
  if (!first->frames) return lose(job.what, "there is no memory for a copy of them");
  job.history = std::exchange(first->frames, nullptr)->take();
  writer_.write(std::move(job));
  scheduler_.schedule(result_timer_, scheduler_.now() + look_interval);
}

// Of what the copy of `first` has the frames: others that failed since it began have to wait for a file of their own.
std::string FailureFiles::names_for(Failures& first, TimeNs soonest) {
  std::string names = end_pause(first);
  if (!std::exchange(first.shares, false)) return names;
  for (Failures& other : failures_) {
    const bool is_in = !first.frames || other.frame < first.frames->history().end();
    if (other.due && !other.frames && is_in && other.soonest() <= soonest) names += "; " + end_pause(other);
  }
  return names;
}

// They are in a file now: the next pause begins. Returns their names.
std::string FailureFiles::end_pause(Failures& failures) {
  failures.due = false;
  failures.frame = 0;
  failures.pause = failures.pause == 0 ? first_pause : std::min(2 * failures.pause, longest_pause);
  failures.last_file = scheduler_.now();
  std::string text;
  for (const std::string& name : std::exchange(failures.names, {})) text += (text.empty() ? "" : "; ") + name;
  const std::uint64_t more = std::exchange(failures.more, 0);
  return more == 0 ? text : fmt::format("{}, and {} more failures", text, more);
}

void FailureFiles::look_at_result() {
  if (const auto result = writer_.take_result()) return tell(*result);
  if (writer_.is_busy()) scheduler_.schedule(result_timer_, scheduler_.now() + look_interval);
}

void FailureFiles::tell(const FailureWriter::Result& result) {
  if (!result.error.empty()) return lose(result.what, result.error);
  ++written_;
  spdlog::warn("{}; {} frames until then are in {}", result.what, result.frames, result.path);
}

void FailureFiles::lose(const std::string& what, const std::string& why) {
  ++lost_;
  spdlog::warn("{}; the frames until then are lost: {}", what, why);
}

}  // namespace fabricd
