// The payload of CONNECT_RQST and CONNECT_RESP1.
#pragma once
#include "wire/fcvi/attributes.hpp"
#include "wire/fcvi/net_address.hpp"

namespace wire::fcvi {

/// FCVI_CONNECT_INFO: what one FC-VI provider tells the other.
using ConnectInfo = std::array<std::uint8_t, 256>;

/// Payload of CONNECT_RQST and CONNECT_RESP1 (FC-VI Tables 13 and 14), 340 bytes, or 596 with FCVI_CONNECT_INFO.
/// word   | 31-16    | 15-0
///  0      | reserved
///  1      | reserved | FCVI_REVISION (0001h)
///  2      | FCVI_RQST_HANDLE or FCVI_RESP_HANDLE (ruling 3)
///  3-39   | FCVI_LOC_ADDR: the sender's
///  40-76  | FCVI_REM_ADDR
///  77-84  | FCVI_LOC_ATTRS: the sender's
///  85-148 | FCVI_CONNECT_INFO, if the CONN_INFO flag is set
struct ConnectPayload {
  static constexpr std::uint16_t first_revision = 0x0001;

  std::uint16_t revision = first_revision;
  FcviHandle handle = FcviHandle::unassigned;  // unassigned in a RESP1 that does not accept (ruling 3)
  NetAddress local_address{};
  NetAddress remote_address{};
  Attributes local_attributes{};
  std::optional<ConnectInfo> connect_info;

  static constexpr std::string_view name = "FCVI_CONNECT_PAYLOAD";
  static constexpr std::size_t size_without_info = 340;
  static constexpr std::size_t size_with_info = 596;
  /// The first 340 bytes.
  static constexpr auto layout = codec::layout<size_without_info>(
      codec::field<6, 2>(&ConnectPayload::revision, "revision"), codec::field<8, 4>(&ConnectPayload::handle, "handle"),
      codec::field<12, 148>(&ConnectPayload::local_address, "local_address"),
      codec::field<160, 148>(&ConnectPayload::remote_address, "remote_address"),
      codec::field<308, 32>(&ConnectPayload::local_attributes, "local_attributes"));

  /// `with_info`: the CONN_INFO flag.
  [[nodiscard]] static Result<ConnectPayload> parse(Bytes bytes, bool with_info);
  /// With info where the bytes hold it.
  [[nodiscard]] static Result<ConnectPayload> parse(Bytes bytes) {
    return parse(bytes, bytes.size() >= size_with_info);
  }
  [[nodiscard]] std::size_t size() const { return connect_info ? size_with_info : size_without_info; }
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const ConnectPayload&, const ConnectPayload&) = default;
};

}  // namespace wire::fcvi
