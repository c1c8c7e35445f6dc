/// The command line. Names are those of the verbs perftest programs (ib_send_lat and so on) where they mean the same.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tools/fcvi_perf/job.hpp"

namespace perf {

enum class Ends : std::uint32_t { Processes, Threads, Client, Server };
enum class Format : std::uint32_t { Table, Csv, Json };

struct Options {
  Job job;
  Ends ends = Ends::Processes;
  Format format = Format::Table;
  std::string host;  ///< of the server, if `ends` is Client
  std::string discriminator = "fcvi-perf";
  std::string device = "VINIC", server_device;
  std::vector<std::uint64_t> sizes;  ///< bytes, ascending
  std::uint64_t iterations = 1000;
  std::uint64_t duration_ns = 0;         ///< 0: by iterations
  std::optional<std::uint64_t> warm_up;  ///< messages
  std::uint64_t connect_ms = 20000;
  int client_cpu = -1, server_cpu = -1;  ///< -1: wherever the system puts it
  bool histogram = false, once = false;
  bool gigabits = false;  ///< in the table: 10^9 bits a second, not 10^6 bytes
  std::string svg;

  [[nodiscard]] std::uint64_t warm_up_of(std::uint64_t bytes) const;
  [[nodiscard]] std::string peer_text() const { return host.empty() ? "the server end" : host; }
  /// "send_lat"
  [[nodiscard]] std::string test() const;
};

/// Prints and exits where that is all: help, version, wrong arguments (EXIT_USAGE).
Options read_options(int count, char** words);

}  // namespace perf
