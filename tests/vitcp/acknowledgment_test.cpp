// Message ACK and Remote Error Code at Reliable Reception (VI-TCP 3.2; rulings V-5, V-19), against a peer
#include "tests/vitcp/raw_peer.hpp"

namespace vitcp::testing {
namespace {
using vi::State;
using vt::SegmentType;
namespace status = vi::status;

/// Called for each segment of the server, when it is sent.
struct SentByServer final : streams::SegmentTap {
  std::function<void(const vt::SegmentHeader&)> on_segment;
  void segment_sent(runtime::TimeNs, const streams::SegmentSeen& segment) override {
    if (segment.kind != streams::SegmentSeen::Kind::data || segment.from.ip != streams::test::server_ip) return;
    const auto header = vt::SegmentHeader::parse(segment.first);
    ASSERT_TRUE(header);
    if (on_segment) on_segment(*header);
  }
};

// VI-TCP 3.2 Message ACK: not before the data and the completion are written; of a message that is not whole, never.
TEST(VitcpAcknowledgment, ack_isSent_whenDataAndCompletionAreThere) {
  TwoHosts hosts;
  RawPeer peer(hosts);
  End end = peer.connect_to(reception);
  end.receive(64);
  end.receive(64);
  std::byte* const target = hosts.server->allocate(64);
  hosts.settle();
  SentByServer tap;
  int acks = 0;
  tap.on_segment = [&](const vt::SegmentHeader& header) {
    const std::uint32_t named = header.message_ack.value - RawPeer::first_number;
    ASSERT_GE(named, 1u);
    EXPECT_EQ(end.receive_error(0), 0u);
    EXPECT_EQ(end.received(0), "hello-world");
    if (named >= 2) {
      EXPECT_EQ(std::memcmp(target, "wrote", 5), 0);
    }
    if (named >= 3) {
      EXPECT_EQ(end.receive_error(1), 0u);
    }
    ++acks;
  };
  hosts.world.network.set_tap(&tap);
  const auto octets = [](std::string_view text) {
    return wire::Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  };
  vt::Segment first = RawPeer::message(SegmentType::send, 1, octets("hello-"));
  first.header.end_of_message = false;
  peer.send(first);
  EXPECT_EQ(acks, 0);
  vt::Segment second = RawPeer::message(SegmentType::send, 1, octets("world"));
  second.header.data_offset = 6;
  peer.send(second);
  EXPECT_EQ(acks, 1);
  vt::Segment write = RawPeer::message(SegmentType::rdma_write, 2, octets("wrote"));
  write.rdma = {address_of(target), hosts.server->handle, 5};
  peer.send(write);
  EXPECT_EQ(acks, 2);
  peer.send(RawPeer::message(SegmentType::send, 3));
  EXPECT_EQ(acks, 3);
  hosts.world.network.set_tap(nullptr);
  peer.close();
}

struct Told {
  int bit;
  bool write, immediate;
  std::uint32_t bits;
};

// VI-TCP 3.2 VI Error Type, ruling V-19: the status of the descriptor that Message ACK names; those before it are
// complete, those behind it are flushed, and the connection ends.
TEST(VitcpAcknowledgment, errorType_isTheStatusOfItsDescriptor) {
  const std::vector<Told> all{{0, false, false, status::remote_descriptor_error},
                              {1, false, false, status::remote_descriptor_error},
                              {2, false, false, status::transport_error},
                              {0, true, false, status::rdma_protection_error},
                              {1, true, false, status::transport_error},
                              {2, true, false, status::transport_error},
                              {0, true, true, status::rdma_protection_error},
                              {1, true, true, status::remote_descriptor_error},
                              {2, true, true, status::transport_error}};
  for (const Told& one : all) {
    SCOPED_TRACE(::testing::Message() << "bit " << one.bit << (one.write ? " write" : " send"));
    TwoHosts hosts;
    RawPeer peer(hosts);
    End end = peer.connect_to(reception);
    end.send("before");
    one.write ? end.rdma_write("it", nullptr, one.immediate ? vi::control::immediate : 0) : end.send("it");
    end.send("behind");
    hosts.settle();
    peer.take();
    vt::Segment nop = RawPeer::message(SegmentType::nop, 0);
    nop.header.message_ack = peer.take().header.message_number;
    nop.header.remote_error.rdma_memory_protection_error = one.bit == 0;
    nop.header.remote_error.vi_descriptor_error = one.bit == 1;
    nop.header.remote_error.unrecoverable_transport_error = one.bit == 2;
    peer.send(nop);
    EXPECT_EQ(end.send_error(0), 0u);
    EXPECT_EQ(end.send_error(1), one.bits);
    EXPECT_EQ(end.send_error(2), status::flushed);
    EXPECT_EQ(end.vi.state(), State::Error);
    hosts.run(runtime::second);
    EXPECT_TRUE(peer.is_closed());
    peer.close();
  }
}

// VI-TCP 3.2 IS Error Code: its semantics are another's, and without a VI Error Type it is no error.
TEST(VitcpAcknowledgment, implementationSpecificCode_isIgnored) {
  TwoHosts hosts;
  RawPeer peer(hosts);
  End end = peer.connect_to(reception);
  end.send("x");
  hosts.settle();
  vt::Segment nop = RawPeer::message(SegmentType::nop, 0);
  nop.header.message_ack = peer.take().header.message_number;
  nop.header.remote_error.implementation_specific = 0x5A;
  peer.send(nop);
  EXPECT_EQ(end.send_error(), 0u);
  EXPECT_EQ(end.vi.state(), State::Connected);
  peer.close();
}

}  // namespace
}  // namespace vitcp::testing
