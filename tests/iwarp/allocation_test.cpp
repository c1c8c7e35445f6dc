// Once a stream is up and has been used, messages of any kind allocate nothing, at either end, over each framing.
#include "iwarp/ift_framing.hpp"
#include "iwarp/mpa_framing.hpp"
#include "tests/iwarp/scripted_stream.hpp"
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

// WARP 6: a peer that does not read: the stream takes 2000 octets, and what is kept is one batch, and the operations
// themselves, whatever is submitted.
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
  EXPECT_LT(support::live_bytes - before, OctetPlaces::batch_octets + 2 * OctetPlaces::frame_octets + 16'384);
}

/// ULPDUs are counted; there is no memory to read them into.
class CountingSink final : public UlpduSink {
 public:
  std::size_t ulpdus = 0, octets = 0, errors = 0;
  void ulpdu_begun(wire::Bytes, std::size_t) override {}
  std::size_t payload_room(std::size_t, std::span<wire::MutableBytes>) override { return 0; }
  void payload_placed(std::size_t) override {}
  void payload_unplaced() override {}
  void payload_received(wire::Bytes received) override { octets += received.size(); }
  void ulpdu_ended() override { ++ulpdus; }
  void framing_failed(wire::mpa::ErrorCode) override { ++errors; }
};

/// Framings alone, several of one core.
class FramingAllocation : public IwarpAllocation {
 protected:
  [[nodiscard]] std::unique_ptr<Framing> framing_of(UlpduSink& sink) {
    const AllocationCase& one = GetParam();
    if (!one.ift) {
      const wire::mpa::Framing agreed{.markers = one.markers, .crc = one.crc};
      return std::make_unique<MpaFraming>(*workspace, sink, MpaTerms{agreed, agreed, one.emss});
    }
    using wire::ift::CrcUse;
    const wire::ift::Framing agreed{.vtag = {7},
                                    .header_crc = one.ift->header_crc ? CrcUse::checked : CrcUse::absent,
                                    .payload_crc = one.ift->payload_crc ? CrcUse::checked : CrcUse::absent};
    return std::make_unique<IftFraming>(*workspace, sink, IftTerms{agreed, agreed, one.emss});
  }
  /// As many as there is room for in one batch.
  std::size_t add_ulpdus(Framing& framing) const {
    const wire::Bytes payload = ulpdu.payload;
    const wire::Bytes piece = payload.first(framing.mulpdu() - ulpdu.header.size());
    std::size_t added = 0;
    for (; framing.has_room(); ++added) framing.add(ulpdu.header, std::span(&piece, 1));
    return added;
  }
  std::unique_ptr<Workspace> workspace = std::make_unique<Workspace>();
  const Ulpdu ulpdu = ulpdu_of(true, 65'535, 1);
};
INSTANTIATE_TEST_SUITE_P(Framings, FramingAllocation,
                         ::testing::Values(AllocationCase{.crc = true}, AllocationCase{.markers = true, .crc = true},
                                           AllocationCase{.ift = ift_with(true, true)}, AllocationCase{.emss = 65'000},
                                           AllocationCase{.crc = true, .emss = 65'000},
                                           AllocationCase{.markers = true, .crc = true, .emss = 65'000},
                                           AllocationCase{.ift = ift_with(true, true), .emss = 65'000}));

// Frames of eight streams come in parts, in turn: each is cut while the others are.
TEST_P(FramingAllocation, frames_of_many_streams_cut_in_turn_allocate_nothing) {
  constexpr std::size_t count = 8;
  std::array<CountingSink, count> sinks;
  std::array<ScriptedStream, count> streams;
  std::array<std::unique_ptr<Framing>, count> framings;
  const auto sender = framing_of(sinks[0]);
  ScriptedStream written;
  std::size_t sent = 0;
  for (int batch = 0; batch < 5; ++batch) {
    sent += add_ulpdus(*sender);
    sender->flush(written);
  }
  for (std::size_t i = 0; i < count; ++i) {
    framings[i] = framing_of(sinks[i]);
    streams[i].incoming = written.outgoing;
  }
  const std::size_t step = GetParam().emss / 5, warm = written.outgoing.size() / 5;
  std::size_t before = 0;
  for (std::size_t limit = step; limit < written.outgoing.size() + step; limit += step) {
    for (std::size_t i = 0; i < count; ++i) {
      streams[i].limit = limit + i * 100;
      read_all(*framings[i], streams[i]);
    }
    if (limit <= warm) before = support::allocations;
  }
  EXPECT_EQ(support::allocations, before);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(sinks[i].ulpdus, sent);
    EXPECT_TRUE(framings[i]->is_at_boundary());
  }
}

// A stream takes a batch in parts, and what it does not take at once is kept.
TEST_P(FramingAllocation, batches_that_a_stream_takes_in_parts_allocate_nothing) {
  CountingSink sink;
  ScriptedStream stream;
  stream.outgoing.reserve(10'000'000);
  stream.write_ends.reserve(10'000);
  const auto framing = framing_of(sink);
  std::size_t before = 0, blocked = 0;
  for (int batch = 0; batch < 20; ++batch) {
    if (batch == 1) before = support::allocations;
    add_ulpdus(*framing);
    stream.room = 1000;
    framing->flush(stream);
    for (; framing->is_blocked(); ++blocked) {
      stream.room = 50'000;
      framing->write_kept(stream);
    }
  }
  EXPECT_GE(blocked, 40u);
  EXPECT_EQ(support::allocations, before);
}

// Free places are used again, the same ones; no more of them are kept than there should be.
TEST(OctetPlacesTest, free_places_are_kept_up_to_a_limit) {
  constexpr std::array<std::size_t, 3> sizes{OctetPlaces::small_octets, OctetPlaces::frame_octets,
                                             OctetPlaces::batch_octets};
  OctetPlaces places;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::vector<OctetPlaces::Place> taken(OctetPlaces::most_free[i] + 3);
    const std::size_t live = support::live_bytes;
    for (int turn = 0; turn < 2; ++turn) {
      const std::size_t before = support::allocations;
      for (OctetPlaces::Place& place : taken) places.need(place, sizes[i]);
      EXPECT_EQ(support::allocations - before, turn == 0 ? taken.size() : 3u);
      for (OctetPlaces::Place& place : taken) {
        EXPECT_EQ(place.octets().size(), sizes[i]);
        places.give_back(place);
        EXPECT_TRUE(place.is_empty());
      }
    }
    EXPECT_LT(support::live_bytes - live, OctetPlaces::most_free[i] * (sizes[i] + 8192));  // the allocator's pages
  }
}

// What has room keeps what is in it; what has not gets a larger place, and gives the smaller one back.
TEST(OctetPlacesTest, need_more_than_before) {
  OctetPlaces places;
  OctetPlaces::Place place;
  places.need(place, 10);
  const std::uint8_t* const small = place.octets().data();
  places.need(place, OctetPlaces::small_octets);
  EXPECT_EQ(place.octets().data(), small);
  places.need(place, OctetPlaces::small_octets + 1);
  EXPECT_EQ(place.octets().size(), OctetPlaces::frame_octets);
  OctetPlaces::Place other;
  places.need(other, 1);
  EXPECT_EQ(other.octets().data(), small);
  places.give_back(place);
  places.give_back(other);
}

}  // namespace
}  // namespace iwarp::testing
