#include "wire/vitcp/options.hpp"

#include "wire/vitcp/segment_header.hpp"  // max_segment_bytes

namespace wire::vitcp {
namespace {

/// Walks a list that may be cut anywhere.
class Reader {
 public:
  explicit Reader(Bytes bytes) : rest_(bytes) {}
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] Bytes rest() const { return rest_; }

  /// The whole next option, or of End of Option List its type.
  Result<Bytes> next() {
    if (rest_.size() < 2) return ParseError{ParseCode::truncated, "option_type"};
    if (load_big<2>(rest_, 0) == static_cast<std::uint16_t>(OptionType::end_of_option_list))
      return take(Options::end_bytes);
    if (rest_.size() < Options::option_header_bytes) return ParseError{ParseCode::truncated, "option_length"};
    const std::size_t length = load_big<2>(rest_, 2);
    if (length < Options::option_header_bytes) return ParseError{ParseCode::bad_length, "option_length"};
    if (length > rest_.size()) return ParseError{ParseCode::truncated, "option_data"};
    return take(length);
  }

 private:
  Bytes take(std::size_t length) {
    const Bytes taken = rest_.first(length);
    rest_ = rest_.subspan(length);
    return taken;
  }
  Bytes rest_;
};

OptionType type_of(Bytes option) { return static_cast<OptionType>(load_big<2>(option, 0)); }

std::optional<ParseError> keep(Options& options, Bytes option) {
  const OptionType type = type_of(option);
  const bool known = type == OptionType::crc || type == OptionType::urgent_marker;
  if (known && option.size() != Options::option_header_bytes) return ParseError{ParseCode::bad_length, "option_length"};
  bool& flag = type == OptionType::crc ? options.crc : options.urgent_marker;
  if (known && !flag)
    flag = true;
  else
    options.other.insert(options.other.end(), option.begin(), option.end());
  return std::nullopt;
}

std::uint8_t* put_option(std::uint8_t* to, OptionType type) {
  store_big<2>(to, static_cast<std::uint16_t>(type));
  store_big<2>(to + 2, Options::option_header_bytes);
  return to + Options::option_header_bytes;
}

}  // namespace

std::string_view to_string(OptionType type) {
  switch (type) {
    case OptionType::end_of_option_list: return "End of Option List";
    case OptionType::crc: return "CRC";
    case OptionType::urgent_marker: return "Urgent Marker";
  }
  return text::unknown;
}

Result<Options> Options::parse(Bytes bytes) {
  Options options;
  Reader reader(bytes.first(std::min(bytes.size(), max_segment_bytes)));
  while (!reader.at_end() && !options.end) {
    const auto option = reader.next();
    if (!option) return option.error();
    if (type_of(*option) == OptionType::end_of_option_list)
      options.end = true;
    else if (const auto error = keep(options, *option))
      return *error;
  }
  // VI-TCP 3.3: the list ends before the CRC, which would else be taken for an option.
  if (options.crc && !options.end) return ParseError{ParseCode::bad_value, "end_of_option_list"};
  options.padding_bytes = static_cast<std::uint16_t>(reader.rest().size());
  return options;
}

std::size_t Options::size() const {
  return (crc ? option_header_bytes : 0U) + (urgent_marker ? option_header_bytes : 0U) + other.size() +
         (end || crc ? end_bytes : 0U) + padding_bytes;
}

void Options::write(MutableBytes to) const {
  assert(to.size() >= size());
  std::uint8_t* at = to.data();
  if (crc) at = put_option(at, OptionType::crc);
  if (urgent_marker) at = put_option(at, OptionType::urgent_marker);
  at = std::copy(other.begin(), other.end(), at);
  std::fill_n(at, (end || crc ? end_bytes : 0U) + padding_bytes, std::uint8_t{0});
}

std::string Options::to_string() const {
  std::string line(name);
  text::append_flag(line, crc, "crc");
  text::append_flag(line, urgent_marker, "urgent_marker");
  if (!other.empty()) text::append(line, "other", text::bytes(other));
  text::append_flag(line, end, "end");
  if (padding_bytes != 0) text::append(line, "padding", std::to_string(padding_bytes));
  return line;
}

}  // namespace wire::vitcp
