#include <algorithm>
#include <cstdio>
#include <ctime>

#include "settings/utf8.hpp"
#include "tools/fcvi_sim/capture/printer.hpp"
#include "tools/fcvi_sim/capture/words.hpp"

namespace sim::capture {
namespace {

constexpr std::size_t widest_name = 12;

std::string shortened(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most > 3 ? most - 3 : 0;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;  // not within a character
  return text.substr(0, end) + "...";
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string name_of(const Interface& interface, std::size_t index) {
  return interface.name.empty() ? "#" + std::to_string(index) : printable(interface.name);
}

std::string_view arrow_of(Direction direction) {
  switch (direction) {
    case Direction::sent: return ">";
    case Direction::received: return "<";
    case Direction::unknown: break;
  }
  return " ";
}

/// Where the capture has one interface, and does not tell the direction: nothing.
std::string place_of(const Seen& seen, const std::vector<Interface>& interfaces) {
  const Direction direction = seen.packet.direction;
  if (interfaces.size() == 1 && direction == Direction::unknown) return "";
  std::size_t width = 0;
  for (std::size_t i = 0; i < interfaces.size(); ++i)
    width = std::max(width, std::min(widest_name, name_of(interfaces[i], i).size()));
  const std::string name = shortened(name_of(interfaces[seen.packet.interface], seen.packet.interface), widest_name);
  return padded(name, width) + " " + std::string(arrow_of(direction)) + " ";
}

std::string behind_bar(const Seen& seen) {
  std::vector<std::string> parts;
  if (seen.record)
    for (const Note& note : seen.record->notes) parts.push_back("! " + std::string(to_string(note.violation)));
  for (std::string& part : peculiarities(seen)) parts.push_back(std::move(part));
  std::string text;
  for (const std::string& part : parts) text.append(text.empty() ? " | " : ", ").append(part);
  for (const std::string& comment : seen.packet.comments)
    text.append(text.empty() ? " | # " : " # ").append(printable(comment));
  return text;
}

void append(std::string& text, const Field& field, std::size_t depth) {
  text.append(2 * depth, ' ').append(field.name);
  if (!field.value.empty()) text.append(field.name.empty() ? "" : ": ").append(printable(field.value));
  text += "\n";
  for (const Field& below : field.fields) append(text, below, depth + 1);
}

std::string date_of(std::int64_t at) {
  const std::time_t time = static_cast<std::time_t>(at / 1'000'000'000);
  std::tm parts{};
  if (at < 0 || ::gmtime_r(&time, &parts) == nullptr) return "";
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02d %02d:%02d:%02d.%09lld UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, static_cast<long long>(at % 1'000'000'000));
  return text;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = settings::utf8_character_bytes(std::string_view(text).substr(at));
    const auto first = static_cast<unsigned char>(text[at]);
    const bool is_c1 = size == 2 && first == 0xC2 && static_cast<unsigned char>(text[at + 1]) < 0xA0;
    const bool shown = size != 0 && first >= 0x20 && first != 0x7F && !is_c1;
    out += shown ? text.substr(at, size) : std::string_view(".");
    at += std::max<std::size_t>(size, 1);
  }
  return out;
}

std::string line_of(const Seen& seen, const std::vector<Interface>& interfaces) {
  char front[64];
  std::snprintf(front, sizeof front, "%6llu %14s ", static_cast<unsigned long long>(seen.packet.number),
                seconds(seen.since_first).c_str());
  std::string line = front + place_of(seen, interfaces);
  const std::string ends = route(seen);
  if (!ends.empty()) line += ends + " ";
  if (const Connection* connection = seen.record ? seen.record->connection_of() : nullptr)
    line += "c" + std::to_string(connection->index) + " ";
  constexpr std::size_t least_words = 24;
  const std::size_t most_behind = line_columns - std::min(line_columns, line.size() + least_words);
  const std::string behind = shortened(behind_bar(seen), std::max<std::size_t>(most_behind, 16));
  const std::size_t room = line_columns - std::min(line_columns, line.size() + behind.size());
  return shortened(line + shortened(printable(summary(seen)), room) + behind, line_columns);
}

std::string tree_of(const Seen& seen, const std::vector<Interface>& interfaces) {
  const Packet& packet = seen.packet;
  std::string text = "Frame " + std::to_string(packet.number) + ": " + printable(summary(seen)) + "\n";
  Field about{"Capture", "", {}};
  about.fields.push_back({"time", seconds(seen.since_first) + " s", {}});
  about.fields.push_back({"date", date_of(packet.at), {}});
  std::string place = name_of(interfaces[packet.interface], packet.interface);
  if (packet.direction != Direction::unknown) place += packet.direction == Direction::sent ? ", sent" : ", received";
  about.fields.push_back({"interface", place, {}});
  about.fields.push_back({"bytes", std::to_string(packet.original_bytes), {}});
  if (packet.is_cut()) about.fields.push_back({"captured", std::to_string(packet.data.size()), {}});
  if (seen.same != 0) about.fields.push_back({"same_frame", std::to_string(seen.same), {}});
  for (const std::string& comment : packet.comments) about.fields.push_back({"comment", comment, {}});
  append(text, about, 1);
  for (const Field& field : all_fields(seen)) append(text, field, 1);
  if (seen.record)
    for (const Note& note : seen.record->notes)
      append(text, {"Violation " + std::string(to_string(note.violation)), note.sentence(), {}}, 1);
  return text;
}

}  // namespace sim::capture
