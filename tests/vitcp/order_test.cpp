// Reliable Reception keeps step with RDMA Reads at the receiver, too (VI-ARCH 2.5.3, 6.3.1.1, ruling V-37): what comes
// behind one waits until it is answered, whatever the peer sends.
#include "tests/vitcp/raw_peer.hpp"

namespace vitcp::testing {
namespace {
using vi::ErrorCode, vi::State;
using vt::SegmentType;
namespace status = vi::status;

constexpr std::size_t large_bytes = 400'000;

class VitcpOrder : public ::testing::TestWithParam<Kind> {
 protected:
  VitcpOrder() : end_(peer_.connect_to(GetParam().level, GetParam().crc)) {
    memory_ = hosts_.server->allocate(large_bytes);
    std::memset(memory_, 'o', large_bytes);  // what is there when the read comes
    for (int i = 0; i != 4; ++i) end_.receive(64);
    hosts_.settle();
    while (!peer_.nothing_came()) peer_.take();
  }
  ~VitcpOrder() override { peer_.close(); }
  [[nodiscard]] static bool keeps_step() { return GetParam().level == reception; }
  [[nodiscard]] vt::Segment read_request(std::uint32_t number, std::size_t bytes = large_bytes) const {
    vt::Segment segment = RawPeer::message(SegmentType::rdma_read_request, number);
    segment.rdma = {address_of(memory_), hosts_.server->handle, static_cast<std::uint32_t>(bytes)};
    return segment;
  }
  [[nodiscard]] vt::Segment rdma_write(std::uint32_t number, wire::Bytes octets) const {
    vt::Segment segment = RawPeer::message(SegmentType::rdma_write, number, octets);
    segment.rdma = {address_of(memory_), hosts_.server->handle, static_cast<std::uint32_t>(octets.size())};
    return segment;
  }
  void add(const vt::Segment& segment) {
    const auto more = peer_.octets_of(segment);
    octets_.insert(octets_.end(), more.begin(), more.end());
  }
  /// The payload of all Read Responses that came; NOPs are counted.
  std::string responses() {
    std::string data;
    while (!peer_.nothing_came()) {
      const vt::Segment segment = peer_.take();
      if (segment.header.type != SegmentType::rdma_read_response) continue;
      data.append(segment.payload.begin(), segment.payload.end());
    }
    return data;
  }

  TwoHosts hosts_;
  RawPeer peer_{hosts_};
  End end_;
  std::byte* memory_ = nullptr;
  std::vector<std::uint8_t> octets_;
};
INSTANTIATE_TEST_SUITE_P(Levels, VitcpOrder,
                         ::testing::Values(Kind{delivery}, Kind{delivery, true}, Kind{reception},
                                           Kind{reception, true}),
                         name_of);

const std::vector<std::uint8_t> news(5000, 'n'), text{'h', 'e', 'l', 'l', 'o'};

// VI-ARCH 6.3.1.1: an RDMA Write behind an RDMA Read of the same memory: the read brings what was there before. Both
// are there before the first is answered.
TEST_P(VitcpOrder, rdmaWrite_behindARead_waits) {
  add(read_request(1));
  add(rdma_write(2, news));
  add(RawPeer::message(SegmentType::send, 3, text));
  peer_.send(octets_);
  EXPECT_EQ(end_.received(), "hello");
  EXPECT_EQ(static_cast<char>(*memory_), 'n');
  const std::string read = responses();
  EXPECT_EQ(read.size(), large_bytes);
  if (keeps_step()) {
    EXPECT_EQ(read.find('n'), std::string::npos);
  }
}

// The same in turns, and octet by octet: nothing that came with what waits is lost.
TEST_P(VitcpOrder, messages_andReads_inTurns) {
  for (std::uint32_t i = 0; i != 4; ++i) {
    add(read_request(2 * i + 1, 100));
    add(RawPeer::message(SegmentType::send, 2 * i + 2, text));
  }
  peer_.send(octets_);
  for (std::size_t i = 0; i != 4; ++i) EXPECT_EQ(end_.received(i), "hello");
  EXPECT_EQ(responses(), std::string(400, 'o'));
  for (int i = 0; i != 4; ++i) end_.receive(64);
  std::vector<std::uint8_t> again;
  for (std::uint32_t i = 4; i != 8; ++i)
    for (const vt::Segment& segment :
         {read_request(2 * i + 1, 100), RawPeer::message(SegmentType::send, 2 * i + 2, text)}) {
      const auto more = peer_.octets_of(segment);
      again.insert(again.end(), more.begin(), more.end());
    }
  for (const std::uint8_t octet : again) peer_.send(wire::Bytes(&octet, 1), runtime::microsecond);
  hosts_.settle();
  for (std::size_t i = 4; i != 8; ++i) EXPECT_EQ(end_.received(i), "hello");
  EXPECT_EQ(responses(), std::string(400, 'o'));
  EXPECT_EQ(hosts_.server->provider.counters().refused(), 0u);
}

// VI-ARCH 2.5.3: an RDMA Read that is refused ends the connection before what stands behind it is received.
TEST_P(VitcpOrder, read_refused_nothingBehindItIsReceived) {
  vt::Segment refused = read_request(1);
  refused.rdma.memory_handle = {};
  add(refused);
  add(RawPeer::message(SegmentType::send, 2, text));
  peer_.send(octets_);
  hosts_.run(runtime::second);
  EXPECT_EQ(end_.vi.state(), State::Error);
  EXPECT_EQ(hosts_.server->take_errors(), (std::vector{ErrorCode::RdmaRProt, ErrorCode::ConnLost}));
  if (keeps_step()) {
    EXPECT_EQ(end_.receive_error(), status::flushed);
  }
}

// VI-TCP 2.2.2.2.6, ruling V-11: more requests than were told, while a message waits behind those that were.
TEST_P(VitcpOrder, reads_beyondTheWindow_endTheConnection) {
  for (std::uint32_t i = 0; i != 17; ++i) add(read_request(i + 1));
  peer_.send(octets_);
  hosts_.run(runtime::second);
  EXPECT_EQ(end_.vi.state(), State::Error);
  EXPECT_EQ(hosts_.server->provider.counters().refused(Refusal::read_window), 1u);
}

// VI-TCP 2.2.2.2.6: what was read for a response is with TCP: the memory may change as soon as its last segment was
// given to the stream, though the peer has not got it.
TEST_P(VitcpOrder, response_onItsWay_isWhatWasRead) {
  add(read_request(1, 100));
  const std::uint64_t before = hosts_.server->provider.counters().segments_sent;
  peer_.send(octets_, 0);
  ASSERT_TRUE(hosts_.run_until([&] { return hosts_.server->provider.counters().segments_sent != before; }));
  EXPECT_TRUE(peer_.nothing_came());
  std::memset(memory_, 'x', 100);
  hosts_.settle();
  EXPECT_EQ(responses(), std::string(100, 'o'));
}

// VipDisconnect, and a peer that goes, while a message waits.
TEST_P(VitcpOrder, disconnect_whileAMessageWaits) {
  if (!keeps_step()) GTEST_SKIP() << "no message waits at Reliable Delivery";
  for (const bool by_peer : {false, true}) {
    TwoHosts hosts;
    hosts.world.network.set_rules([](const auto&, const auto&) {
      streams::StreamRules rules;
      rules.to_connector.send_buffer_bytes = rules.to_connector.receive_buffer_bytes = 1000;
      return rules;
    });
    RawPeer peer(hosts);
    End end = peer.connect_to(reception, GetParam().crc);
    peer.stop_reading();
    std::byte* const memory = hosts.server->allocate(large_bytes);
    end.receive(64);
    hosts.settle();
    vt::Segment request = RawPeer::message(SegmentType::rdma_read_request, 1);
    request.rdma = {address_of(memory), hosts.server->handle, large_bytes};
    peer.send(request);
    peer.send(RawPeer::message(SegmentType::send, 2, text));
    EXPECT_EQ(end.receive_error(), std::nullopt);
    PlainCall call;
    if (by_peer) peer.close();
    hosts.settle();
    hosts.server->provider.disconnect(end.vi, call);
    hosts.run(5 * runtime::second);
    EXPECT_EQ(call.result, vi::Return::Success);
    EXPECT_EQ(end.receive_error(), status::flushed);
    if (!by_peer) peer.close();
  }
}

}  // namespace
}  // namespace vitcp::testing
