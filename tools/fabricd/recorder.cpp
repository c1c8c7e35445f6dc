#include "tools/fabricd/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fc2_fabric/frame/frame_header.hpp"
#include "tools/fabricd/local_line.hpp"

namespace fabricd {
using fc2::Frame;
using fc2::FrameHistory;
using fc2::PassedFrame;
using fc2::TimeNs;
using Outcome = PassedFrame::Outcome;

// --- ports -------------------------------------------------------------------------------------------------------

PortNames::Number Recorder::add_port(NamedPort port) {
  names_.forget_before(history_.first());
  return names_.add(std::move(port));
}

void Recorder::port_gone(PortNames::Number port, TimeNs at, std::string end, bool orderly, int signal) {
  names_.gone(port, std::move(end), orderly, history_.end() - 1);
  if (signal != 0) mark_last(port, at, signal);
  if (orderly || failures_ == nullptr) return;
  failures_->failed(FailureKind::Port, fmt::format("{}: {}", names_.text_of(port), names_.find(port)->end),
                    history_.end() - 1);
}

void Recorder::mark_last(PortNames::Number port, TimeNs at, int signal) {
  const FrameHistory::Number last = names_.find(port)->last_sent;
  PassedFrame* const first = history_.find(last);
  if (first == nullptr) return;
  first->remark = static_cast<std::uint8_t>(signal);
  if (was_shown(last)) show_again(at, last);
}

void Recorder::show_again(TimeNs at, FrameHistory::Number number) {
  const PassedFrame known = history_.at(number);
  PassedFrame& entry = seen(history_.add_end(at, number), known.seen_at, known.outbound);
  entry.from = known.from;
  entry.to = known.to;
  entry.remark = known.remark;
  entry.fault = known.fault;
  entry.again = true;
  kept();
}

// --- frames ------------------------------------------------------------------------------------------------------

void Recorder::kept() {
  for (RecorderListener* listener : listeners_) {
    if (history_.is_half_way_out(listener->next_frame())) listener->history_is_short();
    listener->frames_came();
  }
  if (failures_ != nullptr) failures_->frame_kept();
}

void Recorder::frame_passed(PortNames::Number port, TimeNs at, const Frame& frame, bool outbound) {
  if (outbound) {
    seen(history_.add(at, frame), port, true).from = port;
    names_.sent(port, frame.record);
  } else {
    frame_left(port, at, frame);
  }
  kept();
}

void Recorder::fault_befell(unsigned rule, std::string_view what, TimeNs at, const Frame& frame) {
  const FrameHistory::Number number = frame.record;
  PassedFrame* const first = history_.find(number);
  if (first == nullptr) return;
  first->fault = static_cast<std::uint16_t>(std::min(rule, last_fault));
  if (first->fault != last_fault) names_.note_fault(rule, what);
  if (was_shown(number)) show_again(at, number);
}

PassedFrame& Recorder::seen(PassedFrame& entry, PortNames::Number port, bool outbound) {
  entry.seen_at = port;
  entry.outbound = outbound;
  return entry;
}

// What the fabric sends itself was not seen before.
void Recorder::frame_left(PortNames::Number port, TimeNs at, const Frame& frame) {
  const FrameHistory::Number before = frame.record;
  PassedFrame* const first = history_.find(before);
  const bool same_bytes = first != nullptr && !first->ethernet && frame.fault == 0;  // a fault may have changed them
  const PortNames::Number from = left(first, port, at, before == 0 ? PortNames::fabric : sender_of(frame));
  if (first != nullptr && LocalLine::is_damaged(frame)) {
    first->outcome = Outcome::Discarded;
    first->reason = fc2::Discard::BadCrc;
  }
  PassedFrame& end = seen(same_bytes ? history_.add_end(at, before) : history_.add(at, frame), port, false);
  if (before != 0) frame.record = before;
  end.first_end = before;
  if (first != nullptr && frame.fault != 0) end.fault = first->fault;
  end.from = from;
  end.to = port;
}

/// Who sent it; `unless`: it is not known any more.
PortNames::Number Recorder::left(PassedFrame* first, PortNames::Number to, TimeNs at, PortNames::Number unless) {
  if (first == nullptr) return unless;
  first->to = to;
  first->left_at = at;
  first->outcome = Outcome::Passed;
  return first->from;
}

// On Ethernet the bytes are others: both ends are kept.
void Recorder::ethernet_passed(PortNames::Number port, TimeNs at, const fc2::fcoe::EthernetFrame& frame,
                               bool outbound) {
  const FrameHistory::Number before = outbound ? frame.body->record : 0;
  const PortNames::Number from = outbound ? left(history_.find(before), port, at, PortNames::fabric) : port;
  PassedFrame& entry = seen(history_.add(at, frame), port, outbound);
  entry.from = from;
  entry.to = outbound ? port : PortNames::fabric;
  entry.first_end = before;
  kept();
}

PortNames::Number Recorder::sender_of(const Frame& frame) const {
  return frame.size_bytes < fc2::frame_header_bytes ? PortNames::fabric : names_.last_at(fc2::s_id_of(frame));
}

PortNames::Number Recorder::addressee_of(const Frame& frame) const {
  return frame.size_bytes < fc2::frame_header_bytes ? PortNames::fabric : names_.last_at(fc2::d_id_of(frame));
}

// --- what becomes of them ----------------------------------------------------------------------------------------

void Recorder::frame_waits(TimeNs, const Frame& frame) {
  PassedFrame* const kept_frame = history_.find(frame.record);
  if (kept_frame == nullptr) return;
  kept_frame->to = addressee_of(frame);
  kept_frame->outcome = Outcome::Waiting;
  kept_frame->waited = true;
}

bool Recorder::was_shown(FrameHistory::Number number) const {
  return std::any_of(listeners_.begin(), listeners_.end(),
                     [&](const RecorderListener* listener) { return listener->next_frame() > number; });
}

// Of one that was shown before it came so far, and of one that nobody saw yet, there is an entry of its own.
PassedFrame& Recorder::end_of(TimeNs at, const Frame& frame, Outcome outcome) {
  const FrameHistory::Number number = frame.record;
  PassedFrame* const first = history_.find(number);
  PassedFrame known = first != nullptr ? *first : PassedFrame{};
  if (first == nullptr && number != 0) known.seen_at = known.from = sender_of(frame);
  const bool is_first = first != nullptr && !was_shown(number);
  if (first != nullptr) first->outcome = outcome;
  PassedFrame& entry = is_first ? *first : seen(history_.add(at, frame), known.seen_at, known.outbound);
  entry.from = known.from;
  entry.to = addressee_of(frame);
  entry.waited = known.waited;
  entry.fault = known.fault;
  entry.outcome = outcome;
  entry.left_at = at;
  if (is_first) return entry;
  entry.first_end = number;
  entry.again = number != 0;
  return entry;
}

void Recorder::frame_discarded(TimeNs at, const Frame& frame, fc2::Discard reason) {
  PassedFrame& entry = end_of(at, frame, Outcome::Discarded);
  entry.reason = reason;
  if (PassedFrame* const first = history_.find(entry.first_end)) first->reason = reason;
  const NamedPort* const former = names_.find(entry.to);
  const bool late = reason == fc2::Discard::Unroutable && former != nullptr && !former->end.empty();
  const PortNames::Number from = entry.from;
  kept();
  if (late || failures_ == nullptr) return;  // late: it was on its way when that port went
  const bool named = failures_->names_more(FailureKind::Frame);
  failures_->failed(
      FailureKind::Frame,
      named ? fmt::format("a frame of {} was discarded: {}", names_.text_of(from), to_string(reason)) : "",
      frame.record);
}

void Recorder::frame_lost(TimeNs at, const Frame& frame) {
  end_of(at, frame, Outcome::Lost);
  kept();
}

// --- captures ----------------------------------------------------------------------------------------------------

void Recorder::add(RecorderListener& listener) {
  listeners_.push_back(&listener);
  history_.keep_whole(true);
}

void Recorder::remove(RecorderListener& listener) {
  std::erase(listeners_, &listener);
  history_.keep_whole(!listeners_.empty());
}

}  // namespace fabricd
