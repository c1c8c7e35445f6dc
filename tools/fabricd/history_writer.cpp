#include "tools/fabricd/history_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fc2_fabric/drivers/crossbar.hpp"
#include "wire/header_fields.hpp"

namespace fabricd {
using fc2::Discard;
using fc2::FrameHistory;
using fc2::PassedFrame;
using Outcome = PassedFrame::Outcome;

namespace {

// Why a switch discards a frame, for a reader who sees no more than that frame.
std::string_view explanation_of(Discard reason) {
  switch (reason) {
    case Discard::BadCrc: return "it was damaged on its way";
    case Discard::Truncated: return "it is shorter than a frame header";
    case Discard::BadHeader: return "no N_Port may send it with such delimiters";
    case Discard::WrongAddress: return "its S_ID is not an address of the port that sent it";
    case Discard::Unroutable: return "no port has its D_ID";
    case Discard::HeldTooLong: return "the port that it goes to takes no frames";
    case Discard::NoResources: return "too many wait for the port that it goes to";
    default: return "";
  }
}

std::string milliseconds(fc2::TimeNs time) { return fmt::format("{:.3f} ms", static_cast<double>(time) / 1e6); }

std::string discard_of(const PassedFrame& frame, const PortNames& names) {
  const std::string_view why = explanation_of(frame.reason);
  std::string text =
      fmt::format("discarded by the fabric, {}{}{}", to_string(frame.reason), why.empty() ? "" : ": ", why);
  const NamedPort* const port = names.find(frame.to);
  if (port != nullptr && port->end.empty() && frame.reason != Discard::WrongAddress)
    text += fmt::format(" ({})", port->text);
  if (port != nullptr && !port->end.empty()) text += fmt::format("; it was that of {}: {}", port->text, port->end);
  return text;
}

std::string after(const PassedFrame& frame) {
  const fc2::TimeNs waited = frame.left_at - frame.at;
  if (frame.again) return ", after it had been shown";
  return waited >= worth_telling ? ", after " + milliseconds(waited) : std::string();
}

std::string outcome_of(const PassedFrame& frame, const PortNames& names) {
  const std::string_view to = names.text_of(frame.to);
  switch (frame.outcome) {
    case Outcome::Discarded: return discard_of(frame, names) + after(frame);
    case Outcome::Lost: return fmt::format("lost: the link of {} went down{}", to, after(frame));
    case Outcome::Waiting: return fmt::format("waits: {} takes no frames now", to);
    case Outcome::Passed: break;
  }
  const bool late = frame.waited && frame.left_at - frame.at >= worth_telling;
  return late ? fmt::format("delayed: waited {} until {} took it", milliseconds(frame.left_at - frame.at), to) : "";
}

bool is_way_mark(const PassedFrame& frame, std::span<const std::uint8_t> bytes) {
  return !frame.ethernet && !bytes.empty() && wire::r_ctl_of(bytes) == fc2::drivers::Crossbar::way_mark;
}
}  // namespace

std::string comment_on(const PassedFrame& frame, std::span<const std::uint8_t> bytes, const PortNames& names) {
  std::string text = outcome_of(frame, names);
  const auto add = [&](std::string_view more) { text += (text.empty() ? "" : "; ") + std::string(more); };
  if (is_way_mark(frame, bytes))
    add(fmt::format("way mark: message data of {} for {} behind it go through memory that both share, and are not here",
                    names.text_of(frame.from), names.text_of(frame.to)));
  const NamedPort* const sender = names.find(frame.from);
  if (frame.remark != 0 && sender != nullptr) add(fmt::format("the last frame of {}: {}", sender->text, sender->end));
  return text;
}

bool CaptureChoice::takes(const NamedPort& port) const {
  return ports.empty() ||
         std::any_of(ports.begin(), ports.end(), [&](const auto& name) { return PortNames::is_called(port, name); });
}

bool HistoryWriter::chosen(PortNames::Number number, const PortNames& names) {
  const NamedPort* const port = names.find(number);
  return choice_.ports.empty() || (port != nullptr && choice_.takes(*port));
}

std::uint32_t HistoryWriter::interface_of(PortNames::Number number, const PortNames& names) {
  const auto known = interfaces_.find(number);
  if (known != interfaces_.end()) return known->second;
  return interfaces_[number] = capture_.describe_interface(names.text_of(number));
}

void HistoryWriter::describe(const PortNames& names) {
  for (const auto& [number, port] : names.all())
    if (port.end.empty() && choice_.takes(port)) (void)interface_of(number, names);
}

// What became of a frame stands at itself, unless it was written before.
bool HistoryWriter::is_of_interest(const PassedFrame& frame) {
  if (frame.again) return frame.first_end < begin_ || waiting_.erase(frame.first_end) != 0;
  return frame.first_end == 0 || choice_.both_ends;
}

void HistoryWriter::write(const FrameHistory& history, FrameHistory::Number number, const PortNames& names) {
  const PassedFrame& frame = history.at(number);
  if (!is_of_interest(frame) || (!chosen(frame.from, names) && !chosen(frame.to, names))) return;
  if (frame.outcome == Outcome::Waiting && waiting_.size() < max_waiting) waiting_.insert(number);
  const bool own_bytes = frame.kept_bytes != 0 || frame.first_end == 0;
  if (!own_bytes && !history.holds(frame.first_end)) return;  // displaced between the two
  const PassedFrame& kept = own_bytes ? frame : history.at(frame.first_end);
  const auto bytes = history.bytes_of(kept);
  const std::string comment = comment_on(frame, bytes, names);
  if (!comment.empty()) ++comment_count_;
  const std::uint32_t interface_id = interface_of(frame.seen_at, names);
  if (kept.ethernet)
    capture_.write_ethernet_frame(interface_id, frame.at, bytes, kept.size_bytes, frame.outbound, comment);
  else
    capture_.write_frame(interface_id, frame.at, {bytes, kept.size_bytes, kept.sof, kept.eof, kept.crc_error},
                         frame.outbound, comment);
}

}  // namespace fabricd
