// What the API says and what stands on the wire, field by field (FC-VI 5.9.7, 7.2, 7.3; VI-DG 6.7).
#include "fcvi/conversions.hpp"

#include <gtest/gtest.h>

#include <string>

namespace fcvi {
namespace {
using machines::connect_originator::Verdict;
using machines::connect_responder::Answer;
using machines::peer_arbitration::Resp1;
using wire::fcvi::Reason;
using Status = std::optional<wire::fcvi::ConnectionStatus>;

// FC-VI Table 17: EnRdmaWr tells of RDMA Writes, EnRdmaRd of RDMA Reads; each is set by itself.
TEST(Conversions, attributes_eachRdmaRightByItself) {
  for (const bool write : {false, true}) {
    for (const bool read : {false, true}) {
      const vi::ViAttributes ours{.enable_rdma_write = write, .enable_rdma_read = read};
      const wire::fcvi::Attributes sent = to_wire(ours, 0, false);
      EXPECT_EQ(sent.rdma_write_enabled, write);
      EXPECT_EQ(sent.rdma_read_enabled, read);
      const auto received = from_wire(sent);
      ASSERT_TRUE(received);
      EXPECT_EQ(received->enable_rdma_write, write);
      EXPECT_EQ(received->enable_rdma_read, read);
    }
  }
}

// FC-VI 7.3, Table 18, ruling 16: level, size, preference and pipeline depth; bandwidths and delay are always zero.
TEST(Conversions, attributes_levelSizeAndQos) {
  const vi::ViAttributes ours{.reliability = vi::ReliabilityLevel::ReliableReception, .max_transfer_size_bytes = 4711};
  const wire::fcvi::Attributes sent = to_wire(ours, 12, true);
  EXPECT_EQ(sent.reliability_level, wire::fcvi::ReliabilityLevel{3});
  EXPECT_EQ(sent.max_transfer_size, 4711u);
  EXPECT_EQ(sent.qos, (wire::fcvi::Qos{.pref = 0x80, .pipeline_depth = 12}));
  EXPECT_EQ(to_wire(ours, 0, false).qos, wire::fcvi::Qos{});
  const auto received = from_wire(sent);
  ASSERT_TRUE(received);
  EXPECT_EQ(received->reliability, vi::ReliabilityLevel::ReliableReception);
  EXPECT_EQ(received->max_transfer_size_bytes, 4711u);
}

// Ruling 16: 1, 2, 3 on the wire are 1, 2, 4 in the API.
TEST(Conversions, levels) {
  constexpr std::pair<vi::ReliabilityLevel, int> levels[] = {{vi::ReliabilityLevel::UnreliableDelivery, 1},
                                                             {vi::ReliabilityLevel::ReliableDelivery, 2},
                                                             {vi::ReliabilityLevel::ReliableReception, 3}};
  for (const auto& [level, code] : levels) {
    EXPECT_EQ(static_cast<int>(to_wire(level)), code);
    EXPECT_EQ(from_wire(static_cast<wire::fcvi::ReliabilityLevel>(code)), level);
  }
}

// FC-VI 7.3: of FCVI_RELIABILITY_LVL and FCVI_PREF all other values are reserved.
TEST(Conversions, attributes_reservedValues) {
  wire::fcvi::Attributes sent = to_wire(vi::ViAttributes{}, 0, false);
  for (const unsigned pref : {0x01u, 0x7Fu, 0x81u, 0xFFu}) {
    sent.qos.pref = static_cast<std::uint8_t>(pref);
    EXPECT_FALSE(from_wire(sent)) << pref;
  }
  sent.qos.pref = 0x80;
  EXPECT_TRUE(from_wire(sent));
  for (const unsigned level : {0u, 4u, 255u}) {
    sent.reliability_level = static_cast<wire::fcvi::ReliabilityLevel>(level);
    EXPECT_FALSE(from_wire(sent)) << level;
  }
}

vi::NetAddress address(const std::string& discriminator) {
  return vi::NetAddress::make(
      {}, std::span(reinterpret_cast<const std::uint8_t*>(discriminator.data()), discriminator.size()));
}
wire::fcvi::ConnectPayload payload_between(const vi::NetAddress& local, const vi::NetAddress& remote) {
  wire::fcvi::ConnectPayload payload;
  payload.local_address = to_wire(local);
  payload.remote_address = to_wire(remote);
  payload.connect_info = discriminator_lengths(local, remote);
  return payload;
}

// Ruling 21: each caller's own length reaches the other end, whatever the two are; info travels only where
// it tells something.
TEST(Conversions, discriminatorLengths_ofEachEnd) {
  for (const std::size_t ours : {0u, 1u, 15u, 16u, 17u, 128u}) {
    for (const std::size_t theirs : {0u, 3u, 15u, 16u, 128u}) {
      const auto payload = payload_between(address(std::string(ours, 'a')), address(std::string(theirs, 'b')));
      EXPECT_EQ(payload.connect_info.has_value(), ours < 16 || theirs < 16) << ours << ", " << theirs;
      EXPECT_EQ(local_address(payload).discriminator_length, ours);
      EXPECT_EQ(remote_address(payload).discriminator_length, theirs);
      EXPECT_EQ(local_address(payload).discriminator, address(std::string(ours, 'a')).discriminator);
    }
  }
}

// Ruling 21: bytes 0 to 4 are "FCVI" and 1; what begins otherwise is somebody else's, and the wire's own lengths hold.
TEST(Conversions, discriminatorLengths_foreignInfo) {
  for (std::size_t wrong = 0; wrong < 5; ++wrong) {
    auto payload = payload_between(address("a"), address("b"));
    ++(*payload.connect_info)[wrong];
    EXPECT_EQ(local_address(payload).discriminator_length, 16u) << wrong;
    EXPECT_EQ(remote_address(payload).discriminator_length, 16u) << wrong;
  }
  auto payload = payload_between(address("a"), address("b"));
  (*payload.connect_info)[5] = 17;  // longer than what the wire says
  (*payload.connect_info)[6] = 16;
  EXPECT_EQ(local_address(payload).discriminator_length, 16u);
  EXPECT_EQ(remote_address(payload).discriminator_length, 16u);
  payload = payload_between(address(std::string(32, 'a')), address("b"));
  (*payload.connect_info)[5] = 20;  // shorter
  EXPECT_EQ(local_address(payload).discriminator_length, 20u);
}

// A payload without connect info, whatever stood there before.
TEST(Conversions, discriminatorLengths_withoutInfo) {
  auto payload = payload_between(address("a"), address("b"));
  payload.connect_info.reset();
  EXPECT_EQ(local_address(payload).discriminator_length, 16u);
  EXPECT_EQ(remote_address(payload).discriminator_length, 16u);
}

// FC-VI Table 12 and 5.9.7.1: what a RESP1 of each code means to its receiver, alone and between peers (Table 2).
TEST(Conversions, resp1_everyReason) {
  struct Meaning {
    unsigned code;
    Verdict verdict;
    Resp1 arbitrated;
  };
  constexpr Meaning meanings[] = {
      {0x01, Verdict::NoMatch, Resp1::NoDiscriminatorMatch},
      {0x02, Verdict::Reject, Resp1::Other},
      {0x03, Verdict::NoMatch, Resp1::NoWaitingConnectionpoint},
      {0x04, Verdict::Reject, Resp1::Other},
      {0x05, Verdict::ConcurrentPeers, Resp1::ConcurrentPeers},
      {0x06, Verdict::Reject, Resp1::Other},
      {0x1F, Verdict::Reject, Resp1::Other},
      {0x20, Verdict::OtherError, Resp1::Other},
      {0x21, Verdict::OtherError, Resp1::ProtocolError},
      {0x22, Verdict::TransportError, Resp1::TransportError},
      {0x23, Verdict::OtherError, Resp1::Other},
      {0x40, Verdict::OtherError, Resp1::Other},
      {0x00, Verdict::OtherError, Resp1::Other},
      {0xFF, Verdict::OtherError, Resp1::Other},
  };
  for (const Meaning& meaning : meanings) {
    SCOPED_TRACE(meaning.code);
    const Status status{{.reason = static_cast<Reason>(meaning.code)}};
    EXPECT_EQ(verdict_of(status), meaning.verdict);
    EXPECT_EQ(arbitrated(status, meaning.verdict), meaning.arbitrated);
  }
  EXPECT_EQ(verdict_of(std::nullopt), Verdict::Accept);
  EXPECT_EQ(arbitrated(std::nullopt, Verdict::Accept), Resp1::Accept);
  EXPECT_EQ(arbitrated(std::nullopt, Verdict::OtherError),
            Resp1::Other);  // accepts, with nothing that we could use
}

// FC-VI Table 12: the code of each answer of ours.
TEST(Conversions, answers) {
  constexpr std::pair<Answer, unsigned> answers[] = {
      {Answer::NoDiscriminatorMatch, 0x01}, {Answer::NoWaitingConnectionpoint, 0x03}, {Answer::ConnectReject, 0x04},
      {Answer::ConcurrentPeers, 0x05},      {Answer::InvalidServiceParm, 0x20},       {Answer::ProtocolError, 0x21},
      {Answer::TransportError, 0x22}};
  for (const auto& [answer, code] : answers) {
    const Status status = status_of(answer);
    ASSERT_TRUE(status) << code;
    EXPECT_EQ(static_cast<unsigned>(status->reason), code);
  }
  EXPECT_FALSE(status_of(Answer::Accept));
}

// VI-DG 6.7: level and maximum transfer size must be the same; the level is told first.
TEST(Conversions, conflicts) {
  const vi::ViAttributes ours{.reliability = vi::ReliabilityLevel::ReliableDelivery, .max_transfer_size_bytes = 100};
  vi::ViAttributes theirs = ours;
  EXPECT_EQ(conflict_between(ours, theirs), vi::Return::Success);
  for (const std::uint32_t size : {99u, 101u}) {
    theirs.max_transfer_size_bytes = size;
    EXPECT_EQ(conflict_between(ours, theirs), vi::Return::InvalidMtu);
  }
  theirs.reliability = vi::ReliabilityLevel::ReliableReception;
  EXPECT_EQ(conflict_between(ours, theirs), vi::Return::InvalidReliabilityLevel);
}

}  // namespace
}  // namespace fcvi
