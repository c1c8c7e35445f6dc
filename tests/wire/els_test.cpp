// The other extended link services.
#include "expect.hpp"
#include "wire/els/adisc.hpp"
#include "wire/els/echo.hpp"
#include "wire/els/fan.hpp"
#include "wire/els/farp.hpp"
#include "wire/els/logo.hpp"
#include "wire/els/ls_acc.hpp"
#include "wire/els/ls_rjt.hpp"
#include "wire/els/prli.hpp"
#include "wire/els/rls.hpp"
#include "wire/els/rnid.hpp"
#include "wire/els/rrq.hpp"
#include "wire/els/rscn.hpp"
#include "wire/els/rtv.hpp"
#include "wire/els/scr.hpp"

namespace wire::test {
namespace {

// tests/data/linux-fabric-login.pcap, frame 24.
TEST(LsAcc, known_bytes) { expect_known(hex("02000000"), els::LsAcc{}); }

TEST(LsRjt, known_bytes) {
  expect_known(hex("01 000000"  // LS_RJT
                   "00"         // reserved
                   "0B"         // reason: not supported
                   "2C"         // explanation: request not supported
                   "00"),       // vendor unique
               els::LsRjt{els::RejectReason::not_supported, els::RejectExplanation::request_not_supported, 0});
}

TEST(LsRjt, reasons_and_explanations_have_names) {
  int reasons = 0, explanations = 0;
  for (int code = 0; code < 256; ++code) {
    reasons += to_string(static_cast<els::RejectReason>(code)) != text::unknown ? 1 : 0;
    explanations += to_string(static_cast<els::RejectExplanation>(code)) != text::unknown ? 1 : 0;
  }
  EXPECT_EQ(reasons, 9);
  EXPECT_EQ(explanations, 22);
}

TEST(Logo, known_bytes) {
  expect_known(hex("05 000000"           // LOGO
                   "00 010100"           // reserved, N_Port_ID
                   "2000525400FC0E01"),  // Port_Name
               els::Logo{FcId{0x010100}, Wwn{0x2000525400FC0E01}});
}

const els::Adisc adisc{els::Command::adisc, FcId{0xEF}, Wwn{0x2000525400FC0E01}, Wwn{0x1000525400FC0E01},
                       FcId{0x010100}};

TEST(Adisc, known_bytes) {
  expect_known(hex("52 000000"         // ADISC
                   "00 0000EF"         // reserved, hard address
                   "2000525400FC0E01"  // Port_Name
                   "1000525400FC0E01"  // Node_Name
                   "00 010100"),       // reserved, N_Port_ID
               adisc);
}

TEST(Adisc, accept_has_the_same_fields) {
  els::Adisc accept = adisc;
  accept.command = els::Command::ls_acc;
  auto bytes = written(adisc);
  bytes[0] = 0x02;
  expect_known(bytes, accept);
  bytes[0] = 0x03;
  expect_error<els::Adisc>(bytes, ParseCode::bad_value, "command");
}

// FC-VI 7.5 items 1 to 10.
TEST(Farp, known_request) {
  els::FarpRequest request;
  request.requesting_n_port_id = FcId{0x010100};
  request.requesting_port_name = Wwn{0x2000525400FC0E01};
  request.requesting_node_name = Wwn{0x1000525400FC0E01};
  request.requesting_ip = IpAddress::v4(10, 0, 0, 1);
  request.responding_ip = IpAddress::v4(10, 0, 0, 2);
  expect_known(hex("54 000000"                              // FARP-REQ
                   "04 010100"                              // match: IP address; requesting N_Port_ID
                   "02 000000"                              // action: FARP-REPLY; responding N_Port_ID
                   "2000525400FC0E01"                       // requesting Port_Name
                   "1000525400FC0E01"                       // requesting Node_Name
                   "0000000000000000"                       // responding Port_Name
                   "0000000000000000"                       // responding Node_Name
                   "00000000 00000000 0000FFFF 0A000001"    // requesting IP
                   "00000000 00000000 0000FFFF 0A000002"),  // responding IP
               request);
}

// FC-VI 7.5 items 14 to 23; ruling 11: the replier's Port_Name and Node_Name.
TEST(Farp, known_reply) {
  els::FarpReply reply;
  reply.requesting_n_port_id = FcId{0x010100};
  reply.responding_n_port_id = FcId{0x010200};
  reply.responding_port_name = Wwn{0x2000525400FC0E02};
  reply.responding_node_name = Wwn{0x1000525400FC0E02};
  expect_known(
      join(hex("55 000000 04 010100 02 010200"), zeros(16), hex("2000525400FC0E02 1000525400FC0E02"), zeros(32)),
      reply);
  expect_error<els::FarpRequest>(written(reply), ParseCode::bad_value, "command");
}

// tests/data/linux-vn2vn.pcap, frame 16.
TEST(Prli, captured_request) {
  expect_known(hex("20 10 0014"  // PRLI, page length, payload length
                   "08 00 2000"  // TYPE FCP, TYPE extension, establish image pair
                   "00000000"    // originator process associator
                   "00000000"    // responder process associator
                   "000001A2"),  // service parameters
               els::Prli{els::Command::prli, {{0x08, 0, els::PrliPage::establish_image_pair, 0, 0, 0x1A2}}});
}

// wire facts: keeps a Linux peer quiet.
TEST(Prli, accept_without_image_pair) {
  expect_known(hex("02100014 08000100 00000000 00000000 00000000"),
               els::Prli{els::Command::ls_acc, {{0x08, 0, els::PrliPage::request_executed, 0, 0, 0}}});
}

TEST(Prli, errors) {
  expect_error<els::Prli>(hex("21 10 0004"), ParseCode::bad_value, "command");
  expect_error<els::Prli>(hex("20 0C 0004"), ParseCode::bad_value, "page_length");
  expect_error<els::Prli>(hex("20 10 0003"), ParseCode::bad_length, "payload_length");
  expect_error<els::Prli>(hex("20 10 0006 0000"), ParseCode::bad_length, "payload_length");
  expect_error<els::Prli>(hex("20 10 0014"), ParseCode::truncated, "pages");
  EXPECT_TRUE(els::Prli::parse(hex("20 10 0004"))->pages.empty());
}

// tests/data/linux-fabric-login.pcap, frame 23.
TEST(Scr, captured) { expect_known(hex("62000000 000000 03"), els::Scr{els::ScrFunction::full}); }

TEST(Scr, functions_have_names) {
  for (const int code : {1, 2, 3, 0xFF}) EXPECT_NE(to_string(static_cast<els::ScrFunction>(code)), text::unknown);
}

TEST(Rscn, known_bytes) {
  expect_known(
      hex("61 04 000C"   // RSCN, page length, payload length
          "04 010200"    // event qualifier 1, port address
          "01 020300"),  // area address
      els::Rscn{{{1, els::AddressFormat::port, FcId{0x010200}}, {0, els::AddressFormat::area, FcId{0x020300}}}});
}

TEST(Rscn, errors) {
  expect_error<els::Rscn>(hex("62 04 0008 00010200"), ParseCode::bad_value, "command");
  expect_error<els::Rscn>(hex("61 08 0008 00010200"), ParseCode::bad_value, "page_length");
  expect_error<els::Rscn>(hex("61 04 0002 00010200"), ParseCode::bad_length, "payload_length");
  expect_error<els::Rscn>(hex("61 04 0006 00010200"), ParseCode::bad_length, "payload_length");
}

TEST(Rscn, page_affects_what_its_format_covers) {
  const auto affects = [](els::AddressFormat format, std::uint32_t id) {
    return els::RscnPage{0, format, FcId{0x010203}}.affects(FcId{id});
  };
  using enum els::AddressFormat;
  EXPECT_TRUE(affects(port, 0x010203));
  EXPECT_FALSE(affects(port, 0x010204));
  EXPECT_TRUE(affects(area, 0x0102FF));
  EXPECT_FALSE(affects(area, 0x010303));
  EXPECT_TRUE(affects(domain, 0x01FFFF));
  EXPECT_FALSE(affects(domain, 0x020203));
  EXPECT_TRUE(affects(fabric, 0xEF0000));
  for (const auto format : {port, area, domain, fabric}) EXPECT_NE(to_string(format), text::unknown);
}

TEST(Echo, known_bytes) {
  expect_known(hex("10000000 AABBCC"), els::Echo{els::Command::echo, {0xAA, 0xBB, 0xCC}});
  expect_known(hex("02000000 AABBCC"), els::Echo{els::Command::ls_acc, {0xAA, 0xBB, 0xCC}});
  expect_error<els::Echo>(hex("11000000"), ParseCode::bad_value, "command");
}

// tests/data/linux-vn2vn.pcap, frames 20 and 22.
TEST(Rtv, captured) {
  expect_known(hex("0E000000"), els::Rtv{});
  expect_known(hex("02000000"    // LS_ACC
                   "00000FA0"    // R_A_TOV 4000 ms
                   "000007D0"    // E_D_TOV 2000 ms
                   "00000000"),  // timeout qualifier
               els::RtvAcc{4000, 2000, 0});
}

TEST(Rls, known_bytes) {
  expect_known(hex("0F000000"     // RLS
                   "00 010100"),  // reserved, N_Port_ID
               els::Rls{FcId{0x010100}});
  expect_known(hex("02000000"    // LS_ACC
                   "00000001"    // Link Failure Count
                   "00000002"    // Loss-of-Synchronization Count
                   "00000003"    // Loss-of-Signal Count
                   "00000004"    // Primitive Sequence Protocol Error
                   "00000005"    // Invalid Transmission Word
                   "00000006"),  // Invalid CRC Count
               els::RlsAcc{1, 2, 3, 4, 5, 6});
}

TEST(Rnid, known_bytes) {
  expect_known(hex("78000000 DF000000"), els::Rnid{els::RnidFormat::topology});
  expect_known(hex("02000000 00100000"   // LS_ACC; common data of 16 bytes, nothing specific
                   "200002FCF0000001"    // Port_Name
                   "100002FCF0000001"),  // Node_Name
               els::RnidAcc{Wwn{0x200002FCF0000001}, Wwn{0x100002FCF0000001}});
  expect_known(hex("02000000 DF100034"  // LS_ACC; common data of 16 bytes, specific of 52
                   "200002FCF0000001 100002FCF0000001"
                   "00000000 00000000 00000000 00000000"                      // vendor specific
                   "00000004"                                                 // Associated Type: switch
                   "00000007"                                                 // physical port
                   "00000001"                                                 // attached nodes
                   "00000000 00000000 00000000 00000000 00000000 00000000"),  // no management address
               els::RnidTopologyAcc{Wwn{0x200002FCF0000001}, Wwn{0x100002FCF0000001}, els::RnidType::switch_, 7, 1});
  expect_error<els::RnidAcc>(hex("02000000 DF100034 200002FCF0000001 100002FCF0000001"), ParseCode::bad_value,
                             "format and lengths");
  for (const auto format : {els::RnidFormat::common, els::RnidFormat::topology})
    EXPECT_NE(to_string(format), text::unknown);
  for (const auto type : {els::RnidType::unknown, els::RnidType::other, els::RnidType::switch_, els::RnidType::host})
    EXPECT_NE(to_string(type), text::unknown);
  EXPECT_EQ(to_string(static_cast<els::RnidFormat>(1)), text::unknown);
  EXPECT_EQ(to_string(els::RnidType{}), text::unknown);
}

TEST(Rrq, known_bytes) {
  expect_known(hex("12000000"     // RRQ
                   "00 010100"    // reserved, S_ID of the originator
                   "1234 5678"),  // OX_ID, RX_ID
               els::Rrq{FcId{0x010100}, OxId{0x1234}, RxId{0x5678}});
}

TEST(Fan, known_bytes) {
  expect_known(hex("60000000"            // FAN
                   "00 010000"           // reserved, loop fabric address
                   "200002FCF0000001"    // F_Port Port_Name
                   "100002FCF0000001"),  // Fabric_Name
               els::Fan{FcId{0x010000}, Wwn{0x200002FCF0000001}, Wwn{0x100002FCF0000001}});
}

TEST(ElsCommand, codes) {
  const std::pair<int, std::string_view> codes[] = {
      {0x01, "LS_RJT"},     {0x02, "LS_ACC"}, {0x03, "PLOGI"}, {0x04, "FLOGI"}, {0x05, "LOGO"},
      {0x0E, "RTV"},        {0x0F, "RLS"},    {0x10, "ECHO"},  {0x12, "RRQ"},   {0x13, "REC"},
      {0x20, "PRLI"},       {0x21, "PRLO"},   {0x51, "FDISC"}, {0x52, "ADISC"}, {0x54, "FARP-REQ"},
      {0x55, "FARP-REPLY"}, {0x60, "FAN"},    {0x61, "RSCN"},  {0x62, "SCR"},   {0x78, "RNID"}};
  for (const auto& [code, name] : codes) EXPECT_EQ(to_string(static_cast<els::Command>(code)), name);
  EXPECT_EQ(to_string(els::Command{}), text::unknown);
}

}  // namespace
}  // namespace wire::test
