// Peers that do what they must not: each field wrong, in each state (VI-TCP 3, 4; rulings V-8 to V-26).
#include "tests/vitcp/raw_peer.hpp"

namespace vitcp::testing {
namespace {
using ::testing::IsEmpty;
using vi::ErrorCode, vi::Return, vi::State;
using vt::SegmentType;
using wire::ParseCode, wire::ParseError;
namespace status = vi::status;

const std::vector<std::uint8_t> payload(10, 'p');

/// A segment or octets that must not come, and what they count as.
struct Wrong {
  std::string name;
  std::function<std::vector<std::uint8_t>(const RawPeer&)> octets;
  std::variant<Refusal, ParseError> counted;
};
using Change = std::function<void(vt::Segment&)>;

Wrong wrong(std::string name, SegmentType type, std::uint32_t number, const Change& change,
            std::variant<Refusal, ParseError> counted) {
  return {std::move(name),
          [=](const RawPeer& peer) {
            const bool carries = vt::info_of(type).has_payload;
            vt::Segment segment = RawPeer::message(type, number, carries ? wire::Bytes(payload) : wire::Bytes{});
            change(segment);
            return peer.octets_of(segment);
          },
          counted};
}
/// One octet of a whole Send changed.
Wrong octet(std::string name, std::size_t at, std::uint8_t value, std::variant<Refusal, ParseError> counted) {
  return {std::move(name),
          [=](const RawPeer& peer) {
            auto octets = peer.octets_of(RawPeer::message(SegmentType::send, 1, payload));
            octets[at] = value;
            return octets;
          },
          counted};
}
const Change as_it_is = [](vt::Segment&) {};

std::uint64_t count_of(const ProviderCounters& counters, const std::variant<Refusal, ParseError>& counted) {
  return std::visit([&](const auto& what) { return counters.refused(what); }, counted);
}

class VitcpBadInput : public ::testing::TestWithParam<vi::ReliabilityLevel> {
 protected:
  [[nodiscard]] static bool reliable() { return is_reliable(GetParam()); }
  /// `before` comes, then each of these on a connection of its own: it ends, is counted, and nothing else is hurt.
  static void expect_end(const std::vector<Wrong>& all, const std::function<void(RawPeer&)>& before) {
    for (const Wrong& one : all) {
      SCOPED_TRACE(one.name);
      TwoHosts hosts;
      auto [c, d] = hosts.connect(GetParam());
      RawPeer peer(hosts);
      End end = peer.connect_to(GetParam());
      before(peer);
      end.receive(64);
      peer.send(one.octets(peer));
      hosts.run(runtime::second);
      EXPECT_EQ(end.vi.state(), State::Error);
      EXPECT_EQ(hosts.server->take_errors(), std::vector{ErrorCode::ConnLost});
      EXPECT_EQ(hosts.server->provider.cause_of_end(end.vi).text, "the peer broke a rule of VI/TCP");
      EXPECT_EQ(count_of(hosts.server->provider.counters(), one.counted), 1u);
      EXPECT_EQ(hosts.server->provider.counters().refused(), 1u);
      EXPECT_TRUE(peer.is_closed());
      d.receive(8);
      c.send("fine");
      hosts.settle();
      EXPECT_EQ(d.received(), "fine");
      peer.close();
      end.vi.disconnect();
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, VitcpBadInput, ::testing::Values(unreliable, delivery, reception),
                         [](const auto& level) {
                           return level.param == unreliable ? "Unreliable"
                                  : level.param == delivery ? "Delivery"
                                                            : "Reception";
                         });

// VI-TCP 3.2, 3.4, rulings V-4, V-7 to V-25: between two messages.
TEST_P(VitcpBadInput, connected_betweenMessages) {
  const ParseError bad_type{ParseCode::bad_value, "type"}, bad_version{ParseCode::bad_value, "version"},
      bad_length{ParseCode::bad_length, "segment_length"}, bad_offset{ParseCode::bad_value, "data_offset"},
      bad_extent{ParseCode::bad_length, "rdma_length"};
  const auto numbered = [](std::uint32_t number) {
    return [number](vt::Segment& segment) { segment.header.message_number.value += number; };
  };
  std::vector<Wrong> all{
      octet("version 0", 0, 0, bad_version),
      octet("version 2", 0, 2, bad_version),
      octet("type 9", 1, 0x89, bad_type),
      octet("type 31", 1, 0x9F, bad_type),
      octet("length 23", 3, 23, bad_length),
      octet("length 0", 3, 0, bad_length),
      wrong("number too high", SegmentType::send, 1, numbered(1), Refusal::message_number),
      wrong("number again", SegmentType::send, 1, numbered(0xFFFFFFFF), Refusal::message_number),
      wrong("number far off", SegmentType::rdma_write, 1, numbered(0x80000000), Refusal::message_number),
      wrong("read request's number", SegmentType::rdma_read_request, 1, numbered(1), Refusal::message_number),
      wrong("NOP's number", SegmentType::nop, 0, numbered(1), Refusal::message_number),
      wrong(
          "offset in the first segment", SegmentType::send, 1,
          [](vt::Segment& segment) { segment.header.data_offset = 1; }, Refusal::segment_order),
      wrong(
          "offset beyond 4 GiB", SegmentType::send, 1,
          [](vt::Segment& segment) { segment.header.data_offset = 0xFFFFFFFF; }, bad_offset),
      wrong(
          "offset in a read request", SegmentType::rdma_read_request, 1,
          [](vt::Segment& segment) { segment.header.data_offset = 1; }, bad_offset),
      wrong(
          "read request that goes on", SegmentType::rdma_read_request, 1,
          [](vt::Segment& segment) { segment.header.end_of_message = false; },
          ParseError{ParseCode::bad_value, "end_of_message"}),
      wrong(
          "RDMA length too short", SegmentType::rdma_write, 1,
          [](vt::Segment& segment) { --segment.rdma.length_bytes; }, bad_extent),
      wrong(
          "RDMA length too long", SegmentType::rdma_write, 1, [](vt::Segment& segment) { ++segment.rdma.length_bytes; },
          bad_extent),
      wrong(
          "RDMA Write above the MTU", SegmentType::rdma_write, 1,
          [](vt::Segment& s) { s.rdma.length_bytes = (1u << 20) + 1, s.header.end_of_message = false; },
          Refusal::transfer_size),
      wrong(
          "read request above the MTU", SegmentType::rdma_read_request, 1,
          [](vt::Segment& s) { s.rdma.length_bytes = (1u << 20) + 1; }, Refusal::transfer_size),
      wrong("ConnectReject", SegmentType::connect_reject, 0, as_it_is, Refusal::connection_segment),
      wrong("ConnectNoMatch", SegmentType::connect_no_match, 0, as_it_is, Refusal::connection_segment),
      wrong("read response", SegmentType::rdma_read_response, 1, as_it_is, Refusal::read_response)};
  for (const SegmentType type : {SegmentType::connect_request, SegmentType::connect_accept})
    all.push_back({"connection segment",
                   [type](const RawPeer& peer) {
                     vt::Segment again = RawPeer::request(GetParam());
                     again.header.type = type;
                     return peer.octets_of(again);
                   },
                   Refusal::connection_segment});
  expect_end(all, [](RawPeer&) {});
}

// VI-TCP 2.2.2.2.3, 3.2: within a message only the rest of it, NOPs with its number, and Read Responses.
TEST_P(VitcpBadInput, connected_withinAMessage) {
  const auto more = [](vt::Segment& segment) { segment.header.data_offset = 10; };
  const std::vector<Wrong> all{
      wrong(
          "another type", SegmentType::rdma_write, 1,
          [](vt::Segment& s) { s.header.data_offset = 10, s.rdma.length_bytes = 20; }, Refusal::message_mixed),
      wrong("another message", SegmentType::send, 2, as_it_is, Refusal::message_mixed),
      wrong("a read request", SegmentType::rdma_read_request, 2, as_it_is, Refusal::message_mixed),
      wrong("the beginning again", SegmentType::send, 1, as_it_is, Refusal::segment_order),
      wrong(
          "a gap", SegmentType::send, 1, [](vt::Segment& s) { s.header.data_offset = 11; }, Refusal::segment_order),
      wrong(
          "immediate data", SegmentType::send, 1,
          [&](vt::Segment& s) { more(s), s.header.immediate_data_valid = true; }, Refusal::segment_differs),
      wrong("a NOP of the message before", SegmentType::nop, 0, as_it_is, Refusal::message_number)};
  for (const Wrong& one : all) {
    SCOPED_TRACE(one.name);
    TwoHosts hosts;
    RawPeer peer(hosts);
    End end = peer.connect_to(GetParam());
    end.receive(64);
    vt::Segment first = RawPeer::message(SegmentType::send, 1, payload);
    first.header.end_of_message = false;
    peer.send(first);
    EXPECT_EQ(end.vi.state(), State::Connected);
    peer.send(one.octets(peer));
    hosts.run(runtime::second);
    EXPECT_EQ(end.vi.state(), State::Error);
    EXPECT_EQ(end.receive_error(), status::flushed | status::partial_error);
    EXPECT_EQ(count_of(hosts.server->provider.counters(), one.counted), 1u);
    EXPECT_EQ(hosts.server->provider.counters().refused(), 1u);
    EXPECT_TRUE(peer.is_closed());
    peer.close();
  }
}

// VI-TCP 3.4, ruling V-3: the RDMA header is the same in every segment.
TEST_P(VitcpBadInput, rdmaWrite_withAnotherHeaderInALaterSegment) {
  for (int field = 0; field != 2; ++field) {
    TwoHosts hosts;
    RawPeer peer(hosts);
    End end = peer.connect_to(GetParam());
    std::byte* const target = hosts.server->allocate(64);
    vt::Segment segment = RawPeer::message(SegmentType::rdma_write, 1, payload);
    segment.rdma = {address_of(target), hosts.server->handle, 20};
    segment.header.end_of_message = false;
    peer.send(segment);
    EXPECT_EQ(static_cast<char>(*target), 'p');
    segment.header.data_offset = 10;
    segment.header.end_of_message = true;
    field == 0 ? static_cast<void>(segment.rdma.address += 8)
               : static_cast<void>(segment.rdma.memory_handle.value ^= 1);
    peer.send(segment);
    hosts.run(runtime::second);
    EXPECT_EQ(end.vi.state(), State::Error);
    EXPECT_EQ(hosts.server->provider.counters().refused(Refusal::segment_differs), 1u);
    peer.close();
  }
}

// VI-TCP 3.2 Message ACK, ruling V-5: a message that was never sent.
TEST_P(VitcpBadInput, ack_ofNoMessage) {
  TwoHosts hosts;
  RawPeer peer(hosts);
  End end = peer.connect_to(GetParam());
  vt::Segment nop = RawPeer::message(SegmentType::nop, 0);
  nop.header.message_ack = {12345};
  peer.send(nop);
  hosts.run(runtime::second);
  const bool judged = GetParam() == reception;  // else it must be ignored
  EXPECT_EQ(end.vi.state(), judged ? State::Error : State::Connected);
  EXPECT_EQ(hosts.server->provider.counters().refused(Refusal::message_ack), judged ? 1u : 0u);
  peer.close();
}

// VI-TCP 2.2.2.2.6, ruling V-11: more RDMA Reads than the window that was told, while none can be answered.
TEST_P(VitcpBadInput, readRequests_beyondTheWindow) {
  Settings settings;
  settings.server.rdma_read_window = 2;
  TwoHosts hosts(settings);
  RawPeer peer(hosts);
  End end = peer.connect_to(GetParam());
  std::vector<std::uint8_t> requests;
  for (std::uint32_t number = 1; number != 4; ++number) {
    const auto octets = peer.octets_of(RawPeer::message(SegmentType::rdma_read_request, number));
    requests.insert(requests.end(), octets.begin(), octets.end());
  }
  peer.send(requests);  // with one write: read at once
  hosts.run(runtime::second);
  EXPECT_EQ(end.vi.state(), State::Error);
  EXPECT_EQ(hosts.server->provider.counters().refused(Refusal::read_window), 1u);
  peer.close();
}

// VI-TCP 3.2: the end of the stream within a segment, and a stall: nothing is delivered, the next octet goes on.
TEST_P(VitcpBadInput, segment_thatStalls_goesOn) {
  TwoHosts hosts;
  RawPeer peer(hosts);
  End end = peer.connect_to(GetParam());
  end.receive(64);
  const auto octets = peer.octets_of(RawPeer::message(SegmentType::send, 1, payload));
  peer.send(wire::Bytes(octets).first(30));
  hosts.run(299 * runtime::second);  // of the 300 that ruling V-38 gives it
  EXPECT_EQ(end.receive_error(), std::nullopt);
  peer.send(wire::Bytes(octets).subspan(30));
  EXPECT_EQ(end.received(), "pppppppppp");
  peer.send(wire::Bytes(octets).first(30 - 24));  // of the next one
  peer.close();
  hosts.run(runtime::second);
  EXPECT_EQ(end.vi.state(), State::Error);
  EXPECT_EQ(hosts.server->provider.counters().refused(Refusal::end_in_segment), 1u);
}

// VI-TCP 3.2 Transmit Error in any segment: the whole message is in error.
TEST_P(VitcpBadInput, transmitError_inTheFirstOfTwoSegments) {
  TwoHosts hosts;
  RawPeer peer(hosts);
  End end = peer.connect_to(GetParam());
  end.receive(64);
  end.receive(64);
  vt::Segment segment = RawPeer::message(SegmentType::send, 1, payload);
  segment.header.end_of_message = false;
  segment.header.transmit_error = true;
  peer.send(segment);
  if (!reliable()) {
    segment.header.transmit_error = false;
    segment.header.end_of_message = true;
    segment.header.data_offset = 10;
    peer.send(segment);
    peer.send(RawPeer::message(SegmentType::send, 2, payload));
    EXPECT_EQ(end.received(1), "pppppppppp");
  }
  hosts.run(runtime::second);
  EXPECT_EQ(end.receive_error(), status::transport_error);
  EXPECT_EQ(end.vi.state(), reliable() ? State::Error : State::Connected);
  peer.close();
}

// VI-TCP 3.2 Transmit Error of an RdmaReadRequest, which is a message, too (2.2.2.2.3): it is not answered.
TEST_P(VitcpBadInput, transmitError_ofAReadRequest) {
  TwoHosts hosts;
  RawPeer peer(hosts);
  End end = peer.connect_to(GetParam());
  end.receive(64);
  hosts.settle();
  while (!peer.nothing_came()) peer.take();
  vt::Segment segment = RawPeer::message(SegmentType::rdma_read_request, 1);
  segment.rdma = {address_of(hosts.server->allocate(8)), hosts.server->handle, 8};
  segment.header.transmit_error = true;
  peer.send(segment);
  hosts.run(runtime::second);
  const std::vector errors = hosts.server->take_errors();
  EXPECT_EQ(std::count(errors.begin(), errors.end(), vi::ErrorCode::RdmaTransport), 1);
  EXPECT_EQ(end.vi.state(), reliable() ? State::Error : State::Connected);
  bool told = false;
  while (!peer.nothing_came()) {
    const vt::SegmentHeader header = peer.take().header;
    EXPECT_EQ(header.type, SegmentType::nop);
    told = told || header.remote_error.unrecoverable_transport_error;
  }
  EXPECT_EQ(told, GetParam() == reception);
  if (!reliable()) {
    peer.send(RawPeer::message(SegmentType::send, 2, payload));
    EXPECT_EQ(end.received(), "pppppppppp");
  }
  peer.close();
}

// VI-TCP 3.6, ruling V-21: a wrong CRC ends reliable connections, and flags the message at Unreliable Delivery; at
// Reliable Reception the sender is told before.
TEST_P(VitcpBadInput, crc_wrong) {
  TwoHosts hosts;
  RawPeer peer(hosts);
  End end = peer.connect_to(GetParam(), true);
  end.receive(64);
  end.receive(64);
  hosts.settle();
  while (!peer.nothing_came()) peer.take();
  auto octets = peer.octets_of(RawPeer::message(SegmentType::send, 1, payload));
  octets[24] ^= 1;
  peer.send(octets);
  hosts.run(runtime::second);
  EXPECT_EQ(end.receive_error(), status::transport_error);
  EXPECT_EQ(hosts.server->provider.counters().refused(ParseError{ParseCode::bad_crc, "crc"}), 1u);
  EXPECT_EQ(end.vi.state(), reliable() ? State::Error : State::Connected);
  EXPECT_EQ(peer.is_closed(), reliable());
  if (GetParam() == reception) {
    const vt::Segment nop = peer.take();
    EXPECT_EQ(nop.header.type, SegmentType::nop);
    EXPECT_EQ(nop.header.message_ack.value, RawPeer::first_number + 1);
    EXPECT_TRUE(nop.header.remote_error.unrecoverable_transport_error);
    EXPECT_FALSE(nop.header.remote_error.vi_descriptor_error);
  }
  EXPECT_TRUE(reliable() || end.vi.can_receive());
  if (!reliable()) {
    peer.send(RawPeer::message(SegmentType::send, 2, payload));
    EXPECT_EQ(end.received(1), "pppppppppp");
  }
  EXPECT_TRUE(peer.nothing_came() || !reliable());
  peer.close();
}

// VI-TCP 3.6 item 2, ruling V-21: the CRC is judged before all else: whatever bit of a segment was hit, it is a
// transport error, never one of the protocol. The length is the one field that is needed before.
TEST_P(VitcpBadInput, crc_wrong_inEachOctet) {
  for (std::size_t at = 0; at != 24 + 10 + 4; ++at) {
    if (at == 2 || at == 3) continue;  // Segment Length
    for (const unsigned bit : {0x80u, 0x10u, 0x01u}) {
      SCOPED_TRACE(at);
      TwoHosts hosts;
      RawPeer peer(hosts);
      End end = peer.connect_to(GetParam(), true);
      end.receive(64);
      hosts.settle();
      while (!peer.nothing_came()) peer.take();
      auto octets = peer.octets_of(RawPeer::message(SegmentType::send, 1, payload));
      octets[at] = static_cast<std::uint8_t>(octets[at] ^ bit);
      peer.send(octets);
      hosts.run(runtime::second);
      EXPECT_EQ(hosts.server->provider.counters().refused(), 1u);
      EXPECT_EQ(hosts.server->provider.counters().refused(ParseError{ParseCode::bad_crc, "crc"}), 1u);
      if (reliable()) {
        EXPECT_NE(hosts.server->provider.cause_of_end(end.vi).text, "the peer broke a rule of VI/TCP");
      }
      if (GetParam() == reception) {
        ASSERT_FALSE(peer.nothing_came());
        EXPECT_TRUE(peer.take().header.remote_error.unrecoverable_transport_error);
      }
      peer.close();
    }
  }
}

// Ruling V-21: at Unreliable Delivery the message is flagged and the next one arrives, whichever of its segments was
// hit and in whichever part; nothing of a damaged header is believed of those that follow.
TEST_P(VitcpBadInput, crc_wrong_inASegmentOfMany_flagsTheMessageOnly) {
  if (reliable()) return;
  for (const SegmentType type : {SegmentType::send, SegmentType::rdma_write})
    for (std::uint32_t hit = 0; hit != 3; ++hit)
      for (const std::size_t at : {1, 4, 8, 25, 30, 41}) {  // End of Message, Data Offset, Immediate Data, what follows
        SCOPED_TRACE(to_string(type));
        SCOPED_TRACE(::testing::Message() << "segment " << hit << " octet " << at);
        TwoHosts hosts;
        RawPeer peer(hosts);
        End end = peer.connect_to(GetParam(), true);
        for (int i = 0; i != 3; ++i) end.receive(64);
        std::byte* const target = hosts.server->allocate(64);
        for (std::uint32_t i = 0; i != 3; ++i) {
          const std::vector<std::uint8_t> part(20, 'p');
          vt::Segment segment = RawPeer::message(type, 1, part);
          segment.rdma = {address_of(target), hosts.server->handle, 60};
          segment.header.data_offset = 20 * i;
          segment.header.immediate_data_valid = true;
          segment.header.end_of_message = i == 2;
          auto octets = peer.octets_of(segment);
          if (i == hit) octets[at] ^= at == 1 ? 0x80 : 1;
          peer.send(octets);
        }
        peer.send(RawPeer::message(SegmentType::send, 2, payload));
        EXPECT_EQ(end.vi.state(), State::Connected);
        EXPECT_EQ(hosts.server->provider.counters().refused(), 1u);
        EXPECT_EQ(end.receive_error(0), status::transport_error);
        EXPECT_EQ(end.received(1), "pppppppppp");
        peer.close();
      }
}

// VI-TCP 3.2 Message ACK: one that stood in the header of a Send that could not be sent goes out all the same, though
// that Send ends the connection.
TEST(VitcpLostHeader, ack_ofASendThatCannotBeSent_isSent) {
  TwoHosts hosts;
  RawPeer peer(hosts);
  End end = peer.connect_to(reception);
  wire::MemHandle gone;
  std::byte* const memory = hosts.server->allocate(64);
  ASSERT_EQ(hosts.server->nic.register_memory(address_of(memory), memory, 64, {}, gone), Return::Success);
  for (int i = 0; i != 100; ++i) end.send("x");  // all receives that the peer has
  end.receive(64);
  end.send("12345678");
  end.send_segment(100) = {address_of(memory), gone.value, 8};
  hosts.settle();
  vt::MessageNumber last{};
  while (!peer.nothing_came()) last = peer.take().header.message_number;
  ASSERT_EQ(hosts.server->nic.memory().deregister(address_of(memory), gone), Return::Success);
  vt::Segment segment = RawPeer::message(SegmentType::send, 1, payload);
  segment.header.rx_descriptors_posted = 101;
  segment.header.message_ack = last;
  peer.send(segment);
  hosts.run(runtime::second);
  EXPECT_EQ(end.send_error(99), 0u);
  EXPECT_EQ(end.send_error(100), status::protection_error);
  EXPECT_EQ(end.received(), "pppppppppp");
  ASSERT_FALSE(peer.nothing_came());
  EXPECT_EQ(peer.take().header.message_ack.value, RawPeer::first_number + 1);
  peer.close();
}

// VI-TCP 3.2: each segment of a message has its immediate data, and the flag; Message ACK and Remote Error Code are
// zero but at Reliable Reception. At the other end the consumer gets the immediate data.
TEST_P(VitcpBadInput, immediateData_standsInEachSegment) {
  TwoHosts hosts;
  RawPeer peer(hosts);
  End end = peer.connect_to(GetParam());
  end.receive(64);
  hosts.settle();
  while (!peer.nothing_came()) peer.take();
  vt::Segment segment = RawPeer::message(SegmentType::send, 1, payload);
  segment.header.immediate_data_valid = true;
  segment.header.immediate_data = 0x12345678;
  segment.header.rx_descriptors_posted = 100;
  peer.send(segment);
  EXPECT_EQ(end.received_control().immediate_data, 0x12345678u);
  while (!peer.nothing_came()) peer.take();
  end.send(std::string(150'000, 'i'), vi::control::op_send_receive | vi::control::immediate);
  hosts.settle();
  int segments = 0;
  for (; !peer.nothing_came(); ++segments) {
    const vt::SegmentHeader header = peer.take().header;
    EXPECT_TRUE(header.immediate_data_valid);
    EXPECT_EQ(header.immediate_data, 77u);
    EXPECT_EQ(header.remote_error, vt::RemoteErrorCode{});
    EXPECT_EQ(header.message_ack.value, GetParam() == reception ? RawPeer::first_number + 1 : 0);
  }
  EXPECT_GE(segments, 3);
  peer.close();
}

// VI-TCP 3.2 Message ACK: not before the completion is written; where that cannot be, the message is in error.
TEST(VitcpCompletion, thatCannotBeWritten_isNotAcknowledged) {
  TwoHosts hosts;
  RawPeer peer(hosts);
  End end = peer.connect_to(reception);
  std::byte* const memory = hosts.server->allocate(64);
  std::byte* const data = hosts.server->allocate(64);
  const vi::ControlSegment head{.segment_count = 1, .length_bytes = 64};
  const vi::Segment where{address_of(data), hosts.server->handle.value, 64};
  std::memcpy(memory, &head, sizeof head);
  std::memcpy(memory + sizeof head, &where, sizeof where);
  wire::MemHandle gone;
  ASSERT_EQ(hosts.server->nic.register_memory(address_of(memory), memory, 64, {}, gone), Return::Success);
  end.vi.post_receive(address_of(memory), gone);
  hosts.settle();
  while (!peer.nothing_came()) peer.take();
  vt::Segment segment = RawPeer::message(SegmentType::send, 1, payload);
  segment.header.end_of_message = false;
  peer.send(segment);
  ASSERT_EQ(hosts.server->nic.memory().deregister(address_of(memory), gone), Return::Success);
  segment.header.end_of_message = true;
  segment.header.data_offset = 10;
  peer.send(segment);
  hosts.run(runtime::second);
  const std::vector errors = hosts.server->take_errors();
  EXPECT_EQ(std::count(errors.begin(), errors.end(), vi::ErrorCode::CompProt), 1);
  ASSERT_FALSE(peer.nothing_came());
  const vt::SegmentHeader answer = peer.take().header;
  EXPECT_EQ(answer.message_ack.value, RawPeer::first_number + 1);
  EXPECT_TRUE(answer.remote_error.vi_descriptor_error);
  EXPECT_TRUE(peer.nothing_came());
  peer.close();
}

// VI-TCP 3.2 Rx Descriptors Posted, ruling V-6: what VipDisconnect flushes was posted all the same; nothing more is
// told.
TEST(VitcpDisconnect, receivesThatAreFlushed_areNotTakenBack) {
  for (const vi::ReliabilityLevel level : {unreliable, delivery, reception}) {
    TwoHosts hosts;
    RawPeer peer(hosts);
    End end = peer.connect_to(level, false, true);
    for (int i = 0; i != 3; ++i) end.receive(64);
    hosts.settle();
    std::uint16_t told = 0;
    while (!peer.nothing_came()) told = peer.take().header.rx_descriptors_posted;
    EXPECT_EQ(told, 3u);
    PlainCall call;
    hosts.server->provider.disconnect(end.vi, call);
    hosts.run(3 * runtime::second);
    EXPECT_EQ(call.result, Return::Success);
    EXPECT_TRUE(peer.nothing_came());
    EXPECT_TRUE(peer.is_closed());
    peer.close();
  }
}

}  // namespace
}  // namespace vitcp::testing
