// Peers that do what they must not while a connection is set up: each field wrong, in each state (VI-TCP 3.3, 4.2, 4.3;
// rulings V-8 to V-26).
#include "tests/vitcp/raw_peer.hpp"

namespace vitcp::testing {
namespace {
using vi::Return, vi::State;
using vt::SegmentType;
using wire::ParseCode, wire::ParseError;

using Change = std::function<void(vt::Segment&)>;

class VitcpBadSetup : public ::testing::Test {
 protected:
  void SetUp() override { hosts.server->provider.connect_wait(hosts.server->at("x"), runtime::never, wait); }
  void TearDown() override {
    peer.close();
    hosts.server->provider.withdraw(wait);
  }
  ProviderCounters counters() { return hosts.server->provider.counters(); }
  WaitCall wait;
  PlainCall call;
  ConnectCall request;
  TwoHosts hosts;
  RawPeer peer{hosts}, lower{hosts, wire::IpAddress::v4(9, 0, 0, 1)};
};

// VI-TCP 3.3, rulings V-8, V-9, V-16, V-23: a ConnectRequest that cannot be is rejected, the stream closed.
TEST_F(VitcpBadSetup, request_withAWrongField_isRejected) {
  const std::size_t ce = 24;
  struct Octet {
    std::size_t at;
    std::uint8_t value;
    ParseError error;
  };
  const ParseError level{ParseCode::bad_value, "reliability_level"};
  const std::vector<Octet> all{{0, 2, {ParseCode::bad_value, "version"}},
                               {ce + 1, 0x00, level},
                               {ce + 1, 0x03, level},
                               {ce + 1, 0x07, level},
                               {ce + 3, 65, {ParseCode::bad_length, "calling_discriminator_length"}},
                               {ce + 75, 65, {ParseCode::bad_length, "called_discriminator_length"}},
                               {ce + 5, 0x00, {ParseCode::bad_value, "mtu_size"}},  // of 00100000h
                               {ce + 143, 3, {ParseCode::bad_length, "option_length"}},
                               {ce + 143, 255, {ParseCode::truncated, "option_data"}}};
  for (const Octet& one : all) {
    SCOPED_TRACE(one.error.field);
    RawPeer* const each = &peer;
    each->connect();
    vt::Segment segment = RawPeer::request(delivery);
    segment.ce.options.other = {0x77, 0x77, 0, 4};
    auto octets = each->octets_of(segment);
    octets[one.at] = one.value;
    each->send(octets);
    hosts.settle();
    EXPECT_EQ(each->take().header.type, SegmentType::connect_reject);
    EXPECT_TRUE(each->is_closed());
    EXPECT_TRUE(each->nothing_came());
    each->close();
    hosts.settle();
    each->forget();
  }
  EXPECT_EQ(counters().refused(), all.size());
  EXPECT_EQ(wait.result, std::nullopt);
  EXPECT_EQ(hosts.server->provider.streams_without_vi(), 0u);
}

// VI-TCP 4.3, rulings V-16, V-29, V-39: what is no ConnectRequest, or was damaged, is closed without a word.
TEST_F(VitcpBadSetup, request_thatIsNone_isClosed) {
  std::vector<std::vector<std::uint8_t>> all;
  for (const SegmentType type :
       {SegmentType::send, SegmentType::rdma_write, SegmentType::nop, SegmentType::connect_reject,
        SegmentType::rdma_read_request, SegmentType::connect_no_match})
    all.push_back(peer.octets_of(RawPeer::message(type, 0)));
  vt::Segment accept = RawPeer::request(delivery);
  accept.header.type = SegmentType::connect_accept;
  all.push_back(peer.octets_of(accept));
  all.push_back(std::vector<std::uint8_t>(24, 0xFF));
  all.push_back({'P', 'O', 'S', 'T',  ' ',  '/', ' ', 'H', 'T', 'T', 'P', '/',
                 '1', '.', '1', '\r', '\n', 'H', 'o', 's', 't', ':', ' ', 'x'});
  auto damaged = peer.octets_of(RawPeer::request(delivery, true));
  damaged[30] ^= 1;
  all.push_back(damaged);
  auto without_its_option = peer.octets_of(RawPeer::request(delivery, true));
  without_its_option[24 + 140] ^= 0xFF;
  all.push_back(without_its_option);
  for (const auto& octets : all) {
    peer.connect();
    peer.send(octets);
    hosts.settle();
    EXPECT_TRUE(peer.is_closed());
    EXPECT_TRUE(peer.nothing_came());
    peer.close();
    hosts.settle();
    peer.forget();
  }
  EXPECT_EQ(counters().refused(), all.size());
  EXPECT_EQ(wait.result, std::nullopt);
}

// VI-TCP 3.3: unknown options are ignored; the peer-to-peer bit must match.
TEST_F(VitcpBadSetup, request_withUnknownOptions_matches_ofAPeer_doesNot) {
  vt::Segment segment = RawPeer::request(delivery);
  segment.ce.peer_to_peer = true;
  peer.connect();
  peer.send(segment);
  EXPECT_EQ(peer.take().header.type, SegmentType::connect_no_match);
  peer.close();
  hosts.settle();
  peer.forget();
  segment.ce.peer_to_peer = false;
  segment.ce.options.other = {0x77, 0x77, 0, 6, 1, 2};
  peer.connect();
  peer.send(segment);
  EXPECT_EQ(wait.result, Return::Success);
  hosts.server->provider.connect_reject(wait.token, call);
  hosts.settle();
  EXPECT_EQ(peer.take().header.type, SegmentType::connect_reject);
}

// Ruling V-16: a stream whose request is not whole in time is closed; and so many wait at once, no more.
TEST_F(VitcpBadSetup, request_thatNeverComes_isClosedInTime) {
  const auto octets = peer.octets_of(RawPeer::request(delivery));
  peer.connect();
  peer.send(wire::Bytes(octets).first(100));
  EXPECT_EQ(hosts.server->provider.half_open(), 1u);
  hosts.run(9 * runtime::second);
  EXPECT_FALSE(peer.is_closed());
  hosts.run(runtime::second);
  EXPECT_TRUE(peer.is_closed());
  EXPECT_EQ(counters().refused(Refusal::request_timeout), 1u);
  EXPECT_EQ(hosts.server->provider.half_open(), 0u);
}

TEST_F(VitcpBadSetup, streams_beyondTheLimitOfHalfOpenOnes_areClosed) {
  std::vector<streams::test::Hearer> hearers(70);
  for (auto& hearer : hearers)
    hearer.stream = hosts.world.client.connect({hosts.server->address, wire::vitcp::default_port}, {}, hearer);
  hosts.settle();
  EXPECT_EQ(hosts.server->provider.half_open(), 64u);
  EXPECT_EQ(counters().refused(Refusal::half_open_limit), 6u);
  for (auto& hearer : hearers) hearer.stream.reset();
  hosts.settle();
  EXPECT_EQ(hosts.server->provider.half_open(), 0u);
  EXPECT_EQ(hosts.server->provider.streams_without_vi(), 0u);
}

// Of half-open streams the one goes that has had most time, of the host that has most of them: who opens many keeps out
// nobody else.
TEST_F(VitcpBadSetup, streams_ofOneHost_doNotKeepOutOthers) {
  peer.connect();
  std::vector<streams::test::Hearer> hearers(70);
  for (auto& hearer : hearers) {
    hearer.stream = hosts.world.client.connect({hosts.server->address, vt::default_port}, {}, hearer);
    hosts.run(runtime::millisecond);
    hearer.stream->ask_readable();
  }
  hosts.settle();
  EXPECT_EQ(hosts.server->provider.half_open(), 64u);
  for (std::size_t i = 0; i != hearers.size(); ++i) EXPECT_EQ(hearers[i].notices() > 1, i < 7) << i;
  peer.send(RawPeer::request(delivery));
  EXPECT_EQ(wait.result, Return::Success);
  for (auto& hearer : hearers) hearer.stream.reset();
  hosts.settle();
}

// Streams that others accepted are limited by them: a burst of those costs no other stream its place.
TEST_F(VitcpBadSetup, streams_givenByOthers_doNotCount) {
  const wire::IpAddress ip = wire::IpAddress::v4(10, 0, 0, 9);
  streams::test::Door door;
  streams::Streams& host = hosts.world.network.add_host({ip});
  const auto listener = std::move(*host.listen({ip, vt::default_port}, door));
  std::vector<streams::test::Hearer> hearers(80);
  peer.connect();
  for (auto& hearer : hearers) hearer.stream = hosts.world.client.connect({ip, vt::default_port}, {}, hearer);
  hosts.settle();
  for (auto& stream : std::exchange(door.streams, {})) hosts.server->provider.take(std::move(stream));
  lower.connect();
  EXPECT_EQ(counters().refused(), 0u);
  hosts.run(5 * runtime::second);
  EXPECT_FALSE(peer.is_closed());
  hosts.run(5 * runtime::second);
  EXPECT_EQ(counters().refused(Refusal::request_timeout), 82u);
  lower.close();
  for (auto& hearer : hearers) hearer.stream.reset();
  hosts.settle();
}

// Those that nobody has limited are.
TEST_F(VitcpBadSetup, streams_thatNobodyLimited_areLimited) {
  const streams::Address at{hosts.server->address, 4711};
  streams::test::Door door;
  const auto listener = std::move(*hosts.world.server.listen(at, door));
  std::vector<streams::test::Hearer> hearers(70);
  for (auto& hearer : hearers) hearer.stream = hosts.world.client.connect(at, {}, hearer);
  hosts.settle();
  for (auto& stream : std::exchange(door.streams, {})) hosts.server->provider.take_accepted(std::move(stream));
  EXPECT_EQ(hosts.server->provider.half_open(), 64u);
  EXPECT_EQ(counters().refused(Refusal::half_open_limit), 6u);
  for (auto& hearer : hearers) hearer.stream.reset();
  hosts.settle();
}

// Ruling V-12: who gives a stream has seen that this NIC waits for it: it meets who waits, even if that ends right
// behind.
TEST_F(VitcpBadSetup, stream_givenByOthers_meetsWhoWaitsNow) {
  const streams::Address at{hosts.server->address, 4711};
  streams::test::Door door;
  const auto listener = std::move(*hosts.world.server.listen(at, door));
  streams::test::Hearer hearer;
  hearer.stream = hosts.world.client.connect(at, {}, hearer);
  hearer.on_connected = [&] { hearer.stream->write(peer.octets_of(RawPeer::request(delivery))); };
  hosts.settle();
  ASSERT_EQ(door.streams.size(), 1u);
  hosts.server->provider.take(std::move(door.streams.front()));
  EXPECT_EQ(wait.result, Return::Success);
  hearer.stream.reset();
  hosts.settle();
}

// Streams that got their answer, and whose other end does not close them, are no more than the limit.
TEST_F(VitcpBadSetup, streams_thatAreRefused_areLimited) {
  vt::Segment nobody = RawPeer::request(delivery);
  nobody.ce.called = vt::Discriminator::of(std::array<std::uint8_t, 1>{'z'});
  const auto octets = peer.octets_of(nobody);
  std::vector<streams::test::Hearer> hearers(200);
  for (auto& hearer : hearers) {
    hearer.stream = hosts.world.client.connect({hosts.server->address, wire::vitcp::default_port}, {}, hearer);
    hearer.on_connected = [&] { hearer.stream->write(octets); };
    hosts.run(runtime::millisecond);
  }
  EXPECT_EQ(counters().refused(Refusal::no_match), 200u);
  EXPECT_EQ(hosts.server->provider.streams_without_vi(), 64u);
  EXPECT_EQ(counters().refused(Refusal::farewell_limit), 200u - 64u);
  for (auto& hearer : hearers) hearer.stream.reset();
  hosts.settle();
  EXPECT_EQ(hosts.server->provider.streams_without_vi(), 0u);
}

// So many requests may wait for accept or reject; what comes above it finds nobody, though somebody waits.
TEST(VitcpLimits, requests_beyondTheUndecidedOnes_findNobody) {
  Settings settings;
  settings.server.max_offers = 2;
  TwoHosts hosts(settings);
  Provider& server = hosts.server->provider;
  std::array<WaitCall, 3> waits;
  for (WaitCall& wait : waits) server.connect_wait(hosts.server->at("x"), runtime::never, wait);
  RawPeer first{hosts}, second{hosts, wire::IpAddress::v4(10, 0, 0, 4)}, third{hosts, wire::IpAddress::v4(10, 0, 0, 5)};
  for (RawPeer* const peer : {&first, &second, &third}) {
    peer->connect();
    peer->send(RawPeer::request(delivery));
  }
  EXPECT_TRUE(first.nothing_came() && second.nothing_came());
  EXPECT_EQ(third.take().header.type, SegmentType::connect_no_match);
  EXPECT_EQ(server.counters().refused(Refusal::offer_limit), 1u);
  EXPECT_FALSE(waits[2].result);
  PlainCall rejected;
  server.connect_reject(waits[0].token, rejected);
  third.close();
  third.forget();
  third.connect();
  third.send(RawPeer::request(delivery));
  EXPECT_EQ(waits[2].result, Return::Success);
  EXPECT_EQ(server.counters().refused(Refusal::offer_limit), 1u);
  for (RawPeer* const peer : {&first, &second, &third}) peer->close();
}

// Of limits that are 0 the one stream that is there has a place all the same.
TEST(VitcpLimits, stream_whereNoneMayWait_isAnswered) {
  Settings settings;
  settings.server.max_half_open = settings.server.max_farewells = 0;
  TwoHosts hosts(settings);
  RawPeer peer{hosts};
  peer.connect();
  peer.send(RawPeer::request(delivery));
  EXPECT_EQ(peer.take().header.type, SegmentType::connect_no_match);
  EXPECT_EQ(hosts.server->provider.counters().refused(), 1u);
  EXPECT_EQ(hosts.server->provider.counters().refused(Refusal::no_match), 1u);
  peer.close();
}

// A NIC that cannot listen at one of its addresses listens at none.
TEST(VitcpLimits, listen_atAForeignAddress_leavesNoListener) {
  TwoHosts hosts;
  const wire::IpAddress own = streams::test::ip("fd00::2");
  ProviderConfig config;
  config.addresses = {own, hosts.world.foreign_ip};
  Provider provider(hosts.world.server, hosts.world.scheduler, config);
  EXPECT_EQ(provider.listen(), streams::Reason::no_such_address);
  streams::test::Door door;
  EXPECT_TRUE(hosts.world.server.listen({own, vt::default_port}, door).has_value());
}

// VI-TCP 3.2, 3.3, rulings V-4, V-6, V-10: what a client says of itself.
TEST(VitcpRequest, request_tellsAll) {
  Settings settings;
  settings.client.ask_for_crc = true;
  TwoHosts hosts(settings);
  RawPeer peer{hosts};
  peer.listen();
  End end{*hosts.client, hosts.client->create(reception)};
  for (int i = 0; i != 3; ++i) end.receive(8);
  ConnectCall asked;
  hosts.client->provider.connect_request(end.vi, hosts.client->at("y"), vi::NetAddress::make(peer.address, {}),
                                         runtime::second, asked);
  hosts.settle();
  const vt::Segment request = peer.take();
  EXPECT_EQ(request.header.type, SegmentType::connect_request);
  EXPECT_EQ(request.header.message_number, NumberSource(1).draw());
  EXPECT_EQ(request.header.message_ack, vt::MessageNumber{});
  EXPECT_EQ(request.header.rx_descriptors_posted, 3);
  EXPECT_EQ(request.ce.level, to_wire(reception));
  EXPECT_EQ(request.ce.mtu_size_bytes, 1u << 20);
  EXPECT_TRUE(request.ce.descriptor_flow_control && request.ce.rdma_write_enable && request.ce.rdma_read_enable);
  EXPECT_FALSE(request.ce.peer_to_peer);
  EXPECT_TRUE(request.ce.options.crc && request.ce.options.end && request.ce.options.urgent_marker);
  hosts.run(runtime::second);
  EXPECT_EQ(asked.result, Return::Timeout);
  peer.close();
}

// VI-TCP 3.2, 3.3, 3.6, rulings V-4, V-5, V-6, V-9: and what a server answers.
TEST(VitcpRequest, accept_tellsAll) {
  TwoHosts hosts;
  RawPeer peer{hosts};
  Provider& server = hosts.server->provider;
  WaitCall wait;
  PlainCall accepted;
  server.connect_wait(hosts.server->at("x"), runtime::never, wait);
  peer.connect();
  vt::Segment request = RawPeer::request(reception, true);
  request.ce.calling = vt::Discriminator::of(std::array<std::uint8_t, 2>{'m', 'e'});
  peer.send(request);
  ASSERT_EQ(wait.result, Return::Success);
  End end{*hosts.server, hosts.server->create(reception, 1u << 19)};
  for (int i = 0; i != 2; ++i) end.receive(8);
  server.connect_accept(wait.token, end.vi, accepted);
  hosts.settle();
  const vt::Segment accept = peer.take();
  EXPECT_EQ(accept.header.type, SegmentType::connect_accept);
  EXPECT_EQ(accept.header.message_number, NumberSource(2).draw());
  EXPECT_EQ(accept.header.message_ack, vt::MessageNumber{RawPeer::first_number});
  EXPECT_EQ(accept.header.rx_descriptors_posted, 2);
  EXPECT_EQ(accept.ce.level, to_wire(reception));
  EXPECT_EQ(accept.ce.mtu_size_bytes, 1u << 19);
  EXPECT_EQ(accept.ce.rdma_read_window, ProviderConfig{}.rdma_read_window);
  EXPECT_EQ(accept.ce.calling.octets, request.ce.calling.octets);
  EXPECT_EQ(accept.ce.called.octets, request.ce.called.octets);
  EXPECT_TRUE(accept.ce.options.crc && accept.ce.options.end && accept.ce.options.urgent_marker);
  peer.close();
  hosts.settle();
  end.vi.disconnect();
}

// Ruling V-15: the stream closes before the answer: anew after 10 ms, then after twice as much each time, at most 1 s.
TEST(VitcpRequest, request_isSentAnew_atGrowingIntervals) {
  TwoHosts hosts;
  RawPeer peer{hosts};
  peer.listen();
  ConnectCall asked;
  vi::Vi& vi = hosts.client->create(delivery);
  hosts.client->provider.connect_request(vi, hosts.client->at("y"), vi::NetAddress::make(peer.address, {}),
                                         60 * runtime::second, asked);
  runtime::TimeNs closed = hosts.world.scheduler.now();
  for (const int delay_ms : {0, 10, 20, 40, 80, 160, 320, 640, 1000, 1000}) {
    while (peer.nothing_came() && !asked.result) hosts.run(runtime::millisecond);
    EXPECT_NEAR(static_cast<double>(hosts.world.scheduler.now() - closed) / 1e6, delay_ms, 3);
    EXPECT_EQ(peer.take().header.type, SegmentType::connect_request);
    peer.close();
    peer.forget();
    closed = hosts.world.scheduler.now();
  }
  EXPECT_FALSE(asked.result);
  PlainCall withdrawn;
  hosts.client->provider.disconnect(vi, withdrawn);
  EXPECT_TRUE(asked.result);
}

// VI-TCP 4.2: the client waits for the answer: data of any kind, a NOP, an answer, a second request, or an octet of
// one before it: rejected, the offer is gone.
TEST_F(VitcpBadSetup, octets_beforeTheAnswer_areRejected) {
  std::vector<std::vector<std::uint8_t>> all{peer.octets_of(RawPeer::request(delivery)), {0}};
  for (const SegmentType type :
       {SegmentType::send, SegmentType::rdma_write, SegmentType::rdma_read_request, SegmentType::rdma_read_response,
        SegmentType::nop, SegmentType::connect_reject, SegmentType::connect_no_match})
    all.push_back(peer.octets_of(RawPeer::message(type, 1)));
  for (std::size_t count = 1; const auto& octets : all) {
    SCOPED_TRACE(count);
    WaitCall again;
    if (count != 1) hosts.server->provider.connect_wait(hosts.server->at("x"), runtime::never, again);
    peer.connect();
    peer.send(RawPeer::request(delivery));
    const WaitCall& offer = count == 1 ? wait : again;
    EXPECT_EQ(offer.result, Return::Success);
    peer.send(octets);
    EXPECT_EQ(peer.take().header.type, SegmentType::connect_reject);
    EXPECT_EQ(counters().refused(Refusal::before_accept), count++);
    PlainCall accepted;
    hosts.server->provider.connect_accept(offer.token, hosts.server->create(delivery), accepted);
    EXPECT_EQ(accepted.result, Return::Timeout);
    peer.close();
    peer.forget();
  }
}

// VI-TCP 3.2, 3.3: each octet of a ConnectRequest inverted, one at a time. Without the CRC what still is a request is,
// for whom it names; else it is refused, counted and closed, at the latest when its time is over. With the CRC none is.
TEST(VitcpRequest, request_withAnyOctetInverted) {
  for (const bool crc : {false, true})
    for (std::size_t at = 0, size = 1; at != size; ++at) {
      SCOPED_TRACE(::testing::Message() << "octet " << at << (crc ? " with the CRC" : ""));
      TwoHosts hosts;
      RawPeer peer(hosts);
      WaitCall wait;
      hosts.server->provider.connect_wait(hosts.server->at("x"), runtime::never, wait);
      auto octets = peer.octets_of(RawPeer::request(delivery, crc));
      size = octets.size();
      octets[at] ^= 0xFF;
      const auto parsed = vt::Segment::parse(octets, crc);
      const bool is_one = !crc && parsed && parsed->header.type == SegmentType::connect_request;
      const bool is_meant = is_one && parsed->ce.called == RawPeer::request(delivery).ce.called;
      peer.connect();
      peer.send(octets);
      EXPECT_EQ(wait.result.has_value(), is_meant);
      if (!is_one) {
        hosts.run(11 * runtime::second);
        EXPECT_EQ(hosts.server->provider.counters().refused(), 1u);
      }
      EXPECT_EQ(peer.is_closed(), !is_meant);
      peer.close();
      hosts.server->provider.withdraw(wait);
    }
}

// VI-TCP 3.2, 3.3: an answer with a wrong octet, to a client and to a peer: the request ends, and says so.
TEST_F(VitcpBadSetup, answer_withAWrongField_endsTheRequest) {
  struct Octet {
    std::size_t at;
    std::uint8_t value;
    ParseError error;
  };
  const std::size_t ce = 24;
  const ParseError level{ParseCode::bad_value, "reliability_level"}, type{ParseCode::bad_value, "type"};
  const std::vector<Octet> all{{0, 0, {ParseCode::bad_value, "version"}},
                               {0, 2, {ParseCode::bad_value, "version"}},
                               {1, 0x89, type},
                               {1, 0x9F, type},
                               {3, 23, {ParseCode::bad_length, "segment_length"}},
                               {ce + 1, 0x40, level},
                               {ce + 1, 0x47, level},
                               {ce + 3, 65, {ParseCode::bad_length, "calling_discriminator_length"}},
                               {ce + 75, 65, {ParseCode::bad_length, "called_discriminator_length"}},
                               {ce + 5, 0x00, {ParseCode::bad_value, "mtu_size"}},  // of 00100000h
                               {ce + 143, 3, {ParseCode::bad_length, "option_length"}}};
  lower.listen();
  for (const bool between_peers : {false, true})
    for (const Octet& one : all) {
      SCOPED_TRACE(one.error.field);
      ConnectCall asked;
      PlainCall disconnected;
      vi::Vi& vi = hosts.server->create(delivery);
      const auto remote = vi::NetAddress::make(lower.address, {});
      Provider& provider = hosts.server->provider;
      if (between_peers)
        static_cast<void>(provider.connect_peer_request(vi, hosts.server->at("y"), remote, runtime::never, asked));
      else
        provider.connect_request(vi, hosts.server->at("y"), remote, runtime::never, asked);
      hosts.settle();
      vt::Segment answer = lower.take();
      answer.header.type = SegmentType::connect_accept;
      answer.ce.options.other = {0x77, 0x77, 0, 4};
      auto octets = lower.octets_of(answer);
      octets[one.at] = one.value;
      const std::uint64_t before = counters().refused(one.error);
      lower.send(octets);
      EXPECT_EQ(asked.result, Return::NotReachable);
      EXPECT_EQ(counters().refused(one.error), before + 1);
      EXPECT_TRUE(lower.is_closed());
      lower.close();
      lower.forget();
      hosts.server->provider.disconnect(vi, disconnected);
      EXPECT_EQ(vi.state(), State::Idle);
    }
}

// Rulings V-9, V-10, VI-TCP 3.3, 3.6: a ConnectAccept that does not fit the request, or another segment in its place.
TEST_F(VitcpBadSetup, answer_thatDoesNotFit_endsTheRequest) {
  const std::vector<Change> changes{[](vt::Segment& s) { s.ce.level = vt::ReliabilityLevel::unreliable; },
                                    [](vt::Segment& s) { s.ce.peer_to_peer = true; },
                                    [](vt::Segment& s) { ++s.ce.mtu_size_bytes; },
                                    [](vt::Segment& s) { s.ce.options.crc = s.ce.options.end = true; },
                                    [](vt::Segment& s) { s.header.type = SegmentType::connect_request; },
                                    [](vt::Segment& s) { s.header.type = SegmentType::nop; },
                                    [](vt::Segment& s) { s.header.type = SegmentType::send; }};
  peer.listen();
  for (const Change& change : changes) {
    ConnectCall asked;
    PlainCall disconnected;
    vi::Vi& vi = hosts.client->create(delivery);
    hosts.client->provider.connect_request(vi, hosts.client->at("y"), vi::NetAddress::make(peer.address, {}),
                                           runtime::second, asked);
    hosts.settle();
    vt::Segment answer = peer.take();
    EXPECT_EQ(answer.header.type, SegmentType::connect_request);
    answer.header.type = SegmentType::connect_accept;
    change(answer);
    peer.send(answer);
    EXPECT_EQ(asked.result, Return::NotReachable);
    EXPECT_EQ(vi.state(), State::Error);
    EXPECT_TRUE(peer.is_closed());
    peer.close();
    peer.forget();
    hosts.client->provider.disconnect(vi, disconnected);
    EXPECT_EQ(disconnected.result, Return::Success);
  }
  EXPECT_EQ(hosts.client->provider.counters().refused(Refusal::unsuitable_answer), changes.size());
}

}  // namespace
}  // namespace vitcp::testing
