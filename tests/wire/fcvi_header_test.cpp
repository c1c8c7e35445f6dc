// FC-VI Tables 1 and 3 to 12: opcodes, Device_Header, flags, reason codes.
#include <gtest/gtest.h>

#include <random>

#include "expect.hpp"
#include "wire/fcvi/device_header.hpp"
#include "wire/fcvi/flags.hpp"
#include "wire/fcvi/message_status.hpp"
#include "wire/fcvi/reason.hpp"
#include "wire/fcvi/whole_send.hpp"
#include "wire/header_fields.hpp"

namespace wire::test {
namespace {
using namespace fcvi;

struct Row {
  const char* name;
  int r_ctl;
  std::size_t header_size;
  int opcode;
};
// FC-VI Table 1.
constexpr Row table_1[] = {{"FCVI_SEND_RQST", 0x01, 32, 0x00},     {"FCVI_WRITE_RQST", 0x01, 32, 0x01},
                           {"FCVI_READ_RQST", 0x06, 32, 0x02},     {"FCVI_SEND_RESP", 0x07, 16, 0x08},
                           {"FCVI_WRITE_RESP", 0x07, 16, 0x09},    {"FCVI_READ_RESP", 0x01, 32, 0x0A},
                           {"FCVI_CONNECT_RQST", 0x02, 32, 0x10},  {"FCVI_DISCONNECT_RQST", 0x02, 32, 0x12},
                           {"FCVI_CONNECT_RESP1", 0x03, 32, 0x18}, {"FCVI_CONNECT_RESP2", 0x03, 32, 0x19},
                           {"FCVI_CONNECT_RESP3", 0x03, 32, 0x1A}, {"FCVI_DISCONNECT_RESP", 0x03, 32, 0x1B}};

TEST(Opcode, table_1) {
  ASSERT_EQ(iu_table.size(), std::size(table_1));
  for (const Row& row : table_1) {
    const IuInfo* info = find_iu(static_cast<Opcode>(row.opcode));
    ASSERT_NE(info, nullptr) << row.name;
    EXPECT_EQ(info->name, row.name);
    EXPECT_EQ(to_string(info->opcode), row.name);
    EXPECT_EQ(static_cast<int>(info->r_ctl), row.r_ctl) << row.name;
    EXPECT_EQ(info->device_header_size, row.header_size) << row.name;
    EXPECT_EQ(device_header_size(info->opcode), row.header_size) << row.name;
    EXPECT_NE(to_string(info->category), text::unknown);
    EXPECT_NE(to_string(info->payload), text::unknown);
  }
}

TEST(Opcode, others_are_unknown) {
  int known = 0;
  for (int code = 0; code < 256; ++code) {
    const auto opcode = static_cast<Opcode>(code);
    known += find_iu(opcode) != nullptr ? 1 : 0;
    EXPECT_EQ(find_iu(opcode) != nullptr, device_header_size(opcode) != 0) << code;
    EXPECT_EQ(find_iu(opcode) != nullptr, to_string(opcode) != text::unknown) << code;
  }
  EXPECT_EQ(known, 12);
}

TEST(DeviceHeader, single_fields_are_those_of_the_whole) {
  std::array<std::uint8_t, 32> bytes{};
  DeviceHeader header;
  header.handle = FcviHandle{0x01020304};
  header.opcode = Opcode::read_resp;
  header.write(bytes);
  EXPECT_EQ(handle_of(bytes), header.handle);
  EXPECT_EQ(opcode_of(bytes), header.opcode);
  EXPECT_FALSE(has_opcode(Bytes(bytes).first(4)));
  EXPECT_TRUE(has_opcode(Bytes(bytes).first(5)));
  set_flags(bytes, 0x42);
  header.flags = 0x42;
  EXPECT_EQ(*DeviceHeader::parse(bytes), header);
}

TEST(DeviceHeader, known_32_bytes) {  // FC-VI Table 4
  DeviceHeader header;
  header.handle = FcviHandle{42};
  header.opcode = Opcode::write_rqst;
  header.flags = message_request_flag::imm_data;
  header.msg_id = MsgId{7};
  header.parameter = 0xCAFEF00D;
  header.rmt_va = 0x00007F1234567890;
  header.rmt_va_handle = MemHandle{0x0BADCAFE};
  header.tot_len_or_connection_id = 0x10000;
  expect_known(hex("0000002A"          // FCVI_HANDLE
                   "01 01 0000"        // opcode, flags, reserved
                   "00000007"          // FCVI_MSG_ID
                   "CAFEF00D"          // FCVI_PARAMETER
                   "00007F1234567890"  // FCVI_RMT_VA
                   "0BADCAFE"          // FCVI_RMT_VA_HANDLE
                   "00010000"),        // FCVI_TOT_LEN
               header);
}

TEST(DeviceHeader, known_16_bytes) {  // FC-VI Table 3
  DeviceHeader header;
  header.handle = FcviHandle{42};
  header.opcode = Opcode::send_resp;
  header.flags = message_response_flag::resp_err | message_response_flag::desc_err;
  header.msg_id = MsgId{7};
  expect_known(hex("0000002A 08 03 0000 00000007 00000000"), header);
}

TEST(DeviceHeader, df_ctl_must_announce_the_size_of_table_1) {
  std::vector<std::uint8_t> bytes(64);
  for (int code = 0; code < 256; ++code) {
    bytes[4] = static_cast<std::uint8_t>(code);
    const std::size_t right = device_header_size(static_cast<Opcode>(code));
    for (const std::size_t df_size : {0U, 16U, 32U, 64U}) {
      const auto header = DeviceHeader::parse(df_size, bytes);
      if (right == 0)
        EXPECT_EQ(header.error().code, ParseCode::unknown_opcode);
      else if (df_size != right)
        EXPECT_EQ(header.error().code, ParseCode::bad_device_header_size);
      else
        EXPECT_TRUE(header.has_value());
    }
  }
}

TEST(Flags, tables_5_to_10) {
  EXPECT_EQ(message_request_flag::imm_data, 1 << 0);   // Table 5
  EXPECT_EQ(message_response_flag::resp_err, 1 << 0);  // Table 6
  EXPECT_EQ(message_response_flag::desc_err, 1 << 1);
  EXPECT_EQ(message_response_flag::prot_err, 1 << 2);
  EXPECT_EQ(message_response_flag::trans_err, 1 << 3);
  EXPECT_EQ(connect_request_flag::mode_mask, 7);  // Table 7, ruling 4
  EXPECT_EQ(connect_request_flag::conn_info, 1 << 3);
  EXPECT_EQ(connect_request_flag::retry, 1 << 4);
  EXPECT_EQ(connect_response_flag::conn_sts, 1 << 0);  // Table 9, ruling 4
  EXPECT_EQ(connect_response_flag::conn_info, 1 << 1);
  EXPECT_EQ(connect_response_flag::retry, 1 << 2);
  EXPECT_EQ(disconnect_flag::conn_sts, 1 << 0);  // Table 10, ruling 6
  EXPECT_EQ(disconnect_flag::vi_app_discon, 1 << 1);
  EXPECT_EQ(disconnect_flag::conn_setup_abort, 1 << 2);
  EXPECT_EQ(static_cast<int>(ConnectMode::client_server), 1);  // Table 8
  EXPECT_EQ(static_cast<int>(ConnectMode::peer_to_peer), 2);
  for (int mode = 0; mode < 8; ++mode)
    EXPECT_EQ(to_string(static_cast<ConnectMode>(mode)) != text::unknown, mode == 1 || mode == 2);
}

TEST(MessageStatus, every_combination_of_table_6) {
  for (int flags = 0; flags < 256; ++flags) {
    const auto status = MessageStatus::from_flags(static_cast<std::uint8_t>(flags));
    EXPECT_EQ(status.to_flags(), flags & 0x0F);
    EXPECT_EQ(status.ok(), (flags & 1) == 0);
  }
  EXPECT_EQ(to_string(MessageStatus{}), "ok");
  EXPECT_EQ(to_string(MessageStatus{true, true, false, true}), "error desc_err trans_err");
}

struct Code {
  int code;
  const char* text;
};
// FC-VI Table 12.
constexpr Code table_12[] = {{0x01, "No Discriminator Match"},
                             {0x02, "Connect Timeout"},
                             {0x03, "No Waiting Remote Connectionpoint"},
                             {0x04, "Connect Reject"},
                             {0x05, "Connect Reject - Concurrent Matching Peer Requests"},
                             {0x20, "Connect Reject - Invalid Service Parm"},
                             {0x21, "Connect Reject - Protocol Error"},
                             {0x22, "Connect Reject - Transport Error"},
                             {0x40, "Transport Error"},
                             {0x41, "RDMA Protection Error"},
                             {0x42, "Remote Descriptor Error"},
                             {0x43, "Remote RDMA Write Protection Error"},
                             {0x44, "Remote RDMA Write Data Error"},
                             {0x45, "Remote RDMA Write Packet Abort"},
                             {0x46, "Remote RDMA Transport Error"},
                             {0x47, "Remote RDMA Read Protection Error"},
                             {0x48, "Protocol Error"},
                             {0x49, "Connection Setup Timeout"},
                             {0x4A, "Connection Does Not Exist"},
                             {0x4B, "Disconnect Accept"}};

TEST(Reason, table_12) {
  int named = 0;
  for (const Code& row : table_12) EXPECT_EQ(to_string(static_cast<Reason>(row.code)), row.text);
  for (int code = 0; code < 256; ++code) named += to_string(static_cast<Reason>(code)) != text::unknown ? 1 : 0;
  EXPECT_EQ(named, 20);
}

// FC-VI 5.9.7.1 and Table 12; ruling 7.
TEST(Reason, every_code_is_of_one_kind) {
  for (int code = 0; code < 256; ++code) {
    const auto reason = static_cast<Reason>(code);
    EXPECT_EQ(is_non_error_response(reason), code >= 0x01 && code <= 0x1F) << code;
    EXPECT_EQ(is_error_response(reason), code >= 0x20 && code <= 0x3F) << code;
    EXPECT_EQ(is_disconnect(reason), code >= 0x40 && code <= 0x5F) << code;
    EXPECT_EQ(is_vendor_unique(reason), code >= 0xF0) << code;
    EXPECT_EQ(is_reserved(reason), code < 0xF0 && to_string(reason) == text::unknown) << code;
  }
}

TEST(ConnectionStatus, table_11) {
  const ConnectionStatus status{Reason::connect_reject, 0x12, 0x34};
  expect_known(hex("00"    // reserved
                   "04"    // reason code
                   "12"    // reason explanation
                   "34"),  // vendor unique
               status);
  EXPECT_EQ(status.to_parameter(), 0x00041234U);
  EXPECT_EQ(ConnectionStatus::from_parameter(0xFF041234), status);
}

// --- a Send of one frame (FC-VI 5.2.1, 5.8, 6.2; FC-FS) ----------------------------------------------------------

WholeSend some_whole_send(std::mt19937& random, std::uint32_t length_bytes) {
  const auto bits = [&random](unsigned count) { return static_cast<std::uint32_t>(random()) >> (32 - count); };
  WholeSend send;
  send.d_id = {bits(24)};
  send.s_id = {bits(24)};
  send.cs_ctl = static_cast<std::uint8_t>(bits(8));
  send.seq_id = {static_cast<std::uint8_t>(bits(8))};
  send.ox_id = {static_cast<std::uint16_t>(bits(16))};
  send.handle = FcviHandle{bits(32)};
  send.msg_id = MsgId{bits(32)};
  send.has_immediate = bits(1) != 0;
  send.immediate_data = send.has_immediate ? bits(32) : 0;
  send.length_bytes = length_bytes;
  return send;
}

std::vector<std::uint8_t> frame_of(const WholeSend& send) {
  std::vector<std::uint8_t> frame(send.frame_bytes(), 0xEE);
  send.write(frame);
  return frame;
}

// What both headers say, read each by itself, is what it says, and the headers have nothing else (FC-FS, FC-VI Table
// 3).
TEST(WholeSend, headers_are_those_of_the_layouts) {
  std::mt19937 random(7);
  for (std::uint32_t length = 0; length != 100; ++length) {
    const WholeSend send = some_whole_send(random, length);
    const std::vector<std::uint8_t> frame = frame_of(send);
    const auto fc = FcHeader::parse(frame);
    const auto device = DeviceHeader::parse(fc->device_header_size(), Bytes(frame).subspan(24));
    ASSERT_TRUE(fc && device);
    EXPECT_EQ(fc->r_ctl, RCtl::solicited_data);
    EXPECT_EQ(fc->type, Type::fc_vi);
    EXPECT_EQ(fc->f_ctl & ~3u, 0x380008u);  // first and last of its Exchange, End_Sequence; relative offset
    EXPECT_EQ(fc->fill_bytes(), fill_bytes_for(length));
    EXPECT_EQ(std::tuple(fc->d_id, fc->s_id, fc->cs_ctl, fc->seq_id, fc->ox_id, fc->rx_id, fc->parameter),
              std::tuple(send.d_id, send.s_id, send.cs_ctl, send.seq_id, send.ox_id, RxId::unassigned, 0u));
    EXPECT_EQ(*device, send.request().to_device_header());
    EXPECT_EQ(device->tot_len_or_connection_id, length);
    EXPECT_EQ(frame.size(), 56 + length + fc->fill_bytes());
    for (std::size_t at = 56 + length; at != frame.size(); ++at) EXPECT_EQ(frame[at], 0) << "fill byte";
    EXPECT_EQ(WholeSend::read(frame), send);
  }
}

// Each bit changes what is said, makes the frame something else, or is one that a receiver ignores (FC-VI 5.9.5): the
// reserved bits of FCVI_FLAGS and the word behind it, FCVI_PARAMETER without Immediate Data, FCVI_RMT_VA, its handle,
// and RX_ID
// and the fill bytes, which the originator's frame leaves open.
TEST(WholeSend, every_bit_counts_or_is_ignored_by_rule) {
  std::mt19937 random(8);
  for (const bool immediate : {false, true}) {
    WholeSend send = some_whole_send(random, 9);
    send.has_immediate = immediate;
    send.immediate_data = immediate ? 5 : 0;
    const std::vector<std::uint8_t> frame = frame_of(send);
    for (std::size_t bit = 0; bit != 8 * frame.size(); ++bit) {
      std::vector<std::uint8_t> changed = frame;
      changed[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
      const std::size_t at = bit / 8;
      const bool flags = at == 24 + 5 && bit % 8 != 0, parameter = at >= 24 + 12 && at < 24 + 16 && !immediate;
      const bool ignored = at == 18 || at == 19 || flags || at == 24 + 6 || at == 24 + 7 || parameter ||
                           (at >= 24 + 16 && at < 24 + 28) || at >= 56;
      EXPECT_EQ(WholeSend::read(changed) == send, ignored) << at << " bit " << bit % 8;
    }
    for (std::size_t size = 0; size != frame.size(); ++size)
      EXPECT_FALSE(WholeSend::read(Bytes(frame).first(size))) << size;
  }
}

}  // namespace
}  // namespace wire::test
