#include "tools/fabricd/history_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "fc2_fabric/drivers/crossbar.hpp"
#include "tools/fabricd/recorder.hpp"
#include "wire/ethernet.hpp"
#include "wire/fc_header.hpp"
#include "wire/fcoe.hpp"
#include "wire/header_fields.hpp"

namespace fabricd {
using fc2::Discard;
using fc2::FrameHistory;
using fc2::PassedFrame;
using fc2::TimeNs;
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

bool has_not_arrived(const PassedFrame& frame) {
  return frame.outcome == Outcome::Discarded || frame.outcome == Outcome::Lost;
}

// As a capture of the simulator says it: "fault: lost (fault rule 1)". Readers know by it what became of the frame.
std::string fault_of(const PassedFrame& frame, const PortNames& names) {
  if (frame.fault == 0) return "";
  if (frame.fault == Recorder::last_fault) return "fault: by a rule (fcvi-ctl fault list)";
  const std::string_view what = names.fault_note(frame.fault);
  const std::string_view later = frame.again && !has_not_arrived(frame) ? ", after it had been shown" : "";
  return what.empty() ? fmt::format("fault: by fault rule {}{}", frame.fault, later)
                      : fmt::format("fault: {} (fault rule {}){}", what, frame.fault, later);
}

bool is_way_mark(const PassedFrame& frame, std::span<const std::uint8_t> bytes) {
  return !frame.ethernet && !bytes.empty() && wire::r_ctl_of(bytes) == fc2::drivers::Crossbar::way_mark;
}
}  // namespace

std::string extent_of(const FrameHistory& history, FrameHistory::Number begin) {
  if (begin == history.end()) return "no frames";
  const double seconds = static_cast<double>(history.at(history.end() - 1).at - history.at(begin).at) / 1e9;
  return fmt::format("the last {:.3f} s of frames", seconds);
}

// First of all that it did not arrive.
std::string comment_on(const PassedFrame& frame, std::span<const std::uint8_t> bytes, const PortNames& names) {
  std::string text;
  const auto add = [&](std::string_view more) {
    text += (text.empty() || more.empty() ? "" : "; ") + std::string(more);
  };
  if (has_not_arrived(frame)) add(outcome_of(frame, names));
  add(fault_of(frame, names));
  if (!has_not_arrived(frame)) add(outcome_of(frame, names));
  if (is_way_mark(frame, bytes))
    add(fmt::format("way mark: message data of {} for {} behind it go through memory that both share, and are not here",
                    names.text_of(frame.from), names.text_of(frame.to)));
  const NamedPort* const sender = names.find(frame.from);
  if (frame.remark != 0 && sender != nullptr)
    add(fmt::format("the last frame of {}{}: {}", sender->text, frame.again ? ", shown before" : "", sender->end));
  return text;
}

bool CaptureChoice::takes(const NamedPort& port) const {
  return ports.empty() ||
         std::any_of(ports.begin(), ports.end(), [&](const auto& name) { return PortNames::is_called(port, name); });
}

// Behind the header and the FCoE header of an Ethernet frame that carries one, with or without an 802.1Q tag.
static std::span<const std::uint8_t> fc_header_of(const PassedFrame& frame, std::span<const std::uint8_t> bytes) {
  constexpr std::size_t before = wire::fcoe::overhead - wire::fcoe::trailer_size;
  std::size_t type = 2 * sizeof(wire::MacAddress);
  const auto is = [&](wire::EtherType wanted) {
    return bytes.size() > type + 1 && (bytes[type] << 8 | bytes[type + 1]) == static_cast<int>(wanted);
  };
  if (frame.ethernet && is(wire::EtherType::vlan)) type += 4;
  if (frame.ethernet && !is(wire::EtherType::fcoe)) return {};
  const std::size_t begin = frame.ethernet ? before + type - 2 * sizeof(wire::MacAddress) : 0;
  return bytes.size() < begin + fc2::frame_header_bytes ? std::span<const std::uint8_t>() : bytes.subspan(begin);
}

bool has_address(const PassedFrame& frame, std::span<const std::uint8_t> bytes, wire::FcId address) {
  const auto header = fc_header_of(frame, bytes);
  if (header.empty()) return false;
  const auto parsed = wire::FcHeader::parse(header);
  return parsed && (parsed->s_id == address || parsed->d_id == address);
}

std::vector<std::string> unknown_ports(const CaptureChoice& choice, const FrameHistory& history,
                                       const PortNames& names) {
  const auto is_known = [&](const std::string& wanted) {
    for (const auto& [number, port] : names.all())
      if (PortNames::is_called(port, wanted)) return true;
    const auto address = address_of(wanted);
    for (auto number = history.first(); address && number != history.end(); ++number)
      if (has_address(history.at(number), history.bytes_of(history.at(number)), *address)) return true;
    return false;
  };
  std::vector<std::string> unknown;
  std::remove_copy_if(choice.ports.begin(), choice.ports.end(), std::back_inserter(unknown), is_known);
  return unknown;
}

HistoryWriter::HistoryWriter(fc2::ByteSink& sink, CaptureChoice choice, FrameHistory::Number begin,
                             std::string_view what)
    : choice_(std::move(choice)), begin_(begin), capture_(sink, what) {
  for (const std::string& wanted : choice_.ports)
    if (const auto address = address_of(wanted)) addresses_.push_back(*address);
}

bool HistoryWriter::is_port_chosen(PortNames::Number number, const PortNames& names) const {
  const NamedPort* const port = names.find(number);
  return port != nullptr && choice_.takes(*port);
}

bool HistoryWriter::is_chosen(const Entry& entry, const PortNames& names) const {
  const PassedFrame& frame = *entry.frame;
  if (choice_.ports.empty() || is_port_chosen(frame.from, names) || is_port_chosen(frame.to, names)) return true;
  return std::any_of(addresses_.begin(), addresses_.end(),
                     [&](wire::FcId address) { return has_address(*entry.kept, entry.bytes, address); });
}

std::uint32_t HistoryWriter::interface_of(PortNames::Number number, const PortNames& names) {
  const auto known = interfaces_.find(number);
  if (known != interfaces_.end()) return known->second;
  const std::string text(names.text_of(number));
  const auto [before, is_first] = latest_.try_emplace(text, number);
  const NamedPort* const former = names.find(before->second);
  const bool is_back = !is_first && (former == nullptr || !former->end.empty());
  const std::uint32_t id = is_back ? interfaces_.at(before->second) : capture_.describe_interface(text);
  before->second = number;
  return interfaces_[number] = id;
}

void HistoryWriter::describe(const PortNames& names) {
  for (const auto& [number, port] : names.all())
    if (port.end.empty() && choice_.takes(port)) (void)interface_of(number, names);
}

// What became of a frame stands at itself, unless it was written before.
bool HistoryWriter::is_of_interest(const PassedFrame& frame) {
  if (!frame.again) return frame.first_end == 0 || choice_.both_ends;
  if (frame.remark != 0) return remarked_.erase(frame.first_end) == 0;
  return (has_not_arrived(frame) ? ended_ : faulted_).erase(frame.first_end) == 0;
}

void HistoryWriter::told(const PassedFrame& frame, FrameHistory::Number number, FrameHistory::Number oldest) {
  const auto note = [=](bool is_told, std::set<FrameHistory::Number>& numbers) {
    if (!is_told) return;
    numbers.erase(numbers.begin(), numbers.lower_bound(oldest));
    numbers.insert(number);
  };
  note(frame.remark != 0, remarked_);
  note(frame.fault != 0, faulted_);
  note(has_not_arrived(frame), ended_);
}

HistoryWriter::Entry HistoryWriter::entry_of(const FrameHistory& history, FrameHistory::Number number,
                                             const PortNames& names) {
  const PassedFrame& frame = history.at(number);
  if (!is_of_interest(frame)) return {};
  const bool own_bytes = frame.kept_bytes != 0 || frame.first_end == 0;
  if (!own_bytes && !history.holds(frame.first_end)) return {};  // displaced between the two
  const PassedFrame& kept = own_bytes ? frame : history.at(frame.first_end);
  const Entry entry{&frame, &kept, history.bytes_of(kept)};
  return is_chosen(entry, names) ? entry : Entry{};
}

void HistoryWriter::miss(const FrameHistory& history, FrameHistory::Number number, const PortNames& names) {
  const Entry entry = entry_of(history, number, names);
  if (entry.frame == nullptr) return;
  Missing& missing = missing_[interface_of(entry.frame->seen_at, names)];
  ++missing.all;
  ++missing.untold;
  ++missing_count_;
  ++untold_;
}

void HistoryWriter::tell_missing(TimeNs at) {
  if (std::exchange(untold_, 0) == 0) return;
  for (auto& [interface, missing] : missing_)
    if (std::exchange(missing.untold, 0) != 0) capture_.write_statistics(interface, at, missing.all);
}

void HistoryWriter::write(const FrameHistory& history, FrameHistory::Number number, const PortNames& names) {
  const auto [entry, kept, bytes] = entry_of(history, number, names);
  if (entry == nullptr) return;
  const PassedFrame& frame = *entry;
  if (!frame.again) told(frame, number, history.first());
  std::string comment = comment_on(frame, bytes, names);
  if (untold_ != 0)
    comment = fmt::format("{} frames are missing before this one: they came faster than they were written{}{}", untold_,
                          comment.empty() ? "" : "; ", comment);
  const std::uint32_t interface_id = interface_of(frame.seen_at, names);
  if (const auto missing = missing_.find(interface_id); missing != missing_.end())
    capture_.set_missing_before(missing->second.untold);
  tell_missing(frame.at);
  if (!comment.empty()) ++comment_count_;
  if (kept->ethernet)
    capture_.write_ethernet_frame(interface_id, frame.at, bytes, kept->size_bytes, frame.outbound, comment);
  else
    capture_.write_frame(interface_id, frame.at, {bytes, kept->size_bytes, kept->sof, kept->eof, kept->crc_error},
                         frame.outbound, comment);
}

}  // namespace fabricd
