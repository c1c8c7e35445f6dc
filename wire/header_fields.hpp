// Single fields from the beginning of a frame or of its data field, for whoever needs no more; the whole: FcHeader,
// fcvi::DeviceHeader, the messages of wire/els.
#pragma once
#include "wire/els/command.hpp"
#include "wire/fc_header.hpp"
#include "wire/fcvi/opcode.hpp"

namespace wire {

// `frame` begins with a frame header. tests/wire compares each of these with what the whole header says.
[[nodiscard]] inline RCtl r_ctl_of(Bytes frame) { return static_cast<RCtl>(load_big<1>(frame, 0)); }
[[nodiscard]] inline FcId d_id_of(Bytes frame) { return {load_big<3>(frame, 1)}; }
[[nodiscard]] inline FcId s_id_of(Bytes frame) { return {load_big<3>(frame, 5)}; }
[[nodiscard]] inline Type type_of(Bytes frame) { return static_cast<Type>(load_big<1>(frame, 8)); }
[[nodiscard]] inline OxId ox_id_of(Bytes frame) { return {load_big<2>(frame, 16)}; }
[[nodiscard]] inline std::size_t fill_bytes_of(Bytes frame) { return load_big<1>(frame, 11) & f_ctl::fill_bytes_mask; }
inline void set_seq_cnt(MutableBytes frame, std::uint16_t seq_cnt) { store_big<2>(frame, 14, seq_cnt); }
inline void set_parameter(MutableBytes frame, std::uint32_t parameter) { store_big<4>(frame, 20, parameter); }

namespace els {
/// The payload is not empty.
[[nodiscard]] inline Command command_of(Bytes payload) { return static_cast<Command>(load_big<1>(payload, 0)); }
}  // namespace els

namespace fcvi {
// `data_field` begins with a Device_Header, or with a part of it that has the field.
[[nodiscard]] inline FcviHandle handle_of(Bytes data_field) { return {load_big<4>(data_field, 0)}; }
[[nodiscard]] inline bool has_opcode(Bytes data_field) { return data_field.size() > 4; }
[[nodiscard]] inline Opcode opcode_of(Bytes data_field) { return static_cast<Opcode>(load_big<1>(data_field, 4)); }
inline void set_flags(MutableBytes data_field, std::uint8_t flags) { store_big<1>(data_field, 5, flags); }
}  // namespace fcvi

}  // namespace wire
