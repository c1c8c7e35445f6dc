// The Device_Header of every FC-VI frame.
#pragma once
#include "wire/codec.hpp"
#include "wire/fcvi/opcode.hpp"

namespace wire::fcvi {

/// FC-VI Device_Header (FC-VI 5.9.1, Tables 3 and 4), 16 bytes (words 0 to 3) or 32 bytes, by opcode
/// word | 31-24       | 23-16      | 15-0
///  0   | FCVI_HANDLE
///  1   | FCVI_OPCODE | FCVI_FLAGS | reserved
///  2   | FCVI_MSG_ID
///  3   | FCVI_PARAMETER
///  4-5 | FCVI_RMT_VA
///  6   | FCVI_RMT_VA_HANDLE
///  7   | FCVI_TOT_LEN, bytes, or FCVI_CONNECTION_ID
/// Flags and fields are as on the wire: which of them count is for the IU classes.
struct DeviceHeader {
  FcviHandle handle{};
  Opcode opcode{};
  std::uint8_t flags = 0;
  MsgId msg_id{};
  std::uint32_t parameter = 0;
  std::uint64_t rmt_va = 0;
  MemHandle rmt_va_handle{};
  std::uint32_t tot_len_or_connection_id = 0;

  static constexpr std::string_view name = "FCVI";
  static constexpr auto layout_16 = codec::layout<16>(
      codec::field<0, 4>(&DeviceHeader::handle, "handle"),
      codec::word<4, 4>(codec::part<31, 24>(&DeviceHeader::opcode, "opcode"),
                        codec::part<23, 16>(&DeviceHeader::flags, "flags")),
      codec::field<8, 4>(&DeviceHeader::msg_id, "msg_id"), codec::field<12, 4>(&DeviceHeader::parameter, "parameter"));
  static constexpr auto layout = codec::layout<32>(
      codec::field<0, 4>(&DeviceHeader::handle, "handle"),
      codec::word<4, 4>(codec::part<31, 24>(&DeviceHeader::opcode, "opcode"),
                        codec::part<23, 16>(&DeviceHeader::flags, "flags")),
      codec::field<8, 4>(&DeviceHeader::msg_id, "msg_id"), codec::field<12, 4>(&DeviceHeader::parameter, "parameter"),
      codec::field<16, 8>(&DeviceHeader::rmt_va, "rmt_va"),
      codec::field<24, 4>(&DeviceHeader::rmt_va_handle, "rmt_va_handle"),
      codec::field<28, 4>(&DeviceHeader::tot_len_or_connection_id, "tot_len_or_connection_id"));

  /// `df_size`: bytes of Device_Header that DF_CTL announces (FcHeader::device_header_size). Errors:
  /// truncated; unknown_opcode; bad_device_header_size where the IU has another size (FC-VI Table 1).
  [[nodiscard]] static Result<DeviceHeader> parse(std::size_t df_size, Bytes data_field) {
    if (data_field.size() < 16) [[unlikely]]
      return ParseError{ParseCode::truncated, layout_16.field_at(data_field.size())};
    const std::size_t size = device_header_size(static_cast<Opcode>(data_field[4]));
    if (size == 0) [[unlikely]]
      return ParseError{ParseCode::unknown_opcode, "opcode"};
    if (size != df_size) [[unlikely]]
      return ParseError{ParseCode::bad_device_header_size, "df_ctl"};
    if (data_field.size() < size) [[unlikely]]
      return ParseError{ParseCode::truncated, layout.field_at(data_field.size())};
    if (size == 32) [[likely]]
      return codec::load_result<DeviceHeader>(layout, data_field.data());
    return codec::load_result<DeviceHeader>(layout_16, data_field.data());
  }
  /// With the size that the opcode asks for.
  [[nodiscard]] static Result<DeviceHeader> parse(Bytes data_field) {
    if (data_field.size() <= 4) return ParseError{ParseCode::truncated, layout.field_at(data_field.size())};
    const std::size_t size = device_header_size(static_cast<Opcode>(data_field[4]));
    if (size == 0) return ParseError{ParseCode::unknown_opcode, "opcode"};
    return parse(size, data_field);
  }
  /// 16 or 32 bytes. The opcode is one of Table 1.
  [[nodiscard]] constexpr std::size_t size() const { return device_header_size(opcode); }
  void write(MutableBytes to) const {
    assert(size() != 0 && to.size() >= size());
    if (size() == 32) [[likely]]
      layout.store(*this, to.data());
    else
      layout_16.store(*this, to.data());
  }
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const DeviceHeader&, const DeviceHeader&) = default;

  [[nodiscard]] constexpr bool has(std::uint8_t flag_bits) const { return (flags & flag_bits) == flag_bits; }
};

/// An IU whose content stands in the Device_Header alone; any payload of its frames is the caller's.
template <class Iu>
[[nodiscard]] inline Result<Iu> parse_iu(std::size_t df_size, Bytes data_field) {
  const auto header = DeviceHeader::parse(df_size, data_field);
  if (!header) [[unlikely]]
    return header.error();
  if (header->opcode != Iu::opcode) [[unlikely]]
    return ParseError{ParseCode::unexpected_opcode, "opcode"};
  return Iu::from(*header);
}

}  // namespace wire::fcvi
