#include "tools/fcvi_sim/report/packed.hpp"

#include <zlib.h>

#include <algorithm>
#include <map>

#include "tools/fcvi_sim/report/script_text.hpp"

namespace sim::report {
namespace {

std::string deflated(std::string_view data) {
  z_stream stream{};
  constexpr int raw = -15, memory = 9;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, raw, memory, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(deflateBound(&stream, data.size()), '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(data.data()));  // zlib only reads it
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// The lists of a piece, their values by shape and field.
struct Columns {
  std::string shapes;
  std::map<std::string, std::vector<std::string>, std::less<>> by_shape;

  void add(std::string_view list) {
    std::size_t end = std::min(list.find(list_separator), list.size());
    const std::string shape(list.substr(0, end));
    shapes.append(shapes.empty() ? "" : ",").append(shape);
    std::vector<std::string>& columns = by_shape[shape];
    for (std::size_t field = 0; end < list.size(); ++field) {
      const std::size_t begin = end + 1;
      end = std::min(list.find(list_separator, begin), list.size());
      if (field == columns.size()) columns.emplace_back();
      columns[field].append(columns[field].empty() ? "" : ",").append(list.substr(begin, end - begin));
    }
  }
  [[nodiscard]] std::string json() const {
    JsonObject columns;
    for (const auto& [shape, values] : by_shape)
      columns.raw(shape, json_list(values, [](const std::string& column) { return "[" + column + "]"; }));
    return JsonObject().raw("shapes", "[" + shapes + "]").raw("columns", columns.end()).end();
  }
};

}  // namespace

std::string packed(std::string_view data) {
  const std::string small = deflated(data);
  return base64({reinterpret_cast<const std::uint8_t*>(small.data()), small.size()});
}

std::string packed_lists(const std::vector<std::string>& lists) {
  std::string out;
  for (std::size_t at = 0; at < lists.size(); at += lists_in_a_piece) {
    Columns piece;
    for (std::size_t i = at; i < std::min(lists.size(), at + lists_in_a_piece); ++i) piece.add(lists[i]);
    out.append(packed(piece.json())).append("\n");
  }
  return out;
}

std::string packed_numbers(const std::vector<std::vector<std::uint32_t>>& lists_of_frames) {
  std::string out;
  std::uint32_t next = 0;
  for (std::size_t at = 0; at < lists_of_frames.size(); at += frames_in_a_piece) {
    std::string piece = std::to_string(next) + "\n";
    for (std::size_t i = at; i < std::min(lists_of_frames.size(), at + frames_in_a_piece); ++i) {
      std::string line;
      for (const std::uint32_t list : lists_of_frames[i]) {
        line.append(list == next ? "" : std::to_string(list)).append(",");
        next = std::max(next, list + 1);
      }
      piece.append(line.substr(0, line.size() - 1)).append("\n");
    }
    out.append(packed(piece)).append("\n");
  }
  return out;
}

std::string packed_frames(std::span<const std::uint8_t> bytes, std::span<const std::uint32_t> lengths) {
  std::string out;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < lengths.size(); at += frames_in_a_piece) {
    std::string piece;
    std::map<std::size_t, std::span<const std::uint8_t>> before;  // by length
    for (const std::uint32_t length : lengths.subspan(at, std::min(frames_in_a_piece, lengths.size() - at))) {
      const auto frame = bytes.subspan(begin, length);
      begin += length;
      auto& other = before[length];
      for (std::size_t k = 0; k < length; ++k)
        piece += static_cast<char>(k < header_bytes && !other.empty() ? frame[k] - other[k] : frame[k]);
      other = frame;
    }
    out.append(packed(piece)).append("\n");
  }
  return out;
}

}  // namespace sim::report
