// IFT's adaption indications between two ends, and messages behind them (IFT 4, 5).
#include "iwarp/ift_listener.hpp"
#include "tests/iwarp/two_ends.hpp"

namespace iwarp::testing {
namespace {
using machines::iwarp::Failure;
using wire::ift::AdaptionIndication;

const streams::Address node_b{streams::test::server_ip, 4421};

class IftTest : public ::testing::Test,
                public streams::ListenerUser,
                public streams::StreamUser,
                public PassiveStartupOwner {
 protected:
  ~IftTest() override {
    for (End* const end : {&a, &b})
      if (end->stream->is_operational()) end->stream->abort();
    run(30 * runtime::second);
    at_a.reset();
    at_b.reset();
    raw.reset();
    run(runtime::second);
    EXPECT_EQ(core_a.counters.unexpected_events + core_b.counters.unexpected_events, 0u);
  }
  void run(runtime::TimeNs time) {
    const runtime::TimeNs limit = world.scheduler.now() + time;
    while (world.scheduler.run_next(limit)) {
      ASSERT_TRUE((!at_a || at_a->is_consistent()) && (!at_b || at_b->is_consistent()));
      ASSERT_TRUE(a.stream->is_consistent() && b.stream->is_consistent());
    }
    world.scheduler.run_until(limit);
  }
  void ask() {
    listener = std::move(*world.server.listen(node_b, *this));
    at_a = std::make_unique<IftAdaption>(core_a.services, options_a);
    at_a->connect(node_b, {}, *a.stream, a);
    run(runtime::second);
  }
  /// A peer of octets in place of node A.
  void ask_raw(std::vector<std::uint8_t> octets) {
    listener = std::move(*world.server.listen(node_b, *this));
    first = std::move(octets);
    raw = world.client.connect(node_b, {}, *this);
    run(runtime::second);
  }
  void accepted(std::unique_ptr<streams::Stream> stream) override {
    at_b = std::make_unique<IftAdaption>(core_b.services, options_b);
    at_b->await(std::move(stream), *this);
  }
  void offered(PassiveStartup&, const PeerOffer&) override {
    ++offers;
    if (accepts) world.scheduler.schedule(decide_, world.scheduler.now());
  }
  void offer_withdrawn(PassiveStartup&) override { ++withdrawals; }
  [[nodiscard]] bool has_room() const override { return room; }
  void startup_over() override { ++overs; }
  void connected() override { raw->write(wire::Bytes(first)), raw->ask_readable(); }
  void readable() override {
    std::array<std::uint8_t, 512> octets;
    const bool end = raw->read(wire::MutableBytes(octets)).end;
    ended = ended || end;
    if (!end) raw->ask_readable();
  }
  void closed(streams::Reason) override { ended = true; }

  streams::test::EmulatedWorld world;
  Core core_a{world.client, world.scheduler, 1}, core_b{world.server, world.scheduler, 2};
  End a{core_a}, b{core_b};
  IftOptions options_a{.vtag = {0x1111}}, options_b{.vtag = {0x2222}};
  std::unique_ptr<streams::Listener> listener;
  std::unique_ptr<IftAdaption> at_a, at_b;
  std::unique_ptr<streams::Stream> raw;
  std::vector<std::uint8_t> first;
  int offers = 0, withdrawals = 0, overs = 0;
  bool accepts = true, room = true, ended = false;

 private:
  void decide() { at_b->accept(*b.stream, b, {}); }
  runtime::Timer<IftTest, &IftTest::decide> decide_{*this};
};

std::vector<std::uint8_t> octets_of(const AdaptionIndication& indication) {
  std::vector<std::uint8_t> octets(AdaptionIndication::size());
  indication.write(octets);
  return octets;
}

// Node B may send first (ruling I-13); Sends, RDMA Writes and Reads go both ways, with the CRCs and without. IFT 4.2.
TEST_F(IftTest, messages_both_ways) {
  options_a.payload_crc = options_b.ignores_header_crc = false;
  options_a.requires_crcs = options_b.requires_crcs = false;
  std::vector<std::uint8_t> at_node_a = octets_of_seed(100'000, 1), at_node_b = octets_of_seed(100'000, 2),
                            read(100'000), sent(100'000);
  const STag stag_a = a.add(at_node_a), stag_b = b.add(at_node_b), read_into = a.add(read), sent_into = a.add(sent);
  EXPECT_EQ(a.receive(1, sent_into, 100'000), RdmapStream::Posted::taken);
  ask();
  ASSERT_EQ(a.connects + b.connects, 2);
  EXPECT_EQ(b.send(2, stag_b, 100'000), RdmapStream::Posted::taken);
  run(runtime::second);
  EXPECT_EQ(a.completed_ids(), std::vector<std::uint64_t>{1});
  EXPECT_EQ(sent, at_node_b);
  EXPECT_EQ(
      a.post({.id = 3, .operation = Operation::rdma_read, .pieces = {{read_into, 0, 100'000}}, .remote_stag = stag_b}),
      RdmapStream::Posted::taken);
  EXPECT_EQ(a.post({.id = 4,
                    .operation = Operation::rdma_write,
                    .pieces = {{stag_a, 0, 100'000}},
                    .remote_stag = stag_b,
                    .fence = true}),
            RdmapStream::Posted::taken);
  run(runtime::second);
  EXPECT_EQ(read, octets_of_seed(100'000, 2));
  EXPECT_EQ(at_node_b, at_node_a);
  EXPECT_EQ(a.completed_ids(), (std::vector<std::uint64_t>{1, 3, 4}));
}

// A framing error is told by a Terminate Message of layer LLP (ruling I-10); no restriction on who sent before.
// IFT 7.
TEST_F(IftTest, wrong_frame) {
  std::vector<std::uint8_t> octets = octets_of(AdaptionIndication{.vtag = {5}});
  accepts = true;
  ask_raw(octets);
  ASSERT_EQ(b.connects, 1);
  raw->write(wire::Bytes(std::vector<std::uint8_t>(40)));
  run(runtime::second);
  ASSERT_TRUE(b.error);
  EXPECT_EQ(b.error->cause, wire::rdmap::Cause::of(wire::mpa::ErrorCode::marker_and_length_disagree));
  EXPECT_EQ(core_b.counters.terminates_sent, 1u);
  EXPECT_TRUE(ended);
}

// CRCs that one end needs and the other does not give or check; DDP mode. IFT 4.2.
TEST_F(IftTest, not_agreed) {
  options_b.requires_crcs = true;
  options_a.payload_crc = false;
  ask();
  EXPECT_EQ(a.failure, Failure::PeerClosed);
  EXPECT_EQ(offers, 0);
  EXPECT_EQ(core_b.counters.startups_failed, 1u);
}

// What is no phase 0: closed at once, nothing is offered (ruling I-15). IFT 4.2.
TEST_F(IftTest, bad_indication) {
  const std::vector<std::uint8_t> good = octets_of({});
  std::vector<std::vector<std::uint8_t>> bad{octets_of({.phase_1 = true}), octets_of({.rdma_mode = false}),
                                             octets_of({.bc_version = 2}), octets_of({.header_crc = false})};
  for (const std::size_t at : {0, 3, 30, 60, 63}) {
    bad.push_back(good);
    bad.back()[at] ^= 1;
  }
  for (const auto& octets : bad) {
    ended = false;
    ask_raw(octets);
    EXPECT_TRUE(ended);
    EXPECT_EQ(offers, 0);
    raw.reset();
    listener.reset();
  }
  EXPECT_EQ(core_b.counters.startups_failed, bad.size());
}

// Octets behind phase 0 before node B has answered: node A cannot know its VTag.
TEST_F(IftTest, octets_too_early) {
  accepts = false;
  std::vector<std::uint8_t> octets = octets_of({});
  octets.push_back(0);
  ask_raw(octets);
  EXPECT_EQ(offers, 1);
  EXPECT_EQ(withdrawals, 1);
  EXPECT_TRUE(ended);
}

// Nothing comes: 10 s (ruling I-15). Or its place is needed.
TEST_F(IftTest, half_open) {
  ask_raw({0x52});
  EXPECT_TRUE(at_b->is_half_open());
  run(8 * runtime::second);
  EXPECT_FALSE(ended);
  run(2 * runtime::second);
  EXPECT_TRUE(ended);
  EXPECT_TRUE(at_b->is_over());
  raw.reset();
  listener.reset();
  ask_raw({0x52});
  at_b->make_place();
  EXPECT_TRUE(at_b->is_over());
  EXPECT_EQ(overs, 2);
}

// Rejected, no room, withdrawn by node A.
TEST_F(IftTest, rejected) {
  accepts = false;
  ask();
  ASSERT_EQ(offers, 1);
  at_b->reject({});
  run(runtime::second);
  EXPECT_EQ(a.failure, Failure::PeerClosed);
}
TEST_F(IftTest, no_room) {
  room = false;
  ask();
  EXPECT_EQ(a.failure, Failure::PeerClosed);
  EXPECT_EQ(offers, 0);
}
TEST_F(IftTest, withdrawn) {
  accepts = false;
  ask();
  at_a->withdraw();
  EXPECT_EQ(a.failure, Failure::Withdrawn);
  run(runtime::second);
  EXPECT_EQ(withdrawals, 1);
}

/// A ULP of node B that accepts the first one.
struct Accepting final : StartupPortUser {
  explicit Accepting(End& of) : end(of) {}
  End& end;
  PassiveStartup* waiting = nullptr;
  int offers = 0;
  void offered(PassiveStartup& startup, const PeerOffer& offer) override {
    ++offers;
    EXPECT_TRUE(offer.private_data.empty() && !offer.enhanced && !startup.carries_private_data());
    waiting = &startup;
  }
  void offer_withdrawn(PassiveStartup&) override { waiting = nullptr; }
};

// A port of IFT: each start-up has a VTag of its own (IFT 4.2), the oldest half-open one makes place (ruling I-15), and
// what was accepted is forgotten when its stream has ended.
TEST_F(IftTest, port) {
  Accepting user(b);
  core_b.config.half_open = 1;
  std::uint16_t drawn = 0x3000;
  StartupPortUser& own = user;
  IftListener port(
      core_b.services, own, [&] { return IftOptions{.vtag = {++drawn}}; }, 4);
  ASSERT_EQ(port.listen(node_b), std::nullopt);
  raw = world.client.connect(node_b, {}, *this);  // says nothing
  run(runtime::second);
  EXPECT_EQ(port.half_open(), 1u);
  at_a = std::make_unique<IftAdaption>(core_a.services, options_a);
  at_a->connect(node_b, {}, *a.stream, a);
  run(runtime::second);
  EXPECT_EQ(core_b.counters.half_open_dropped, 1u);
  ASSERT_NE(user.waiting, nullptr);
  EXPECT_EQ(user.waiting->local(), node_b);
  std::exchange(user.waiting, nullptr)->accept(*b.stream, b, {});
  run(runtime::second);
  EXPECT_EQ(a.connects + b.connects, 2);
  EXPECT_EQ(drawn, 0x3002);
  EXPECT_TRUE(port.is_consistent());
  EXPECT_EQ(port.size(), 1u);
  a.stream->close();
  b.stream->close();
  run(30 * runtime::second);
  EXPECT_EQ(port.size(), 0u);
}

}  // namespace
}  // namespace iwarp::testing
