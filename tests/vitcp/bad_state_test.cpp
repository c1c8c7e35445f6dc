// Whatever must not come, in each state of a connection (VI-TCP 3.2; rulings V-4, V-21, V-25): it ends and is counted
// by its reason; memory stays bounded, and another connection is not disturbed.
#include "tests/vitcp/raw_peer.hpp"

namespace vitcp::testing {
namespace {
using vi::ErrorCode, vi::State;
using vt::SegmentType;
using wire::ParseCode, wire::ParseError;
namespace status = vi::status;

const std::vector<std::uint8_t> payload(10, 'p');

/// A connection brought to a state, and how far its numbers are.
struct Stage {
  explicit Stage(TwoHosts& its_hosts) : hosts(its_hosts), peer(its_hosts) {}
  ~Stage() { peer.close(); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  void begin(vi::ReliabilityLevel level, bool crc = false) {
    end.emplace(peer.connect_to(level, crc));
    for (int i = 0; i != 4; ++i) end->receive(64);
    hosts.settle();
  }
  void send_begun(SegmentType type) {
    vt::Segment segment = RawPeer::message(type, 1, payload);
    segment.rdma = {address_of(hosts.server->allocate(64)), hosts.server->handle, 64};
    segment.header.end_of_message = false;
    peer.send(segment);
    last = 1;
  }
  /// Of the Send or the RDMA Read that the provider has sent.
  void note_sent() {
    while (!peer.nothing_came()) sent = peer.take().header.message_number;
  }

  TwoHosts& hosts;
  RawPeer peer;
  std::optional<End> end;
  std::uint32_t last = 0;    // number of the peer's last message that was begun
  vt::MessageNumber sent{};  // of the provider's
};

struct Reached {
  std::string name;
  std::vector<vi::ReliabilityLevel> levels;
  std::function<void(Stage&, vi::ReliabilityLevel)> reach;
};

const std::vector<vi::ReliabilityLevel> every_level{unreliable, delivery, reception}, reliable{delivery, reception};

const std::vector<Reached> states{
    {"between messages", every_level, [](Stage& stage, auto level) { stage.begin(level); }},
    {"within a Send", every_level,
     [](Stage& stage, auto level) {
       stage.begin(level);
       stage.send_begun(SegmentType::send);
     }},
    {"within an RDMA Write", every_level,
     [](Stage& stage, auto level) {
       stage.begin(level);
       stage.send_begun(SegmentType::rdma_write);
     }},
    {"within a Send that failed",
     {unreliable},
     [](Stage& stage, auto level) {
       stage.begin(level);
       stage.end->receive_segment(0).length_or_reserved = 4;
       stage.send_begun(SegmentType::send);
     }},
    {"behind a damaged segment",
     {unreliable},
     [](Stage& stage, auto level) {
       stage.begin(level, true);
       auto octets = stage.peer.octets_of(RawPeer::message(SegmentType::nop, 0));
       octets[8] ^= 1;
       stage.peer.send(octets);
     }},
    {"while a Send waits for its ACK",
     {reception},
     [](Stage& stage, auto level) {
       stage.begin(level);
       stage.end->send("out");
       stage.hosts.settle();
       stage.note_sent();
     }},
    {"while an RDMA Read waits", reliable,
     [](Stage& stage, auto level) {
       stage.begin(level);
       stage.end->rdma_read(nullptr, 64);
       stage.hosts.settle();
       stage.note_sent();
     }},
    {"within a Read Response", reliable,
     [](Stage& stage, auto level) {
       stage.begin(level);
       stage.end->rdma_read(nullptr, 64);
       stage.hosts.settle();
       stage.note_sent();
       vt::Segment segment = RawPeer::message(SegmentType::rdma_read_response, 0, payload);
       segment.header.message_number = stage.sent;
       segment.header.end_of_message = false;
       stage.peer.send(segment);
     }},
    {"while RDMA Reads are answered", reliable,
     [](Stage& stage, auto level) {
       stage.hosts.world.network.set_rules([](const auto&, const auto&) {
         streams::StreamRules rules;
         rules.to_connector.send_buffer_bytes = rules.to_connector.receive_buffer_bytes = 2000;
         return rules;
       });
       stage.begin(level);
       while (!stage.peer.nothing_came()) stage.peer.take();
       stage.peer.stop_reading();
       vt::Segment segment = RawPeer::message(SegmentType::rdma_read_request, 1);
       segment.rdma = {address_of(stage.hosts.server->allocate(100'000)), stage.hosts.server->handle, 100'000};
       stage.peer.send(segment);
       stage.last = 1;
     }},
};

/// Octets that must not come in any state.
struct Wrong {
  std::string name;
  std::function<std::vector<std::uint8_t>(const Stage&)> octets;
  std::variant<Refusal, ParseError> counted;
};

/// A NOP of the last message, with one octet changed before its CRC.
Wrong octet(std::string name, std::size_t at, int value, ParseError error) {
  return {std::move(name),
          [=](const Stage& stage) {
            auto octets = stage.peer.octets_of(RawPeer::message(SegmentType::nop, stage.last));
            octets[at] = static_cast<std::uint8_t>(value);
            stage.peer.mend(octets);
            return octets;
          },
          error};
}
Wrong segment(std::string name, SegmentType type, const std::function<void(vt::Segment&, const Stage&)>& change,
              std::variant<Refusal, ParseError> counted) {
  return {std::move(name),
          [=](const Stage& stage) {
            vt::Segment wrong = RawPeer::message(type, stage.last);
            wrong.ce = RawPeer::request(delivery).ce;
            change(wrong, stage);
            return stage.peer.octets_of(wrong);
          },
          counted};
}

std::vector<Wrong> all_wrong() {
  std::vector<Wrong> all;
  for (const int version : {0, 2, 255}) all.push_back(octet("version", 0, version, {ParseCode::bad_value, "version"}));
  for (int type = 9; type != 32; ++type) all.push_back(octet("type", 1, 0x80 | type, {ParseCode::bad_value, "type"}));
  for (const int length : {0, 1, 23})
    all.push_back(octet("length", 3, length, {ParseCode::bad_length, "segment_length"}));
  const auto as_it_is = [](vt::Segment&, const Stage&) {};
  for (const SegmentType type : {SegmentType::connect_request, SegmentType::connect_accept, SegmentType::connect_reject,
                                 SegmentType::connect_no_match})
    all.push_back(segment(std::string(to_string(type)), type, as_it_is, Refusal::connection_segment));
  all.push_back(segment(
      "NOP from before", SegmentType::nop,
      [](vt::Segment& wrong, const Stage&) { --wrong.header.message_number.value; }, Refusal::message_number));
  all.push_back(segment(
      "Read Response to nothing", SegmentType::rdma_read_response,
      [](vt::Segment& wrong, const Stage& stage) { wrong.header.message_number.value = stage.sent.value + 77; },
      Refusal::read_response));
  all.push_back(segment(
      "offset in an RdmaReadRequest", SegmentType::rdma_read_request,
      [](vt::Segment& wrong, const Stage&) { wrong.header.data_offset = 1; },
      ParseError{ParseCode::bad_value, "data_offset"}));
  return all;
}

std::uint64_t count_of(const ProviderCounters& counters, const std::variant<Refusal, ParseError>& counted) {
  return std::visit([&](const auto& what) { return counters.refused(what); }, counted);
}

TEST(VitcpBadState, everyWrongSegment_inEveryState_endsItsConnection) {
  for (const Reached& state : states)
    for (const vi::ReliabilityLevel level : state.levels)
      for (const Wrong& wrong : all_wrong()) {
        SCOPED_TRACE(state.name + ": " + wrong.name);
        TwoHosts hosts;
        auto [c, d] = hosts.connect(level);
        Stage stage(hosts);
        state.reach(stage, level);
        ASSERT_EQ(stage.end->vi.state(), State::Connected);
        hosts.server->take_errors();
        const std::uint64_t before = hosts.server->provider.counters().refused();
        stage.peer.send(wrong.octets(stage));
        hosts.run(3 * runtime::second);
        EXPECT_EQ(stage.end->vi.state(), State::Error);
        // Behind a damaged segment a header that is none is found earlier, and then the length was what was hit.
        const bool damaged = state.name == "behind a damaged segment";
        auto errors = hosts.server->take_errors();
        EXPECT_LE(std::erase(errors, ErrorCode::RdmaTransport), damaged ? 1u : 0u);
        EXPECT_EQ(errors, std::vector{ErrorCode::ConnLost});
        EXPECT_EQ(hosts.server->provider.counters().refused(), before + 1);
        if (!damaged) {
          EXPECT_EQ(count_of(hosts.server->provider.counters(), wrong.counted), 1u);
        }
        d.receive(8);
        c.send("fine");
        hosts.settle();
        EXPECT_EQ(d.received(), "fine");
      }
}

// Ruling V-17: who has disconnected reads to the end and looks at nothing.
TEST(VitcpBadState, everyWrongSegment_behindVipDisconnect_isDropped) {
  for (const Wrong& wrong : all_wrong()) {
    SCOPED_TRACE(wrong.name);
    TwoHosts hosts;
    Stage stage(hosts);
    stage.begin(delivery);
    PlainCall call;
    const auto octets = wrong.octets(stage);
    hosts.server->provider.disconnect(stage.end->vi, call);
    stage.peer.send(octets, 10 * runtime::microsecond);
    hosts.run(3 * runtime::second);
    EXPECT_EQ(call.result, vi::Return::Success);
    EXPECT_EQ(hosts.server->provider.counters().refused(), 0u);
  }
}

// VI-TCP 2.2.1, 3.3: Sends without a descriptor, though the peer was told of none: the rules of each level.
TEST(VitcpBadState, flowControl_ignored) {
  for (const vi::ReliabilityLevel level : every_level) {
    TwoHosts hosts;
    RawPeer peer(hosts);
    End end = peer.connect_to(level);
    peer.send(RawPeer::message(SegmentType::send, 1, payload));
    hosts.run(runtime::second);
    EXPECT_EQ(end.vi.state(), is_reliable(level) ? State::Error : State::Connected);
    const auto errors = hosts.server->take_errors();
    ASSERT_FALSE(errors.empty());
    EXPECT_EQ(errors.front(), ErrorCode::RecvQEmpty);
    if (!is_reliable(level)) {
      end.receive(64);
      peer.send(RawPeer::message(SegmentType::send, 2, payload));
      EXPECT_EQ(end.received(), "pppppppppp");
    }
    peer.close();
  }
}

/// What an RDMA names, wrongly.
struct Target {
  std::string name;
  std::uint64_t address;
  wire::MemHandle handle;
};

// VI-ARCH 3.2.2.2, VI-DG 3.8.1: outside of a region, without permission, with a handle that is none, or none any more:
// nothing is written or read, and the peer is told.
TEST(VitcpBadState, rdma_whereItMustNot) {
  for (const vi::ReliabilityLevel level : every_level)
    for (const bool write : {true, false})
      for (int which = 0; which != 8; ++which) {
        if (!write && !is_reliable(level)) continue;  // no RDMA Read
        SCOPED_TRACE(::testing::Message() << which << (write ? " write" : " read"));
        TwoHosts hosts;
        RawPeer peer(hosts);
        End end = peer.connect_to(level);
        std::byte* const memory = hosts.server->allocate(4096);
        const std::uint64_t at = address_of(memory);
        wire::MemHandle open, shut, gone;
        vi::Nic& nic = hosts.server->nic;
        const vi::MemoryAttributes allowed{.enable_rdma_write = true, .enable_rdma_read = true};
        ASSERT_EQ(nic.register_memory(at + 1024, memory + 1024, 1024, allowed, open), vi::Return::Success);
        ASSERT_EQ(nic.register_memory(at, memory, 1024, {}, shut), vi::Return::Success);
        ASSERT_EQ(nic.register_memory(at, memory, 1024, allowed, gone), vi::Return::Success);
        ASSERT_EQ(nic.memory().deregister(at, gone), vi::Return::Success);
        const std::array<Target, 8> targets{{{"before", at + 1023, open},
                                             {"beyond", at + 2048 - 9, open},
                                             {"far", 8, open},
                                             {"around", 0xFFFFFFFFFFFFFFFC, open},
                                             {"not allowed", at, shut},
                                             {"stale", at, gone},
                                             {"none", at + 1024, wire::MemHandle{0}},
                                             {"other", at + 1024, wire::MemHandle{open.value + 1}}}};
        const Target& target = targets[static_cast<std::size_t>(which)];
        vt::Segment segment = RawPeer::message(write ? SegmentType::rdma_write : SegmentType::rdma_read_request, 1,
                                               write ? wire::Bytes(payload) : wire::Bytes{});
        segment.rdma = {target.address, target.handle, 10};
        while (!peer.nothing_came()) peer.take();
        peer.send(segment);
        hosts.run(runtime::second);
        EXPECT_EQ(std::count(memory, memory + 4096, std::byte{'p'}), 0);
        const auto errors = hosts.server->take_errors();
        ASSERT_FALSE(errors.empty());
        EXPECT_EQ(errors.front(), write ? ErrorCode::RdmaWProt : ErrorCode::RdmaRProt);
        EXPECT_EQ(end.vi.state(), is_reliable(level) ? State::Error : State::Connected);
        if (write && level == reception) {
          EXPECT_TRUE(peer.take().header.remote_error.rdma_memory_protection_error);
        }
        if (!write) {
          const vt::Segment answer = peer.take();
          EXPECT_EQ(answer.header.type, SegmentType::rdma_read_response);
          EXPECT_TRUE(answer.header.transmit_error && answer.header.end_of_message);
          EXPECT_TRUE(answer.payload.empty());
        }
        peer.close();
      }
}

// A peer that never reads: what waits for it is bounded, others are served, and VipDisconnect returns.
TEST(VitcpBadState, peer_thatNeverReads_isBounded) {
  for (const vi::ReliabilityLevel level : every_level) {
    TwoHosts hosts;
    auto [c, d] = hosts.connect(level);
    RawPeer peer(hosts);
    End end = peer.connect_to(level);
    peer.stop_reading();
    const std::string large(100'000, 'L');
    for (int i = 0; i != 20; ++i) end.send(large);
    hosts.run(runtime::second);
    EXPECT_LE(hosts.server->provider.counters().payload_octets_sent, 2u * 65'536 + 262'144);
    d.receive(8);
    c.send("fine");
    hosts.settle();
    EXPECT_EQ(d.received(), "fine");
    PlainCall call;
    hosts.server->provider.disconnect(end.vi, call);
    hosts.run(3 * runtime::second);
    EXPECT_EQ(call.result, vi::Return::Success);
    EXPECT_EQ(hosts.server->provider.counters().closed_by_timeout, 1u);
    peer.close();
  }
}

}  // namespace
}  // namespace vitcp::testing
