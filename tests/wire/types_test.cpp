// Strong types, serial numbers, address texts.
#include "wire/types.hpp"

#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

namespace wire {
namespace {

static_assert(!std::is_convertible_v<OxId, RxId>);
static_assert(!std::is_convertible_v<std::uint32_t, FcId>);
static_assert(std::is_trivially_copyable_v<FcviHandle> && sizeof(FcviHandle) == 4);

TEST(Types, unassigned_values) {
  EXPECT_EQ(FcviHandle::unassigned.value, 0xFFFFFFFFU);    // FC-VI 5.9.2, ruling 2
  EXPECT_EQ(ConnectionId::unassigned.value, 0xFFFFFFFFU);  // FC-VI 5.9.10
  EXPECT_EQ(OxId::unassigned.value, 0xFFFF);
  EXPECT_EQ(RxId::unassigned.value, 0xFFFF);
}

TEST(Types, well_known_addresses) {
  EXPECT_EQ(to_string(well_known::name_server), "FFFFFC");
  EXPECT_EQ(to_string(well_known::fabric_controller), "FFFFFD");
  EXPECT_EQ(to_string(well_known::f_port), "FFFFFE");
  EXPECT_EQ(to_string(well_known::broadcast), "FFFFFF");
}

// FC-FS, ruling 283: no N_Port has an address from FFFC00h on.
TEST(Types, addresses_of_the_fabric) {
  for (const std::uint32_t n_port : {0U, 0x010203U, 0xEFFFFFU, 0xFFFBFFU})
    EXPECT_FALSE(is_of_fabric({n_port})) << n_port;
  for (const std::uint32_t of_fabric : {0xFFFC00U, 0xFFFC01U, 0xFFFCFEU, 0xFFFD00U, 0xFFFFF0U, 0xFFFFFFU})
    EXPECT_TRUE(is_of_fabric({of_fabric})) << of_fabric;
}

TEST(Types, fc_id_parts) {
  constexpr FcId id{0x010203};
  EXPECT_EQ(id.domain(), 1);
  EXPECT_EQ(id.area(), 2);
  EXPECT_EQ(id.port(), 3);
}

TEST(Types, texts) {
  EXPECT_EQ(to_string(Wwn{0x200002FCF0000001}), "20:00:02:fc:f0:00:00:01");
  EXPECT_EQ(to_string(OxId{0x12}), "0012h");
  EXPECT_EQ(to_string(RxId::unassigned), "FFFFh");
  EXPECT_EQ(to_string(SeqId{0xA}), "0Ah");
  EXPECT_EQ(to_string(SeqCnt{1}), "0001h");
  EXPECT_EQ(to_string(FcviHandle{42}), "0000002Ah");
  EXPECT_EQ(to_string(MsgId{1}), "00000001h");
  EXPECT_EQ(to_string(MemHandle{7}), "00000007h");
  EXPECT_EQ(to_string(ConnectionId{8}), "00000008h");
}

// FC-VI 5.9.6: after FFFFFFFFh comes 0.
TEST(SerialNumber, message_ids_wrap) {
  EXPECT_EQ(advance(MsgId{0xFFFFFFFF}), MsgId{0});
  EXPECT_TRUE(serial_less(MsgId{0xFFFFFFFF}, MsgId{0}));
  EXPECT_FALSE(serial_less(MsgId{0}, MsgId{0xFFFFFFFF}));
  EXPECT_EQ(serial_distance(MsgId{0xFFFFFFFE}, MsgId{2}), 4);
  EXPECT_EQ(serial_distance(MsgId{2}, MsgId{0xFFFFFFFE}), -4);
  EXPECT_EQ(MsgId::first, MsgId{1});
}

TEST(SerialNumber, sequence_counts_wrap) {
  EXPECT_EQ(advance(SeqCnt{0xFFFF}), SeqCnt{0});
  EXPECT_TRUE(serial_less(SeqCnt{0xFFFF}, SeqCnt{0}));
  EXPECT_EQ(serial_distance(SeqCnt{0xFFFF}, SeqCnt{1}), 2);
  EXPECT_EQ(serial_distance(SeqCnt{1}, SeqCnt{0xFFFF}), -2);
}

// RFC 1982: half the circle apart, neither comes first; one step less, it does.
TEST(SerialNumber, half_the_circle) {
  EXPECT_FALSE(serial_less(MsgId{0}, MsgId{0x80000000}));
  EXPECT_FALSE(serial_less(MsgId{0x80000000}, MsgId{0}));
  EXPECT_TRUE(serial_less(MsgId{0}, MsgId{0x7FFFFFFF}));
  EXPECT_FALSE(serial_less(SeqCnt{0}, SeqCnt{0x8000}));
  EXPECT_TRUE(serial_less(SeqCnt{0}, SeqCnt{0x7FFF}));
  EXPECT_FALSE(serial_less(MsgId{5}, MsgId{5}));
}

TEST(Hash, every_type_can_be_a_key) {
  EXPECT_EQ((std::unordered_set<FcId>{FcId{1}, FcId{1}, FcId{2}}.size()), 2U);
  EXPECT_EQ((std::unordered_set<Wwn>{Wwn{1}, Wwn{2}}.size()), 2U);
  EXPECT_EQ((std::unordered_set<MsgId>{MsgId{1}, MsgId{2}}.size()), 2U);
  EXPECT_EQ((std::unordered_set<IpAddress>{IpAddress::v4(10, 0, 0, 1), IpAddress::v4(10, 0, 0, 2)}.size()), 2U);
}

struct TextCase {
  const char* text;
  const char* canonical;
};
class IpText : public ::testing::TestWithParam<TextCase> {};
TEST_P(IpText, parses_and_prints) {
  const auto address = IpAddress::from_string(GetParam().text);
  ASSERT_TRUE(address.has_value());
  EXPECT_EQ(to_string(*address), GetParam().canonical);
  EXPECT_EQ(IpAddress::from_string(to_string(*address)), address);
}
INSTANTIATE_TEST_SUITE_P(Forms, IpText,
                         ::testing::Values(TextCase{"10.0.0.1", "10.0.0.1"}, TextCase{"::ffff:10.0.0.1", "10.0.0.1"},
                                           TextCase{"255.255.255.255", "255.255.255.255"}, TextCase{"::", "::"},
                                           TextCase{"::1", "::1"}, TextCase{"fe80::1", "fe80::1"},
                                           TextCase{"2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
                                           TextCase{"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
                                           TextCase{"1::", "1::"}, TextCase{"64:ff9b::192.0.2.33", "64:ff9b::c000:221"},
                                           TextCase{"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
                                           TextCase{"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
                                           TextCase{"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"}));

class BadIpText : public ::testing::TestWithParam<const char*> {};
TEST_P(BadIpText, is_refused) { EXPECT_FALSE(IpAddress::from_string(GetParam()).has_value()); }
INSTANTIATE_TEST_SUITE_P(Forms, BadIpText,
                         ::testing::Values("", "10", "10.0.0", "10.0.0.1.2", "10.0.0.256", "10.0.0.01", "10.0.0.-1",
                                           "10.0.0.1 ", "a.b.c.d", "10..0.1", ".10.0.1", "1:2:3:4:5:6:7", ":1", "1:",
                                           "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "g::", "1:2:3:4:5:6:7:1.2.3.4",
                                           ":::", "1.2.3.4::", "::1.2.3", "1:2:3:4::5:6:7:8", "::1:", "+1::"));

TEST(IpAddress, right_justified_v4_is_normalized) {
  IpAddress address;
  address.bytes[12] = 10;
  address.bytes[15] = 1;
  EXPECT_EQ(address.normalized(), IpAddress::v4(10, 0, 0, 1));
  EXPECT_EQ(IpAddress::v4(10, 0, 0, 1).normalized(), IpAddress::v4(10, 0, 0, 1));
  const auto loopback = *IpAddress::from_string("::1");
  EXPECT_EQ(loopback.normalized(), loopback);
  EXPECT_TRUE(IpAddress{}.is_unspecified());
  EXPECT_TRUE(IpAddress::v4(1, 2, 3, 4).is_v4_mapped());
  EXPECT_FALSE(loopback.is_v4_mapped());
}

}  // namespace
}  // namespace wire
