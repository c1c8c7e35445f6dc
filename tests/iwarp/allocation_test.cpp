// Once a stream is up and has been used, messages of any kind allocate nothing, at either end, over each framing.
#include "tests/iwarp/two_ends.hpp"
#include "tests/support/counted_new.hpp"

namespace iwarp::testing {
namespace {

struct AllocationCase {
  bool markers = false, crc = false;
  std::optional<IftOptions> ift{};
  std::size_t emss = 1460;  // larger than a segment of the network: each FPDU comes in many parts
};
class IwarpAllocation : public ::testing::TestWithParam<AllocationCase> {
 protected:
  static Settings settings() {
    Settings settings;
    settings.request.options = settings.answer = {.wants_markers = GetParam().markers, .crc = GetParam().crc};
    settings.ift = GetParam().ift;
    settings.client_emss = settings.server_emss = GetParam().emss;
    return settings;
  }
};
INSTANTIATE_TEST_SUITE_P(
    Framings, IwarpAllocation,
    ::testing::Values(AllocationCase{}, AllocationCase{.crc = true}, AllocationCase{.markers = true},
                      AllocationCase{.markers = true, .crc = true}, AllocationCase{.ift = ift_with(true, true)},
                      AllocationCase{.ift = ift_with(true, false)}, AllocationCase{.ift = ift_with(false, false)},
                      AllocationCase{.emss = 65'000}, AllocationCase{.crc = true, .emss = 65'000},
                      AllocationCase{.markers = true, .crc = true, .emss = 65'000},
                      AllocationCase{.ift = ift_with(true, true), .emss = 65'000}));

/// 50 rounds, after some that may; each of both directions at once. A round of 100,000 octets is some 70 FPDUs.
TEST_P(IwarpAllocation, message_of_each_kind_allocates_nothing) {
  TwoEnds ends(settings());
  ends.connect();
  std::vector<std::uint8_t> a(100'000), b(100'000);
  const STag stag_a = ends.client->add(a), stag_b = ends.server->add(b);
  ends.client->completions.reserve(10'000);
  ends.server->completions.reserve(10'000);
  const auto round = [&](Operation operation, std::uint32_t octets) {
    for (End* const end : {ends.client.get(), ends.server.get()}) {
      const STag own = end == ends.client.get() ? stag_a : stag_b, other = end == ends.client.get() ? stag_b : stag_a;
      if (operation == Operation::send) {
        ASSERT_EQ(end->receive(0, own, 100'000), RdmapStream::Posted::taken);
      }
      ASSERT_EQ(end->post({.operation = operation, .pieces = {{own, 0, octets}}, .remote_stag = other}),
                RdmapStream::Posted::taken);
    }
    const runtime::TimeNs limit = ends.world.scheduler.now() + 100 * runtime::millisecond;
    while (ends.world.scheduler.run_next(limit)) {}
    ends.world.scheduler.run_until(limit);
  };
  for (const Operation operation : {Operation::send, Operation::rdma_write, Operation::rdma_read})
    for (const std::uint32_t octets : {8U, 100'000U}) {
      for (int i = 0; i < 10; ++i) round(operation, octets);
      const std::size_t before = support::allocations, done = ends.client->completions.size();
      const std::uint64_t fpdus = ends.client->stream->counts().sent;
      for (int i = 0; i < 50; ++i) round(operation, octets);
      EXPECT_EQ(support::allocations, before) << to_string(operation) << " of " << octets << " octets, "
                                              << ends.client->stream->counts().sent - fpdus << " FPDUs";
      EXPECT_EQ(ends.client->completions.size() - done, operation == Operation::send ? 100u : 50u);
    }
}

// WARP 6: a peer that does not read: the stream takes 2000 octets, and what is kept is one batch, whatever is
// submitted.
TEST_P(IwarpAllocation, peer_never_reads_takes_bounded_memory) {
  TwoEnds ends(settings());
  std::vector<std::uint8_t> memory(1'000'000);
  ends.world.network.set_rules([](const streams::Address&, const streams::Address&) {
    streams::StreamRules rules;
    rules.to_acceptor.receive_buffer_bytes = rules.to_acceptor.send_buffer_bytes = 2000;
    return rules;
  });
  ends.connect();
  const STag stag = ends.client->add(memory), to = ends.server->add(memory);
  const std::size_t before = support::live_bytes;
  for (std::uint64_t id = 0; id < 100; ++id)
    EXPECT_EQ(ends.client->post(
                  {.id = id, .operation = Operation::rdma_write, .pieces = {{stag, 0, 1'000'000}}, .remote_stag = to}),
              RdmapStream::Posted::taken);
  EXPECT_LT(support::live_bytes - before, 300'000u);
}

}  // namespace
}  // namespace iwarp::testing
