// FIP messages and descriptors.
#include "wire/fip.hpp"

#include "expect.hpp"

namespace wire::test {
namespace {

// tests/data/linux-fabric-login.pcap, frame 1, after the Ethernet header.
const auto advertisement_bytes =
    hex("10 00 0001"                             // version, reserved, discovery
        "00 02 000C"                             // reserved, advertisement, 12 words of descriptors
        "8005"                                   // FP, A, F
        "01 01 00 80"                            // PRI 128
        "02 02 02FCF0000001"                     // MAC of the FCF
        "04 03 0000 200002FCF0000001"            // NAME of the switch
        "05 04 0001 00 0EFC00 100002FCF0000001"  // FAB: VFID 1, FC-MAP, fabric name
        "0C 02 00 00 000007D0");                 // FKA: keep-alives wanted, 2000 ms

fip::FipMessage advertisement() {
  return {fip::Operation::discovery,
          fip::subcode::discovery_advertisement,
          fip::flag::fpma | fip::flag::available | fip::flag::f_port,
          {fip::Priority{128}, fip::Mac{{{0x02, 0xFC, 0xF0, 0, 0, 1}}}, fip::NameId{Wwn{0x200002FCF0000001}},
           fip::Fabric{1, 0x0EFC00, Wwn{0x100002FCF0000001}}, fip::FkaAdvPeriod{false, 2000}},
          {}};
}

TEST(FipMessage, captured_advertisement) { expect_known(advertisement_bytes, advertisement()); }

// tests/data/linux-fabric-login.pcap, frame 4.
TEST(FipMessage, captured_solicitation) {
  expect_known(hex("10 00 0001 00 01 0006 8000"
                   "02 02 525400FC0E01"           // MAC of the ENode
                   "04 03 0000 1000525400FC0E01"  // NAME
                   "06 01 086E"),                 // largest FCoE PDU 2158
               fip::FipMessage{fip::Operation::discovery,
                               fip::subcode::discovery_solicitation,
                               fip::flag::fpma,
                               {fip::Mac{{{0x52, 0x54, 0, 0xFC, 0x0E, 1}}}, fip::NameId{Wwn{0x1000525400FC0E01}},
                                fip::MaxFcoeSize{2158}},
                               {}});
}

TEST(FipMessage, vn_port_and_other_descriptors) {
  fip::Fc4Features features;
  features.types[2] = 1;
  expect_known(
      join(hex("10 00 0005 00 03 0036 0000"
               "0B 05 0EFD00000E01 00 000E01 2000525400FC0E01"  // VN_Port: MAC, reserved, N_Port_ID, Port_Name
               "0E 01 0064"                                     // VLAN 100
               "03 02 000000 0EFC00"                            // FC-MAP
               "0D 03 0000 0102030405060708"                    // vendor
               "F0 02 010203040506"                             // vendor's own type
               "0F 29 0000 00000100"),                          // FC-4 types
           zeros(156)),
      fip::FipMessage{fip::Operation::vn2vn,
                      fip::subcode::claim_notification,
                      0,
                      {fip::VnPort{mac_of(FcId{0x000E01}, vn2vn_fc_map), FcId{0x000E01}, Wwn{0x2000525400FC0E01}},
                       fip::Vlan{100}, fip::FcMap{0x0EFC00}, fip::VendorId{{1, 2, 3, 4, 5, 6, 7, 8}},
                       fip::UnknownDescriptor{0xF0, {1, 2, 3, 4, 5, 6}}, features},
                      {}});
}

TEST(FipMessage, padding_is_kept) {
  auto message = advertisement();
  message.padding = std::vector<std::uint8_t>(100);
  expect_known(join(advertisement_bytes, zeros(100)), message);
}

TEST(FipMessage, descriptor_with_a_length_of_its_own_is_kept_as_it_came) {
  const auto bytes = hex("10 00 0001 00 01 0002 0000 01 02 0080 00000000");  // a priority of two words
  const auto message = fip::FipMessage::parse(bytes);
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->find<fip::Priority>(), nullptr);
  EXPECT_NE(message->find<fip::UnknownDescriptor>(), nullptr);
  EXPECT_EQ(written(*message), bytes);
}

// The version is the octet's upper half; the lower one is reserved, and ignored on receipt (FC-BB-5, as FC-VI 5.9.5).
TEST(FipMessage, reserved_bits_beside_the_version_are_ignored) {
  const auto message = fip::FipMessage::parse(hex("1F 00 0001 00 01 0001 0000 01 01 0080"));
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(written(*message), hex("10 00 0001 00 01 0001 0000 01 01 0080"));
}

TEST(FipMessage, errors) {
  expect_error<fip::FipMessage>(hex("20 00 0001 00 01 0000 0000"), ParseCode::bad_value, "version");
  expect_error<fip::FipMessage>(hex("10 00 0001 00 01 0001 0000 01 00 0080"), ParseCode::bad_length,
                                "descriptor_length");
  expect_error<fip::FipMessage>(hex("10 00 0001 00 01 0001 0000 02 02 0080"), ParseCode::bad_length, "descriptor");
  expect_error<fip::FipMessage>(hex("10 00 0001 00 01 0002 0000 01 01 0080"), ParseCode::truncated, "descriptors");
}

TEST(FipMessage, find_and_flags) {
  const auto message = advertisement();
  ASSERT_NE(message.find<fip::Fabric>(), nullptr);
  EXPECT_EQ(message.find<fip::Fabric>()->vf_id, 1);
  EXPECT_EQ(message.find<fip::Vlan>(), nullptr);
  EXPECT_TRUE(message.has(fip::flag::available));
  EXPECT_FALSE(message.has(fip::flag::solicited));
}

TEST(FipMessage, ethernet_frame) {
  const auto frame = advertisement().to_ethernet(group_mac::all_enode, {{0x02, 0xFC, 0xF0, 0, 0, 1}});
  EXPECT_EQ(frame, join(hex("011018010001 02FCF0000001 8914"), advertisement_bytes));
}

TEST(FipMessage, names) {
  const auto name = [](int operation, int subcode) {
    return fip::FipMessage{static_cast<fip::Operation>(operation), static_cast<std::uint8_t>(subcode), 0, {}, {}}
        .message_name();
  };
  EXPECT_EQ(name(1, 1), "Discovery Solicitation");
  EXPECT_EQ(name(1, 2), "Discovery Advertisement");
  EXPECT_EQ(name(2, 1), "Link Service Request");
  EXPECT_EQ(name(2, 2), "Link Service Reply");
  EXPECT_EQ(name(3, 1), "Keep-Alive");
  EXPECT_EQ(name(3, 2), "Clear Virtual Links");
  EXPECT_EQ(name(4, 1), "VLAN Request");
  EXPECT_EQ(name(4, 2), "VLAN Notification");
  EXPECT_EQ(name(5, 1), "Probe Request");
  EXPECT_EQ(name(5, 5), "Beacon");
  EXPECT_EQ(name(9, 9), "FIP");
}

TEST(FipDescriptor, types_have_names) {
  for (int type = 1; type <= 15; ++type) EXPECT_NE(to_string(static_cast<fip::DescriptorType>(type)), text::unknown);
  for (int operation = 1; operation <= 5; ++operation)
    EXPECT_NE(to_string(static_cast<fip::Operation>(operation)), text::unknown);
}

TEST(EncapsulatedFrame, only_login_types) {
  expect_error<fip::EncapsulatedFrame>(hex("06 01 0000"), ParseCode::bad_value, "type");
  expect_known(hex("09 02 0000 11223344"), fip::EncapsulatedFrame{fip::DescriptorType::logo, {0x11, 0x22, 0x33, 0x44}});
}

}  // namespace
}  // namespace wire::test
