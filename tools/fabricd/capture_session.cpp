#include "tools/fabricd/capture_session.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "tools/fabricd/paths.hpp"
#include "tools/fabricd/port_session.hpp"

namespace fabricd {
using fc2::FrameHistory;
using fc2::PassedFrame;

namespace {
class Nowhere final : public fc2::ByteSink {
 public:
  void write(std::span<const std::uint8_t>) override {}
};

// Of those since a time, the latest that make up a count: they are written once to nowhere.
FrameHistory::Number first_of_latest(const CaptureRequest& request, const Recorder& recorder,
                                     FrameHistory::Number begin) {
  const FrameHistory& history = recorder.history();
  std::vector<FrameHistory::Number> written;
  Nowhere nowhere;
  HistoryWriter writer(nowhere, request.choice, begin, "");
  for (auto number = begin; number != history.end(); ++number) {
    const std::uint64_t before = writer.frame_count();
    writer.write(history, number, recorder.names());
    if (writer.frame_count() != before) written.push_back(number);
  }
  return written.size() <= request.count ? begin : written[written.size() - request.count];
}

FrameHistory::Number first_of(const CaptureRequest& request, const Recorder& recorder, runtime::TimeNs now) {
  if (!request.last) return request.from_first ? recorder.history().first() : recorder.history().end();
  const FrameHistory::Number begin = recorder.history().first_since(now - std::min(*request.last, now));
  return request.count == 0 ? begin : first_of_latest(request, recorder, begin);
}
}  // namespace

CaptureSession::CaptureSession(SessionHost& service, std::shared_ptr<FrameStream> stream, const CaptureRequest& request)
    : Session(service, std::move(stream)), request_(request), recorder_(service.recorder()), blocks_(this->stream()),
      begun_(service.core().scheduler().now()), next_(first_of(request, recorder_, begun_)),
      writer_(*this, request.choice, next_, what_it_is()) {
  if (!is_live()) {
    write_last();
    return;
  }
  spdlog::info("a capture begins");
  writer_.describe(recorder_.names());
  recorder_.add(*this);
  tapping_ = true;
  if (next_ != recorder_.history().end()) frames_came();
  pump();
}

// --- what it has -------------------------------------------------------------------------------------------------

std::string CaptureSession::what_it_is() {
  const std::string which = request_.choice.ports.empty() ? "all ports" : "chosen ports";
  if (is_live()) return "fcvi-fabricd, frames of " + which;
  std::string text = fmt::format("fcvi-fabricd, {} of {}", extent_of(recorder_.history(), next_), which);
  if (next_ == recorder_.history().first() && next_ != 1)
    text +=
        fmt::format("; of the {:.3f} s that were asked for no more is kept", static_cast<double>(*request_.last) / 1e9);
  const std::size_t paths = service().paths().count();
  if (paths != 0) text += fmt::format("; message data of {} pairs of ports go through memory, and are not here", paths);
  return text;
}

std::string CaptureSession::summary() {
  const std::string count =
      fmt::format("{} frames, {} of them with a comment", writer_.frame_count(), writer_.comment_count());
  if (!is_live()) return count + "; " + what_it_is();
  return fmt::format("{}, in {:.3f} s", count, static_cast<double>(service().core().scheduler().now() - begun_) / 1e9);
}

void CaptureSession::write_last() {
  const FrameHistory& history = recorder_.history();
  for (auto number = next_; number != history.end() && !is_full(); ++number)
    writer_.write(history, number, recorder_.names());
  finish();
  pump();
}

// --- frames from now on ------------------------------------------------------------------------------------------

void CaptureSession::frames_came() {
  runtime::Scheduler& scheduler = service().core().scheduler();
  if (!write_event_.pending()) scheduler.schedule(write_event_, scheduler.now());
}

// At the latest; 0: what becomes of it is known.
static runtime::TimeNs known_by(const PassedFrame& frame) {
  if (frame.outcome == PassedFrame::Outcome::Waiting) return frame.at + CaptureSession::patience;
  const bool may_be_discarded = frame.fault != 0 && frame.outcome == PassedFrame::Outcome::Passed && frame.left_at == 0;
  return may_be_discarded ? frame.at + CaptureSession::until_discarded : 0;
}

bool CaptureSession::must_wait(FrameHistory::Number number) {
  runtime::Scheduler& scheduler = service().core().scheduler();
  const runtime::TimeNs until = known_by(recorder_.history().at(number));
  if (scheduler.now() >= until) return false;
  if (!patience_timer_.pending()) scheduler.schedule(patience_timer_, until);
  return true;
}

// `all`: also those of which it is not known yet what becomes of them.
void CaptureSession::write_frames(bool all) {
  const FrameHistory& history = recorder_.history();
  for (; tapping_ && !is_full() && next_ != history.end(); ++next_) {
    if (!all && must_wait(next_)) return;
    if (blocks_.size() > max_backlog_bytes)
      writer_.miss(history, next_, recorder_.names());
    else
      writer_.write(history, next_, recorder_.names());
  }
}

void CaptureSession::write_waiting() {
  write_frames(false);
  if (is_full()) finish();
  pump();
}

void CaptureSession::write(std::span<const std::uint8_t> block) { blocks_.add(block); }

// --- ports whose frames it needs ---------------------------------------------------------------------------------

void CaptureSession::add(PortSession& port) {
  const NamedPort* const named = recorder_.names().find(port.number());
  if (!tapping_ || named == nullptr || !request_.choice.takes(*named)) return;
  if (std::find(watched_.begin(), watched_.end(), &port) != watched_.end()) return;
  watched_.push_back(&port);
  port.watch(true);
}

void CaptureSession::remove(PortSession& port) { std::erase(watched_, &port); }

void CaptureSession::end_tapping() {
  if (!std::exchange(tapping_, false)) return;
  recorder_.remove(*this);
  for (PortSession* port : std::exchange(watched_, {})) port->watch(false);
}

// --- connection --------------------------------------------------------------------------------------------------

void CaptureSession::pump() {
  if (!blocks_.pump() || !ending_ || done_) return;
  done_ = stream().send_record(RecordKind::Done, fmt::format("{}\n{}", writer_.missing_count(), summary()));
  if (done_) stream().finish();  // the client closes
}

void CaptureSession::finish() {
  if (std::exchange(ending_, true)) return;
  end_tapping();
  writer_.finish(service().core().scheduler().now());
  spdlog::info("a capture ends: {}, {} more missed", summary(), writer_.missing_count());
}

// Any request is for the end: what is on its way still comes, then how many frames are missing.
void CaptureSession::record_received(RecordKind, std::span<const std::uint8_t>) {
  if (ending_) return;
  write_frames(true);
  finish();
  pump();
}

void CaptureSession::frame_received(fc2::FramePtr) { stream_closed("a frame on a control connection"); }

void CaptureSession::stream_closed(const std::string& reason) {
  if (!done_) spdlog::info("a capture ends: {}", reason);
  end_tapping();
  stream().close();
  end();
}

}  // namespace fabricd
