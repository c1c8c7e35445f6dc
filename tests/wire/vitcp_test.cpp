// Segments of VI/TCP: known octets of each type, every field wrong, what is ignored, what a refusal says.
#include "expect.hpp"
#include "wire/vitcp/segment.hpp"

namespace wire::vitcp {
/// For GoogleTest's messages.
void PrintTo(const Segment& segment, std::ostream* out) { *out << segment.to_string(); }
}  // namespace wire::vitcp

namespace wire::test {
namespace {

using Octets = std::vector<std::uint8_t>;
using vitcp::Segment;
using vitcp::SegmentHeader;
using vitcp::SegmentType;

SegmentHeader header_of(SegmentType type, std::size_t length) {
  SegmentHeader header;
  header.type = type;
  header.segment_length = static_cast<std::uint16_t>(length);
  header.message_number = {0x123};
  header.message_ack = {7};
  header.rx_descriptors_posted = 5;
  return header;
}

/// The octets parse to the segment, and the segment writes the octets.
void expect_segment(const Octets& octets, const Segment& segment, bool agreed) {
  const auto parsed = Segment::parse(octets, agreed);
  ASSERT_TRUE(parsed.has_value()) << to_string(parsed.error());
  EXPECT_EQ(*parsed, segment);
  EXPECT_EQ(segment.size(), octets.size());
  EXPECT_EQ(written(segment), octets);
  EXPECT_EQ(parsed->header.segment_length, octets.size());
}

void expect_refused(const Octets& octets, ParseCode code, std::string_view field, bool agreed = false) {
  const auto parsed = Segment::parse(octets, agreed);
  ASSERT_FALSE(parsed.has_value()) << parsed->to_string();
  EXPECT_EQ(parsed.error().code, code) << to_string(parsed.error());
  EXPECT_EQ(parsed.error().field, field);
}

const auto send =
    hex("01"            // Version
        "80"            // End of Message, Send
        "001D"          // Segment Length
        "00000000"      // Data Offset
        "00000000"      // Immediate Data
        "00000123"      // Message Number
        "00000007"      // Message ACK
        "0005"          // Rx Descriptors Posted
        "0000"          // Remote Error Code: none
        "AABBCCDDEE");  // payload
const auto send_with_crc =
    hex("01 80 0021 00000000 00000000 00000123 00000007 0005 0000 AABBCCDDEE"
        "20111A02");  // CRC
const auto rdma_write =
    hex("01 C1 002F"  // End of Message, Immediate Data Valid, RdmaWrite
        "00000000"    // Data Offset
        "CAFEF00D"    // Immediate Data
        "00000123 00000007 0005 0000"
        "00007F1234567890"  // RDMA Address
        "0BADCAFE"          // Registered Memory Handle
        "00000003"          // RDMA Length
        "010203"            // payload
        "38DFB127");        // CRC
const auto read_request =
    hex("01 82 0028 00000000 00000000 00000123 00000007 0005 0000"  // RdmaReadRequest
        "00007F1234567890 0BADCAFE 00100000");
const auto read_response =
    hex("01 23 001A"  // Transmit Error, not the end, RdmaReadResponse
        "00000333"    // Data Offset
        "00000000 00777660 00000007 0005 0000"
        "0102");
const auto nop =
    hex("01 84 0018 00000000 00000000 00000123 00000007 0005"
        "3206");  // Remote Error Code: IS error code 32h, UTE, VDE
const std::string ce_fixed =
    "001B"      // RDMA Read Enable, RDMA Write Enable, Reliable Delivery
    "0003"      // Calling Discriminator Length
    "00100000"  // MTU Size
    "616263" +
    std::string(122, '0') +  // Calling Discriminator
    "0002"                   // Calling RDMA Read Window
    "0002"                   // Called Discriminator Length
    "7879" +
    std::string(124, '0');  // Called Discriminator
/// `level`: 001B has two level bits; those that parse have one.
std::string ce_with(std::string_view attributes) { return std::string(attributes) + ce_fixed.substr(4); }

vitcp::CeHeader ce_header() {
  vitcp::CeHeader ce;
  ce.level = vitcp::ReliabilityLevel::reliable_delivery;
  ce.rdma_write_enable = ce.rdma_read_enable = true;
  ce.mtu_size_bytes = 1 << 20;
  ce.rdma_read_window = 2;
  ce.calling = vitcp::Discriminator::of(hex("616263"));
  ce.called = vitcp::Discriminator::of(hex("7879"));
  return ce;
}

const std::string request_header = "01 85 00A4 00000000 00000000 00000123 00000000 0005 0000";
Octets connect_request(std::string_view options = "", std::string_view attributes = "001A") {
  Octets octets = join(hex(request_header), hex(ce_with(attributes)), hex(options));
  store_big<2>(octets.data() + 2, static_cast<std::uint16_t>(octets.size()));
  return octets;
}
/// The same with the CRC that it has to have.
Octets with_crc(Octets octets) {
  octets.resize(octets.size() + 4);
  store_big<2>(octets.data() + 2, static_cast<std::uint16_t>(octets.size()));
  vitcp::store_crc(octets.data() + octets.size() - 4, vitcp::crc(Bytes(octets).first(octets.size() - 4)));
  return octets;
}

// VI-TCP 3.2 Type 0.
TEST(Vitcp, send) {
  Segment segment;
  segment.header = header_of(SegmentType::send, 0x1D);
  const Octets data = hex("AABBCCDDEE");
  segment.payload = data;
  expect_segment(send, segment, false);
}

// VI-TCP 3.5: a trailer in all segments if both ends had the option.
TEST(Vitcp, send_with_crc) {
  Segment segment;
  segment.header = header_of(SegmentType::send, 0x21);
  const Octets data = hex("AABBCCDDEE");
  segment.payload = data;
  segment.trailer = true;
  expect_segment(send_with_crc, segment, true);
}

// VI-TCP 3.2 Type 1, 3.4.
TEST(Vitcp, rdma_write) {
  Segment segment;
  segment.header = header_of(SegmentType::rdma_write, 0x2F);
  segment.header.immediate_data_valid = true;
  segment.header.immediate_data = 0xCAFEF00D;
  segment.rdma = {0x00007F1234567890, {0x0BADCAFE}, 3};
  const Octets data = hex("010203");
  segment.payload = data;
  segment.trailer = true;
  expect_segment(rdma_write, segment, true);
}

// VI-TCP 3.2 Type 2, 3.4.
TEST(Vitcp, rdma_read_request) {
  Segment segment;
  segment.header = header_of(SegmentType::rdma_read_request, 0x28);
  segment.rdma = {0x00007F1234567890, {0x0BADCAFE}, 1 << 20};
  expect_segment(read_request, segment, false);
}

// VI-TCP 3.2 Type 3: no RDMA header (ruling V-2).
TEST(Vitcp, rdma_read_response) {
  Segment segment;
  segment.header = header_of(SegmentType::rdma_read_response, 0x1A);
  segment.header.end_of_message = false;
  segment.header.transmit_error = true;
  segment.header.data_offset = 0x333;
  segment.header.message_number = {0x777660};
  const Octets data = hex("0102");
  segment.payload = data;
  expect_segment(read_response, segment, false);
}

// VI-TCP 3.2 Type 4, Remote Error Code.
TEST(Vitcp, nop) {
  Segment segment;
  segment.header = header_of(SegmentType::nop, 0x18);
  segment.header.remote_error = {0x32, true, true, false};
  expect_segment(nop, segment, false);
}

// VI-TCP 3.2 Type 5, 3.3: without options.
TEST(Vitcp, connect_request) {
  Segment segment;
  segment.header = header_of(SegmentType::connect_request, 0xA4);
  segment.header.message_ack = {0};
  segment.ce = ce_header();
  expect_segment(connect_request(), segment, true);
}

// VI-TCP 3.2 Type 6, 3.3, 3.5: with CRC option, End of Option List, and CRC.
TEST(Vitcp, connect_accept_with_crc) {
  Octets octets = connect_request("0001 0004 0002 0004 0000");
  octets[1] = 0x86;
  Segment segment;
  segment.header = header_of(SegmentType::connect_accept, 0xB2);
  segment.header.message_ack = {0};
  segment.ce = ce_header();
  segment.ce.options.crc = segment.ce.options.urgent_marker = segment.ce.options.end = true;
  segment.trailer = true;
  expect_segment(with_crc(octets), segment, false);
}

// VI-TCP 3.2 Type 7, 3.6: the Segment Length tells whether a CRC is there, whatever was agreed.
TEST(Vitcp, connect_reject) {
  const auto plain = hex("01 87 0018 00000000 00000000 00000777 00000123 0000 0000");
  Segment segment;
  segment.header = header_of(SegmentType::connect_reject, 0x18);
  segment.header.message_number = {0x777};
  segment.header.message_ack = {0x123};
  segment.header.rx_descriptors_posted = 0;
  for (const bool agreed : {false, true}) expect_segment(plain, segment, agreed);
  segment.header.segment_length = 0x1C;
  segment.trailer = true;
  for (const bool agreed : {false, true}) expect_segment(with_crc(plain), segment, agreed);
}

// VI-TCP 3.2 Type 8.
TEST(Vitcp, connect_no_match) {
  const auto octets = hex("01 88 0018 00000000 00000000 00000777 00000123 0000 0000");
  Segment segment;
  segment.header = header_of(SegmentType::connect_no_match, 0x18);
  segment.header.message_number = {0x777};
  segment.header.message_ack = {0x123};
  segment.header.rx_descriptors_posted = 0;
  expect_segment(octets, segment, false);
}

// VI-TCP 3.2: nine types, told by the five low bits; the draft's names.
TEST(Vitcp, types_have_their_numbers_and_names) {
  const std::array names{"Send",           "RdmaWrite",     "RdmaReadRequest", "RdmaReadResponse", "NOP",
                         "ConnectRequest", "ConnectAccept", "ConnectReject",   "ConnectNoMatch"};
  ASSERT_EQ(vitcp::segment_types.size(), names.size());
  for (std::size_t number = 0; number < names.size(); ++number) {
    EXPECT_EQ(static_cast<std::size_t>(vitcp::segment_types[number].type), number);
    EXPECT_EQ(to_string(static_cast<SegmentType>(number)), names[number]);
  }
  EXPECT_EQ(to_string(static_cast<SegmentType>(names.size())), text::unknown);
}

// VI-TCP 3.2 Type/Flags: a type that is none of the nine, also of another version.
TEST(Vitcp, unknown_type_is_refused) {
  for (std::uint8_t type = 9; type < 0x20; ++type) {
    Octets octets = nop;
    octets[1] = static_cast<std::uint8_t>(0x80 | type);
    expect_refused(octets, ParseCode::bad_value, "type");
    octets[0] = 2;
    expect_refused(octets, ParseCode::bad_value, "type");
  }
}

// VI-TCP 3.2 Version: 1.
TEST(Vitcp, other_version_is_refused) {
  for (const unsigned version : {0U, 2U, 0xFFU}) {
    Octets octets = connect_request();
    octets[0] = static_cast<std::uint8_t>(version);
    expect_refused(octets, ParseCode::bad_value, "version");
  }
}

Octets with_length(Octets octets, std::size_t length) {
  octets.resize(std::max(octets.size(), length));
  store_big<2>(octets.data() + 2, static_cast<std::uint16_t>(length));
  return octets;
}

// VI-TCP 3.2 Segment Length: below the headers of the type.
TEST(Vitcp, length_below_the_headers_is_refused) {
  for (const Octets& octets : {send, rdma_write, read_request, read_response, nop, connect_request()}) {
    const std::size_t least = 24 + vitcp::following_bytes(static_cast<SegmentType>(octets[1] & 0x1F));
    for (const std::size_t length : {std::size_t{0}, std::size_t{23}, least - 1})
      expect_refused(with_length(octets, length), ParseCode::bad_length, "segment_length");
  }
}

// VI-TCP 3.1: no payload in segments of these types.
TEST(Vitcp, length_beyond_a_segment_without_payload_is_refused) {
  for (const Octets& octets : {read_request, nop})
    for (const std::size_t more : {1U, 3U, 4U, 5U, 1000U})
      expect_refused(with_length(octets, octets.size() + more), ParseCode::bad_length, "segment_length");
}

// VI-TCP 3.5, 3.6: with an agreed CRC a segment that has no room for it.
TEST(Vitcp, length_without_the_agreed_trailer_is_refused) {
  for (const Octets& octets : {read_request, nop})
    expect_refused(octets, ParseCode::bad_length, "segment_length", true);
  expect_refused(with_length(send, 27), ParseCode::bad_length, "segment_length", true);
}

// VI-TCP 3.2 Data Offset: all messages without payload are one segment.
TEST(Vitcp, offset_in_a_message_of_one_segment_is_refused) {
  for (Octets octets : {read_request, connect_request()}) {
    octets[7] = 1;
    expect_refused(octets, ParseCode::bad_value, "data_offset");
  }
}

// VI-TCP 3.2 Data Offset: a message of at most 4 GiB - 1.
TEST(Vitcp, offset_beyond_the_longest_message_is_refused) {
  Octets octets = send;
  store_big<4>(octets.data() + 4, 0xFFFFFFFA);
  EXPECT_TRUE(Segment::parse(octets, false).has_value());
  store_big<4>(octets.data() + 4, 0xFFFFFFFB);
  expect_refused(octets, ParseCode::bad_value, "data_offset");
}

// VI-TCP 3.2 BIT 7: a RdmaReadRequest is one segment.
TEST(Vitcp, read_request_without_end_is_refused) {
  Octets octets = read_request;
  octets[1] = 0x02;
  expect_refused(octets, ParseCode::bad_value, "end_of_message");
}

// VI-TCP 3.4 RDMA Length: the whole message's.
TEST(Vitcp, segment_outside_the_rdma_length_is_refused) {
  const auto changed = [](std::uint32_t length, std::uint8_t flags) {
    Octets octets = rdma_write;
    octets.resize(octets.size() - 4);
    octets[1] = flags;
    store_big<4>(octets.data() + 36, length);
    return with_crc(octets);
  };
  expect_refused(changed(2, 0xC1), ParseCode::bad_length, "rdma_length", true);  // goes beyond
  expect_refused(changed(4, 0xC1), ParseCode::bad_length, "rdma_length", true);  // ends before
  expect_refused(changed(3, 0x41), ParseCode::bad_length, "rdma_length", true);  // has all, and does not end
  EXPECT_TRUE(Segment::parse(changed(4, 0x41), true).has_value());
}

// VI-TCP 3.3 Calling Attributes, ruling V-8: exactly one level.
TEST(Vitcp, none_or_several_levels_are_refused) {
  for (const std::string_view attributes : {"0018", "001B", "001D", "001E", "001F"})
    expect_refused(connect_request("", attributes), ParseCode::bad_value, "reliability_level");
  for (const std::string_view attributes : {"0019", "001A", "001C"})
    EXPECT_TRUE(Segment::parse(connect_request("", attributes), false).has_value());
}

// VI-TCP 3.3 Calling Attributes.
TEST(Vitcp, each_attribute_has_its_bit) {
  const auto ce = [](std::string_view attributes) {
    return Segment::parse(connect_request("", attributes), false)->ce;
  };
  EXPECT_EQ(ce("0001").level, vitcp::ReliabilityLevel::unreliable);
  EXPECT_EQ(ce("0002").level, vitcp::ReliabilityLevel::reliable_delivery);
  EXPECT_EQ(ce("0004").level, vitcp::ReliabilityLevel::reliable_reception);
  EXPECT_TRUE(ce("0009").rdma_write_enable);
  EXPECT_TRUE(ce("0011").rdma_read_enable);
  EXPECT_TRUE(ce("0021").descriptor_flow_control);
  EXPECT_TRUE(ce("0041").peer_to_peer);
  EXPECT_EQ(ce("FF81"), ce("0001"));  // reserved
}

// VI-TCP 3.3 Discriminator Lengths: at most 64 octets.
TEST(Vitcp, discriminator_beyond_64_octets_is_refused) {
  for (const auto& [at, field] :
       {std::pair{26, "calling_discriminator_length"}, std::pair{98, "called_discriminator_length"}})
    for (const unsigned length : {65U, 0x100U, 0xFFFFU}) {
      Octets octets = connect_request();
      store_big<2>(octets.data() + at, static_cast<std::uint16_t>(length));
      expect_refused(octets, ParseCode::bad_length, field);
    }
}

// VI-TCP 3.3 Discriminators: their lengths count, not what lies behind.
TEST(Vitcp, octets_behind_a_discriminator_are_ignored) {
  Octets octets = connect_request();
  octets[32 + 3] = octets[32 + 63] = octets[100 + 2] = 0x55;
  const auto parsed = Segment::parse(octets, false);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->ce, ce_header());
  EXPECT_EQ(written(*parsed), connect_request());
}

// VI-TCP 3.3 MTU Size, ruling V-9.
TEST(Vitcp, mtu_of_zero_is_refused) {
  Octets octets = connect_request();
  store_big<4>(octets.data() + 28, 0);
  expect_refused(octets, ParseCode::bad_value, "mtu_size");
}

vitcp::Options options_of(std::string_view list) {
  const auto parsed = Segment::parse(connect_request(list), false);
  EXPECT_TRUE(parsed.has_value()) << list << ": " << to_string(parsed.error());
  return parsed ? parsed->ce.options : vitcp::Options{};
}

// VI-TCP 3.3 Options: a receiver ignores those that it does not know, ruling V-23.
TEST(Vitcp, unknown_options_are_skipped) {
  EXPECT_TRUE(options_of("7777 0004 0002 0004").urgent_marker);
  EXPECT_TRUE(options_of("7777 0009 0102030405 0002 0004 0000").urgent_marker);
  EXPECT_EQ(options_of("7777 0009 0102030405 0002 0004 0000").other, hex("7777 0009 0102030405"));
}

// VI-TCP 3.3 Options: the end of the segment or of the list ends it.
TEST(Vitcp, list_ends_with_the_segment_or_by_its_own_end) {
  EXPECT_FALSE(options_of("0002 0004").end);
  EXPECT_TRUE(options_of("0002 0004 0000").end);
  const auto behind = options_of("0000 0002 0004 00000000");
  EXPECT_FALSE(behind.urgent_marker);
  EXPECT_EQ(behind.padding_bytes, 8);
}

// VI-TCP 3.3: "End Of Option List" is there with the CRC option, padding or not.
TEST(Vitcp, crc_option_needs_the_end_of_the_list) {
  expect_refused(connect_request("0001 0004"), ParseCode::bad_value, "end_of_option_list");
  expect_refused(connect_request("0001 0004 0000 5FC534"), ParseCode::truncated, "crc");
  EXPECT_TRUE(Segment::parse(with_crc(connect_request("0001 0004 0000")), false)->ce.options.crc);
  EXPECT_EQ(Segment::parse(with_crc(connect_request("0001 0004 0000 0000")), false)->ce.options.padding_bytes, 2);
}

// VI-TCP 3.5, 3.6, ruling V-39: a CRC without its option, whose type was damaged: unknown, another one, or the list's
// end; wherever among the first four it stands, and with padding behind the list.
TEST(Vitcp, trailer_without_its_option_is_refused) {
  constexpr std::size_t first = 24 + 140;
  const auto expect_lost = [](const std::string& list, std::size_t at) {
    const Octets whole = with_crc(connect_request(list));
    ASSERT_TRUE(Segment::parse(whole, false).has_value());
    for (const auto& [high, low] : {std::pair{0x00, 0xFE}, {0xFE, 0x01}, {0x00, 0x02}, {0x00, 0x00}, {0x77, 0x77}}) {
      Octets octets = whole;
      octets[at] = static_cast<std::uint8_t>(high);
      octets[at + 1] = static_cast<std::uint8_t>(low);
      expect_refused(octets, ParseCode::bad_crc, "crc");
    }
  };
  expect_lost("0001 0004 0000", first);
  expect_lost("0001 0004 0000 0000 0000", first);
  expect_lost("0001 0004 0002 0004 0000", first);
  expect_lost("0002 0004 7777 0005 00 7778 0004 0001 0004 0000", first + 13);
}

// VI-TCP 3.3: no clause says what stands behind End of Option List where there is no CRC: it is skipped.
TEST(Vitcp, octets_behind_the_list_are_no_crc) {
  EXPECT_EQ(options_of("0000 5FC534A8").padding_bytes, 4);
  EXPECT_EQ(options_of("0000 FFFFFF").padding_bytes, 3);
  EXPECT_EQ(options_of("0002 0004 0000 5FC534A8").padding_bytes, 4);
  EXPECT_EQ(options_of("7777 0004 0000 0000 0001").padding_bytes, 4);
  EXPECT_EQ(options_of("7777 0006 0004 0000 5FC534A8").padding_bytes, 4);
}

// VI-TCP 3.3, ruling V-23: an option that is cut, too short, or longer than it may be.
TEST(Vitcp, option_with_a_wrong_length_is_refused) {
  expect_refused(connect_request("00"), ParseCode::truncated, "option_type");
  expect_refused(connect_request("0002 00"), ParseCode::truncated, "option_length");
  expect_refused(connect_request("7777 0005"), ParseCode::truncated, "option_data");
  for (const std::string_view length : {"0000", "0001", "0003"})
    for (const std::string_view type : {"0001", "0002", "7777"})
      expect_refused(connect_request(std::string(type) + std::string(length)), ParseCode::bad_length, "option_length");
  expect_refused(connect_request("0002 0005 00"), ParseCode::bad_length, "option_length");
  expect_refused(with_crc(connect_request("0001 0006 0000 0000")), ParseCode::bad_length, "option_length");
}

// VI-TCP 3.6: a CRC that is wrong, in each type that can have one.
TEST(Vitcp, wrong_crc_is_told_as_such) {
  for (Octets octets : {send_with_crc, rdma_write, with_crc(read_request), with_crc(read_response), with_crc(nop),
                        with_crc(connect_request("0001 0004 0000"))}) {
    ASSERT_TRUE(Segment::parse(octets, true).has_value());
    octets.back() ^= 1;
    expect_refused(octets, ParseCode::bad_crc, "crc", true);
  }
}

// VI-TCP 3.5: without the agreement the last octets are payload.
TEST(Vitcp, without_the_agreement_a_crc_is_payload) {
  EXPECT_EQ(Segment::parse(send_with_crc, false)->payload.size(), 9);
  EXPECT_EQ(Segment::parse(send_with_crc, true)->payload.size(), 5);
}

// VI-TCP 3.2 BIT 6, Immediate Data: ignored where they do not apply, ruling V-26.
TEST(Vitcp, immediate_data_where_none_applies_is_ignored) {
  for (const Octets& original : {read_request, read_response, nop, connect_request()}) {
    Octets octets = original;
    octets[1] |= 0x40;
    octets[8] = 0xCA;
    const auto parsed = Segment::parse(octets, false);
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(written(*parsed), original);
  }
  Octets octets = send;
  octets[8] = 0xCA;
  EXPECT_EQ(written(*Segment::parse(octets, false)), send);
}

// VI-TCP 3.2 BIT 7, Data Offset: of a NOP, which is no message; ruling V-25.
TEST(Vitcp, end_of_a_nop_and_of_connection_segments_is_ignored) {
  for (const Octets& original : {nop, connect_request()}) {
    Octets octets = original;
    octets[1] &= 0x7F;
    ASSERT_TRUE(Segment::parse(octets, false).has_value());
    EXPECT_EQ(written(*Segment::parse(octets, false)), original);
  }
  Octets octets = nop;
  octets[7] = 9;
  EXPECT_EQ(written(*Segment::parse(octets, false)), nop);
}

// VI-TCP 3.2 Remote Error Code: both halves, reserved bits ignored.
TEST(Vitcp, remote_error_code_has_its_bits) {
  const auto code = [](std::string_view bits) { return *vitcp::RemoteErrorCode::parse(hex(bits)); };
  EXPECT_EQ(code("0001"), (vitcp::RemoteErrorCode{0, false, false, true}));
  EXPECT_EQ(code("0002"), (vitcp::RemoteErrorCode{0, false, true, false}));
  EXPECT_EQ(code("0004"), (vitcp::RemoteErrorCode{0, true, false, false}));
  EXPECT_EQ(code("A500"), (vitcp::RemoteErrorCode{0xA5, false, false, false}));
  EXPECT_EQ(code("00F8"), vitcp::RemoteErrorCode{});
  for (const std::string_view bits : {"0001", "0002", "0004"}) EXPECT_TRUE(code(bits).is_vi_error());
  EXPECT_FALSE(code("FFF8").is_vi_error());
}

// VI-TCP 3.2 Message Number: order across the wrap, ruling V-4.
TEST(Vitcp, message_numbers_wrap) {
  const vitcp::MessageNumber last{0xFFFFFFFF};
  EXPECT_EQ(advance(last), vitcp::MessageNumber{0});
  EXPECT_TRUE(serial_less(last, advance(last)));
  EXPECT_FALSE(serial_less(advance(last), last));
  EXPECT_FALSE(serial_less(last, last));
}

// VI-TCP 3.1: every cut of every type says truncated, whether or not a CRC is agreed.
TEST(Vitcp, every_prefix_is_truncated) {
  for (const Octets& octets : {send, rdma_write, read_request, read_response, nop, connect_request("0002 0004")})
    for (std::size_t length = 0; length < octets.size(); ++length) {
      const Octets prefix(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(length));
      for (const bool agreed : {false, true})
        ASSERT_EQ(Segment::parse(prefix, agreed).error().code, ParseCode::truncated);
    }
}

// VI-TCP 3.2 Segment Length: the next segment begins there (ruling V-1).
TEST(Vitcp, octets_of_the_next_segment_are_left_alone) {
  EXPECT_EQ(*Segment::parse(join(send_with_crc, nop), true), *Segment::parse(send_with_crc, true));
}

// The longest segment that the length field has room for.
TEST(Vitcp, longest_segment) {
  const Octets data = Noise(1).bytes(vitcp::max_segment_bytes - 28);
  Segment segment;
  segment.header = header_of(SegmentType::send, vitcp::max_segment_bytes);
  segment.payload = data;
  segment.trailer = true;
  const Octets octets = written(segment);
  ASSERT_EQ(octets.size(), 65'535);
  EXPECT_EQ(*Segment::parse(octets, true), segment);
}

TEST(Vitcp, text_tells_what_the_segment_is) {
  EXPECT_EQ(Segment::parse(rdma_write, true)->to_string(),
            "VITCP type=RdmaWrite length=47 number=00000123h offset=0 end_of_message immediate_data=CAFEF00Dh "
            "ack=00000007h rx_posted=5 {RDMA rdma_address=00007F1234567890h memory_handle=0BADCAFEh "
            "rdma_length=00000003h} data_bytes=3 crc");
  EXPECT_EQ(
      Segment::parse(connect_request("0002 0004 7777 0005 AA 0000 00"), false)->to_string(),
      "VITCP type=ConnectRequest length=176 number=00000123h ack=00000000h rx_posted=5 {CE "
      "reliability=Reliable Delivery rdma_write rdma_read mtu=1048576 read_window=2 calling=\"abc\" called=\"xy\" "
      "options={OPTIONS urgent_marker other=77770005AA end padding=1}}");
}

}  // namespace
}  // namespace wire::test
