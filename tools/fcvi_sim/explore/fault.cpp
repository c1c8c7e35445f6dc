#include "tools/fcvi_sim/explore/fault.hpp"

#include <algorithm>
#include <array>

#include "fc2_fabric/frame/frame_header.hpp"
#include "settings/units.hpp"

namespace sim::explore {
namespace {

// A frame that nobody overtakes arrives after this: shorter than every timer.

struct KindName {
  Fault::Kind kind;
  std::string_view name;
};
constexpr std::array<KindName, 11> kind_names{{{Fault::Kind::Lose, "lose"},
                                               {Fault::Kind::Duplicate, "duplicate"},
                                               {Fault::Kind::Delay, "delay"},
                                               {Fault::Kind::Reorder, "reorder"},
                                               {Fault::Kind::Reverse, "reverse"},
                                               {Fault::Kind::Shuffle, "shuffle"},
                                               {Fault::Kind::Alternate, "alternate"},
                                               {Fault::Kind::Reset, "reset"},
                                               {Fault::Kind::Close, "close"},
                                               {Fault::Kind::Silence, "silence"},
                                               {Fault::Kind::Invert, "invert"}}};

std::string_view name_of(Fault::Kind kind) {
  for (const KindName& known : kind_names)
    if (known.kind == kind) return known.name;
  return "?";
}

/// Exact, as parse_duration reads it.
std::string duration_text(runtime::TimeNs time) {
  if (time % runtime::second == 0) return std::to_string(time / runtime::second) + "s";
  if (time % runtime::millisecond == 0) return std::to_string(time / runtime::millisecond) + "ms";
  return std::to_string(time) + "ns";
}

constexpr std::uint32_t most_frames = 100'000;
constexpr runtime::TimeNs step =
    runtime::millisecond;  // between frames of a block that change places: more than any frame takes

bool is_mixed(Fault::Kind kind) { return kind == Fault::Kind::Reverse || kind == Fault::Kind::Shuffle; }

/// How much later frame `place` of its block comes.
runtime::TimeNs delay_of(const Fault& fault, std::uint32_t place) {
  switch (fault.kind) {
    case Fault::Kind::Lose:
    case Fault::Kind::Duplicate:
    case Fault::Kind::Reset:
    case Fault::Kind::Close:
    case Fault::Kind::Silence:
    case Fault::Kind::Invert: return 0;
    case Fault::Kind::Delay: return fault.delay;
    case Fault::Kind::Reorder: return longest_hold;
    case Fault::Kind::Reverse: return (fault.count - 1 - place) * step;
    case Fault::Kind::Shuffle:
      return static_cast<runtime::TimeNs>((place + fault.frame) * 0x9E3779B97F4A7C15 >> 32) % fault.count * step;
    case Fault::Kind::Alternate: return place % 2 == 0 ? fault.delay : 0;
  }
  return 0;
}

/// Comes late, and overtakes nobody: who is held back for that waits on.
void come_late(const fc2::FaultAction& action, fc2::FaultyDirection& /*direction*/, fc2::Channel& channel,
               fc2::FramePtr frame) {
  frame->arrival += action.delay;
  channel.deliver(std::move(frame));
}

/// What befalls frame `place` of its block.
fc2::FaultAction action_of(const Fault& fault, std::uint32_t place) {
  switch (fault.kind) {
    case Fault::Kind::Lose:
    case Fault::Kind::Reset:
    case Fault::Kind::Close:
    case Fault::Kind::Silence:
    case Fault::Kind::Invert: return {.apply = fc2::fault::drop};
    case Fault::Kind::Duplicate: return {.apply = fc2::fault::duplicate, .delay = fault.delay};
    case Fault::Kind::Reorder:
      return {.apply = fc2::fault::reorder, .frames = fault.overtaken, .longest_hold = longest_hold};
    case Fault::Kind::Delay:
    case Fault::Kind::Reverse:
    case Fault::Kind::Shuffle:
    case Fault::Kind::Alternate: return {.apply = come_late, .delay = delay_of(fault, place)};
  }
  return {};
}

/// The frame of its block that comes when it would have come anyway.
bool leaves_alone(const Fault& fault, std::uint32_t place) {
  return (is_mixed(fault.kind) || fault.kind == Fault::Kind::Alternate) && delay_of(fault, place) == 0;
}

/// "7" or "7x300".
bool read_frames(std::string_view text, Fault& fault) {
  const std::size_t times = text.find('x');
  const auto frame = settings::parse_number(text.substr(0, times));
  const auto count = times == std::string_view::npos ? std::optional<std::uint64_t>(1)
                                                     : settings::parse_number(text.substr(times + 1));
  if (!frame || *frame == 0 || *frame > 0xFFFFFFFF || !count || *count == 0 || *count > most_frames) return false;
  fault.frame = static_cast<std::uint32_t>(*frame);
  fault.count = static_cast<std::uint32_t>(*count);
  if (*count > 1) return !is_of_octets(fault.kind);
  return !is_mixed(fault.kind) && fault.kind != Fault::Kind::Alternate;
}

bool read_amount(std::string_view text, Fault& fault) {
  if (fault.kind == Fault::Kind::Reorder) {
    const auto count = settings::parse_number(text);
    fault.overtaken = static_cast<std::uint32_t>(count.value_or(0));
    return count && *count >= 1 && *count <= 1000;
  }
  const auto time = settings::parse_duration(text);
  fault.delay = time.value_or(0);
  return time && *time > 0 && fault.kind != Fault::Kind::Lose && !is_mixed(fault.kind) && !is_of_octets(fault.kind);
}

}  // namespace

bool is_of_octets(Fault::Kind kind) {
  return kind == Fault::Kind::Reset || kind == Fault::Kind::Close || kind == Fault::Kind::Silence ||
         kind == Fault::Kind::Invert;
}

std::string to_string(const Fault& fault) {
  std::string text(name_of(fault.kind));
  text += ":" + std::to_string(fault.frame);
  if (fault.count > 1) text += "x" + std::to_string(fault.count);
  if (fault.kind == Fault::Kind::Reorder)
    text += "+" + std::to_string(fault.overtaken);
  else if (fault.delay != 0)
    text += "+" + duration_text(fault.delay);
  return text;
}

std::string to_string(const FaultList& faults) {
  std::string text;
  for (const Fault& fault : faults) text += (text.empty() ? "" : " ") + to_string(fault);
  return text.empty() ? "no fault" : text;
}

std::optional<Fault> parse_fault(std::string_view text) {
  const std::size_t colon = text.find(':'), plus = text.find('+');
  if (colon == std::string_view::npos) return std::nullopt;
  Fault fault;
  bool known = false;
  for (const KindName& kind : kind_names) {
    if (kind.name != text.substr(0, colon)) continue;
    fault.kind = kind.kind;
    known = true;
  }
  const std::string_view frames = text.substr(colon + 1, plus == std::string_view::npos ? plus : plus - colon - 1);
  if (!known || !read_frames(frames, fault)) return std::nullopt;
  const bool needs_amount =
      fault.kind == Fault::Kind::Delay || fault.kind == Fault::Kind::Reorder || fault.kind == Fault::Kind::Alternate;
  if (plus == std::string_view::npos) return needs_amount ? std::nullopt : std::optional(fault);
  return read_amount(text.substr(plus + 1), fault) ? std::optional(fault) : std::nullopt;
}

LinkFaults FaultInjector::add_link() {
  Link& link = links_.emplace_back(*this, links_.size());
  return {&link.sent, &link.received};
}

// What a port sends is seen on its own link; what a service of the fabric sends, on that of the port which gets it.
bool FaultInjector::is_first_link(std::size_t link, const fc2::Frame& frame) const {
  const wire::FcId s_id = fc2::s_id_of(frame);
  return has_address_(link, s_id) || s_id.value >= 0xFFFC00;
}

FaultInjector::Verdict FaultInjector::judge(std::size_t link, fc2::LinkDirection /*direction*/, const fc2::Frame& frame,
                                            runtime::TimeNs /*now*/) {
  if (!is_first_link(link, frame)) return {};
  const Fault* found = nullptr;
  if (active_) found = fault_at(++frames_);
  if (witness_) witness_(frames_, frame, found);
  if (found == nullptr) return {};
  const std::uint32_t place = frames_ - found->frame;
  const runtime::TimeNs wait = found->kind == Fault::Kind::Duplicate ? found->delay : delay_of(*found, place);
  last_arrival_ = std::max(last_arrival_, frame.arrival + wait);
  action_ = action_of(*found, place);
  return {.action = &action_};
}

const Fault* FaultInjector::fault_at(std::uint32_t number) {
  const Fault* found = nullptr;
  for (const Fault& fault : faults_)
    if (number >= fault.frame && number - fault.frame < fault.count) found = &fault;
  if (found == nullptr) return nullptr;
  if (number == found->frame) ++applied_;
  return leaves_alone(*found, number - found->frame) ? nullptr : found;
}

void FaultInjector::Direction::carry(fc2::Channel& channel, fc2::FramePtr frame) {
  const bool tampers = injector_.active_ && injector_.tamper_ && injector_.is_first_link(link_, *frame);
  if (tampers) injector_.tamper_(*frame);
  faults_.carry(channel, std::move(frame));
}

}  // namespace sim::explore
