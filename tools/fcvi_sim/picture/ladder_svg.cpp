// The ladder diagram as SVG, by hand: a life line for each lane, a row for each LadderRow.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "tools/fcvi_sim/picture/ladder.hpp"
#include "settings/units.hpp"

namespace sim {
using namespace settings;
namespace {

struct Colour {
  RowKind kind;
  std::string_view value;
};
constexpr std::array colours{
    Colour{RowKind::Login, "#6741d9"}, Colour{RowKind::Naming, "#0b7285"},      Colour{RowKind::Setup, "#1864ab"},
    Colour{RowKind::Data, "#2b8a3e"},  Colour{RowKind::Response, "#66a80f"},    Colour{RowKind::Teardown, "#c2255c"},
    Colour{RowKind::Abort, "#e03131"}, Colour{RowKind::Acknowledge, "#868e96"}, Colour{RowKind::Other, "#495057"}};

std::string_view colour_of(RowKind kind) {
  for (const Colour& colour : colours)
    if (colour.kind == kind) return colour.value;
  return "#000000";
}

// Pixels.
constexpr int margin = 24, time_width = 96, head_height = 46, title_height = 64;
constexpr int arrow_height = 32, gap_height = 30, state_height = 30;
constexpr int lane_inset = 90;  // half a lane's box
constexpr int service_step = 190;
constexpr double char_width = 7.23;  // of a monospace face of 12 pixels
constexpr std::size_t widest_text = 110;

int text_width(std::string_view text) {
  return static_cast<int>(std::ceil(static_cast<double>(characters(text)) * char_width));
}

/// At most widest_text bytes, not cut within a character.
std::string shortened(std::string_view text) {
  if (text.size() <= widest_text) return std::string(text);
  std::size_t end = widest_text - 3;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

int height_of(const LadderRow& row) {
  switch (row.shape) {
    case LadderRow::Shape::Arrow: return arrow_height;
    case LadderRow::Shape::Gap: return gap_height;
    case LadderRow::Shape::State: return state_height;
  }
  return 0;
}

class Writer {
 public:
  Writer(const Ladder& ladder, std::string_view title, runtime::TimeNs start)
      : ladder_(ladder), title_(title), times_(start) {}
  std::string write();

 private:
  void place_lanes();
  int step_between_ports() const;
  void head(int top);
  void legend(int top);
  void lifelines(int top, int bottom);
  void row(const LadderRow& row, int top);
  void arrow(const LadderRow& row, int y);
  void line_to(int from, int to, int y, const std::string& colour);
  void head_of_arrow(int to, int y, int direction, const std::string& colour);
  void cross(int x, int y);
  void gap(const LadderRow& row, int y);
  void state(const LadderRow& row, int y);
  void rectangle(int x, int y, int width, int height, std::string_view classes);
  void text(int x, int y, std::string_view classes, std::string_view content, std::string_view colour = "");
  std::string& out() { return svg_; }

  const Ladder& ladder_;
  std::string_view title_;
  RowTimes times_;
  std::vector<int> x_;  // of each lane
  int width_ = 0;
  std::string svg_;
};

// Room for the widest label that two neighbours exchange, within reason.
int Writer::step_between_ports() const {
  int widest = 360;
  for (const LadderRow& row : ladder_.rows())
    if (row.shape == LadderRow::Shape::Arrow && row.from < ladder_.port_count() && row.to < ladder_.port_count())
      widest = std::max(widest, text_width(shortened(row.text)) + text_width(amount_text(row)) +
                                    text_width(note_text(row)) + (row.note.empty() ? 60 : 90));
  return ladder_.port_count() <= 3 ? std::min(widest, 900) : std::min(widest, 420);
}

// Services at the left, next to the first port; then the ports.
void Writer::place_lanes() {
  const std::size_t ports = ladder_.port_count(), lanes = ladder_.lanes().size();
  x_.resize(lanes);
  int x = margin + time_width + lane_inset;
  for (std::size_t lane = lanes; lane-- > ports;) {
    x_[lane] = x;
    x += service_step;
  }
  const int step = step_between_ports();
  for (std::size_t lane = 0; lane < ports; ++lane) {
    x_[lane] = x;
    x += step;
  }
  width_ = x_[ports - 1] + lane_inset + margin;
  const int legend_width = margin * 2 + static_cast<int>(colours.size()) * 150;
  width_ = std::max({width_, legend_width, margin * 2 + text_width(title_) * 4 / 3});
}

void Writer::rectangle(int x, int y, int width, int height, std::string_view classes) {
  char line[160];
  std::snprintf(line, sizeof line, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" class=\"%.*s\"/>\n", x,
                y, width, height, static_cast<int>(classes.size()), classes.data());
  out() += line;
}

void Writer::text(int x, int y, std::string_view classes, std::string_view content, std::string_view colour) {
  char line[120];
  std::snprintf(line, sizeof line, "<text x=\"%d\" y=\"%d\" class=\"%.*s\"", x, y, static_cast<int>(classes.size()),
                classes.data());
  out() += line;
  if (!colour.empty()) out().append(" style=\"fill:").append(colour).append("\"");
  out().append(">").append(escape_xml(content)).append("</text>\n");
}

void Writer::head(int top) {
  for (std::size_t lane = 0; lane < x_.size(); ++lane) {
    rectangle(x_[lane] - lane_inset + 4, top, 2 * lane_inset - 8, head_height - 6,
              lane < ladder_.port_count() ? "port" : "service");
    text(x_[lane], top + 17, "name", shortened(ladder_.lanes()[lane].title));
    text(x_[lane], top + 32, "sub", ladder_.lanes()[lane].subtitle);
  }
}

/// Class 2 has acknowledgements; most pictures are of class 3.
void Writer::legend(int top) {
  const bool acknowledges = std::any_of(ladder_.rows().begin(), ladder_.rows().end(),
                                        [](const LadderRow& row) { return row.row_kind == RowKind::Acknowledge; });
  int x = margin;
  for (const Colour& colour : colours) {
    if (colour.kind == RowKind::Other || (colour.kind == RowKind::Acknowledge && !acknowledges)) continue;
    char line[160];
    std::snprintf(line, sizeof line,
                  "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"3\"/>\n", x, top - 4,
                  x + 18, top - 4, std::string(colour.value).c_str());
    out() += line;
    text(x + 24, top, "left", to_string(colour.kind));
    x += 24 + text_width(to_string(colour.kind)) + 22;
  }
}

void Writer::lifelines(int top, int bottom) {
  for (const int x : x_) {
    char line[120];
    std::snprintf(line, sizeof line, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" class=\"life\"/>\n", x, top, x,
                  bottom);
    out() += line;
  }
}

// What is lost ends in a cross on the way; of a sequence that lost some of its frames, the rest arrives.
void Writer::arrow(const LadderRow& row, int y) {
  const int from = x_[row.from], to = x_[row.to];
  const std::string colour(colour_of(row.row_kind));
  const int direction = to >= from ? 1 : -1;
  const bool arrives = row.lost_frames < row.frames;
  const int label =
      text_width(shortened(row.text)) + 14 + text_width(amount_text(row)) + text_width(note_text(row)) + 40;
  // Towards the end of the arrow, but not through its label.
  const int crossed = direction > 0 ? std::min(std::max(from + label, from + (to - from) * 3 / 4), to - 20)
                                    : std::min(std::max(to + label, to + (from - to) / 4), from - 20);
  line_to(from, arrives ? to - 6 * direction : crossed, y, colour);
  if (arrives) head_of_arrow(to, y, direction, colour);
  if (row.lost_frames > 0) cross(crossed, y);
  int left = std::min(from, to) + 12;
  const auto write = [&](std::string_view classes, const std::string& content, std::string_view ink) {
    if (content.empty()) return;
    text(left, y - 6, classes, content, ink);
    left += text_width(content) + 14;
  };
  write("label", shortened(row.text), colour);
  write("amount", amount_text(row), "");
  write("fault", note_text(row), "");
}

void Writer::line_to(int from, int to, int y, const std::string& colour) {
  char line[120];
  std::snprintf(line, sizeof line, "<path d=\"M%d %dH%d\" stroke=\"%s\" stroke-width=\"1.5\"/>", from, y, to,
                colour.c_str());
  out() += line;
}

void Writer::head_of_arrow(int to, int y, int direction, const std::string& colour) {
  char line[120];
  std::snprintf(line, sizeof line, "<path d=\"M%d %dl%d -4v8z\" fill=\"%s\"/>\n", to, y, -9 * direction,
                colour.c_str());
  out() += line;
}

void Writer::cross(int x, int y) {
  char line[120];
  std::snprintf(line, sizeof line, "<path d=\"M%d %dl12 12m0 -12l-12 12\" class=\"lost\"/>\n", x - 6, y - 6);
  out() += line;
}

void Writer::gap(const LadderRow& row, int y) {
  const std::string label = shortened(gap_text(row));
  const int width = text_width(label) + 24;
  const std::size_t ports = ladder_.port_count();
  const int middle = ports > 1 ? (x_[0] + x_[ports - 1]) / 2 : x_[0];
  const int left = std::max(margin + time_width, std::min(middle - width / 2, width_ - margin - width));
  rectangle(left, y - 18, width, 22, "gap");
  text(left + width / 2, y - 3, "middle", label);
}

void Writer::state(const LadderRow& row, int y) {
  const std::string label = shortened(row.text);
  const int width = text_width(label) + 20;
  const int left = std::clamp(x_[row.from] - width / 2, margin, std::max(margin, width_ - margin - width));
  rectangle(left, y - 17, width, 21, "state");
  text(left + width / 2, y - 2, "middle", label);
}

void Writer::row(const LadderRow& row, int top) {
  const int y = top + height_of(row) - 8;
  switch (row.shape) {
    case LadderRow::Shape::Arrow: arrow(row, y); break;
    case LadderRow::Shape::Gap: gap(row, y); break;
    case LadderRow::Shape::State: state(row, y); break;
  }
  text(margin + time_width - 12, y - 2, "time", times_.text(row.at));
}

constexpr std::string_view style_sheet = R"(<style>
text{font:12px "DejaVu Sans Mono","Liberation Mono",Menlo,Consolas,monospace;fill:#212529}
.title{font-size:16px;font-weight:bold}
.left,.label,.amount,.fault{text-anchor:start}
.label,.amount,.fault{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}
.amount{fill:#868e96}
.fault{fill:#e03131;font-style:italic}
.lost{stroke:#e03131;stroke-width:2.5}
.time{text-anchor:end;fill:#868e96;font-size:11px}
.name{text-anchor:middle;font-weight:bold}
.sub{text-anchor:middle;font-size:10px;fill:#495057}
.middle{text-anchor:middle}
.life{stroke:#ced4da;stroke-width:1.5;stroke-dasharray:5 4}
.port{fill:#e7f5ff;stroke:#4dabf7}
.service{fill:#f3f0ff;stroke:#b197fc}
.gap{fill:#f8f9fa;stroke:#dee2e6;stroke-dasharray:3 3}
.state{fill:#fff9db;stroke:#fcc419}
</style>
)";

std::string Writer::write() {
  place_lanes();
  int bottom = margin + title_height + head_height;
  for (const LadderRow& row : ladder_.rows()) bottom += height_of(row);
  const int height = bottom + 20 + head_height + margin;
  out() = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
          std::to_string(width_) + "\" height=\"" + std::to_string(height) + "\" viewBox=\"0 0 " +
          std::to_string(width_) + " " + std::to_string(height) + "\">\n<title>" + escape_xml(title_) + "</title>\n";
  out() += style_sheet;
  out() += "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  text(margin, margin + 14, "title", title_);
  legend(margin + 42);
  const int top = margin + title_height;
  lifelines(top + head_height - 6, bottom + 20);
  head(top);
  int y = top + head_height;
  for (const LadderRow& each : ladder_.rows()) {
    row(each, y);
    y += height_of(each);
  }
  head(bottom + 20);
  out() += "</svg>\n";
  return std::move(svg_);
}

}  // namespace

std::string escape_xml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;  // XML 1.0 has no such characters
    }
  }
  return escaped;
}

std::string to_svg(const Ladder& ladder, std::string_view title, runtime::TimeNs start) {
  return Writer(ladder, title, start).write();
}

}  // namespace sim
