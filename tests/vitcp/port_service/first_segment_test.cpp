// What the first segment of a stream is taken for: rulings V-8, V-9, V-16, V-23.
#include "vitcp/port_service/first_segment.hpp"

#include <gtest/gtest.h>

#include "tests/vitcp/port_service/requests.hpp"

namespace vitcp::port_service {
namespace {
using test::octets_of;
using test::request_for;
using wire::vitcp::SegmentType;

Finding found(const std::vector<std::uint8_t>& octets) { return examine(octets).finding; }

// Each prefix asks for no less than the header, then for the whole segment; octets behind it change nothing.
TEST(FirstSegmentTest, incomplete_until_the_last_octet) {
  const auto octets = octets_of(request_for("server"));
  for (std::size_t size = 0; size < octets.size(); ++size) {
    const auto first = examine(wire::Bytes(octets).first(size));
    EXPECT_EQ(first.finding, Finding::incomplete) << size;
    EXPECT_EQ(first.needed_octets, size < 24 ? 24 : octets.size()) << size;
  }
  auto more = octets;
  more.insert(more.end(), 100, 0xFF);
  const auto first = examine(more);
  EXPECT_EQ(first.finding, Finding::connect_request);
  EXPECT_EQ(first.request.ce, request_for("server").ce);
}

// The longest that Segment Length can tell, all options.
TEST(FirstSegmentTest, connect_request_of_65535_octets) {
  auto segment = request_for("server");
  segment.ce.options.end = true;
  segment.ce.options.padding_bytes = static_cast<std::uint16_t>(65'535 - segment.size());
  const auto octets = octets_of(segment);
  ASSERT_EQ(octets.size(), 65'535U);
  EXPECT_EQ(examine(wire::Bytes(octets).first(65'534)).needed_octets, 65'535U);
  EXPECT_EQ(found(octets), Finding::connect_request);
}

// Ruling V-16: a known type of another version is rejected, whichever it is.
TEST(FirstSegmentTest, other_version_is_rejected) {
  for (const auto& info : wire::vitcp::segment_types) {
    std::vector<std::uint8_t> octets(24);
    wire::vitcp::SegmentHeader{.type = info.type}.write(octets);
    octets[0] = 2;
    EXPECT_EQ(found(octets), Finding::other_version) << info.name;
  }
  EXPECT_EQ(answer_to(Finding::other_version), SegmentType::connect_reject);
}

// Ruling V-16: the first segment must be a ConnectRequest.
TEST(FirstSegmentTest, every_other_type_is_closed) {
  for (const auto& info : wire::vitcp::segment_types) {
    if (info.type == SegmentType::connect_request) continue;
    std::vector<std::uint8_t> octets(512);
    wire::vitcp::Segment segment{.header = {.type = info.type}};
    segment.ce.mtu_size_bytes = 1;
    segment.write(octets);
    EXPECT_EQ(found(octets), Finding::other_segment) << info.name;
  }
  EXPECT_EQ(answer_to(Finding::other_segment), std::nullopt);
}

// Types 9 to 31, and text of another protocol.
TEST(FirstSegmentTest, no_segment_is_closed) {
  auto octets = octets_of(request_for("server"));
  for (std::uint8_t type = 9; type < 32; ++type) {
    octets[1] = static_cast<std::uint8_t>(0x80 | type);
    EXPECT_EQ(found(octets), Finding::no_segment) << int(type);
  }
  const std::string_view text = "PUT /index.html HTTP/1.1\r\nHost: example.org\r\n\r\n";
  EXPECT_NE(found({text.begin(), text.end()}), Finding::connect_request);
  EXPECT_EQ(answer_to(Finding::no_segment), std::nullopt);
}

// A Segment Length that cannot be leaves nothing to answer to.
TEST(FirstSegmentTest, segment_length_below_the_headers_is_closed) {
  auto octets = octets_of(request_for("server"));
  for (const int length : {0, 23, 24, 163}) {
    octets[2] = static_cast<std::uint8_t>(length >> 8);
    octets[3] = static_cast<std::uint8_t>(length);
    EXPECT_EQ(found(octets), Finding::other_segment) << length;
  }
}

// Rulings V-8, V-9, V-14, V-23: reliability levels, MTU, discriminators, options.
TEST(FirstSegmentTest, bad_ce_header_is_rejected) {
  const auto good = octets_of(request_for("server"));
  const auto with = [&](std::size_t at, std::uint8_t value) {
    auto octets = good;
    octets[at] = value;
    return octets;
  };
  EXPECT_EQ(found(with(25, 0)), Finding::bad_request);   // no level
  EXPECT_EQ(found(with(25, 3)), Finding::bad_request);   // two
  EXPECT_EQ(found(with(27, 65)), Finding::bad_request);  // calling discriminator length
  EXPECT_EQ(found(with(99, 65)), Finding::bad_request);  // called
  auto no_mtu = good;
  std::fill_n(no_mtu.begin() + 28, 4, std::uint8_t{0});
  EXPECT_EQ(found(no_mtu), Finding::bad_request);
  auto bad_option = good;
  bad_option.insert(bad_option.end(), {0, 2, 0, 3});
  bad_option[3] = static_cast<std::uint8_t>(bad_option.size());
  EXPECT_EQ(found(bad_option), Finding::bad_request);
  EXPECT_EQ(answer_to(Finding::bad_request), SegmentType::connect_reject);
}

// VI-TCP 3.6: with the CRC option the CRC must be right. The other end may try again (ruling V-15).
TEST(FirstSegmentTest, bad_crc_is_closed) {
  auto segment = request_for("server");
  segment.ce.options.crc = segment.ce.options.end = true;
  auto octets = octets_of(segment);
  EXPECT_EQ(found(octets), Finding::connect_request);
  octets[100] ^= 1;
  EXPECT_EQ(found(octets), Finding::bad_crc);
  EXPECT_EQ(answer_to(Finding::bad_crc), std::nullopt);
}

TEST(FirstSegmentTest, refusal_segment_known_octets) {
  const auto octets = refusal_segment(SegmentType::connect_no_match, {});
  // version 1, End of Message and type 8, Segment Length 24, zeros
  EXPECT_EQ(octets[0], 1);
  EXPECT_EQ(octets[1], 0x88);
  EXPECT_EQ(octets[2], 0);
  EXPECT_EQ(octets[3], 24);
  EXPECT_TRUE(std::all_of(octets.begin() + 4, octets.end(), [](auto octet) { return octet == 0; }));
}

TEST(FirstSegmentTest, refusal_segment_acknowledges_the_request) {
  auto request = request_for("server");
  request.header.message_number = wire::vitcp::MessageNumber{0x01020304};
  auto octets = octets_of(request);
  const auto ack = [&] {
    const auto refusal = refusal_segment(SegmentType::connect_no_match, octets);
    return wire::vitcp::SegmentHeader::parse(refusal)->message_ack;
  };
  EXPECT_EQ(ack(), wire::vitcp::MessageNumber{0x01020304});
  octets.pop_back();
  EXPECT_EQ(ack(), wire::vitcp::MessageNumber{}) << "nothing is known of it";
}

}  // namespace
}  // namespace vitcp::port_service
