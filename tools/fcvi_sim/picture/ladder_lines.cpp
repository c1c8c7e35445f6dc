// The ladder diagram for terminals: the words stand at the right, so that they have room whatever the lanes are.
#include <algorithm>

#include "tools/fcvi_sim/picture/ladder.hpp"

namespace sim {
namespace {

constexpr std::size_t time_columns = 13, narrowest_lane = 8, widest_lane = 22, gap_before_words = 3;

/// Bytes of the first `count` characters of UTF-8 text.
std::size_t bytes_of(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if ((text[at] & 0xC0) != 0x80 && count-- == 0) break;
  return at;
}

std::string cut(std::string_view text, std::size_t most) {
  if (characters(text) <= most) return std::string(text);
  return most == 0 ? "" : std::string(text.substr(0, bytes_of(text, most - 1))) + "…";
}

std::string without_blanks_behind(std::string line) {
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

class LineWriter {
 public:
  LineWriter(const Ladder& ladder, runtime::TimeNs start, std::size_t columns)
      : ladder_(ladder), times_(start), columns_(columns) {
    place_lanes();
  }
  std::string write(std::string_view title);

 private:
  void place_lanes();
  std::string heads() const;
  [[nodiscard]] std::vector<std::string> head_of(const Ladder::Lane& lane) const;
  std::string row(const LadderRow& row);
  /// The life lines, where something else stands between two of them that.
  std::string cells(const LadderRow& row) const;
  std::string words(const LadderRow& row, std::size_t room) const;

  const Ladder& ladder_;
  RowTimes times_;
  std::size_t columns_, step_ = widest_lane;
  std::vector<std::size_t> column_of_;  // of each lane: services first, then ports, as in the SVG
  std::size_t lanes_width_ = 0;
};

/// At blanks.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

void LineWriter::place_lanes() {
  const std::size_t lanes = ladder_.lanes().size(), ports = ladder_.port_count();
  std::size_t longest = narrowest_lane;
  for (const Ladder::Lane& lane : ladder_.lanes())
    for (const std::string& text : {lane.title, lane.subtitle})
      for (const std::string& word : words_of(text)) longest = std::max(longest, characters(word) + 2);
  // Two fifths of the line for the lanes, as long as their names can be told apart.
  step_ =
      std::clamp(std::min(longest, columns_ * 2 / 5 / std::max<std::size_t>(lanes, 1)), narrowest_lane, widest_lane);
  column_of_.resize(lanes);
  std::size_t place = 0;
  for (std::size_t lane = lanes; lane-- > ports;) column_of_[lane] = step_ / 2 + step_ * place++;
  for (std::size_t lane = 0; lane < ports; ++lane) column_of_[lane] = step_ / 2 + step_ * place++;
  lanes_width_ = step_ * lanes;
}

/// The name on as many lines as it needs, then a line for each address.
std::vector<std::string> LineWriter::head_of(const Ladder::Lane& lane) const {
  std::vector<std::string> lines;
  for (const std::string& word : words_of(lane.title)) {
    const bool fits = !lines.empty() && characters(lines.back()) + 1 + characters(word) < step_;
    if (fits)
      lines.back() += " " + word;
    else
      lines.push_back(word);
  }
  for (std::string& word : words_of(lane.subtitle)) lines.push_back(std::move(word));
  return lines;
}

std::string LineWriter::heads() const {
  std::vector<std::vector<std::string>> heads(column_of_.size());
  std::size_t most = 0;
  for (std::size_t lane = 0; lane < heads.size(); ++lane) {
    std::vector<std::string>& head = heads[(column_of_[lane] - step_ / 2) / step_] = head_of(ladder_.lanes()[lane]);
    most = std::max(most, head.size());
  }
  std::string text;
  for (std::size_t line = 0; line < most; ++line) {
    std::string row(time_columns, ' ');
    for (const std::vector<std::string>& head : heads) {
      const std::string word = line < head.size() ? cut(head[line], step_ - 1) : "";
      const std::size_t free = step_ - characters(word), before = free / 2;
      row.append(before, ' ').append(word).append(free - before, ' ');
    }
    text += without_blanks_behind(row) + "\n";
  }
  return text;
}

std::string LineWriter::cells(const LadderRow& row) const {
  std::vector<std::string_view> cells(lanes_width_, " ");
  for (const std::size_t column : column_of_) cells[column] = "│";
  const std::size_t from = column_of_[row.from], to = column_of_[row.to];
  if (row.shape == LadderRow::Shape::Gap) {
    for (const std::size_t column : column_of_) cells[column] = "⋮";
  } else if (row.shape == LadderRow::Shape::State || from == to) {
    cells[from] = row.shape == LadderRow::Shape::State ? "●" : "○";
  } else {
    const bool right = from < to, arrives = row.lost_frames < row.frames;
    for (std::size_t at = std::min(from, to) + 1; at < std::max(from, to); ++at)
      cells[at] = cells[at] == " " ? "─" : "┼";
    cells[from] = right ? "├" : "┤";
    const std::size_t head = right ? to - 1 : to + 1;
    if (arrives) cells[head] = right ? ">" : "<";
    if (row.lost_frames > 0) cells[right ? head - (arrives ? 2 : 0) : head + (arrives ? 2 : 0)] = "x";
  }
  std::string line;
  for (const std::string_view cell : cells) line += cell;
  return line;
}

/// How much, and what a fault did, stay where the line is too short for all.
std::string LineWriter::words(const LadderRow& row, std::size_t room) const {
  if (row.shape == LadderRow::Shape::Gap) return cut(gap_text(row), room);
  std::string behind;
  for (const std::string& more : {amount_text(row), note_text(row)})
    if (!more.empty()) behind.append("  ").append(more);
  const std::size_t taken = std::min(characters(behind), room);
  return cut(cut(row.text, std::max(room - taken, std::min<std::size_t>(room, 16))) + behind, room);
}

std::string LineWriter::row(const LadderRow& row) {
  const std::string time = times_.text(row.at);
  const std::size_t before = time_columns - 1 - std::min(time_columns - 1, characters(time));
  const std::size_t used = time_columns + lanes_width_ + gap_before_words;
  std::string text = words(row, columns_ > used ? columns_ - used : 1);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '.');
  return std::string(before, ' ') + time + " " + cells(row) + std::string(gap_before_words, ' ') + text + "\n";
}

std::string LineWriter::write(std::string_view title) {
  std::string text = std::string(title) + "\n\n" + heads();
  for (const LadderRow& each : ladder_.rows()) text += row(each);
  return text;
}

}  // namespace

std::string to_text(const Ladder& ladder, std::string_view title, runtime::TimeNs start, std::size_t columns) {
  return LineWriter(ladder, start, columns).write(title);
}

}  // namespace sim
