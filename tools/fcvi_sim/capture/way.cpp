#include "tools/fcvi_sim/capture/way.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "settings/units.hpp"
#include "tools/fcvi_sim/capture/comment.hpp"

namespace sim::capture {
namespace {
constexpr std::uint32_t most_frames = 1'000'000;

bool skip(std::string_view& text, std::string_view beginning) {
  if (!text.starts_with(beginning)) return false;
  text.remove_prefix(beginning.size());
  return true;
}

/// To the separator, which is taken off, too.
std::string_view next_part(std::string_view& text, std::string_view separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + separator.size());
  return part;
}

/// "1,000"
std::uint32_t count_in(std::string_view text) {
  std::string digits(text);
  std::erase(digits, ',');
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(settings::parse_number(digits).value_or(0), most_frames));
}

void read_copies(std::string_view words, Way& way) {
  way.copies = 1;
  if (skip(words, " ")) way.copies = count_in(next_part(words, " times"));
  if (skip(words, ", ")) way.delay = settings::parse_duration(next_part(words, " apart")).value_or(0);
}

/// "ox_id 1A2Bh, fcvi_flags 04h"
void read_fields(std::string_view words, Way& way) {
  while (!words.empty()) {
    std::string_view part = next_part(words, ", ");
    const faults::FrameField* field = faults::find_field(next_part(part, " "));
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value, 16);
    if (field == nullptr || error != std::errc() || end == part.data() + part.size() || *end != 'h') continue;
    way.fields.emplace_back(field, value);
  }
}

std::optional<Way> of_fault(std::string_view words) {
  Way way;
  way.crc_error = words.find(", CRC good") == std::string_view::npos;
  if (skip(words, "delayed by "))
    way.delay = settings::parse_duration(words).value_or(0);
  else if (skip(words, "overtaken by "))
    way.overtaken_by = count_in(next_part(words, " "));
  else if (skip(words, "duplicated"))
    read_copies(words, way);
  else if (skip(words, "corrupted, bit "))
    way.bit = static_cast<std::uint32_t>(settings::parse_number(next_part(words, ",")).value_or(0));
  else if (skip(words, "cut to "))
    way.size_bytes = settings::parse_bytes(next_part(words, ","));
  else if (skip(words, "rewritten: "))
    read_fields(words, way);
  else
    return std::nullopt;
  way.crc_error = way.crc_error && (way.bit || way.size_bytes);
  return way;
}

void put(std::vector<std::uint8_t>& frame, const faults::FrameField& field, std::uint64_t value) {
  if (!field.read(frame)) return;
  for (std::size_t i = field.size; i-- > 0; value >>= 8) frame[field.offset + i] = static_cast<std::uint8_t>(value);
}

}  // namespace

void Way::change(std::vector<std::uint8_t>& frame) const {
  if (bit && !frame.empty()) {
    const std::size_t turned = *bit % (frame.size() * 8);
    frame[turned / 8] = static_cast<std::uint8_t>(frame[turned / 8] ^ 0x80U >> turned % 8);
  }
  if (size_bytes && *size_bytes < frame.size()) frame.resize(*size_bytes);
  for (const auto& [field, value] : fields) put(frame, *field, value);
}

std::optional<Way> way_told_by(std::string_view comment) {
  if (tells_of_gap(comment)) next_part(comment, "; ");
  std::string_view words = next_part(comment, "; ");
  if (skip(words, "delayed: waited "))
    return Way{.delay = settings::parse_duration(next_part(words, " until ")).value_or(0)};
  if (!skip(words, "fault: ")) return std::nullopt;
  return of_fault(next_part(words, " (fault rule "));
}

}  // namespace sim::capture
