// How large a fabric one simulation holds: ports log in, register, resolve and connect pairwise. tests/bench/README.md.
// usage: bench_scale [PORTS [SWITCHES]]
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tests/support/many_hosts.hpp"

namespace {
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

class Phases {
 public:
  explicit Phases(support::ManyHosts& hosts) : hosts_(hosts) {}
  void done(const char* what, std::size_t count) {
    auto& scheduler = hosts_.fabric().scheduler;
    const std::uint64_t frames = hosts_.frames_forwarded(), events = scheduler.fired_count();
    std::printf("%-28s %6zu  %6.2f s real, %9.3f ms simulated, %9llu frames forwarded, %9llu events, peak %.0f MiB\n",
                what, count, seconds_since(began_), static_cast<double>(scheduler.now() - simulated_) / 1e6,
                static_cast<unsigned long long>(frames - frames_), static_cast<unsigned long long>(events - events_),
                peak_mebibytes());
    std::fflush(stdout);
    began_ = Clock::now();
    simulated_ = scheduler.now();
    frames_ = frames;
    events_ = events;
  }

 private:
  support::ManyHosts& hosts_;
  Clock::time_point began_ = Clock::now();
  runtime::TimeNs simulated_ = hosts_.fabric().scheduler.now();
  std::uint64_t frames_ = 0, events_ = 0;
};
}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int index, unsigned long otherwise) {
    return argc > index ? std::strtoul(argv[index], nullptr, 10) : otherwise;
  };
  const std::size_t ports = argument(1, 10'000) & ~1UL, switches = std::bit_ceil(argument(2, 64));
  if (ports == 0 || switches > 128) return std::fprintf(stderr, "usage: bench_scale [PORTS [SWITCHES up to 128]]\n"), 2;
  const auto start = Clock::now();
  support::ManyHosts hosts({.switches = switches, .ports = ports});
  Phases phases(hosts);
  std::printf("%zu ports on %zu switches; made in %.2f s, peak %.0f MiB\n", ports, switches, seconds_since(start),
              peak_mebibytes());
  const bool registered = hosts.register_all();
  phases.done("logged in and registered", hosts.registered());
  hosts.fabric().run_for(runtime::second);
  phases.done("told of each other", hosts.registered());
  const bool connected = hosts.connect_all();
  phases.done("resolved and connected, pairs", hosts.connected());
  std::printf("total %.2f s real, peak %.0f MiB, %llu frames discarded\n", seconds_since(start), peak_mebibytes(),
              static_cast<unsigned long long>(hosts.discarded()));
  return registered && connected ? 0 : 1;
}
