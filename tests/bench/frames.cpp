// How fast the simulation is: 64 KiB Sends between two ports through a switch, in virtual time.
// tests/bench/README.md says how to read the numbers.
#include <benchmark/benchmark.h>

#include "tests/fcvi/two_nodes.hpp"

namespace {
using Level = vi::ReliabilityLevel;

class Bench : public support::TwoNodes {
 public:
  explicit Bench(fc2::LinkConfig link) : TwoNodes({}, link) {}
  void TestBody() override {}
};

/// One message after another, a window of eight posted.
void run(benchmark::State& state, Level level, std::uint32_t message_bytes, fc2::LinkConfig link) {
  Bench nodes(link);
  nodes.connect(level);
  auto& client = *nodes.client;
  auto& server = *nodes.server;
  constexpr int window = 8;
  std::array<std::uint64_t, window> sends, receives;
  for (int i = 0; i < window; ++i) {
    const std::uint64_t at = support::Host::data + static_cast<std::uint64_t>(i) * message_bytes;
    sends[static_cast<std::size_t>(i)] = client.descriptor(0, {{at, message_bytes}});
    receives[static_cast<std::size_t>(i)] = server.descriptor(0, {{at, message_bytes}});
  }
  const std::uint64_t frames_before = nodes.client->provider.counters().data_frames_sent;
  for (auto _ : state) {
    for (const auto receive : receives) nodes.server_vi->post_receive(receive, server.handle);
    for (const auto send : sends) nodes.client_vi->post_send(send, client.handle);
    nodes.fabric.run_until([&] {
      return (server.status(receives.back()) & vi::status::done) != 0 &&
             (client.status(sends.back()) & vi::status::done) != 0;
    });
    std::uint64_t address = 0;
    for (int i = 0; i < window; ++i) {
      if (nodes.client_vi->send_done(address) != vi::Return::Success) state.SkipWithError("send failed");
      if (nodes.server_vi->receive_done(address) != vi::Return::Success) state.SkipWithError("receive failed");
    }
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

/// The yardstick beside it: the two copies that the design allows, and nothing else.
void two_copies(benchmark::State& state) {
  std::vector<std::uint8_t> from(65536, 1), frame(2112), to(65536);
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
BENCHMARK(two_copies);
}  // namespace

BENCHMARK_MAIN();
