// Name server messages that tell more of a port: port types, FC-4 types and features, and all at once (GA_NXT).
#include "expect.hpp"
#include "samples.hpp"

namespace wire::test {
namespace {

std::vector<std::uint8_t> request(std::string_view command, std::string_view body) {
  return join(join(hex("01 000000 FC 02 00 00"), hex(command)), join(hex("0000 00 00 00 00"), hex(body)));
}
std::vector<std::uint8_t> accept(std::string_view body) { return request("8002", body); }

TEST(CtRequest, by_port_id) {
  expect_known(request("0100", "00 010100"), ct::GaNxt{.port_id = {0x010100}});
  expect_known(request("0117", "00 010100"), ct::GftId{.port_id = {0x010100}});
  expect_known(request("0114", "00 010100"), ct::GcsId{.port_id = {0x010100}});
  expect_known(request("011A", "00 010100"), ct::GptId{.port_id = {0x010100}});
  expect_known(request("011C", "00 010100"), ct::GfpnId{.port_id = {0x010100}});
  expect_known(request("011F", "00 010100"), ct::GffId{.port_id = {0x010100}});
}
TEST(CtRequest, by_name) {
  expect_known(request("012B", "20000000 00000042"), ct::GippPn{.port_name = {0x2000000000000042}});
  expect_known(request("0135", "10000000 00000042"), ct::GipNn{.node_name = {0x1000000000000042}});
  expect_known(request("0136", "10000000 00000042"), ct::GipaNn{.node_name = {0x1000000000000042}});
}
TEST(CtRequest, by_address) {
  const auto ip = IpAddress::v4(10, 0, 0, 1);
  expect_known(request("0153", "00000000 00000000 0000FFFF 0A000001"), ct::GnnIp{.ip_address = ip});
  expect_known(request("01B2", "00000000 00000000 0000FFFF 0A000001"), ct::GpnIpp{.ip_address = ip});
}
TEST(CtRequest, gid_pt) {
  expect_known(request("01A1", "7F 02 03 00"),
               ct::GidPt{.port_type = ct::PortType::nx_port, .domain_scope = 2, .area_scope = 3});
}
TEST(CtRequest, gid_ff) {
  expect_known(request("01F1",
                       "00 02 03 00"   // reserved, scopes
                       "0000 01 08"),  // reserved, feature bits, TYPE
               ct::GidFf{.domain_scope = 2, .area_scope = 3, .features = 1, .type = Type::fcp});
}
TEST(CtRequest, rpt_id) {
  expect_known(request("021A", "00 010100 01 000000"),
               ct::RptId{.port_id = {0x010100}, .port_type = ct::PortType::n_port});
}

TEST(CtAccept, port_type) { expect_known(accept("01 000000"), ct::PortTypeAccept{.port_type = ct::PortType::n_port}); }

// Class 3 is bit 3, class 2 bit 2.
TEST(CtAccept, classes_of_service) {
  expect_known(accept("0000000C"), ct::ClassesOfServiceAccept{.classes_of_service = 0xC});
}

// TYPE 58h is bit 24 of word 2.
TEST(CtAccept, fc4_types) {
  ct::Fc4TypesAccept message;
  message.types.add(Type::fc_vi);
  expect_known(accept("00000000 00000000 01000000 00000000 00000000 00000000 00000000 00000000"), message);
}

// Four bits for each TYPE: those of FCP (08h) are the last of word 1, those of TYPE 58h the last of word 11.
TEST(CtAccept, fc4_features) {
  ct::Fc4FeaturesAccept message;
  message.features.set(Type::fcp, 2);
  message.features.set(Type::fc_vi, 5);
  const auto bytes = written(message);
  ASSERT_EQ(bytes.size(), 144U);
  EXPECT_EQ(bytes[16 + 7], 0x02);
  EXPECT_EQ(bytes[16 + 47], 0x05);
  EXPECT_EQ(std::count(bytes.begin() + 16, bytes.end(), 0), 126);
  EXPECT_EQ(message.features.of(Type::fc_vi), 5);
  EXPECT_EQ(to_string(message.features), "08:2,58:5");
  EXPECT_EQ(to_string(ct::Fc4Features{}), "none");
}

// The features of every TYPE have four bits of their own.
TEST(Fc4Features, bits_of_every_type) {
  ct::Fc4Features features;
  for (unsigned code = 0; code < 256; ++code)
    features.set(static_cast<Type>(code), static_cast<std::uint8_t>(code * 7 % 16));
  for (unsigned code = 0; code < 256; ++code) EXPECT_EQ(features.of(static_cast<Type>(code)), code * 7 % 16) << code;
}

TEST(CtAccept, next_port) {
  ct::NextPortAccept message{.port_type = ct::PortType::n_port,
                             .port_id = {0x010100},
                             .port_name = {0x2000000000000042},
                             .symbolic_port_name = ct::SymbolicNameField::of("fcoe"),
                             .node_name = {0x1000000000000042},
                             .classes_of_service = 8,
                             .fabric_port_name = {0x2001000000000001},
                             .hard_address = {0x0000EF}};
  const auto bytes = written(message);
  ASSERT_EQ(bytes.size(), 636U);
  const auto part = [&](std::size_t at, std::size_t size) {
    return std::vector<std::uint8_t>(bytes.begin() + static_cast<long>(at),
                                     bytes.begin() + static_cast<long>(at + size));
  };
  EXPECT_EQ(part(16, 12), hex("01 010100 20000000 00000042"));   // port type, N_Port_ID, Port_Name
  EXPECT_EQ(part(28, 6), hex("04 66636F65 00"));                 // symbolic port name
  EXPECT_EQ(part(284, 9), hex("10000000 00000042 00"));          // Node_Name, symbolic node name: none
  EXPECT_EQ(part(572, 4), hex("00000008"));                      // classes of service
  EXPECT_EQ(part(624, 12), hex("20010000 00000001 00 0000EF"));  // Fabric Port_Name, hard address
  EXPECT_EQ(ct::NextPortAccept::parse(bytes)->symbolic_port_name.text(), "fcoe");
}

TEST(SymbolicNameField, longest) {
  const auto field = ct::SymbolicNameField::of(std::string(300, 'x'));
  EXPECT_EQ(field.text(), std::string(255, 'x'));
  EXPECT_EQ(to_string(ct::SymbolicNameField{}), "\"\"");
}

// A list that the server cut, as its residual size says, ends without a last entry.
TEST(CtAccept, cut_list_has_what_came) {
  auto bytes = accept("00 010100 00 010200");
  expect_error<ct::PortIdListAccept>(bytes, ParseCode::truncated, "port_ids");
  bytes[11] = 1;  // residual size
  EXPECT_EQ(ct::PortIdListAccept::parse(bytes)->port_ids.size(), 2U);
  bytes = accept("00 010100 00000000 20000000 00000042 00 010200");
  expect_error<ct::GpnFtAccept>(bytes, ParseCode::truncated, "entries");
  bytes[11] = 3;
  EXPECT_EQ(ct::GpnFtAccept::parse(bytes)->entries.size(), 1U);
}

TEST(PortType, codes_have_names) {
  int types = 0;
  for (int code = 0; code < 256; ++code) types += to_string(static_cast<ct::PortType>(code)) != text::unknown ? 1 : 0;
  EXPECT_EQ(types, 9);
}

}  // namespace
}  // namespace wire::test
