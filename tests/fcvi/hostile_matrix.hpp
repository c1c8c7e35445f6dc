// What came of each wrong field, as a page of golden/: what several have in common stands there once.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace support {

/// Under sanitizers the memory of two hosts is dear: one world of so many is made there, and the pages
/// are not compared.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr unsigned one_world_of = 37;
#else
inline constexpr unsigned one_world_of = 1;
#endif

/// Groups of wrong fields; of each a row for each level, a column for each situation.
class Matrix {
 public:
  using Rows = std::map<std::string, std::vector<std::string>>;  // by level
  explicit Matrix(std::vector<std::string> columns) : columns_(std::move(columns)) {}
  void add(std::string_view field, const Rows& rows) {
    const auto same =
        std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) { return group.rows == rows; });
    if (same != groups_.end())
      same->fields += "; " + std::string(field);
    else
      groups_.push_back({std::string(field), rows});
  }
  [[nodiscard]] std::string text() const {
    std::vector<std::size_t> widths;
    for (const std::string& column : columns_) widths.push_back(column.size());
    for (const Group& group : groups_)
      for (const auto& [level, row] : group.rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text = line("  ", columns_, widths);
    for (const Group& group : groups_) {
      text += group.fields + "\n";
      for (const auto& [level, row] : group.rows) text += line(level, row, widths);
    }
    return text;
  }

 private:
  struct Group {
    std::string fields;
    Rows rows;
  };
  static std::string line(const std::string& level, const std::vector<std::string>& row,
                          const std::vector<std::size_t>& widths) {
    std::string text = "  " + level;
    for (std::size_t i = 0; i < row.size(); ++i) text += " | " + row[i] + std::string(widths[i] - row[i].size(), ' ');
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }
  const std::vector<std::string> columns_;
  std::vector<Group> groups_;
};

}  // namespace support
