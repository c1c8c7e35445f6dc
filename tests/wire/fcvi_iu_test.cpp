// The twelve IUs (FC-VI 5.9, 6.2 to 6.13), and what their payloads hold (FC-VI 7.2, 7.3, Tables 13 to 18).
#include "expect.hpp"
#include "samples.hpp"

namespace wire::test {
namespace {
using namespace fcvi;

constexpr FcviHandle handle{42};
constexpr MsgId msg_id{7};

TEST(SendRqst, known_bytes) {           // FC-VI 6.2
  expect_known(hex("0000002A"           // handle of the receiver
                   "00 00 0000"         // opcode, no flags, reserved
                   "00000007 00000000"  // message ID, parameter
                   "0000000000000000"   // RMT_VA: reserved
                   "00000000"           // RMT_VA_HANDLE: reserved
                   "00010000"),         // total length
               SendRqst{handle, msg_id, std::nullopt, 65536});
}
TEST(SendRqst, immediate_data) {
  expect_known(hex("0000002A 00 01 0000 00000007 CAFEF00D 00000000 00000000 00000000 00000000"),
               SendRqst{handle, msg_id, 0xCAFEF00D, 0});
}
// FC-VI 5.9.4.2: without IMM_DATA the parameter is reserved.
TEST(SendRqst, parameter_without_imm_data_is_ignored) {
  const auto bytes = hex("0000002A 00 FE 0000 00000007 CAFEF00D 00000000 00000000 00000000 00000000");
  EXPECT_EQ(*SendRqst::parse(bytes), (SendRqst{handle, msg_id, std::nullopt, 0}));
}
TEST(WriteRqst, known_bytes) {  // FC-VI 6.4
  expect_known(hex("0000002A 01 01 0000 00000007 CAFEF00D 00007F1234567890 0BADCAFE 00010000"),
               WriteRqst{handle, msg_id, 0xCAFEF00D, 0x7F1234567890, MemHandle{0x0BADCAFE}, 65536});
}
TEST(ReadRqst, known_bytes) {  // FC-VI 6.6
  expect_known(hex("0000002A 02 00 0000 00000007 00000000 00007F1234567890 0BADCAFE 00010000"),
               ReadRqst{handle, msg_id, 0x7F1234567890, MemHandle{0x0BADCAFE}, 65536});
}
TEST(SendResp, known_bytes) {  // FC-VI 6.3
  expect_known(hex("0000002A 08 03 0000 00000007 00000000"),
               SendResp{handle, msg_id, {.resp_err = true, .desc_err = true}});
}
TEST(WriteResp, known_bytes) {  // FC-VI 6.5
  expect_known(hex("0000002A 09 05 0000 00000007 00000000"),
               WriteResp{handle, msg_id, {.resp_err = true, .prot_err = true}});
}
TEST(ReadResp, known_bytes) {  // FC-VI 6.7, ruling 18
  expect_known(
      hex("0000002A 0A 09 0000 00000007 00000000 00007F1234567890 0BADCAFE 00010000"),
      ReadResp{handle, msg_id, {.resp_err = true, .trans_err = true}, 0x7F1234567890, MemHandle{0x0BADCAFE}, 65536});
}

NetAddress address(std::uint8_t last) { return NetAddress::of(IpAddress::v4(10, 0, 0, last), hex("AABB")); }
const auto address_1 = join(hex("0000 10 10"                           // reserved, HOST_ADD_LEN, DISCRIM_LEN
                                "00000000 00000000 0000FFFF 0A000001"  // HOST_ADD
                                "AABB"),
                            zeros(126));  // DISCRIM
const auto address_2 = join(hex("0000 10 10 00000000 00000000 0000FFFF 0A000002 AABB"), zeros(126));

TEST(NetAddress, known_bytes) { expect_known(address_1, address(1)); }  // FC-VI Table 15

// Ruling 21: padded with zeros, at least 16 bytes on the wire.
TEST(NetAddress, discriminator_lengths) {
  EXPECT_EQ(NetAddress::of({}, {}).discriminator_length, 16);
  EXPECT_EQ(NetAddress::of({}, zeros(16)).discriminator_length, 16);
  EXPECT_EQ(NetAddress::of({}, zeros(17)).discriminator_length, 17);
  EXPECT_EQ(NetAddress::of({}, zeros(128)).discriminator_length, 128);
}
// FC-VI 7.2: 16 to 128.
TEST(NetAddress, valid_lengths) {
  for (int length = 0; length < 256; ++length) {
    NetAddress bad_host = address(1), any = address(1);
    bad_host.host_length = static_cast<std::uint8_t>(length);
    any.discriminator_length = static_cast<std::uint8_t>(length);
    EXPECT_EQ(bad_host.is_valid(), length == 16);
    EXPECT_EQ(any.is_valid(), length >= 16 && length <= 128);
    EXPECT_FALSE(any.to_string().empty());
  }
}

TEST(Qos, known_bytes) {         // FC-VI Table 18
  expect_known(hex("80 000000"   // FCVI_PREF, reserved
                   "00000001"    // max bandwidth
                   "00000002"    // min bandwidth
                   "00000003"    // max delay
                   "00000004"),  // pipeline depth
               Qos{Qos::preference, 1, 2, 3, 4});
}

const Attributes attributes{ReliabilityLevel::reliable_delivery, true, false, 0x10000, Qos{.pipeline_depth = 63}};
const auto attributes_bytes =
    hex("0000 02 02"                                    // reserved, reliable delivery, EnRdmaWr
        "00010000"                                      // max transfer size
        "00000000 00000000 00000000 00000000 0000003F"  // QoS
        "00000000");                                    // reserved: the field of Tables 13 and 14 has eight words

TEST(Attributes, known_bytes) { expect_known(attributes_bytes, attributes); }  // FC-VI Tables 16 and 17
TEST(Attributes, rdma_flags) {
  EXPECT_EQ(written(Attributes{.rdma_write_enabled = true})[3], attribute_flag::enable_rdma_write);
  EXPECT_EQ(written(Attributes{.rdma_read_enabled = true})[3], attribute_flag::enable_rdma_read);
  EXPECT_EQ(attribute_flag::all, 3);
}
TEST(Attributes, reliability_levels) {  // FC-VI 7.3; ruling 16: 3 on the wire
  EXPECT_EQ(static_cast<int>(ReliabilityLevel::reliable_reception), 3);
  for (const int level : {1, 2, 3}) EXPECT_NE(to_string(static_cast<ReliabilityLevel>(level)), text::unknown);
}

const auto payload_bytes = join(hex("00000000"      // reserved
                                    "0000 0001"     // reserved, FCVI_REVISION
                                    "0000002A"),    // FCVI_RQST_HANDLE
                                address_1,          // FCVI_LOC_ADDR
                                address_2,          // FCVI_REM_ADDR
                                attributes_bytes);  // FCVI_LOC_ATTRS
ConnectPayload payload() { return {1, handle, address(1), address(2), attributes, std::nullopt}; }

TEST(ConnectPayload, known_bytes) {  // FC-VI Tables 13 and 14
  expect_known(payload_bytes, payload());
  EXPECT_EQ(payload_bytes.size(), 340U);
}
TEST(ConnectPayload, with_connect_info) {
  ConnectPayload with_info = payload();
  with_info.connect_info.emplace().fill(0x5A);
  expect_known(join(payload_bytes, std::vector<std::uint8_t>(256, 0x5A)), with_info);
  EXPECT_EQ(with_info.size(), 596U);
  EXPECT_EQ(ConnectPayload::parse(payload_bytes, true).error(), (ParseError{ParseCode::truncated, "connect_info"}));
  EXPECT_FALSE(ConnectPayload::parse(written(with_info), false)->connect_info.has_value());
}

// FC-VI 6.8; ruling 3: the Device_Header's handle is unassigned.
TEST(ConnectRqst, known_bytes) {
  const auto header =
      hex("FFFFFFFF"                   // FCVI_HANDLE
          "10 12 0000"                 // opcode, RETRY and peer-to-peer, reserved
          "00000000 00000000"          // message ID, parameter
          "0000000000000000 00000000"  // RMT_VA, RMT_VA_HANDLE
          "00000063");                 // FCVI_CONNECTION_ID
  expect_known(join(header, payload_bytes), ConnectRqst{ConnectionId{99}, true, ConnectMode::peer_to_peer, payload()});
}
TEST(ConnectRqst, every_mode_is_kept) {  // FC-VI Table 8: what is not 1 or 2 is for the provider to refuse
  for (int mode = 0; mode < 8; ++mode) {
    ConnectRqst rqst{ConnectionId{1}, false, static_cast<ConnectMode>(mode), payload()};
    EXPECT_EQ(written(rqst)[5], mode);
    EXPECT_EQ(*ConnectRqst::parse(written(rqst)), rqst);
  }
}
TEST(ConnectRqst, conn_info_flag_follows_the_payload) {
  ConnectRqst rqst{ConnectionId{1}, false, ConnectMode::client_server, payload()};
  rqst.payload.connect_info.emplace();
  EXPECT_EQ(written(rqst)[5], connect_request_flag::conn_info | 1);
  EXPECT_EQ(rqst.size(), 32U + 596U);
  EXPECT_EQ(*ConnectRqst::parse(written(rqst)), rqst);
}

// FC-VI 6.9; ruling 3: a RESP1 that does not accept has no handle.
TEST(ConnectResp1, accept) {
  const ConnectResp1 resp{ConnectionId{99}, false, std::nullopt, payload()};
  expect_known(join(hex("FFFFFFFF 18 00 0000 00000000 00000000 0000000000000000 00000000 00000063"), payload_bytes),
               resp);
}
TEST(ConnectResp1, reject) {
  ConnectResp1 resp{ConnectionId{99}, true, ConnectionStatus{Reason::connect_reject, 0, 0}, payload()};
  resp.payload.handle = FcviHandle::unassigned;
  const auto bytes = written(resp);
  EXPECT_EQ(bytes[5], connect_response_flag::retry | connect_response_flag::conn_sts);
  EXPECT_EQ(load_big<4>(bytes.data() + 12), 0x00040000U);
  EXPECT_EQ(load_big<4>(bytes.data() + 40), 0xFFFFFFFFU);
  EXPECT_EQ(*ConnectResp1::parse(bytes), resp);
}
// An IU whose payload came in several frames.
TEST(ConnectResp1, from_header_and_payload) {
  const ConnectResp1 resp{ConnectionId{99}, false, std::nullopt, payload()};
  EXPECT_EQ(*ConnectResp1::from(resp.to_device_header(), payload_bytes), resp);
}

TEST(ConnectResp2, known_bytes) {  // FC-VI 6.10
  expect_known(hex("0000002A 19 04 0000 00000000 00000000 0000000000000000 00000000 00000063"),
               ConnectResp2{handle, ConnectionId{99}, true, std::nullopt});
}
TEST(ConnectResp3, known_bytes) {  // FC-VI 6.11
  expect_known(
      hex("0000002A 1A 01 0000 00000000 00220000 0000000000000000 00000000 00000063"),
      ConnectResp3{handle, ConnectionId{99}, false, ConnectionStatus{Reason::connect_reject_transport_error, 0, 0}});
}
// FC-VI Table 9: without CONN_STS the parameter does not count; CONN_INFO means nothing without a payload.
TEST(ConnectResp3, parameter_without_conn_sts_is_ignored) {
  const auto bytes = hex("0000002A 1A FA 0000 00000000 00220000 0000000000000000 00000000 00000063");
  EXPECT_EQ(*ConnectResp3::parse(bytes), (ConnectResp3{handle, ConnectionId{99}, false, std::nullopt}));
}

TEST(DisconnectRqst, of_a_connection) {  // FC-VI 6.12; ruling 5: connection ID 0
  expect_known(hex("0000002A 12 02 0000 00000005 00000000 0000000000000000 00000000 00000000"),
               DisconnectRqst{handle, MsgId{5}, ConnectionId{0}, false, true, std::nullopt});
}
TEST(DisconnectRqst, of_a_setup) {
  expect_known(hex("FFFFFFFF 12 05 0000 00000000 00490000 0000000000000000 00000000 00000063"),
               DisconnectRqst{FcviHandle::unassigned, MsgId{0}, ConnectionId{99}, true, false,
                              ConnectionStatus{Reason::connection_setup_timeout, 0, 0}});
}
TEST(DisconnectResp, known_bytes) {  // FC-VI 6.13
  expect_known(hex("0000002A 1B 03 0000 00000005 004B0000 0000000000000000 00000000 00000000"),
               DisconnectResp{handle, MsgId{5}, ConnectionId{0}, false, true,
                              ConnectionStatus{Reason::disconnect_accept, 0, 0}});
}

TEST(EveryIu, takes_only_its_opcode_and_header_size) {
  for_each_message<FcviIus>([]<class Iu>(std::type_identity<Iu>) {
    const auto bytes = SampleOf<Iu>::make().bytes;
    const std::size_t right = device_header_size(Iu::opcode);
    EXPECT_TRUE(Iu::parse(right, bytes).has_value());
    EXPECT_EQ(Iu::parse(right == 16 ? 32 : 16, bytes).error().code, ParseCode::bad_device_header_size);
    for (const IuInfo& other : iu_table) {
      auto changed = join(bytes, zeros(32));
      changed[4] = static_cast<std::uint8_t>(other.opcode);
      if (other.opcode != Iu::opcode) {
        EXPECT_EQ(Iu::parse(other.device_header_size, changed).error().code, ParseCode::unexpected_opcode) << Iu::name;
      }
    }
    EXPECT_EQ(to_string(Iu::opcode), Iu::name);
    EXPECT_EQ(Iu::parse(bytes)->to_string().find(Iu::name), 0U);
  });
}

}  // namespace
}  // namespace wire::test
