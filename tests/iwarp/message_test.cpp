// RDMA Messages between two ends: Send in its four kinds, RDMA Write, RDMA Read, their completions and their order.
#include "tests/iwarp/two_ends.hpp"

namespace iwarp::testing {
namespace {

/// Each with and without markers and CRC.
struct Case {
  bool markers = false, crc = false;
  std::size_t emss = 1460;
  std::optional<IftOptions> ift{};
};
Settings settings_of(const Case& of) {
  Settings settings;
  settings.request.options = settings.answer = {.wants_markers = of.markers, .crc = of.crc};
  settings.client_emss = settings.server_emss = of.emss;
  settings.ift = of.ift;
  return settings;
}

class MessageTest : public ::testing::TestWithParam<Case> {
 protected:
  TwoEnds ends{settings_of(GetParam())};
  const bool connected = (ends.connect(), true);
  End& client = *ends.client;
  End& server = *ends.server;
};

// A Send of each length lies in the receive, of which the rest is untouched (RFC 5041 5).
// RFC 5040 5.3, 5.5 rule 10; RFC 5041 4.1, 5.2, 5.3, 5.4.
TEST_P(MessageTest, send_any_length) {
  for (const std::uint32_t octets : {0, 1, 17, 1000, 1500, 4096, 70'000, 200'000}) {
    std::vector<std::uint8_t> source = octets_of_seed(octets + 1, 3), target(octets + 10, 0xEE);
    const STag from = client.add(source), to = server.add(target);
    client.completions.clear();
    server.completions.clear();
    EXPECT_EQ(server.receive(1, to, octets + 5), RdmapStream::Posted::taken);
    EXPECT_EQ(client.send(2, from, octets), RdmapStream::Posted::taken);
    ends.run(runtime::second);
    ASSERT_EQ(server.completed_ids(), std::vector<std::uint64_t>{1});
    EXPECT_EQ(server.completions[0].octets, octets);
    EXPECT_EQ(server.completions[0].status, Status::success);
    EXPECT_FALSE(server.completions[0].solicited_event);
    ASSERT_EQ(client.completed_ids(), std::vector<std::uint64_t>{2});
    EXPECT_TRUE(std::equal(target.begin(), target.begin() + octets, source.begin()));
    EXPECT_EQ(std::count(target.begin() + octets, target.end(), 0xEE), 10);
    EXPECT_TRUE(client.core.memory.remove(from) && server.core.memory.remove(to));
  }
}

// Gathered from pieces, scattered into pieces.
TEST_P(MessageTest, send_pieces) {
  std::vector<std::uint8_t> source = octets_of_seed(9000, 1), target(9000);
  const STag from = client.add(source), to = server.add(target);
  EXPECT_EQ(server.stream->post_receive({1, {{to, 0, 1}, {to, 1, 4000}, {to, 4001, 0}, {to, 4001, 4999}}}),
            RdmapStream::Posted::taken);
  EXPECT_EQ(client.post({.id = 2, .pieces = {{from, 0, 3000}, {from, 3000, 7}, {from, 3007, 5993}}}),
            RdmapStream::Posted::taken);
  ends.run(runtime::second);
  EXPECT_EQ(server.completions.at(0).octets, 9000u);
  EXPECT_EQ(source, target);
}

// The four kinds of Send (RFC 5040 3.1). RFC 5040 4.1, 5.3; RFC 5041 4.3, 5.4.
TEST_P(MessageTest, send_kinds) {
  std::vector<std::uint8_t> octets(100);
  const STag from = client.add(octets), to = server.add(octets);
  std::vector<STag> invalidated;
  for (std::uint64_t id = 0; id < 4; ++id) {
    EXPECT_EQ(server.receive(id, to, 100), RdmapStream::Posted::taken);
    SendRequest request{.id = id, .pieces = {{from, 0, 10}}, .solicited_event = id % 2 != 0};
    if (id >= 2) request.invalidates = invalidated.emplace_back(server.add(octets));
    EXPECT_EQ(client.post(request), RdmapStream::Posted::taken);
  }
  ends.run(runtime::second);
  ASSERT_EQ(server.completed_ids(), (std::vector<std::uint64_t>{0, 1, 2, 3}));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(server.completions[i].solicited_event, i % 2 != 0);
    EXPECT_EQ(server.completions[i].invalidated, i < 2 ? std::nullopt : std::optional(invalidated[i - 2]));
  }
  for (const STag stag : invalidated)
    EXPECT_EQ(server.core.memory.reach(stag, domain, 0, 1, Right::local_read).error(), Denial::invalid_stag);
}

// An RDMA Write is placed, and told to nobody but its ULP. RFC 5040 5.1; RFC 5041 4.1, 4.2, 5.2.
TEST_P(MessageTest, rdma_write) {
  std::vector<std::uint8_t> source = octets_of_seed(150'000, 9), target(150'100, 0xEE);
  const STag from = client.add(source), to = server.add(target);
  EXPECT_EQ(client.post({.id = 1,
                         .operation = Operation::rdma_write,
                         .pieces = {{from, 0, 100'000}, {from, 100'000, 50'000}},
                         .remote_stag = to,
                         .remote_offset = 50}),
            RdmapStream::Posted::taken);
  ends.run(runtime::second);
  EXPECT_EQ(client.completed_ids(), std::vector<std::uint64_t>{1});
  EXPECT_TRUE(server.completions.empty());
  EXPECT_TRUE(std::equal(source.begin(), source.end(), target.begin() + 50));
  EXPECT_EQ(std::count(target.begin(), target.begin() + 50, 0xEE), 50);
  EXPECT_EQ(std::count(target.end() - 50, target.end(), 0xEE), 50);
}

// RDMA Reads in both directions at once; of no octets, too. RFC 5040 5.2, 5.2.1, 5.2.2.
TEST_P(MessageTest, rdma_read) {
  std::vector<std::uint8_t> a = octets_of_seed(100'000, 1), b = octets_of_seed(100'000, 2);
  std::vector<std::uint8_t> to_a(100'000), to_b(100'000);
  const STag source_a = client.add(a), source_b = server.add(b), sink_a = client.add(to_a), sink_b = server.add(to_b);
  EXPECT_EQ(
      client.post(
          {.id = 1, .operation = Operation::rdma_read, .pieces = {{sink_a, 0, 100'000}}, .remote_stag = source_b}),
      RdmapStream::Posted::taken);
  EXPECT_EQ(client.post({.id = 2, .operation = Operation::rdma_read}), RdmapStream::Posted::taken);
  EXPECT_EQ(server.post({.id = 3,
                         .operation = Operation::rdma_read,
                         .pieces = {{sink_b, 7, 90'000}},
                         .remote_stag = source_a,
                         .remote_offset = 5}),
            RdmapStream::Posted::taken);
  ends.run(runtime::second);
  EXPECT_EQ(client.completed_ids(), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(client.completions.at(0).octets, 100'000u);
  EXPECT_EQ(server.completed_ids(), std::vector<std::uint64_t>{3});
  EXPECT_EQ(to_a, b);
  EXPECT_TRUE(std::equal(to_b.begin() + 7, to_b.begin() + 90'007, a.begin() + 5));
}

// All complete in the order of their submission, though responses come late (RFC 5040 5.5 rule 15); ORD holds back.
// RFC 5040 5.5 rules 11, 19.
TEST_P(MessageTest, completion_order) {
  std::vector<std::uint8_t> octets(1000);
  const STag local = client.add(octets), remote = server.add(octets);
  std::vector<std::uint64_t> ids;
  for (std::uint64_t id = 0; id < 60; ++id) {
    ids.push_back(id);
    const auto operation = static_cast<Operation>(id % 3);
    if (operation == Operation::send) {
      EXPECT_EQ(server.receive(id, remote, 1000), RdmapStream::Posted::taken);
    }
    EXPECT_EQ(client.post({.id = id, .operation = operation, .pieces = {{local, 0, 1000}}, .remote_stag = remote}),
              RdmapStream::Posted::taken);
  }
  ends.run(runtime::second);
  EXPECT_EQ(client.completed_ids(), ids);
  for (const Completion& one : client.completions) EXPECT_EQ(one.status, Status::success);
  EXPECT_EQ(server.completions.size(), 20u);
}

// A fence waits for the RDMA Reads before it: the Send tells what was written after the read (RFC 5040 5.5 rule 12).
TEST_P(MessageTest, fence) {
  std::vector<std::uint8_t> source = octets_of_seed(200'000, 5), target(200'000), writes(200'000, 0xAA);
  const STag remote = server.add(source), sink = client.add(target), local = client.add(writes);
  EXPECT_EQ(
      client.post({.id = 1, .operation = Operation::rdma_read, .pieces = {{sink, 0, 200'000}}, .remote_stag = remote}),
      RdmapStream::Posted::taken);
  EXPECT_EQ(client.post({.id = 2,
                         .operation = Operation::rdma_write,
                         .pieces = {{local, 0, 200'000}},
                         .remote_stag = remote,
                         .fence = true}),
            RdmapStream::Posted::taken);
  ends.run(2 * runtime::second);
  EXPECT_EQ(client.completed_ids(), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(target, octets_of_seed(200'000, 5));
  EXPECT_EQ(source, writes);
}

// A region that this end has invalidated serves nobody; with another key it serves again. RFC 5041 8.3.
TEST_P(MessageTest, local_invalidate) {
  std::vector<std::uint8_t> octets(100);
  const STag stag = client.add(octets);
  EXPECT_EQ(client.post({.id = 1, .operation = Operation::local_invalidate, .remote_stag = stag}),
            RdmapStream::Posted::taken);
  EXPECT_EQ(client.completed_ids(), std::vector<std::uint64_t>{1});
  EXPECT_EQ(client.completions[0].status, Status::success);
  EXPECT_EQ(client.core.memory.reach(stag, domain, 0, 1, Right::local_read).error(), Denial::invalid_stag);
  const auto again = client.core.memory.revalidate(stag, 0x42);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->value, (stag.value & 0xFFFFFF00) | 0x42);
  EXPECT_TRUE(client.core.memory.reach(*again, domain, 0, 100, Right::local_read));
  EXPECT_FALSE(client.core.memory.reach(stag, domain, 0, 1, Right::local_read));
}

// A graceful close: what was submitted arrives; the other end is told, and may still send; then both are closed.
// RFC 5041 3, 6.2.1.
TEST_P(MessageTest, close) {
  std::vector<std::uint8_t> source = octets_of_seed(300'000, 1), target(300'000);
  const STag from = client.add(source), to = server.add(target);
  EXPECT_EQ(server.receive(1, to, 300'000), RdmapStream::Posted::taken);
  EXPECT_EQ(server.receive(2, to, 1), RdmapStream::Posted::taken);
  EXPECT_EQ(client.send(3, from, 300'000), RdmapStream::Posted::taken);
  client.stream->close();
  EXPECT_EQ(client.send(4, from, 1), RdmapStream::Posted::refused);
  ends.run(runtime::second);
  EXPECT_EQ(target, source);
  EXPECT_EQ(server.disconnects, 1);
  EXPECT_EQ(client.ends + server.ends, 0);
  server.stream->close();
  ends.run(runtime::second);
  EXPECT_EQ(client.ends, 1);
  EXPECT_EQ(server.ends, 1);
  EXPECT_EQ(client.losses + server.losses, 0);
  EXPECT_EQ(client.completed_ids(), std::vector<std::uint64_t>{3});
  ASSERT_EQ(server.completed_ids(), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(server.completions[1].status, Status::flushed);
}

// A lost stream: all that is not complete is flushed, in order. RFC 5041 3.
TEST_P(MessageTest, lost) {
  std::vector<std::uint8_t> octets(100'000);
  const STag local = client.add(octets), remote = server.add(octets);
  for (std::uint64_t id = 0; id < 3; ++id)
    EXPECT_EQ(
        client.post(
            {.id = id, .operation = Operation::rdma_read, .pieces = {{local, 0, 100'000}}, .remote_stag = remote}),
        RdmapStream::Posted::taken);
  EXPECT_EQ(client.receive(3, local, 10), RdmapStream::Posted::taken);
  server.stream->abort();
  ends.run(runtime::second);
  EXPECT_EQ(client.losses, 1);
  EXPECT_EQ(client.ends, 1);
  EXPECT_EQ(server.ends, 1);
  EXPECT_EQ(client.completed_ids(), (std::vector<std::uint64_t>{0, 1, 2, 3}));
  for (const Completion& one : client.completions) EXPECT_EQ(one.status, Status::flushed);
}

INSTANTIATE_TEST_SUITE_P(Framings, MessageTest,
                         ::testing::Values(Case{}, Case{.crc = true}, Case{.markers = true},
                                           Case{.markers = true, .crc = true}, Case{.emss = 128},
                                           Case{.crc = true, .emss = 65'535}, Case{.markers = true, .emss = 65'535}));
INSTANTIATE_TEST_SUITE_P(Ift, MessageTest,
                         ::testing::Values(Case{.ift = ift_with(true, true)}, Case{.ift = ift_with(true, false)},
                                           Case{.ift = ift_with(false, true)}, Case{.ift = ift_with(false, false)},
                                           Case{.emss = 128, .ift = ift_with(true, true)}));

}  // namespace
}  // namespace iwarp::testing
