#include "fc2_fabric/fcoe/encapsulation.hpp"

#include <gtest/gtest.h>

#include "tests/support/made_frame.hpp"
#include "tests/support/source_dir.hpp"
#include "tests/wire/capture_file.hpp"
#include "wire/crc.hpp"

namespace fc2::fcoe {
namespace {

constexpr wire::MacAddress to{{0x0E, 0xFC, 0, 1, 2, 0}}, from{{0x0E, 0xFC, 0, 1, 1, 0}};

FramePtr make_frame(FramePool& pool, std::size_t size, wire::Eof eof = wire::Eof::t) {
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7);
  return support::raw_frame(pool, bytes, wire::Sof::i3, eof);
}

class EncapsulationTest : public testing::Test {
 protected:
  // A good frame of that FC size, as bytes.
  std::vector<std::uint8_t> good(std::size_t size = 60) {
    return encapsulate(to, from, make_frame(pool, size)).to_bytes();
  }
  FcoeDiscard judged(const std::vector<std::uint8_t>& bytes) { return examine(EthernetFrame::of(pool, bytes)); }
  FramePool pool;
};

// The sizes that MTUs allow: issue 5, "MTU from 1500 to 2500 (data field 1452 to 2112)".
TEST(FcoeSizes, mtu_gives_data_field) {
  EXPECT_EQ(data_field_bytes(1500), 1452);
  EXPECT_EQ(data_field_bytes(2157), 2108);
  EXPECT_EQ(data_field_bytes(2158), 2112);
  EXPECT_EQ(data_field_bytes(2500), 2112);
  EXPECT_EQ(data_field_bytes(40), 0);
  EXPECT_EQ(max_fcoe_size(2500), 2158);
  EXPECT_EQ(max_fcoe_size(1500), 1500);
}

// The bytes are those that wire::fcoe makes, and those that come back are those that went.
TEST_F(EncapsulationTest, every_size_goes_and_comes_back) {
  for (std::size_t size = frame_header_bytes; size <= EthernetFrame::body_bytes; size += 4) {
    const FramePtr original = make_frame(pool, size, size % 8 == 0 ? wire::Eof::n : wire::Eof::t);
    std::vector<std::uint8_t> expected(wire::fcoe::frame_size(size));
    wire::fcoe::encapsulate(to, from, original->sof, original->content(), original->eof, expected);
    EthernetFrame ethernet = encapsulate(to, from, pool.copy(*original));
    ASSERT_EQ(ethernet.to_bytes(), expected) << size;
    EthernetFrame received = EthernetFrame::of(pool, expected);
    ASSERT_EQ(examine(received), FcoeDiscard::Count) << size;
    const FramePtr back = decapsulate(std::move(received));
    ASSERT_TRUE(std::equal(back->content().begin(), back->content().end(), original->content().begin(),
                           original->content().end()));
    ASSERT_EQ(back->sof, original->sof);
    ASSERT_EQ(back->eof, original->eof);
  }
  EXPECT_EQ(pool.outstanding(), 0U);
}

// No copy: the FC frame that leaves is the one that the N_Port made.
TEST_F(EncapsulationTest, frame_stays_in_its_buffer) {
  FramePtr frame = make_frame(pool, 600);
  const Frame* const buffer = frame.get();
  EthernetFrame ethernet = encapsulate(to, from, std::move(frame));
  EXPECT_EQ(ethernet.body.get(), buffer);
  EXPECT_EQ(decapsulate(std::move(ethernet)).get(), buffer);
}

// The smallest FC frame makes 60 bytes: Ethernet never pads.
TEST_F(EncapsulationTest, smallest_frame_has_60_bytes) { EXPECT_EQ(good(24).size(), 60U); }

// What a fault damaged on its way leaves with a wrong CRC.
TEST_F(EncapsulationTest, crc_error_is_on_the_wire) {
  FramePtr frame = make_frame(pool, 60);
  frame->crc_error = true;
  EXPECT_EQ(examine(encapsulate(to, from, std::move(frame))), FcoeDiscard::BadCrc);
}

// Frames that Linux sent are good, and made again from what they hold they are the same.
TEST_F(EncapsulationTest, frames_of_linux_come_back) {
  std::size_t seen = 0;
  for (const char* name : {"linux-fabric-login.pcap", "linux-vn2vn.pcap"}) {
    for (const auto& captured : wire::test::read_capture(support::source_dir() + "/tests/data/" + name)) {
      EthernetFrame frame = EthernetFrame::of(pool, captured.bytes);
      ASSERT_EQ(frame.to_bytes(), captured.bytes);
      if (frame.type() != wire::EtherType::fcoe) {
        EXPECT_EQ(examine(frame), FcoeDiscard::NotFcoe);
        continue;
      }
      ASSERT_EQ(examine(frame), FcoeDiscard::Count);
      const wire::MacAddress destination = frame.destination(), source = frame.source();
      EXPECT_EQ(encapsulate(destination, source, decapsulate(std::move(frame))).to_bytes(), captured.bytes);
      ++seen;
    }
  }
  EXPECT_GT(seen, 20U);
}

// Issue 5, "bad input", VI-ARCH Table 1: each malformed frame has its reason, one with a damaged byte too.
TEST_F(EncapsulationTest, malformed_frames_are_told_apart) {
  auto bytes = good();
  bytes[12] = 0x08, bytes[13] = 0x00;
  EXPECT_EQ(judged(bytes), FcoeDiscard::NotFcoe);
  EXPECT_EQ(judged({1, 2, 3}), FcoeDiscard::NotFcoe);
  bytes = good();
  bytes.resize(59);
  EXPECT_EQ(judged(bytes), FcoeDiscard::Truncated);
  bytes = good();
  bytes[14] = 0x10;
  EXPECT_EQ(judged(bytes), FcoeDiscard::WrongVersion);
  bytes = good();
  bytes[27] = 0x00;
  EXPECT_EQ(judged(bytes), FcoeDiscard::UnknownSof);
  bytes = good();
  bytes[bytes.size() - 4] = 0x99;
  EXPECT_EQ(judged(bytes), FcoeDiscard::UnknownEof);
  bytes = good();
  bytes[40] ^= 1;
  EXPECT_EQ(judged(bytes), FcoeDiscard::BadCrc);
  bytes = good();
  bytes[bytes.size() - 8] ^= 0x80;
  EXPECT_EQ(judged(bytes), FcoeDiscard::BadCrc);
  EXPECT_EQ(judged(good(62)), FcoeDiscard::Misaligned);
}

// Padding of any length is seen as what it is, also where the frame grows into the tail.
TEST_F(EncapsulationTest, padded_frames_are_told_apart) {
  for (const std::size_t padding : {1U, 2U, 4U, 18U, 400U}) {
    auto bytes = good();
    bytes.resize(bytes.size() + padding);
    EXPECT_EQ(judged(bytes), FcoeDiscard::Padded) << padding;
  }
  auto bytes = good(2128);
  bytes.resize(EthernetFrame::max_bytes);
  EXPECT_EQ(judged(bytes), FcoeDiscard::Padded);
  EXPECT_EQ(judged(good(2128)), FcoeDiscard::Count);
}

// Cut anywhere, it is nothing.
TEST_F(EncapsulationTest, every_prefix_is_discarded) {
  const auto bytes = good(128);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(judged({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}), FcoeDiscard::Count) << size;
}

TEST(FcoeDiscardNames, every_reason_has_one) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(FcoeDiscard::Count); ++i)
    EXPECT_NE(to_string(static_cast<FcoeDiscard>(i)), "?");
}

}  // namespace
}  // namespace fc2::fcoe
