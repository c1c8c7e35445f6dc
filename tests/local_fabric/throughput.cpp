// Measures the local fabric: frames per second, bytes per second and the round trip from process to process, through
// the service. usage: local_fabric_throughput [SECONDS]
#include <cstdio>

#include "tests/local_fabric/raw_node.hpp"

namespace {
using support::CoreSection;
using support::Machine;
using support::RawNode;
using support::Wait;
using Clock = std::chrono::steady_clock;

constexpr std::size_t data = 1u << 20;
constexpr std::size_t window = 8;

struct Load {
  std::uint32_t bytes;
  bool echo;  // one message at a time, there and back
};

vi::Vi& make_connected(RawNode& node, const char* service, bool server) {
  // Its answers keep the sender within the receives that are posted.
  vi::Vi& vi = node.make_vi(vi::ReliabilityLevel::ReliableReception);
  if (server) {
    for (std::size_t i = 0; i < window; ++i)
      vi.post_receive(node.descriptor(i, data + i * 65536, 65536), node.handle());
    node.accept(vi, service);
    return vi;
  }
  while (node.connect(vi, RawNode::net(RawNode::address_of(1), service)) != vi::Return::Success)
    node.resolver.invalidate(RawNode::address_of(1));
  return vi;
}

/// Takes what comes, or sends it back.
int serve(Load load) {
  Machine machine;
  machine.doorbell.reset();  // all frames go by the service
  RawNode node(machine, 1);
  if (!node.ready()) return 1;
  vi::Vi& vi = make_connected(node, "load", true);
  for (std::uint64_t address = 0; node.connections_lost == 0;) {
    if (!machine.run_until(
            [&] { return vi.receive_done(address) == vi::Return::Success || node.connections_lost > 0; }))
      return 1;
    if (node.connections_lost > 0) break;
    const CoreSection section(machine.core);
    const std::size_t slot = (address - RawNode::base) / 128;
    vi.post_receive(node.descriptor(slot, data + slot * 65536, 65536), node.handle());
    if (!load.echo) continue;
    std::uint64_t sent = 0;
    vi.send_done(sent);
    vi.post_send(node.descriptor(window, data, load.bytes), node.handle());
  }
  return 0;
}

void run(Load load, std::chrono::seconds duration) {
  support::Child server([&] { return serve(load); });
  Machine machine;
  machine.doorbell.reset();  // all frames go by the service
  RawNode node(machine, 2);
  node.ready();
  vi::Vi& vi = make_connected(node, "load", false);
  std::uint64_t address = 0, messages = 0;
  const auto frames_before = node.provider.counters().data_frames_sent;
  const auto begin = Clock::now();
  const auto post = [&](std::size_t slot) {
    const CoreSection section(machine.core);
    if (load.echo) vi.post_receive(node.descriptor(slot + 32, data, 65536), node.handle());
    vi.post_send(node.descriptor(slot, data, load.bytes), node.handle());
  };
  for (std::size_t i = 0; i < (load.echo ? 1 : window / 2); ++i) post(i);
  while (Clock::now() - begin < duration && node.connections_lost == 0) {
    machine.run_until(
        [&] { return (load.echo ? vi.receive_done(address) : vi.send_done(address)) == vi::Return::Success; });
    if (load.echo) vi.send_done(address);
    ++messages;
    post(messages % (window / 2));
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const auto frames = static_cast<double>(node.provider.counters().data_frames_sent - frames_before);
  if (load.echo)
    std::printf("%6u bytes, one at a time: %.1f us there and back\n", load.bytes,
                seconds * 1e6 / static_cast<double>(messages));
  else
    std::printf("%6u bytes: %.0f thousand frames/s, %.2f GB/s\n", load.bytes, frames / seconds / 1e3,
                static_cast<double>(messages) * load.bytes / seconds / 1e9);
}
}  // namespace

int main(int argc, char** argv) {
  const std::chrono::seconds duration(argc > 1 ? std::max(1, std::atoi(argv[1])) : 2);
  run({65536, false}, duration);
  run({2048, false}, duration);
  run({8, true}, duration);
  return 0;
}
