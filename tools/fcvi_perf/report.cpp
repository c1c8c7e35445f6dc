#include "tools/fcvi_perf/report.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace perf {

Row to_row(const Job& job, const Result& result) {
  Row row;
  row.bytes = result.bytes;
  row.messages = result.client.sent + (job.both_directions != 0 ? result.server.sent : 0);
  const Samples& samples = result.samples;
  row.least_us = static_cast<double>(samples.least()) / 1e3;
  row.p50_us = samples.quantile(0.5) / 1e3;
  row.p99_us = samples.quantile(0.99) / 1e3;
  row.p999_us = samples.quantile(0.999) / 1e3;
  row.most_us = static_cast<double>(samples.most()) / 1e3;
  row.mean_us = samples.mean() / 1e3;
  row.histogram = samples.histogram();
  const auto rate = [](const Tally& tally) {
    return tally.elapsed_ns == 0 ? 0.0 : static_cast<double>(tally.sent) * 1e9 / static_cast<double>(tally.elapsed_ns);
  };
  row.messages_per_s = rate(result.client) + (job.both_directions != 0 ? rate(result.server) : 0);
  row.megabytes_per_s = row.messages_per_s * static_cast<double>(row.bytes) / 1e6;
  const auto messages = static_cast<double>(row.messages == 0 ? 1 : row.messages);
  row.client_cpu_us = static_cast<double>(result.client.cpu_ns) / 1e3 / messages;
  row.server_cpu_us = static_cast<double>(result.server.cpu_ns) / 1e3 / messages;
  row.errors = result.client.errors + result.server.errors;
  return row;
}

std::string Report::settings_text() const {
  const Job& job = options_.job;
  std::string text = level_text(static_cast<VIP_RELIABILITY_LEVEL>(job.level));
  text += std::string(", ") + to_string(job.completion) + (job.completion_queue != 0 ? " completion queues" : "");
  if (job.connections > 1) text += ", " + std::to_string(job.connections) + " connections";
  if (job.measure == Measure::Bandwidth) text += ", " + std::to_string(job.tx_depth) + " under way";
  if (job.both_directions != 0) text += ", both directions";
  if (job.immediate != 0) text += ", immediate data";
  if (job.check != 0) text += ", content checked";
  text += options_.ends == Ends::Threads ? ", two threads" : options_.ends == Ends::Processes ? ", two processes" : "";
  return options_.ends == Ends::Client ? text + ", server " + options_.host : text;
}

namespace {
constexpr const char* latency_csv = "bytes,iterations,min_us,p50_us,p99_us,p999_us,max_us,mean_us";
constexpr const char* bandwidth_csv = "bytes,iterations,megabytes_per_s,messages_per_s";
constexpr const char* common_csv = "client_cpu_us,server_cpu_us,errors";
}  // namespace

void Report::begin() const {
  const bool latency = options_.job.measure == Measure::Latency;
  if (options_.format == Format::Csv) std::printf("%s,%s\n", latency ? latency_csv : bandwidth_csv, common_csv);
  if (options_.format != Format::Table) return;
  std::printf("%s: %s\n", options_.test().c_str(), settings_text().c_str());
  if (latency)
    std::printf("# %s, microseconds\n%9s %11s %9s %9s %9s %9s %9s %9s\n",
                options_.job.operation == Operation::Read ? "whole round trips" : "half round trips", "#bytes",
                "#iterations", "min", "p50", "p99", "p99.9", "max", "mean");
  else
    std::printf("%9s %11s %12s %12s %15s\n", "#bytes", "#iterations", options_.gigabits ? "Gb/s" : "MB/s", "messages/s",
                "CPU us/message");
}

void Report::print_table_row(const Row& row) const {
  std::printf("%9llu %11llu ", static_cast<unsigned long long>(row.bytes),
              static_cast<unsigned long long>(row.messages));
  if (options_.job.measure == Measure::Bandwidth) {
    if (options_.gigabits)
      std::printf("%12.3f ", row.megabytes_per_s * 8 / 1e3);
    else
      std::printf("%12.1f ", row.megabytes_per_s);
    std::printf("%12.0f %7.2f %7.2f\n", row.messages_per_s, row.client_cpu_us, row.server_cpu_us);
    return;
  }
  std::printf("%9.2f %9.2f %9.2f %9.2f %9.2f %9.2f\n", row.least_us, row.p50_us, row.p99_us, row.p999_us, row.most_us,
              row.mean_us);
  if (options_.histogram) print_histogram(row);
}

/// How many took how long, and which part of all took that long or less, with a bar for each percent.
void Report::print_histogram(const Row& row) const {
  std::uint64_t so_far = 0;
  for (const auto& [ns, count] : row.histogram) {
    so_far += count;
    const auto part = [&](std::uint64_t of) {
      return 100.0 * static_cast<double>(of) / static_cast<double>(row.messages);
    };
    const std::string bar(static_cast<std::size_t>(part(count)), '#');
    std::printf("%21.3f us %12llu %8.3f %%%s%s\n", static_cast<double>(ns) / 1e3,
                static_cast<unsigned long long>(count), part(so_far), bar.empty() ? "" : " ", bar.c_str());
  }
}

void Report::print_csv_row(const Row& row) const {
  std::printf("%llu,%llu,", static_cast<unsigned long long>(row.bytes), static_cast<unsigned long long>(row.messages));
  if (options_.job.measure == Measure::Latency)
    std::printf("%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,", row.least_us, row.p50_us, row.p99_us, row.p999_us, row.most_us,
                row.mean_us);
  else
    std::printf("%.3f,%.1f,", row.megabytes_per_s, row.messages_per_s);
  std::printf("%.3f,%.3f,%llu\n", row.client_cpu_us, row.server_cpu_us, static_cast<unsigned long long>(row.errors));
}

void Report::add(const Result& result) {
  rows_.push_back(to_row(options_.job, result));
  if (options_.format == Format::Table) print_table_row(rows_.back());
  if (options_.format == Format::Csv) print_csv_row(rows_.back());
}

namespace {

std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(code));
    if (letter == '"' || letter == '\\')
      made += std::string("\\") + letter;
    else
      made += code < 0x20 ? std::string(escaped) : std::string(1, letter);
  }
  return made + "\"";
}

void print_json_row(const Options& options, const Row& row) {
  std::printf("    {\"bytes\": %llu, \"iterations\": %llu", static_cast<unsigned long long>(row.bytes),
              static_cast<unsigned long long>(row.messages));
  if (options.job.measure == Measure::Latency)
    std::printf(
        ", \"min_us\": %.3f, \"p50_us\": %.3f, \"p99_us\": %.3f, \"p999_us\": %.3f, \"max_us\": %.3f, "
        "\"mean_us\": %.3f",
        row.least_us, row.p50_us, row.p99_us, row.p999_us, row.most_us, row.mean_us);
  else
    std::printf(", \"megabytes_per_s\": %.3f, \"messages_per_s\": %.1f", row.megabytes_per_s, row.messages_per_s);
  std::printf(", \"client_cpu_us\": %.3f, \"server_cpu_us\": %.3f, \"errors\": %llu", row.client_cpu_us,
              row.server_cpu_us, static_cast<unsigned long long>(row.errors));
  const char* separator = ", \"histogram_ns\": [";
  for (const auto& [ns, count] : options.histogram ? row.histogram : decltype(row.histogram){}) {
    std::printf("%s[%llu, %llu]", separator, static_cast<unsigned long long>(ns),
                static_cast<unsigned long long>(count));
    separator = ", ";
  }
  std::printf(options.histogram ? "]}" : "}");
}

}  // namespace

void Report::print_json() const {
  const Job& job = options_.job;
  const auto truth = [](std::uint32_t flag) { return flag != 0 ? "true" : "false"; };
  std::printf("{\n  \"program\": \"fcvi-perf\", \"version\": \"%s\", \"test\": \"%s\",\n", FCVI_VERSION,
              options_.test().c_str());
  std::printf("  \"level\": %s, \"completion\": \"%s\", \"completion_queue\": %s,\n",
              quoted(level_text(static_cast<VIP_RELIABILITY_LEVEL>(job.level))).c_str(), to_string(job.completion),
              truth(job.completion_queue));
  std::printf("  \"ends\": \"%s\", \"nic\": %s, \"connections\": %llu, \"tx_depth\": %llu, \"rx_depth\": %llu,\n",
              options_.ends == Ends::Threads     ? "threads"
              : options_.ends == Ends::Processes ? "processes"
                                                 : "hosts",
              quoted(options_.device).c_str(), static_cast<unsigned long long>(job.connections),
              static_cast<unsigned long long>(job.tx_depth), static_cast<unsigned long long>(job.rx_depth));
  std::printf("  \"bidirectional\": %s, \"immediate\": %s, \"check\": %s, \"buffers\": %llu,\n",
              truth(job.both_directions), truth(job.immediate), truth(job.check),
              static_cast<unsigned long long>(job.buffers));
  std::printf("  \"half_round_trips\": %s,\n  \"results\": [", truth(job.operation != Operation::Read ? 1 : 0));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    std::printf(i == 0 ? "\n" : ",\n");
    print_json_row(options_, rows_[i]);
  }
  std::printf("\n  ]\n}\n");
}

bool Report::end() const {
  if (options_.format == Format::Json) print_json();
  std::uint64_t errors = 0;
  for (const Row& row : rows_) errors += row.errors;
  if (errors != 0) say("%llu messages with wrong content", static_cast<unsigned long long>(errors));
  if (options_.svg.empty()) return errors == 0;
  std::FILE* file = std::fopen(options_.svg.c_str(), "w");
  const std::string text = plot(options_, options_.test() + ": " + settings_text(), rows_);
  const bool written = file != nullptr && std::fputs(text.c_str(), file) >= 0;
  if ((file != nullptr && std::fclose(file) != 0) || !written) {
    say("--svg: %s: %s", options_.svg.c_str(), std::strerror(errno));
    return false;
  }
  return errors == 0;
}

}  // namespace perf
