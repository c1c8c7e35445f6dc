// Name server requests and answers.
#include "expect.hpp"
#include "samples.hpp"

namespace wire::test {
namespace {

// What every request below begins with; the command is the last half word that is not 0.
std::vector<std::uint8_t> request(std::string_view command, std::string_view body) {
  return join(hex("01 000000"      // revision, IN_ID
                  "FC 02 00 00"),  // GS_Type directory, GS_Subtype name server, options, reserved
              hex(command),        // command
              hex("0000"           // maximum size
                  "00 00 00 00"),  // fragment, reason, explanation, vendor
              hex(body));
}
constexpr Wwn port_name{0x2000525400FC0E01}, node_name{0x1000525400FC0E01};
const ct::CtHeader accepted = ct::CtHeader::of(ct::Command::accept);

TEST(CtHeader, known_bytes) {
  ct::CtHeader header = ct::CtHeader::of(ct::Command::reject);
  header.max_residual_size = 0x0102;
  header.reason = ct::RejectReason::unable_to_perform;
  header.explanation = ct::RejectExplanation::fc4_types_not_registered;
  header.vendor_specific = 0x33;
  expect_known(hex("01 000000"      // revision, IN_ID
                   "FC 02 00 00"    // GS_Type, GS_Subtype, options, reserved
                   "8001 0102"      // reject, residual size
                   "00 09 07 33"),  // fragment, reason, explanation, vendor
               header);
  EXPECT_TRUE(header.is_name_server());
}

TEST(CtReject, of) {
  const auto reject =
      ct::CtReject::of(ct::RejectReason::unable_to_perform, ct::RejectExplanation::ip_address_port_not_registered);
  expect_known(hex("01000000 FC020000 80010000 00 09 0B 00"), reject);
  expect_error<ct::CtReject>(written(ct::CtAccept{}), ParseCode::bad_value, "command");
}

// tests/data/linux-fabric-login.pcap, frame 14.
TEST(CtAccept, captured) { expect_known(hex("01000000 FC020000 80020000 00000000"), ct::CtAccept{}); }

// tests/data/linux-fabric-login.pcap, frames 13 to 25.
TEST(CtRequest, captured_rnn_id) {
  expect_known(request("0213", "00 010100 1000525400FC0E01"),
               ct::RnnId{.port_id = FcId{0x010100}, .node_name = node_name});
}
TEST(CtRequest, captured_rsnn_nn) {
  expect_known(request("0239", "1000525400FC0E01 13 66636F6520 76302E3120 6F76657220 65746830"),
               ct::RsnnNn{.node_name = node_name, .symbolic_name = "fcoe v0.1 over eth0"});
}
TEST(CtRequest, captured_rspn_id) {
  expect_known(request("0218", "00 010100 13 66636F6520 76302E3120 6F76657220 65746830"),
               ct::RspnId{.port_id = FcId{0x010100}, .symbolic_name = "fcoe v0.1 over eth0"});
}
TEST(CtRequest, captured_rft_id) {
  ct::RftId rft{.port_id = FcId{0x010100}};
  rft.types.add(Type::fcp);
  rft.types.add(Type::ct);
  expect_known(join(request("0217", "00 010100 00000100 00000001"), zeros(24)), rft);
  EXPECT_EQ(to_string(rft.types), "08,20h");
}
TEST(CtRequest, captured_rff_id) {
  expect_known(request("021F", "00 010100 0000 02 08"),
               ct::RffId{.port_id = FcId{0x010100}, .features = 2, .type = Type::fcp});
}
TEST(CtRequest, captured_gpn_ft) { expect_known(request("0172", "00 00 00 08"), ct::GpnFt{.type = Type::fcp}); }
TEST(CtAccept, captured_gpn_ft) {
  expect_known(hex("01000000 FC020000 80020000 00000000"
                   "80 010100"           // last entry, N_Port_ID
                   "00000000"            // reserved
                   "2000525400FC0E01"),  // Port_Name
               ct::GpnFtAccept{accepted, {{ct::PortEntry::last_entry, FcId{0x010100}, port_name}}});
}

// FC-GS: the IP address is 16 bytes; IPv4 stands as IPv4-mapped.
TEST(CtRequest, ripp_id) {
  expect_known(request("021B", "00 010100 00000000 00000000 0000FFFF 0A000001"),
               ct::RippId{.port_id = FcId{0x010100}, .ip_address = IpAddress::v4(10, 0, 0, 1)});
}
TEST(CtRequest, rip_nn) {
  expect_known(request("0235", "1000525400FC0E01 00000000 00000000 0000FFFF 0A000001"),
               ct::RipNn{.node_name = node_name, .ip_address = IpAddress::v4(10, 0, 0, 1)});
}
TEST(CtRequest, gid_ipp) {
  expect_known(request("01B1", "00000000 00000000 0000FFFF 0A000001"),
               ct::GidIpp{.ip_address = IpAddress::v4(10, 0, 0, 1)});
}
TEST(CtAccept, gid_ipp_list) {
  expect_known(hex("01000000 FC020000 80020000 00000000"
                   "00 010100"    // more follow, N_Port_ID
                   "80 010200"),  // last
               ct::GidIppAccept{accepted, {FcId{0x010100}, FcId{0x010200}}});
}
TEST(CtAccept, list_ends_at_the_entry_marked_last) {
  const auto bytes = hex("01000000 FC020000 80020000 00000000 80 010100 00 010200");
  EXPECT_EQ(ct::GidIppAccept::parse(bytes)->port_ids, std::vector{FcId{0x010100}});
}
TEST(CtAccept, list_without_last_entry_is_truncated) {
  expect_error<ct::GidIppAccept>(hex("01000000 FC020000 80020000 00000000 00 010100"), ParseCode::truncated,
                                 "port_ids");
  expect_error<ct::GpnFtAccept>(hex("01000000 FC020000 80020000 00000000"), ParseCode::truncated, "entries");
}
TEST(CtAccept, gpn_ft_marks_only_the_last) {
  const ct::GpnFtAccept accept{accepted, {{ct::PortEntry::last_entry, FcId{1}, port_name}, {0, FcId{2}, port_name}}};
  const auto bytes = written(accept);
  EXPECT_EQ(bytes[16], 0x00);
  EXPECT_EQ(bytes[32], 0x80);
}

TEST(CtRequest, rpn_id) {
  expect_known(request("0212", "00 010100 2000525400FC0E01"),
               ct::RpnId{.port_id = FcId{0x010100}, .port_name = port_name});
}
TEST(CtRequest, gid_ft) {
  expect_known(request("0171", "00 01 02 58"), ct::GidFt{.domain_scope = 1, .area_scope = 2, .type = Type::fc_vi});
}
TEST(CtRequest, gid_pn) {
  expect_known(request("0121", "2000525400FC0E01"), ct::GidPn{.port_name = port_name});
  expect_known(hex("01000000 FC020000 80020000 00000000 00 010100"), ct::PortIdAccept{accepted, FcId{0x010100}});
}
TEST(CtRequest, gid_nn) { expect_known(request("0131", "1000525400FC0E01"), ct::GidNn{.node_name = node_name}); }
TEST(CtRequest, gpn_id) {
  expect_known(request("0112", "00 010100"), ct::GpnId{.port_id = FcId{0x010100}});
  expect_known(hex("01000000 FC020000 80020000 00000000 2000525400FC0E01"), ct::NameAccept{accepted, port_name});
}
TEST(CtRequest, gnn_id) { expect_known(request("0113", "00 010100"), ct::GnnId{.port_id = FcId{0x010100}}); }
TEST(CtRequest, gipp_id) {
  expect_known(request("011B", "00 010100"), ct::GippId{.port_id = FcId{0x010100}});
  expect_known(hex("01000000 FC020000 80020000 00000000"
                   "00000000 00000000 0000FFFF 0A000001"    // IPv4-mapped
                   "FDFC7669 00000000 00010203 04050607"),  // the second of the same port
               ct::IpAddressListAccept{
                   accepted, {IpAddress::v4(10, 0, 0, 1), *IpAddress::from_string("fdfc:7669::1:203:405:607")}});
}
TEST(CtAccept, part_of_an_ip_address_is_truncated) {
  for (const char* addresses : {"", "00000000 00000000 0000FFFF 0A0000", "00000000 00000000 0000FFFF 0A000001 00"})
    expect_error<ct::IpAddressListAccept>(join(hex("01000000 FC020000 80020000 00000000"), hex(addresses)),
                                          ParseCode::truncated, "ip_addresses");
}
TEST(CtRequest, gspn_id) { expect_known(request("0118", "00 010100"), ct::GspnId{.port_id = FcId{0x010100}}); }
TEST(CtRequest, gsnn_nn) { expect_known(request("0139", "1000525400FC0E01"), ct::GsnnNn{.node_name = node_name}); }
TEST(CtRequest, da_id) { expect_known(request("0300", "00 010100"), ct::DaId{.port_id = FcId{0x010100}}); }

// Some adapters send the name in a field of 255 bytes.
TEST(SymbolicName, padding_is_kept) {
  const auto bytes = join(request("0218", "00 010100 04 66636F65"), zeros(251));
  const auto rspn = ct::RspnId::parse(bytes);
  ASSERT_TRUE(rspn.has_value());
  EXPECT_EQ(rspn->symbolic_name, "fcoe");
  EXPECT_EQ(rspn->padding_length, 251);
  EXPECT_EQ(written(*rspn), bytes);
}
TEST(SymbolicName, longest) {
  const ct::RspnId rspn{.port_id = FcId{1}, .symbolic_name = std::string(255, 'x')};
  EXPECT_EQ(ct::RspnId::parse(written(rspn))->symbolic_name.size(), 255U);
}

// FC-GS: TYPE t is bit (t mod 32) of word (t / 32); TYPE 58h is word 2, bit 24.
TEST(Fc4Types, bit_of_every_type) {
  for (unsigned code = 0; code < 256; ++code) {
    ct::Fc4Types types;
    types.add(static_cast<Type>(code));
    EXPECT_TRUE(types.has(static_cast<Type>(code)));
    EXPECT_EQ(load_big<4>(types.bytes.data() + 4 * (code / 32)), 1U << code % 32) << code;
  }
  ct::Fc4Types fc_vi;
  fc_vi.add(Type::fc_vi);
  EXPECT_EQ(load_big<4>(fc_vi.bytes.data() + 8), 1U << 24);
  EXPECT_EQ(to_string(ct::Fc4Types{}), "none");
}

TEST(CtCommand, every_request_of_the_table_has_its_name) {
  for_each_message<CtRequests>([]<class Message>(std::type_identity<Message>) {
    EXPECT_EQ(to_string(Message::command), Message::name);
    const auto parsed = Message::parse(SampleOf<Message>::make().bytes);
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(parsed->preamble.command, Message::command);
    auto other = SampleOf<Message>::make().bytes;
    other[8] ^= 0x40;
    expect_error<Message>(other, ParseCode::bad_value, "command");
  });
}

TEST(CtCommand, codes_have_names) {
  for (const int code : {0x0100, 0x0112, 0x0113, 0x0114, 0x0117, 0x0118, 0x011A, 0x011B, 0x011C, 0x011F, 0x0121, 0x012B,
                         0x0131, 0x0135, 0x0136, 0x0139, 0x0153, 0x0171, 0x0172, 0x01A1, 0x01B1, 0x01B2, 0x01F1, 0x0212,
                         0x0213, 0x0217, 0x0218, 0x021A, 0x021B, 0x021F, 0x0235, 0x0239, 0x0300, 0x8001, 0x8002})
    EXPECT_NE(to_string(static_cast<ct::Command>(code)), text::unknown) << std::hex << code;
  int reasons = 0, explanations = 0;
  for (int code = 0; code < 256; ++code) {
    reasons += to_string(static_cast<ct::RejectReason>(code)) != text::unknown ? 1 : 0;
    explanations += to_string(static_cast<ct::RejectExplanation>(code)) != text::unknown ? 1 : 0;
  }
  EXPECT_EQ(reasons, 12);
  EXPECT_EQ(explanations, 20);
}

}  // namespace
}  // namespace wire::test
