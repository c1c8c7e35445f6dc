// The plot of a sweep as SVG.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/fcvi_perf/report.hpp"

namespace perf {
namespace {

constexpr double width = 760, height = 460, left = 80, right = 130, top = 50, bottom = 60;

struct Line {
  const char* name;
  const char* colour;
  double Row::*value;
};

std::string format(const char* pattern, auto... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

std::string escaped(const std::string& text) {
  std::string made;
  for (const char letter : text)
    made += letter == '&' ? "&amp;" : letter == '<' ? "&lt;" : letter == '>' ? "&gt;" : std::string(1, letter);
  return made;
}

std::string size_text(double bytes) {
  if (bytes >= 1048576) return format("%g MiB", bytes / 1048576);
  return bytes >= 1024 ? format("%g KiB", bytes / 1024) : format("%g B", bytes);
}

class Plot {
 public:
  Plot(const std::vector<Row>& rows, const std::vector<Line>& lines) : rows_(rows), lines_(lines) {
    for (const Row& row : rows) {
      const double x = std::log2(static_cast<double>(row.bytes));
      least_x_ = std::min(least_x_, std::floor(x));
      most_x_ = std::max(most_x_, std::ceil(x));
      for (const Line& line : lines) {
        const double y = std::log10(std::max(row.*line.value, 1e-3));
        least_y_ = std::min(least_y_, std::floor(y));
        most_y_ = std::max(most_y_, std::ceil(y));
      }
    }
    if (most_x_ <= least_x_) most_x_ = least_x_ + 1;
    if (most_y_ <= least_y_) most_y_ = least_y_ + 1;
  }

  [[nodiscard]] std::string draw(const std::string& title, const char* y_title) const {
    std::string svg = format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"%g\" height=\"%g\" fill=\"white\"/>\n",
        width, height, width, height, width, height);
    svg += "<text x=\"" + format("%g", left) + "\" y=\"28\" font-size=\"14\">" + escaped(title) + "</text>\n";
    svg += grid();
    svg += format("<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">bytes of a message</text>\n",
                  (left + width - right) / 2, height - 14);
    svg += format("<text transform=\"translate(20 %g) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
                  (top + height - bottom) / 2, y_title);
    for (std::size_t i = 0; i < lines_.size(); ++i) svg += curve(lines_[i], static_cast<double>(i));
    return svg + "</svg>\n";
  }

 private:
  [[nodiscard]] double x_of(double logarithm) const {
    return left + (logarithm - least_x_) / (most_x_ - least_x_) * (width - left - right);
  }
  [[nodiscard]] double y_of(double logarithm) const {
    return height - bottom - (logarithm - least_y_) / (most_y_ - least_y_) * (height - top - bottom);
  }

  [[nodiscard]] std::string grid() const {
    std::string svg;
    const double step = most_x_ - least_x_ > 12 ? 3 : 1;
    for (double x = least_x_; x <= most_x_; x += step) {
      svg += format("<line x1=\"%g\" y1=\"%g\" x2=\"%g\" y2=\"%g\" stroke=\"#ddd\"/>\n", x_of(x), top, x_of(x),
                    height - bottom);
      svg += format("<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%s</text>\n", x_of(x), height - bottom + 18,
                    size_text(std::exp2(x)).c_str());
    }
    for (double y = least_y_; y <= most_y_; ++y) {
      svg += format("<line x1=\"%g\" y1=\"%g\" x2=\"%g\" y2=\"%g\" stroke=\"#ddd\"/>\n", left, y_of(y), width - right,
                    y_of(y));
      svg += format("<text x=\"%g\" y=\"%g\" text-anchor=\"end\">%g</text>\n", left - 6, y_of(y) + 4, std::pow(10, y));
    }
    return svg;
  }

  [[nodiscard]] std::string curve(const Line& line, double number) const {
    std::string points, dots;
    for (const Row& row : rows_) {
      const double value = row.*line.value;
      const double x = x_of(std::log2(static_cast<double>(row.bytes))), y = y_of(std::log10(std::max(value, 1e-3)));
      points += format("%.1f,%.1f ", x, y);
      dots += format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"><title>%llu bytes: %.6g</title></circle>\n",
                     x, y, line.colour, static_cast<unsigned long long>(row.bytes), value);
    }
    const double y = top + 16 + 18 * number;
    return "<polyline fill=\"none\" stroke-width=\"1.5\" stroke=\"" + std::string(line.colour) + "\" points=\"" +
           points + "\"/>\n" + dots +
           format("<text x=\"%g\" y=\"%g\" fill=\"%s\">%s</text>\n", width - right + 10, y, line.colour, line.name);
  }

  const std::vector<Row>& rows_;
  const std::vector<Line>& lines_;
  double least_x_ = 64, most_x_ = 0, least_y_ = 12, most_y_ = -3;
};

}  // namespace

std::string plot(const Options& options, const std::string& settings, const std::vector<Row>& rows) {
  static const std::vector<Line> latency{
      {"p99", "#c0392b", &Row::p99_us}, {"p50", "#2471a3", &Row::p50_us}, {"min", "#1e8449", &Row::least_us}};
  static const std::vector<Line> bandwidth{{"MB/s", "#2471a3", &Row::megabytes_per_s}};
  const bool is_latency = options.job.measure == Measure::Latency;
  return Plot(rows, is_latency ? latency : bandwidth)
      .draw(settings, is_latency ? "microseconds" : "megabytes (10^6) a second");
}

}  // namespace perf
