// The frame path does not allocate in steady state (design rule 4). Counts every operator new of this program.
#include <array>
#include "tests/support/counted_new.hpp"
#include "tests/vi/bench.hpp"

namespace vi::testing {
namespace {

class SilentListener : public Listener {
 public:
  bool completed(Vi&, bool, std::uint64_t, bool) override { return false; }
  void asynchronous_error(Vi*, CompletionQueue*, std::uint64_t, std::uint32_t, ResourceCode, ErrorCode) override {}
};
class SilentTransport : public FakeTransport {
 public:
  using FakeTransport::FakeTransport;
  void send_posted(Vi&) override {}
};

TEST(FramePath, connected_steady_state) {
  // design rule 4: post, begin, gather, claim, scatter, complete, dequeue, a thousand times over.
  Bench memory;  // lends its arena
  Log log;
  SilentTransport transport(log);
  SilentListener listener;
  Nic nic(transport, listener);
  const Piece area = memory.allocate(64 * 1024, 64);
  wire::MemHandle handle{};
  nic.register_memory(area.address(), area.host, area.size, {.enable_rdma_write = true}, handle);
  CompletionQueue* queue = nullptr;
  nic.create_completion_queue(64, queue);
  Vi* vi = nullptr;
  ASSERT_EQ(nic.create_vi({.enable_rdma_write = true}, queue, queue, vi), Return::Success);
  vi->endpoint_event(endpoint::ConnectRequested{});
  vi->endpoint_event(endpoint::SetupSucceeded{});
  auto& send = *new (area.host) Descriptor{};
  auto& receive = *new (area.host + 64) Descriptor{};
  send.control_segment = {.segment_count = 2, .length_bytes = 3000};
  send.segments[0] = {area.address() + 4096, handle.value, 1000};
  send.segments[1] = {area.address() + 8192, handle.value, 2000};
  receive.control_segment = {.segment_count = 1};
  receive.segments[0] = {area.address() + 16384, handle.value, 4000};

  std::array<std::uint8_t, 3000> frame{};
  std::size_t before = 0;
  for (int round = 0; round != 1000; ++round) {
    if (round == 10) before = support::allocations;
    std::uint64_t address = 0;
    vi->post_receive(area.address() + 64, handle);
    vi->post_send(area.address(), handle);
    auto sending = vi->begin_send();
    auto receiving = vi->claim_receive(3000);
    ASSERT_TRUE(sending && receiving && sending->data.gather(frame) && receiving->data.scatter(frame));
    ASSERT_NE(vi->remote_memory(handle, area.address() + 32768, 100, Access::RemoteWrite), nullptr);
    vi->complete_send(*sending, 0);
    vi->complete_receive(*receiving, 0, status::op_receive, 3000, 5);
    ASSERT_EQ(vi->send_done(address), Return::Success);
    ASSERT_EQ(vi->receive_done(address), Return::Success);
  }
  EXPECT_EQ(support::allocations - before, 0u);
}

}  // namespace
}  // namespace vi::testing
