// The fields of a frame, each wrong by itself: what a hostile peer sends (FC-VI 5.8, 5.9, 6.2 to 6.13).
#pragma once
#include "tests/fcvi/hostile_situations.hpp"

namespace support {

/// One field. Those that tell whose IU it is, or whether it is one, must never let it move an endpoint.
struct Wrong {
  std::string_view field;
  bool identifies;
  void (*apply)(ForgedFrame&);
};

/// Of every IU.
inline constexpr Wrong header_wrongs[] = {
    {"(as it should be)", false, [](ForgedFrame&) {}},
    {"R_CTL: control instead", true,
     [](ForgedFrame& f) {
       f.header.r_ctl = f.header.r_ctl == wire::RCtl::solicited_control ? wire::RCtl::unsolicited_control
                                                                        : wire::RCtl::solicited_control;
     }},
    {"R_CTL: data instead", true,
     [](ForgedFrame& f) {
       f.header.r_ctl =
           f.header.r_ctl == wire::RCtl::solicited_data ? wire::RCtl::command_status : wire::RCtl::solicited_data;
     }},
    {"D_ID", true, [](ForgedFrame& f) { f.header.d_id = {0x010800}; }},
    {"D_ID: broadcast", true, [](ForgedFrame& f) { f.header.d_id = wire::well_known::broadcast; }},
    {"S_ID: not logged in", true, [](ForgedFrame& f) { f.header.s_id = {0x010900}; }},
    {"TYPE", true, [](ForgedFrame& f) { f.header.type = wire::Type::fcp; }},
    {"Exchange Context", true, [](ForgedFrame& f) { f.header.f_ctl ^= wire::f_ctl::exchange_responder; }},
    {"First_Sequence", false, [](ForgedFrame& f) { f.header.f_ctl ^= wire::f_ctl::first_sequence; }},
    {"Last_Sequence", false, [](ForgedFrame& f) { f.header.f_ctl ^= wire::f_ctl::last_sequence; }},
    {"Sequence Initiative", false, [](ForgedFrame& f) { f.header.f_ctl ^= wire::f_ctl::sequence_initiative; }},
    {"DF_CTL: none", true, [](ForgedFrame& f) { f.header.df_ctl = 0; }},
    {"DF_CTL: 64 bytes", true, [](ForgedFrame& f) { f.header.df_ctl = 3; }},
    {"DF_CTL: Network_Header", true, [](ForgedFrame& f) { f.header.df_ctl |= wire::df_ctl::network_header; }},
    {"SEQ_CNT", false,
     [](ForgedFrame& f) { f.header.seq_cnt.value = static_cast<std::uint16_t>(f.header.seq_cnt.value + 7); }},
    {"OX_ID", true, [](ForgedFrame& f) { f.header.ox_id.value ^= 0x0555; }},
    {"SOFn3", false, [](ForgedFrame& f) { f.sof = wire::Sof::n3; }},
    {"EOFni", true, [](ForgedFrame& f) { f.eof = wire::Eof::ni; }},
    {"FCVI_HANDLE", false, [](ForgedFrame& f) { f.set_word(0, f.word(0) ^ 0x00ABC000); }},
    {"FCVI_OPCODE", true, [](ForgedFrame& f) { f.data[4] = 0x7F; }},
    {"FCVI_FLAGS: all reserved bits", false,
     [](ForgedFrame& f) {
       f.data[5] = static_cast<std::uint8_t>(f.data[5] | (f.data[4] == 0x10  ? 0xE0
                                                          : f.data[4] < 8    ? 0xFE
                                                          : f.data[4] < 0x10 ? 0xF0
                                                                             : 0xF8));
     }},
    {"reserved word 1", false, [](ForgedFrame& f) { f.data[6] = f.data[7] = 0xFF; }},
    {"FCVI_MSG_ID", false, [](ForgedFrame& f) { f.set_word(2, 0xDEAD); }},
    {"FCVI_PARAMETER", false, [](ForgedFrame& f) { f.set_word(3, 0x00040000); }},
    {"cut short", true, [](ForgedFrame& f) { f.data.resize(12); }},
};

/// Of those whose Device_Header has 32 bytes.
inline constexpr Wrong long_header_wrongs[] = {
    {"FCVI_RMT_VA", false, [](ForgedFrame& f) { f.set_word(4, 0x12345678); }},
    {"FCVI_RMT_VA_HANDLE", false, [](ForgedFrame& f) { f.set_word(6, 0x12345678); }},
    {"FCVI_CONNECTION_ID, FCVI_TOT_LEN", false, [](ForgedFrame& f) { f.set_word(7, f.word(7) ^ 0x000F0000); }},
};

/// Of CONNECT_RQST and RESP1.
inline constexpr std::size_t connect_payload = 8;  // its first word
inline constexpr Wrong payload_wrongs[] = {
    {"mode reserved, or CONN_STS and RETRY", false,
     [](ForgedFrame& f) { f.data[5] = f.data[4] == 0x10 ? 0x07 : 0x05; }},
    {"CONN_INFO flag without it", false,
     [](ForgedFrame& f) { f.data[5] = static_cast<std::uint8_t>(f.data[5] | (f.data[4] == 0x10 ? 8 : 2)); }},
    {"FCVI_REVISION", false, [](ForgedFrame& f) { f.set_word(connect_payload + 1, 9); }},
    {"own handle unassigned", false, [](ForgedFrame& f) { f.set_word(connect_payload + 2, 0xFFFFFFFF); }},
    {"HOST_ADD_LEN", false, [](ForgedFrame& f) { f.set_word(connect_payload + 3, 0x0410); }},
    {"DISCRIM_LEN 15", false, [](ForgedFrame& f) { f.set_word(connect_payload + 3, 0x100F); }},
    {"DISCRIM_LEN 129", false, [](ForgedFrame& f) { f.set_word(connect_payload + 40, 0x1081); }},
    {"HOST_ADD of the remote", false, [](ForgedFrame& f) { f.set_word(connect_payload + 44, 0x0A090909); }},
    {"reliability level 0", false,
     [](ForgedFrame& f) { f.set_word(connect_payload + 77, f.word(connect_payload + 77) & 0xFFFF00FF); }},
    {"reliability level 4", false,
     [](ForgedFrame& f) { f.set_word(connect_payload + 77, (f.word(connect_payload + 77) & 0xFFFF00FF) | 0x0400); }},
    {"payload cut short", true, [](ForgedFrame& f) { f.data.resize(32 + 336); }},
    {"no payload", true, [](ForgedFrame& f) { f.data.resize(32); }},
};

}  // namespace support
