// How fast the simulation is: 64 KiB Sends between two ports through a switch, in virtual time.
// tests/bench/README.md says how to read the numbers.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstring>

#include "tests/fcvi/two_nodes.hpp"

namespace {
using Level = vi::ReliabilityLevel;

class Bench : public support::TwoNodes {
 public:
  explicit Bench(fc2::LinkConfig link) : TwoNodes({}, link) {}
  void TestBody() override {}
};

constexpr int window = 8;

// The end is asked for after each event: a plain look.
const std::uint8_t* status_of(support::Host& node, std::uint64_t descriptor) {
  return node.bytes(descriptor) + offsetof(vi::ControlSegment, status);
}
bool is_done(const std::uint8_t* at) {
  std::uint32_t status = 0;
  std::memcpy(&status, at, sizeof status);
  return (status & vi::status::done) != 0;
}

/// One message after another, a window of eight posted; over `buffers` buffers in turn, a multiple of eight.
void run(benchmark::State& state, Level level, std::uint32_t message_bytes, fc2::LinkConfig link,
         int buffers = window) {
  Bench nodes(link);
  nodes.connect(level);
  auto& client = *nodes.client;
  auto& server = *nodes.server;
  std::vector<std::uint64_t> sends, receives;
  for (int i = 0; i < buffers; ++i) {
    const std::uint64_t at = support::Host::data + static_cast<std::uint64_t>(i) * message_bytes;
    std::fill_n(client.bytes(at), message_bytes, std::uint8_t{1});  // else all pages are the system's one of zeros
    sends.push_back(client.descriptor(0, {{at, message_bytes}}));
    receives.push_back(server.descriptor(0, {{at, message_bytes}}));
  }
  const std::uint64_t frames_before = nodes.client->provider.counters().data_frames_sent;
  std::size_t first = 0;
  for (auto _ : state) {
    const std::size_t last = first + window - 1;
    for (std::size_t i = first; i <= last; ++i) nodes.server_vi->post_receive(receives[i], server.handle);
    for (std::size_t i = first; i <= last; ++i) nodes.client_vi->post_send(sends[i], client.handle);
    const std::uint8_t* const received = status_of(server, receives[last]);
    const std::uint8_t* const sent = status_of(client, sends[last]);
    nodes.fabric.run_until([&] { return is_done(received) && is_done(sent); });
    std::uint64_t address = 0;
    for (int i = 0; i < window; ++i) {
      if (nodes.client_vi->send_done(address) != vi::Return::Success) state.SkipWithError("send failed");
      if (nodes.server_vi->receive_done(address) != vi::Return::Success) state.SkipWithError("receive failed");
    }
    first = (last + 1) % sends.size();
  }
  const auto frames = static_cast<double>(nodes.client->provider.counters().data_frames_sent - frames_before);
  state.counters["frames/s"] = benchmark::Counter(frames, benchmark::Counter::kIsRate);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * window * message_bytes);
}

constexpr fc2::LinkConfig simulated{.latency_ns = 500, .bytes_per_second = 3'400'000'000};
constexpr fc2::LinkConfig unlimited{};

BENCHMARK_CAPTURE(run, Sends64KiB_ReliableDelivery_32GFC, Level::ReliableDelivery, 65536, simulated);
BENCHMARK_CAPTURE(run, Sends64KiB_ReliableReception_32GFC, Level::ReliableReception, 65536, simulated);
BENCHMARK_CAPTURE(run, Sends64KiB_ReliableDelivery_NoRate, Level::ReliableDelivery, 65536, unlimited);
BENCHMARK_CAPTURE(run, Sends8B_ReliableDelivery_NoRate, Level::ReliableDelivery, 8, unlimited);

// Data that the caches do not hold, as `fcvi-sim run` has them.
BENCHMARK_CAPTURE(run, Sends64KiB_ReliableDelivery_32GFC_8MiB, Level::ReliableDelivery, 65536, simulated, 128);

/// The yardstick beside it: the two copies that the design allows, and nothing else, of `bytes` at each end.
void two_copies(benchmark::State& state, std::size_t bytes) {
  std::vector<std::uint8_t> from(bytes, 1), frame(2112), to(bytes);
  double frames = 0;
  for (auto _ : state) {
    for (std::size_t at = 0; at < from.size(); at += 2080) {
      const std::size_t size = std::min<std::size_t>(2080, from.size() - at);
      std::memcpy(frame.data(), from.data() + at, size);
      benchmark::ClobberMemory();
      std::memcpy(to.data() + at, frame.data(), size);
      benchmark::DoNotOptimize(to.data());
      ++frames;
    }
  }
  state.counters["frames/s"] = benchmark::Counter(frames, benchmark::Counter::kIsRate);
}
void two_copies(benchmark::State& state) { two_copies(state, 65536); }
void two_copies_8MiB(benchmark::State& state) { two_copies(state, 8u << 20); }
BENCHMARK(two_copies);
BENCHMARK(two_copies_8MiB);
}  // namespace

BENCHMARK_MAIN();
