// What a peer must not do besides sending wrong segments, which every_field_test.cpp tries in each state: flow control
// ignored, RDMA where it must not be, a peer that never reads; and wrong segments behind VipDisconnect.
#include "tests/vitcp/stages.hpp"

namespace vitcp::testing {
namespace {
using vi::ErrorCode, vi::State;
using vt::SegmentType;
using wire::ParseCode, wire::ParseError;
namespace status = vi::status;

const std::vector<std::uint8_t> payload(10, 'p');

/// Octets that must not come in any state.
struct Wrong {
  std::string name;
  std::function<std::vector<std::uint8_t>(const Stage&)> octets;
};

/// A NOP of the last message, with one octet changed before its CRC.
Wrong octet(std::string name, std::size_t at, int value) {
  return {std::move(name), [=](const Stage& stage) {
            auto octets = stage.peer.octets_of(RawPeer::message(SegmentType::nop, stage.last));
            octets[at] = static_cast<std::uint8_t>(value);
            stage.peer.mend(octets);
            return octets;
          }};
}
Wrong segment(std::string name, SegmentType type, const std::function<void(vt::Segment&, const Stage&)>& change) {
  return {std::move(name), [=](const Stage& stage) {
            vt::Segment wrong = RawPeer::message(type, stage.last);
            wrong.ce = RawPeer::request(delivery).ce;
            change(wrong, stage);
            return stage.peer.octets_of(wrong);
          }};
}

std::vector<Wrong> all_wrong() {
  std::vector<Wrong> all;
  for (const int version : {0, 2, 255}) all.push_back(octet("version", 0, version));
  for (int type = 9; type != 32; ++type) all.push_back(octet("type", 1, 0x80 | type));
  for (const int length : {0, 1, 23}) all.push_back(octet("length", 3, length));
  const auto as_it_is = [](vt::Segment&, const Stage&) {};
  for (const SegmentType type : {SegmentType::connect_request, SegmentType::connect_accept, SegmentType::connect_reject,
                                 SegmentType::connect_no_match})
    all.push_back(segment(std::string(to_string(type)), type, as_it_is));
  all.push_back(segment("NOP from before", SegmentType::nop,
                        [](vt::Segment& wrong, const Stage&) { --wrong.header.message_number.value; }));
  all.push_back(segment(
      "Read Response to nothing", SegmentType::rdma_read_response,
      [](vt::Segment& wrong, const Stage& stage) { wrong.header.message_number.value = stage.sent.value + 77; }));
  all.push_back(segment("offset in an RdmaReadRequest", SegmentType::rdma_read_request,
                        [](vt::Segment& wrong, const Stage&) { wrong.header.data_offset = 1; }));
  return all;
}

// Ruling V-17: who has disconnected reads to the end and looks at nothing.
TEST(VitcpBadState, everyWrongSegment_behindVipDisconnect_isDropped) {
  for (const Wrong& wrong : all_wrong()) {
    SCOPED_TRACE(wrong.name);
    TwoHosts hosts;
    Stage stage(hosts, {delivery});
    stage.begin();
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
