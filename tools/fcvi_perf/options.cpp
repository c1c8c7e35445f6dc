#include "tools/fcvi_perf/options.hpp"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>

#include "tools/vip_common/vip_common.h"

namespace perf {
namespace {

/// As given; what is left out depends on the test.
struct Given {
  std::string test, host, level = "delivery", cpus;
  std::optional<std::uint64_t> size, tx_depth, rx_depth, buffers, iterations;
  std::optional<double> duration;
  double timeout = 20;
  bool all = false, both_directions = false, waiting = false, queue = false, check = false, immediate = false;
  bool passive_waits = false, progress = false, server = false, threads = false, csv = false, json = false;
};

/// Of options, as --help shows them; what the client alone decides.
constexpr const char *load_group = "The load", *ways_group = "How it is done", *output_group = "Output";

const char* const footer = R"(Without HOST the server end is forked, on the same NIC. Between hosts, or shells:
  bob$   fcvi-perf --server
  alice$ fcvi-perf send_lat -s 8 bob

Latencies are half round trips, except those of RDMA Read: whole ones. RDMA Write latency is seen in memory, where the
last byte is written last. Bandwidth ends when the receiver has said that it has everything.

Examples:
  fcvi-perf send_lat -s 8 -n 100000              half round trip of 8 bytes, two processes that poll
  fcvi-perf send_lat -s 8 -e                     the same, waiting
  fcvi-perf send_bw -s 65536 -D 3                64 KiB Sends for three seconds
  fcvi-perf send_bw -s 8 -t 32                   messages a second, 32 under way
  fcvi-perf write_bw -a --svg sweep.svg          RDMA Writes of 1 byte to 8 MiB, with a plot

Exit status: 0 done, 1 it failed (no server, connection lost, wrong content), 2 wrong arguments.)";

void add_test(CLI::App& app, Given& given, Options& options) {
  app.add_option("TEST", given.test, "send_lat, send_bw, write_lat, write_bw, read_lat or read_bw")
      ->check(CLI::IsMember({"send_lat", "send_bw", "write_lat", "write_bw", "read_lat", "read_bw"}));
  app.add_option("HOST", given.host,
                 "HOST[:DISCRIMINATOR] where fcvi-perf --server runs; default: fork the server end");
  app.add_flag("--server", given.server, "serve clients, one after another; they say what to do");
  app.add_flag("--once", options.once, "with --server: end after one client");
  app.add_flag("--threads", given.threads, "both ends are threads of this process");
  app.add_option("-p,--port", options.discriminator, "discriminator that --server has")->capture_default_str();
  app.add_option("-d,--ib-dev,--nic", options.device, "VI NIC to open")->capture_default_str();
  app.add_option("--server-dev", options.server_device, "VI NIC of the server end; default: as --ib-dev");
  app.add_option("--cpus", given.cpus, "CPU of the client, or CPU,CPU of client and server; of --server: its own");
}

void add_load(CLI::App& app, Given& given, Options& options) {
  app.option_defaults()->group(load_group);
  app.add_option("-s,--size", given.size, "bytes of a message, 1 to 16777216, or 64k, 1m (latency 2, bandwidth 65536)")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{1}, max_message_bytes));
  app.add_flag("-a,--all", given.all, "all powers of two from 1 to --size (8388608)");
  app.add_option("-n,--iters", given.iterations, "messages of one size (1000)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40U));
  app.add_option("-D,--duration", given.duration, "seconds for one size, instead of --iters")
      ->check(CLI::Range(0.001, 1e6));
  app.add_option("--warm-up", options.warm_up, "messages before those that count (a tenth, 64 MiB and 1000 at most)")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 40U));
  app.add_option("-t,--tx-depth", given.tx_depth, "bandwidth: messages under way on a connection (128)")
      ->check(CLI::Range(std::uint64_t{1}, max_depth));
  app.add_option("-r,--rx-depth", given.rx_depth, "bandwidth: posted receives of a connection (twice --tx-depth)")
      ->check(CLI::Range(std::uint64_t{1}, max_depth));
  app.add_option("-q,--qp", options.job.connections, "connections; latency: used in turn")
      ->check(CLI::Range(std::uint64_t{1}, max_connections))
      ->capture_default_str();
  app.add_flag("-b,--bidirectional", given.both_directions, "bandwidth: both ends send");
  app.add_option("-c,--connection,--level", given.level, "reliability level: unreliable, delivery or reception")
      ->check(CLI::IsMember({"unreliable", "delivery", "reception"}))
      ->capture_default_str();
}

void add_ways(CLI::App& app, Given& given) {
  app.option_defaults()->group(ways_group);
  app.add_flag("-e,--events", given.waiting, "wait (VipRecvWait, VipSendWait, VipCQWait) instead of polling (...Done)");
  app.add_flag("--cq", given.queue,
               "completion queues; always used where a thread waits for several connections, or for both directions");
  app.add_flag("--write_with_imm", given.immediate, "RDMA Writes with immediate data, which complete a receive");
  app.add_flag("--passive-waits", given.passive_waits, "the target of RDMA waits, even if the client polls");
  app.add_flag("--progress", given.progress, "write_lat: call VipRecvDone between any two looks at memory");
  app.add_option("--buffers", given.buffers, "distinct buffers each way and connection, used in turn (1)")
      ->check(CLI::Range(std::uint64_t{1}, 2 * max_depth));
  app.add_flag("--check", given.check, "fill and compare every byte; times include it");
  app.add_option("--timeout", given.timeout, "seconds without any completion before it gives up")
      ->check(CLI::Range(0.001, 1e6))
      ->capture_default_str();
}

void add_output(CLI::App& app, Given& given, Options& options) {
  app.option_defaults()->group(output_group);
  app.add_flag("-H,--report-histogram", options.histogram, "latency: how many took how long, in steps below 0.8 %");
  app.add_flag("--report_gbits", options.gigabits, "bandwidth, in the table: 10^9 bits a second instead of 10^6 bytes");
  app.add_flag("--csv", given.csv, "comma-separated values instead of the table");
  app.add_flag("--json", given.json, "JSON instead of the table, with settings");
  app.add_option("--svg", options.svg, "plot the sizes into this file");
}

const char* wrong_cpu(const std::string& word, int& cpu) {
  char* end = nullptr;
  const long value = std::strtol(word.c_str(), &end, 10);
  if (word.empty() || *end != '\0' || value < 0 || value >= CPU_SETSIZE) return word.c_str();
  cpu = static_cast<int>(value);
  return nullptr;
}

void read_cpus(const Given& given, Options& options) {
  if (given.cpus.empty()) return;
  const std::size_t comma = given.cpus.find(',');
  const std::string first = given.cpus.substr(0, comma);
  const std::string second = comma == std::string::npos ? "" : given.cpus.substr(comma + 1);
  if (wrong_cpu(first, options.client_cpu) != nullptr ||
      (comma != std::string::npos && wrong_cpu(second, options.server_cpu) != nullptr))
    refuse("--cpus: '%s': CPU or CPU,CPU expected", given.cpus.c_str());
  if (options.ends == Ends::Server) options.server_cpu = options.client_cpu;
}

void read_ends(const Given& given, Options& options) {
  if (static_cast<int>(given.server) + static_cast<int>(given.threads) + static_cast<int>(!given.host.empty()) > 1)
    refuse("--server, --threads and HOST: only one of them");
  options.ends = given.server         ? Ends::Server
                 : given.threads      ? Ends::Threads
                 : given.host.empty() ? Ends::Processes
                                      : Ends::Client;
  if (given.server && !given.test.empty()) refuse("--server: takes no TEST, clients say it");
  if (!given.server && given.test.empty()) refuse("TEST is needed: send_lat, send_bw, write_lat, ...");
  if (options.once && !given.server) refuse("--once: only with --server");
  if (given.csv && given.json) refuse("--csv and --json: only one of them");
  options.format = given.csv ? Format::Csv : given.json ? Format::Json : Format::Table;
  if (options.server_device.empty()) options.server_device = options.device;
  if (options.discriminator.empty() || options.discriminator.size() > 127) refuse("--port: 1 to 127 bytes expected");
  if (given.host.empty()) return;
  target to;
  const char* why = nullptr;
  if (target_from_word(given.host.c_str(), 0, &to, &why) == 0) refuse("HOST '%s': %s", given.host.c_str(), why);
  options.host = to.host;
  if (to.discriminator[0] != '\0') options.discriminator = to.discriminator;
}

/// Before an hour of measuring, not after it.
void check_plot(const std::string& path) {
  struct stat about {};
  const bool is_there = ::stat(path.c_str(), &about) == 0;
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (is_there && S_ISDIR(about.st_mode)) refuse("--svg: %s: %s", path.c_str(), std::strerror(EISDIR));
  if (::access(is_there ? path.c_str() : folder.c_str(), W_OK) != 0)
    refuse("--svg: %s: %s", path.c_str(), std::strerror(errno));
}

/// With --check each message has a buffer of its own until it was compared: no more of them than fit into this.
constexpr std::uint64_t checked_bytes = 512U << 20U;

void read_depths(const Given& given, Job& job) {
  const bool latency = job.measure == Measure::Latency;
  std::uint64_t tx = given.tx_depth.value_or(128);
  const std::uint64_t fitting = checked_bytes / job.max_bytes / 3;
  if (job.check != 0 && !given.tx_depth) tx = std::clamp<std::uint64_t>(fitting, 1, tx);
  job.tx_depth = latency ? 1 : tx;
  job.rx_depth = latency ? 1 : given.rx_depth.value_or(std::min(2 * tx, max_depth));
  if (latency && (given.tx_depth || given.rx_depth)) refuse("--tx-depth and --rx-depth: only for bandwidth");
  const bool distinct = job.check != 0 && job.operation == Operation::Send;
  const std::uint64_t receives = (latency ? latency_depth : job.rx_depth) + notices;
  const std::uint64_t needed = distinct ? std::max(receives, job.tx_depth) : job.check != 0 ? job.tx_depth : 1;
  job.buffers = std::max(needed, given.buffers.value_or(1));
  if (latency && job.operation == Operation::Write) job.buffers = 1;  // its last byte tells one message from the next
}

void read_job(const Given& given, Options& options) {
  Job& job = options.job;
  job.operation = given.test[0] == 's' ? Operation::Send : given.test[0] == 'w' ? Operation::Write : Operation::Read;
  job.measure = given.test.ends_with("_lat") ? Measure::Latency : Measure::Bandwidth;
  job.completion = given.waiting ? Completion::Waiting : Completion::Polling;
  job.level = level_from_word(given.level.c_str());
  job.completion_queue = given.queue ? 1 : 0;
  job.both_directions = given.both_directions ? 1 : 0;
  // Nobody can wait for a byte of memory: waiting for RDMA Writes takes immediate data.
  const bool waits_for_write = given.waiting && job.operation == Operation::Write && job.measure == Measure::Latency;
  job.immediate = given.immediate || waits_for_write ? 1 : 0;
  job.check = given.check ? 1 : 0;
  job.passive_waits = given.passive_waits ? 1 : 0;
  job.progress = given.progress ? 1 : 0;
  job.timeout_ms = static_cast<std::uint64_t>(given.timeout * 1000);
  options.connect_ms = job.timeout_ms;
  const std::uint64_t largest = given.size.value_or(given.all ? 8388608 : job.measure == Measure::Latency ? 2 : 65536);
  job.max_bytes = largest;
  for (std::uint64_t bytes = 1; given.all && bytes < largest; bytes *= 2) options.sizes.push_back(bytes);
  options.sizes.push_back(largest);
  read_depths(given, job);
  if (given.iterations && given.duration) refuse("--iters and --duration: only one of them");
  options.iterations = given.iterations.value_or(1000);
  if (given.duration) options.duration_ns = static_cast<std::uint64_t>(*given.duration * 1e9);
  if (options.histogram && job.measure == Measure::Bandwidth) refuse("--report-histogram: only for latency");
  if (options.histogram && given.csv) refuse("--report-histogram: in the table or with --json, not with --csv");
  if (options.gigabits && job.measure == Measure::Latency) refuse("--report_gbits: only for bandwidth");
  if (!options.svg.empty()) check_plot(options.svg);
  if (const std::string why = why_not(job); !why.empty()) refuse("%s", why.c_str());
}

/// Users of perftest give both ends the same options. Those of the client alone change nothing here.
void tell_ignored(const CLI::App& app) {
  std::string ignored;
  for (const char* group : {load_group, ways_group, output_group})
    for (const CLI::Option* option : app.get_options([&](const CLI::Option* one) { return one->get_group() == group; }))
      if (option->count() != 0) ignored += " " + option->get_name();
  if (!ignored.empty()) say("--server: the client says what is measured; ignored here:%s", ignored.c_str());
}

}  // namespace

std::uint64_t Options::warm_up_of(std::uint64_t bytes) const {
  const std::uint64_t tenth = duration_ns != 0 ? 1000 : std::max<std::uint64_t>(1, iterations / 10);
  const std::uint64_t usual = std::min<std::uint64_t>({tenth, 1000, (64U << 20U) / bytes});
  return std::max<std::uint64_t>(warm_up.value_or(usual), warm_up ? 0 : job.connections);
}

std::string Options::test() const { return std::string(to_string(job.operation)) + "_" + to_string(job.measure); }

Options read_options(int count, char** words) {
  CLI::App app{"Measures latency, bandwidth and message rate of VIPL: Sends, RDMA Writes and RDMA Reads.", "fcvi-perf"};
  app.set_version_flag("-V,--version", std::string("fcvi-perf ") + FCVI_VERSION);
  app.footer(footer);
  Given given;
  Options options;
  add_test(app, given, options);
  add_load(app, given, options);
  add_ways(app, given);
  add_output(app, given, options);
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? EXIT_DONE : EXIT_USAGE);
  }
  read_ends(given, options);
  read_cpus(given, options);
  if (options.ends != Ends::Server)
    read_job(given, options);
  else
    tell_ignored(app);
  return options;
}

}  // namespace perf
