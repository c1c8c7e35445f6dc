/// What is printed: a table as sizes are done, or CSV; JSON at the end.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tools/fcvi_perf/session.hpp"

namespace perf {

struct Row {
  std::uint64_t bytes = 0, messages = 0;
  double least_us = 0, p50_us = 0, p99_us = 0, p999_us = 0, most_us = 0, mean_us = 0;  ///< latency
  double megabytes_per_s = 0, messages_per_s = 0;                                      ///< bandwidth, both directions
  double client_cpu_us = 0, server_cpu_us = 0;  ///< of a message; with threads: of the whole process, twice
  std::uint64_t errors = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> histogram;  ///< ns, count
};

Row to_row(const Job& job, const Result& result);

class Report {
 public:
  explicit Report(const Options& options) : options_(options) {}
  void begin() const;
  void add(const Result& result);
  /// false: there was wrong content, or a file could not be written.
  [[nodiscard]] bool end() const;

 private:
  void print_table_row(const Row& row) const;
  void print_histogram(const Row& row) const;
  void print_csv_row(const Row& row) const;
  void print_json() const;
  [[nodiscard]] std::string settings_text() const;

  const Options& options_;
  std::vector<Row> rows_;
};

/// An SVG of this sweep: latency quantiles, or bandwidth, against message size; both axes logarithmic.
std::string plot(const Options& options, const std::string& settings, const std::vector<Row>& rows);

}  // namespace perf
