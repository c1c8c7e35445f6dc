#include "tools/fcvi_sim/report/frames.hpp"

#include <algorithm>
#include <numeric>

#include "tools/fcvi_sim/capture/comment.hpp"
#include "tools/fcvi_sim/capture/packet_rows.hpp"
#include "tools/fcvi_sim/capture/printer.hpp"
#include "tools/fcvi_sim/capture/words.hpp"
#include "wire/describe.hpp"
#include "wire/header_fields.hpp"

namespace sim::report {
namespace {
using capture::Direction;
using capture::Field;
using capture::Seen;

/// Message data are of no use to a reader beyond their beginning: they would be nearly all of a page.
constexpr std::size_t data_bytes_kept = 32, most_bytes_kept = 1024;

std::size_t bytes_to_keep(const Seen& seen) {
  const std::vector<std::uint8_t>& all = seen.packet.data;
  std::size_t keep = std::min(all.size(), most_bytes_kept);
  if (!seen.frame.is_fc_vi()) return keep;
  capture::IuFrame iu = capture::iu_of(seen.frame);
  capture::read_device_header(iu);
  if (iu.has_header && iu.carries_data() && iu.payload_data.size() > data_bytes_kept) {
    const std::size_t behind = iu.payload_data.size() - data_bytes_kept;
    keep = std::min(keep, all.size() - std::min(all.size(), behind));
  }
  return keep;
}

/// Names and places, as JSON: ["name", offset, bytes, mask, [fields]], with nothing behind the last that is set.
std::string shape_of(const Field& field) {
  std::string out = "[" + script_text(field.name);
  const capture::Place& place = field.place;
  if (place.bytes != 0 || !field.fields.empty())
    out += "," + std::to_string(place.offset) + "," + std::to_string(place.bytes) + "," + std::to_string(place.mask);
  if (!field.fields.empty()) out += "," + json_list(field.fields, shape_of);
  return out + "]";
}

void append_values(std::string& out, const Field& field) {
  out += list_separator;
  out.append(script_text(capture::printable(field.value)));
  for (const Field& below : field.fields) append_values(out, below);
}

Field capture_field(const Seen& seen, const std::vector<capture::Interface>& interfaces) {
  Field field{"Capture", "", {}, {}};
  const auto add = [&](std::string name, std::string value) {
    if (!value.empty()) field.fields.push_back({std::move(name), std::move(value), {}, {}});
  };
  add("interface", interfaces[seen.packet.interface].name);
  if (seen.packet.direction != Direction::unknown)
    add("direction", seen.packet.direction == Direction::sent ? "sent" : "received");
  add("bytes", std::to_string(seen.packet.original_bytes));
  return field;
}

std::uint32_t flags_for(capture::Tells tells) {
  switch (tells) {
    case capture::Tells::lost: return Flag::fault | Flag::lost;
    case capture::Tells::fault: return Flag::fault;
    case capture::Tells::note: break;
  }
  return Flag::note;
}

}  // namespace

std::string Frames::read(const FramesOptions& options) {
  most_ = options.most;
  ports_ = options.ports;
  hits_ = options.hits;
  capture::Reading first, second;
  if (std::string error = first.open(options.path); !error.empty()) return error;
  for (Seen seen; first.next(seen);) {
    ++total_;
    names_.learn(seen);
    names_.use(seen);
  }
  std::string broken = first.error();
  zero_ = options.zero.value_or(first.first_at());
  lanes_.emplace(names_.make(first.interfaces()));
  if (std::string error = second.open(options.path); !error.empty()) return error;
  for (Seen seen; second.next(seen) && number_.size() < most_;) {
    interfaces_ = &second.interfaces();
    add(seen);
    ++read_;
  }
  interfaces_ = nullptr;
  order_lanes();
  return broken;
}

/// A port whose own frames were not captured is known by the address that others have of it.
const std::string& Frames::title_of(std::size_t lane) const {
  const Ladder::Lane& shown = lanes_->lanes()[lane];
  for (const auto& [name, address] : ports_)
    if (lane < lanes_->port_count() && shown.title != name && (shown.subtitle == address || shown.title == address))
      return name;
  return shown.title;
}

void Frames::order_lanes() {
  for (std::size_t i = 0; i < lanes_->lanes().size(); ++i) order_.push_back(i);
  const auto place_of = [&](std::size_t lane) {
    const auto is_it = [&](const auto& port) { return port.first == title_of(lane); };
    const auto place = std::find_if(ports_.begin(), ports_.end(), is_it) - ports_.begin();
    return lane < lanes_->port_count() ? place : static_cast<std::ptrdiff_t>(ports_.size() + 1);
  };
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::size_t a, std::size_t b) { return place_of(a) < place_of(b); });
}

std::optional<std::size_t> Frames::lane_named(std::string_view title) const {
  for (std::size_t i = 0; i < order_.size(); ++i)
    if (title_of(order_[i]) == title) return i;
  return std::nullopt;
}

bool Frames::begins_sequence(const Seen& seen) {
  if (!seen.frame.header) return true;
  const wire::FcHeader& header = *seen.frame.header;
  if (seen.frame.sof) return *seen.frame.sof != wire::Sof::n3 && *seen.frame.sof != wire::Sof::n2;
  const std::tuple key{header.s_id.value, header.ox_id.value, header.seq_id.value, seen.frame.by_responder()};
  const bool begins = !open_.contains(key);
  if (header.has(wire::f_ctl::end_sequence))
    open_.erase(key);
  else
    open_.insert(key);
  return begins;
}

void Frames::add(const Seen& seen) {
  if (seen.tcp) return add_packet(seen, *seen.tcp);
  const auto ends = names_.ends_of(seen);
  if (!ends) {
    ++without_header_;
    return;
  }
  if (const auto row = rows_.row_of(seen)) return add_copy(seen, *row);
  rows_.add(seen, number_.size());
  const bool is_fip = seen.frame.fip.has_value();
  add_row(seen, {.from = lanes_->port_of(ends->from),
                 .to = lanes_->port_of(ends->to),
                 .name = std::string(is_fip ? "FIP" : wire::message_name(seen.header, seen.data_field())),
                 .text = capture::printable(capture::summary(seen)),
                 .kind = is_fip ? RowKind::Login : kind_of(seen.header, seen.data_field()),
                 .is_first = begins_sequence(seen),
                 .is_last = !seen.frame.header || seen.frame.header->has(wire::f_ctl::end_sequence)});
}

/// Of VI over TCP: one row for all that ends in it. Nothing ends in an acknowledgement, or amid a segment.
void Frames::add_packet(const Seen& seen, const capture::TcpPacket& packet) {
  const auto lanes = names_.lanes_of(packet);
  const auto shown = capture::rows_of(seen, packet);
  if (!lanes || shown.empty()) {
    ++without_header_;
    return;
  }
  std::string text;
  for (const auto& row : shown) text += (text.empty() ? "" : "; ") + capture::printable(row.first.text);
  add_row(seen, {.from = lanes->first,
                 .to = lanes->second,
                 .name = shown.front().second,
                 .text = std::move(text),
                 .kind = shown.front().first.row_kind,
                 .is_first = true,
                 .is_last = true});
  connection_.back() = static_cast<std::uint32_t>(packet.connection);
}

void Frames::add_row(const Seen& seen, const Row& row) {
  number_.push_back(seen.packet.number);
  at_.push_back(seen.packet.at - zero_);
  arrived_.push_back(-1);
  from_.push_back(static_cast<std::uint32_t>(row.from));
  to_.push_back(static_cast<std::uint32_t>(row.to));
  name_.push_back(texts_(row.name));
  text_.push_back(texts_(row.text));
  kind_.push_back(static_cast<std::uint32_t>(row.kind));
  size_.push_back(static_cast<std::uint32_t>(seen.packet.original_bytes));
  flags_.push_back((row.is_first ? Flag::first : 0U) | (row.is_last ? Flag::last : 0U));
  add_belonging(seen);
  add_remarks(seen, number_.size() - 1);
  add_fields(seen);
  add_bytes(seen);
}

void Frames::add_copy(const Seen& seen, std::size_t row) {
  ++copies_;
  if (arrived_[row] < 0 && seen.packet.direction == Direction::received)
    arrived_[row] = seen.packet.at - zero_ - at_[row];
  add_remarks(seen, row);
}

void Frames::add_belonging(const Seen& seen) {
  const capture::Record* record = seen.record.get();
  const capture::Connection* connection = record != nullptr ? record->connection_of() : nullptr;
  connection_.push_back(connection != nullptr ? static_cast<std::uint32_t>(connection->index) : 0);
  exchange_.push_back(seen.exchange ? static_cast<std::uint32_t>(seen.exchange->index) : 0);
  message_.push_back(record != nullptr && record->message ? static_cast<std::uint32_t>(record->message->index) : 0);
  const bool answers = record != nullptr && record->request != 0 && record->request != record->number;
  request_.push_back(answers ? record->request : 0);
  answer_time_.push_back(answers && record->time >= record->request_time ? record->time - record->request_time : -1);
  if (record != nullptr && record->retry_of != 0) flags_.back() |= Flag::retry;
}

/// ",2": the fault of the run that befell the frame of that record.
std::string Frames::rule_of(std::uint64_t number) const {
  const auto hit = std::lower_bound(hits_.begin(), hits_.end(), number,
                                    [](const FaultHit& one, std::uint64_t record) { return one.record < record; });
  return hit == hits_.end() || hit->record != number ? "" : "," + std::to_string(hit->rule);
}

void Frames::add_remarks(const Seen& seen, std::size_t row) {
  const auto add = [&](std::string_view name, std::string_view text, const std::string& rule) {
    std::string remark = "[" + std::to_string(row) + "," + script_text(name) + "," + script_text(text) + rule + "]";
    const std::size_t latest = remarks_.size() < 8 ? 0 : remarks_.size() - 8;  // the other end sees the same
    if (std::find(remarks_.begin() + static_cast<std::ptrdiff_t>(latest), remarks_.end(), remark) == remarks_.end())
      remarks_.push_back(std::move(remark));
  };
  for (const std::string& comment : seen.packet.comments) {
    const capture::Tells tells = capture::told_by(comment);
    flags_[row] |= flags_for(tells);
    add(to_string(tells), capture::printable(comment), rule_of(seen.packet.number));
  }
  if (!seen.record) return;
  for (const capture::Note& note : seen.record->notes) {
    flags_[row] |= Flag::violation;
    add(to_string(note.violation), capture::printable(note.sentence()), "");
  }
}

void Frames::add_fields(const Seen& seen) {
  std::vector<std::uint32_t> numbers;
  const auto add = [&](const Field& field) {
    std::string list = std::to_string(shapes_(shape_of(field)));
    append_values(list, field);
    numbers.push_back(lists_(list));
  };
  add(capture_field(seen, *interfaces_));
  for (const Field& field : capture::all_fields(seen)) add(field);
  lists_of_frames_.push_back(std::move(numbers));
}

void Frames::add_bytes(const Seen& seen) {
  const std::size_t keep = bytes_to_keep(seen);
  const auto begin = seen.packet.data.begin();
  bytes_.insert(bytes_.end(), begin, begin + static_cast<std::ptrdiff_t>(keep));
  kept_.push_back(static_cast<std::uint32_t>(keep));
}

namespace {
/// Small numbers: how much each is more than the one before it.
template <class Number>
std::vector<std::int64_t> steps_of(const std::vector<Number>& numbers) {
  std::vector<std::int64_t> steps(numbers.begin(), numbers.end());
  std::adjacent_difference(steps.begin(), steps.end(), steps.begin());
  return steps;
}
}  // namespace

std::string Frames::columns() const {
  std::vector<std::uint32_t> lane_of(order_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) lane_of[order_[i]] = static_cast<std::uint32_t>(i);
  const auto lanes = [&](const std::vector<std::uint32_t>& column) {
    return json_list(column, [&](std::uint32_t lane) { return std::to_string(lane_of[lane]); });
  };
  JsonObject object;
  object.raw("lanes", json_list(order_, [&](std::size_t lane) {
               const Ladder::Lane& shown = lanes_->lanes()[lane];
               return "[" + script_text(title_of(lane)) + "," + script_text(shown.subtitle) + "," +
                      (lane < lanes_->port_count() ? "0" : "1") + "]";
             }));
  return object.number("total", static_cast<std::int64_t>(total_))
      .number("copies", static_cast<std::int64_t>(copies_))
      .number("without_header", static_cast<std::int64_t>(without_header_))
      .raw("texts", json_texts(texts_.texts()))
      .raw("shapes", json_list(shapes_.texts(), [](const std::string& shape) { return shape; }))
      .raw("number", json_numbers(steps_of(number_)))
      .raw("step", json_numbers(steps_of(at_)))
      .raw("took", json_numbers(arrived_))
      .raw("from", lanes(from_))
      .raw("to", lanes(to_))
      .raw("name", json_numbers(name_))
      .raw("text", json_numbers(steps_of(text_)))
      .raw("kind", json_numbers(kind_))
      .raw("connection", json_numbers(connection_))
      .raw("exchange", json_numbers(exchange_))
      .raw("message", json_numbers(message_))
      .raw("size", json_numbers(size_))
      .raw("kept", json_numbers(kept_))
      .raw("request", json_numbers(request_))
      .raw("answer_time", json_numbers(answer_time_))
      .raw("flags", json_numbers(flags_))
      .raw("remarks", json_list(remarks_, [](const std::string& remark) { return remark; }))
      .end();
}

}  // namespace sim::report
