// Unreliable Delivery with the CRC: one damaged segment, wherever it was hit, costs at most its own message (VI-TCP
// 3.6, rulings V-21, V-36).
#include "tests/vitcp/stages.hpp"

namespace vitcp::testing {
namespace {
using vi::State;
using vt::SegmentType;
namespace status = vi::status;

/// What a peer sends, and which message each segment is of: 0 for a NOP.
struct Part {
  vt::Segment segment;
  int message = 0;
};

const std::array<std::string, 5> texts{"", "one", "two-two", "three", "four"};

wire::Bytes octets_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

class VitcpDamage : public ::testing::Test {
 protected:
  /// Four messages: a Send, a Send of two segments, an RDMA Write with immediate data, a Send; NOPs between them.
  static std::vector<Part> parts(const TwoHosts& hosts, const std::byte* target) {
    vt::Segment first = RawPeer::message(SegmentType::send, 2, octets_of("two-")), second = first;
    first.header.end_of_message = false;
    second.payload = octets_of("two");
    second.header.data_offset = 4;
    vt::Segment write = RawPeer::message(SegmentType::rdma_write, 3, octets_of("three"));
    write.rdma = {address_of(target), hosts.server->handle, 5};
    write.header.immediate_data_valid = true;
    return {{RawPeer::message(SegmentType::send, 1, octets_of("one")), 1},
            {RawPeer::message(SegmentType::nop, 1), 0},
            {first, 2},
            {second, 2},
            {RawPeer::message(SegmentType::nop, 2), 0},
            {write, 3},
            {RawPeer::message(SegmentType::send, 4, octets_of("four")), 4},
            {RawPeer::message(SegmentType::nop, 4), 0}};
  }
};

// VI-TCP 3.6 item 2, ruling V-21: any bit of any segment, but its length: all other messages arrive, and of the damaged
// one nothing does, of which the consumer is told once; the connection persists.
TEST_F(VitcpDamage, anyBitOfAnySegment_costsItsMessageOnly) {
  for (std::size_t hit = 0; hit != 7; ++hit)
    for (std::size_t at = 0; at != 44; ++at)
      for (unsigned bit = 0; bit != 8; ++bit) {
        if (at == 2 || at == 3) continue;  // Segment Length
        TwoHosts hosts;
        RawPeer peer(hosts);
        End end = peer.connect_to(unreliable, true);
        std::byte* const target = hosts.server->allocate(64);
        const std::vector<Part> sent = parts(hosts, target);
        std::vector<std::uint8_t> octets = peer.octets_of(sent[hit].segment);
        if (at >= octets.size()) {
          peer.close();
          break;
        }
        SCOPED_TRACE(::testing::Message() << "segment " << hit << " octet " << at << " bit " << bit);
        for (int i = 0; i != 8; ++i) end.receive(64);
        octets[at] = static_cast<std::uint8_t>(octets[at] ^ 1U << bit);
        for (std::size_t i = 0; i != sent.size(); ++i) i == hit ? peer.send(octets) : peer.send(sent[i].segment);
        const int lost = sent[hit].message;
        std::vector<std::string> wanted, got;
        for (int message = 1; message != 5; ++message)
          if (message != lost) wanted.push_back(texts[static_cast<std::size_t>(message)]);
        std::size_t told = 0, good = 0;
        for (std::size_t i = 0; i != 8; ++i) {
          if (!end.receive_error(i)) continue;
          if (end.receive_error(i) != 0U) {
            EXPECT_EQ(end.receive_error(i), status::transport_error);
            ++told;
            continue;
          }
          ++good;
          const bool write =
              (end.received_control(i).status & status::op_remote_rdma_write) == status::op_remote_rdma_write;
          got.push_back(write ? std::string(reinterpret_cast<const char*>(target), 5) : end.received(i));
        }
        EXPECT_EQ(got, wanted);
        EXPECT_EQ(end.vi.state(), State::Connected);
        EXPECT_EQ(hosts.server->provider.counters().refused(), 1u);
        EXPECT_EQ(hosts.server->provider.counters().unexpected_events, 0u);
        const auto errors = hosts.server->take_errors();  // of what looks like an RDMA Write no descriptor tells
        for (const vi::ErrorCode error : errors) EXPECT_EQ(error, vi::ErrorCode::RdmaWData);
        EXPECT_LE(told + errors.size(), 1u);
        EXPECT_TRUE(lost == 0 || told + errors.size() == 1);
        peer.close();
      }
}

// The consumer hears of a damaged message at once where its type says what it is, and else as soon as another segment
// of it comes.
TEST_F(VitcpDamage, message_whoseFirstSegmentWasHit_isFlagged) {
  for (const bool type_hit : {false, true}) {
    TwoHosts hosts;
    RawPeer peer(hosts);
    End end = peer.connect_to(unreliable, true);
    for (int i = 0; i != 2; ++i) end.receive(64);
    const std::vector<Part> sent = parts(hosts, hosts.server->allocate(8));
    peer.send(sent[0].segment);
    std::vector<std::uint8_t> octets = peer.octets_of(sent[2].segment);
    octets[type_hit ? 1 : 25] ^= 1;                 // Send to RdmaWrite, or payload
    octets[type_hit ? 1 : 25] ^= type_hit ? 8 : 0;  // to no type at all
    peer.send(octets);
    EXPECT_EQ(end.receive_error(1), type_hit ? std::nullopt : std::optional(status::transport_error));
    peer.send(sent[3].segment);
    EXPECT_EQ(end.receive_error(1), status::transport_error);
    peer.close();
  }
}

// One message is told of once: of four segments the second is hit, in its type or its payload; and one that had
// failed before.
TEST_F(VitcpDamage, message_isFlaggedOnce) {
  for (const bool too_small : {false, true})
    for (const std::size_t at : {1, 25}) {
      TwoHosts hosts;
      RawPeer peer(hosts);
      End end = peer.connect_to(unreliable, true);
      for (int i = 0; i != 3; ++i) end.receive(64);
      if (too_small) end.receive_segment(0).length_or_reserved = 2;
      vt::Segment segment = RawPeer::message(SegmentType::send, 1, octets_of("part"));
      for (std::uint32_t i = 0; i != 4; ++i) {
        segment.header.data_offset = 4 * i;
        segment.header.end_of_message = i == 3;
        auto octets = peer.octets_of(segment);
        if (i == 1) octets[at] ^= 0x1F;
        peer.send(octets);
      }
      peer.send(RawPeer::message(SegmentType::send, 2, octets_of("next")));
      EXPECT_EQ(end.receive_error(0), too_small ? status::length_error : status::transport_error);
      EXPECT_EQ(end.received(1), "next");
      EXPECT_EQ(end.receive_error(2), std::nullopt);
      peer.close();
    }
}

// Ruling V-21: the length was what was hit: the next header is none, and the connection ends with a transport error.
TEST_F(VitcpDamage, length_endsTheConnection) {
  for (const int by : {-2, -1, 1, 5}) {
    SCOPED_TRACE(by);
    TwoHosts hosts;
    RawPeer peer(hosts);
    End end = peer.connect_to(unreliable, true);
    for (int i = 0; i != 4; ++i) end.receive(64);
    const std::vector<Part> sent = parts(hosts, hosts.server->allocate(8));
    std::vector<std::uint8_t> octets = peer.octets_of(sent[0].segment);
    octets[3] = static_cast<std::uint8_t>(octets[3] + by);
    for (std::size_t i = 1; i != 3; ++i) {
      const auto more = peer.octets_of(sent[i].segment);
      octets.insert(octets.end(), more.begin(), more.end());
    }
    peer.send(octets);
    hosts.run(runtime::second);
    EXPECT_EQ(end.vi.state(), State::Error);
    EXPECT_NE(hosts.server->provider.cause_of_end(end.vi).text, "the peer broke a rule of VI/TCP");
    EXPECT_EQ(end.receive_error(0), status::transport_error);
    EXPECT_TRUE(peer.is_closed());
    peer.close();
  }
}

// Ruling V-38: a Segment Length that was damaged upwards, and nothing comes behind it: at every level the connection
// ends with a transport error when the time is over, not before, and any octet begins it anew. At Reliable Reception
// the peer is told.
TEST_F(VitcpDamage, lengthUpwards_withNothingBehind_endsTheConnectionInTime) {
  for (const auto level : {unreliable, delivery, reception}) {
    Settings settings;
    settings.server.segment_timeout = 2 * runtime::second;
    TwoHosts hosts(settings);
    RawPeer peer(hosts);
    End end = peer.connect_to(level, true);
    for (int i = 0; i != 2; ++i) end.receive(64);
    auto octets = peer.octets_of(RawPeer::message(SegmentType::send, 1, octets_of("one")));
    octets[2] ^= 0x40;  // 16 KiB longer
    peer.send(octets);
    hosts.run(1800 * runtime::millisecond);
    EXPECT_EQ(end.vi.state(), State::Connected);
    peer.send(std::array<std::uint8_t, 1>{});
    hosts.run(1800 * runtime::millisecond);
    EXPECT_EQ(end.vi.state(), State::Connected);
    hosts.run(300 * runtime::millisecond);
    EXPECT_EQ(end.vi.state(), State::Error);
    EXPECT_EQ(end.receive_error(0), status::transport_error);
    EXPECT_TRUE(peer.is_closed());
    EXPECT_EQ(hosts.server->provider.counters().refused(Refusal::segment_stalled), 1u);
    if (level == reception) {
      EXPECT_TRUE(peer.take().header.remote_error.unrecoverable_transport_error);
    }
    EXPECT_TRUE(peer.nothing_came());
    peer.close();
  }
}

// Ruling V-38: a peer that stalls inside a segment, in its header or behind it, with the CRC and without: the
// connection ends in time, counted, and not before; each octet begins the time anew. Nothing of it is delivered.
TEST_F(VitcpDamage, stallInASegment_endsTheConnectionInTime) {
  for (const bool crc : {false, true})
    for (const auto level : {unreliable, delivery, reception})
      for (const std::size_t first : {1U, 23U, 24U, 25U}) {
        SCOPED_TRACE(::testing::Message() << first << (crc ? " octets with the CRC" : " octets"));
        Settings settings;
        settings.server.segment_timeout = 2 * runtime::second;
        TwoHosts hosts(settings);
        RawPeer peer(hosts);
        End end = peer.connect_to(level, crc);
        end.receive(64);
        const auto octets = peer.octets_of(RawPeer::message(SegmentType::send, 1, octets_of("one")));
        peer.send(wire::Bytes(octets).first(first));
        hosts.run(1800 * runtime::millisecond);
        EXPECT_EQ(end.vi.state(), State::Connected);
        peer.send(wire::Bytes(octets).subspan(first, 1));
        hosts.run(1800 * runtime::millisecond);
        EXPECT_EQ(end.vi.state(), State::Connected);
        hosts.run(300 * runtime::millisecond);
        EXPECT_EQ(end.vi.state(), State::Error);
        EXPECT_NE(end.receive_error(0).value_or(0), 0U);
        EXPECT_TRUE(peer.is_closed());
        EXPECT_EQ(hosts.server->provider.counters().refused(Refusal::segment_stalled), 1u);
        EXPECT_EQ(hosts.server->provider.counters().refused(), 1u);
        peer.close();
      }
}

// Ruling V-38: while it is this end that does not read, no time runs: a message that waits behind RDMA Reads whose
// responses the peer does not take.
TEST_F(VitcpDamage, messageThatWaitsBehindReads_isNotTimed) {
  for (const bool crc : {false, true}) {
    Settings settings;
    settings.server.segment_timeout = runtime::second;
    TwoHosts hosts(settings);
    Stage stage(hosts, {reception, crc});
    stage.begin_behind_a_narrow_stream();
    stage.read_asked(1, 1'000'000);
    stage.peer.send(RawPeer::message(SegmentType::send, 2, stage_payload));
    hosts.run(10 * runtime::second);
    EXPECT_EQ(stage.end->vi.state(), State::Connected);
    EXPECT_EQ(stage.end->receive_error(0), std::nullopt);
    stage.peer.read_again();
    hosts.run(runtime::second);
    EXPECT_EQ(stage.end->receive_error(0), 0U);
    EXPECT_EQ(hosts.server->provider.counters().refused(), 0u);
  }
}

// Without such a time, and between segments, nothing is missed.
TEST_F(VitcpDamage, octetsThatAreMissing_areWaitedForElse) {
  for (const bool crc : {false, true})
    for (const bool between : {false, true}) {
      Settings settings;
      settings.server.segment_timeout = between ? runtime::second : runtime::never;
      TwoHosts hosts(settings);
      RawPeer peer(hosts);
      End end = peer.connect_to(delivery, crc);
      end.receive(64);
      const auto octets = peer.octets_of(RawPeer::message(SegmentType::send, 1, octets_of("one")));
      peer.send(wire::Bytes(octets).first(between ? octets.size() : 25));
      hosts.run(100 * runtime::second);
      EXPECT_EQ(end.vi.state(), State::Connected);
      if (!between) peer.send(wire::Bytes(octets).subspan(25));
      EXPECT_EQ(end.receive_error(0), 0U);
      peer.close();
    }
}

// Ruling V-21: two segments in a row, of one message and of two.
TEST_F(VitcpDamage, twoSegments_inARow) {
  for (const std::size_t first : {std::size_t{0}, std::size_t{2}, std::size_t{3}}) {
    TwoHosts hosts;
    RawPeer peer(hosts);
    End end = peer.connect_to(unreliable, true);
    for (int i = 0; i != 8; ++i) end.receive(64);
    const std::vector<Part> sent = parts(hosts, hosts.server->allocate(8));
    for (std::size_t i = 0; i != sent.size(); ++i) {
      std::vector<std::uint8_t> octets = peer.octets_of(sent[i].segment);
      if (i == first || i == first + 1) octets.back() ^= 0x40;
      peer.send(octets);
    }
    EXPECT_EQ(end.vi.state(), State::Connected);
    std::size_t last = 7;
    while (!end.receive_error(last)) --last;
    EXPECT_EQ(end.receive_error(last), 0U);
    EXPECT_EQ(end.received(last), "four");
    peer.close();
  }
}

// VI-TCP 3.2 Message Number: behind a damaged segment numbers go on, and never back.
TEST_F(VitcpDamage, numberFromBefore_isAViolation) {
  for (const SegmentType type : {SegmentType::send, SegmentType::rdma_read_request, SegmentType::nop}) {
    TwoHosts hosts;
    RawPeer peer(hosts);
    End end = peer.connect_to(unreliable, true);
    for (int i = 0; i != 4; ++i) end.receive(64);
    peer.send(parts(hosts, hosts.server->allocate(8))[0].segment);
    auto octets = peer.octets_of(RawPeer::message(SegmentType::send, 2, octets_of("x")));
    octets[24] ^= 1;
    peer.send(octets);
    peer.send(RawPeer::message(type, type == SegmentType::nop ? 0 : 1));
    hosts.run(runtime::second);
    EXPECT_EQ(end.vi.state(), State::Error);
    EXPECT_EQ(hosts.server->provider.counters().refused(Refusal::message_number), 1u);
    peer.close();
  }
}

// VI-TCP 3.2 Rx Descriptors Posted, ruling V-36: a message that was lost is counted as the peer counts it: else it
// would wait for ever in the end.
TEST_F(VitcpDamage, lostMessages_areCounted) {
  TwoHosts hosts;
  RawPeer peer(hosts);
  End end = peer.connect_to(unreliable, true);
  for (int i = 0; i != 2; ++i) end.receive(64);
  hosts.settle();
  while (!peer.nothing_came()) peer.take();
  auto octets = peer.octets_of(RawPeer::message(SegmentType::send, 1, octets_of("lost")));
  octets[1] ^= 0x10;  // no type
  peer.send(octets);
  vt::Segment found = RawPeer::message(SegmentType::send, 2, octets_of("found"));
  found.header.rx_descriptors_posted = 100;
  peer.send(found);
  EXPECT_EQ(end.receive_error(0), status::transport_error);
  EXPECT_EQ(end.received(1), "found");
  end.receive(64);
  end.send("x");
  hosts.settle();
  vt::Segment last;
  while (!peer.nothing_came()) last = peer.take();
  EXPECT_EQ(last.header.rx_descriptors_posted, 3u);  // two used, as the peer sees it, and one that waits
  peer.close();
}

/// What the peer knows of receive descriptors by the last segment that came; nothing: none came.
std::optional<std::uint16_t> told_last(RawPeer& peer) {
  std::optional<std::uint16_t> told;
  while (!peer.nothing_came()) told = peer.take().header.rx_descriptors_posted;
  return told;
}

std::vector<std::uint8_t> damaged(const RawPeer& peer, const vt::Segment& segment) {
  auto octets = peer.octets_of(segment);
  octets.back() ^= 0x40;
  return octets;
}

// VI-TCP 3.2, 3.3: an RDMA Write without immediate data uses no receive descriptor, whole or lost: the peer is told of
// those that are there, and of no more.
TEST_F(VitcpDamage, lostWrites_areNotCounted) {
  TwoHosts hosts;
  RawPeer peer(hosts);
  End end = peer.connect_to(unreliable, true, true);
  for (int i = 0; i != 2; ++i) end.receive(64);
  hosts.settle();
  EXPECT_EQ(told_last(peer), 2u);
  for (std::uint32_t number = 1; number != 4; ++number)
    peer.send(damaged(peer, RawPeer::message(SegmentType::rdma_write, number, octets_of("lost"))));
  peer.send(RawPeer::message(SegmentType::nop, 3));
  EXPECT_EQ(hosts.server->take_errors(), std::vector(3, vi::ErrorCode::RdmaWData));
  peer.send(RawPeer::message(SegmentType::send, 4, octets_of("four")));
  EXPECT_EQ(end.received(), "four");
  end.receive(64);
  hosts.settle();
  EXPECT_EQ(told_last(peer), 3u);
  peer.close();
}

// VI-TCP 3.2: "sufficient notification", also where messages came for which the peer knew of no receive descriptor.
TEST_F(VitcpDamage, receivesBehindLostMessages_areTold) {
  TwoHosts hosts;
  RawPeer peer(hosts);
  End end = peer.connect_to(unreliable, true, true);
  for (std::uint32_t number = 1; number != 3; ++number)
    peer.send(damaged(peer, RawPeer::message(SegmentType::send, number, octets_of("lost"))));
  peer.send(RawPeer::message(SegmentType::nop, 2));
  end.receive(64);
  hosts.settle();
  EXPECT_EQ(told_last(peer), 3u) << "one that it can use";
  peer.close();
}

// VI-TCP 3.6 item 2: a message whose type was hit is flagged when the next one tells that there was one; in order.
TEST_F(VitcpDamage, messageWhoseTypeWasHit_isFlaggedByTheNext) {
  TwoHosts hosts;
  RawPeer peer(hosts);
  End end = peer.connect_to(unreliable, true);
  for (int i = 0; i != 3; ++i) end.receive(64);
  auto octets = peer.octets_of(RawPeer::message(SegmentType::send, 1, octets_of("lost")));
  octets[1] ^= 0x10;
  peer.send(octets);
  EXPECT_EQ(end.receive_error(0), std::nullopt);
  peer.send(RawPeer::message(SegmentType::send, 2, octets_of("next")));
  EXPECT_EQ(end.receive_error(0), status::transport_error);
  EXPECT_EQ(end.received(1), "next");
  peer.close();
}

// VI-TCP 3.6 item 2: reliable connections end, and the consumer hears why, whatever was hit.
TEST_F(VitcpDamage, segmentOfNoMessage_isToldOfAtReliableLevels) {
  for (const vi::ReliabilityLevel level : {delivery, reception}) {
    TwoHosts hosts;
    RawPeer peer(hosts);
    End end = peer.connect_to(level, true);
    peer.send(damaged(peer, RawPeer::message(SegmentType::nop, 0)));
    hosts.run(runtime::second);
    EXPECT_EQ(end.vi.state(), State::Error);
    const std::vector errors = hosts.server->take_errors();
    EXPECT_EQ(std::count(errors.begin(), errors.end(), vi::ErrorCode::RdmaTransport), 1);
    peer.close();
  }
}

// --- two providers, and a network that flips one octet -------------------------------------------------------------

/// The octet so far behind what has passed when it is armed.
struct FlippingGate final : streams::Gate {
  std::uint64_t passed = 0;
  std::optional<std::uint64_t> flip;
  void arm(std::uint64_t behind) { flip = passed + behind; }
  streams::Passage pass(runtime::TimeNs, std::uint64_t at, wire::MutableBytes first, wire::MutableBytes rest) override {
    passed = at + first.size() + rest.size();
    if (flip && *flip < passed) {
      const std::size_t place = static_cast<std::size_t>(*std::exchange(flip, std::nullopt) - at);
      (place < first.size() ? first[place] : rest[place - first.size()]) ^= 0x20;
    }
    return {.octets = first.size() + rest.size()};
  }
};

/// A client and a server with the CRC, connected; one octet of what goes to the server, or comes from it, is flipped.
struct FlippedOctet {
  explicit FlippedOctet(vi::ReliabilityLevel level) : hosts(settings()) {
    hosts.world.network.set_rules([this](const streams::Address&, const streams::Address&) {
      streams::StreamRules rules;
      rules.to_acceptor.gate = to_server;
      rules.to_connector.gate = to_client;
      return rules;
    });
    ends.emplace(hosts.connect(level));
    for (int i = 0; i != 3; ++i) b().receive(64);
    hosts.settle();
  }
  static Settings settings() {
    Settings settings;
    settings.client.ask_for_crc = true;
    return settings;
  }
  [[nodiscard]] End& a() { return ends->first; }
  [[nodiscard]] End& b() { return ends->second; }
  void run() { hosts.run(runtime::second); }

  std::shared_ptr<FlippingGate> to_server = std::make_shared<FlippingGate>();
  std::shared_ptr<FlippingGate> to_client = std::make_shared<FlippingGate>();
  TwoHosts hosts;
  std::optional<std::pair<End, End>> ends;
};

// VI-TCP 3.6 item 2, 3.2, rulings V-19, V-21, V-40: a Send. Unreliable Delivery: it is flagged, and the next one comes.
// Reliable Reception: a transport error at both ends. Reliable Delivery: at the end that sees the CRC; the other one
// must ignore VI Error Type, its Send was complete, and it hears that the connection is gone.
TEST_F(VitcpDamage, octetFlippedInASend_asBothEndsSeeIt) {
  for (const auto level : {unreliable, delivery, reception}) {
    FlippedOctet between(level);
    auto &a = between.a(), &b = between.b();
    a.send("one");
    between.run();
    between.to_server->arm(25);
    a.send("two");
    between.run();
    const State state = is_reliable(level) ? State::Error : State::Connected;
    EXPECT_EQ(b.received(0), "one");
    EXPECT_EQ(b.receive_error(1), status::transport_error);
    EXPECT_EQ(a.send_error(1), level == reception ? status::transport_error : 0U);
    EXPECT_EQ(a.vi.state(), state);
    EXPECT_EQ(b.vi.state(), state);
    using Errors = std::vector<vi::ErrorCode>;
    const Errors lost = is_reliable(level) ? Errors{vi::ErrorCode::ConnLost} : Errors{};
    EXPECT_EQ(between.hosts.client->take_errors(), lost);
    EXPECT_EQ(between.hosts.server->take_errors(), lost);
    if (is_reliable(level)) continue;
    a.send("three");
    between.run();
    EXPECT_EQ(b.received(2), "three");
  }
}

// The same of an RDMA Write, which no descriptor of the server tells of, and of an RDMA Read, whose response is hit:
// there the end that has the CRC is the client.
TEST_F(VitcpDamage, octetFlippedInAnRdma_asBothEndsSeeIt) {
  for (const auto level : {unreliable, delivery, reception})
    for (const bool write : {true, false}) {
      if (!write && !is_reliable(level)) continue;  // no RDMA Read
      FlippedOctet between(level);
      std::byte* const there = between.hosts.server->allocate(8);
      (write ? between.to_server : between.to_client)->arm(write ? 41 : 25);
      write ? between.a().rdma_write("12345678", there) : static_cast<void>(between.a().rdma_read(there, 8));
      between.run();
      const auto client = between.hosts.client->take_errors(), server = between.hosts.server->take_errors();
      const bool told = !write || level == reception;
      EXPECT_EQ(between.a().send_error(0), told ? status::transport_error : 0U);
      EXPECT_EQ(std::count(server.begin(), server.end(), vi::ErrorCode::RdmaWData), write ? 1 : 0);
      EXPECT_EQ(std::count(server.begin(), server.end(), vi::ErrorCode::ConnLost), is_reliable(level) ? 1 : 0);
      EXPECT_EQ(std::count(client.begin(), client.end(), vi::ErrorCode::ConnLost), is_reliable(level) ? 1 : 0);
      EXPECT_NE(*there, std::byte{'1'});
      EXPECT_EQ(between.hosts.client->provider.counters().unexpected_events, 0U);
    }
}

}  // namespace
}  // namespace vitcp::testing
