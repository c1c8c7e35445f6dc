// GSPN_ID: the symbolic name of an N_Port_ID. Accept: SymbolicNameAccept.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// GSPN_ID (FC-GS 5.2.5), 20 bytes, after the preamble:
/// word | 31-24    | 23-0
///  4   | reserved | N_Port_ID
struct GspnId {
  CtHeader preamble = CtHeader::of(Command::gspn_id);
  FcId port_id{};

  static constexpr std::string_view name = "GSPN_ID";
  static constexpr Command command = Command::gspn_id;
  static constexpr auto layout =
      codec::layout<20>(codec::field<0, 16>(&GspnId::preamble, "preamble"), codec::check<8, 2>(0x0118, "command"),
                        codec::field<17, 3>(&GspnId::port_id, "port_id"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GspnId> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GspnId&, const GspnId&) = default;
};

}  // namespace wire::ct
