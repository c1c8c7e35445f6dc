// RSPN_ID: registers the symbolic name of a port.
#pragma once
#include <string>

#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// RSPN_ID (FC-GS 5.2.5), after the preamble:
/// word | 31-24    | 23-0
///  4   | reserved | N_Port_ID
///  then | length byte, symbolic name, zeros where the sender pads
struct RspnId {
  CtHeader preamble = CtHeader::of(Command::rspn_id);
  FcId port_id{};
  std::string symbolic_name;         // at most 255 bytes
  std::uint16_t padding_length = 0;  // bytes

  static constexpr std::string_view name = "RSPN_ID";
  static constexpr Command command = Command::rspn_id;
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] static Result<RspnId> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const RspnId&, const RspnId&) = default;
};

}  // namespace wire::ct
