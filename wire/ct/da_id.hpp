// DA_ID: removes every entry of an N_Port_ID.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// DA_ID (FC-GS 5.2.5), 20 bytes, after the preamble:
/// word | 31-24    | 23-0
///  4   | reserved | N_Port_ID
struct DaId {
  CtHeader preamble = CtHeader::of(Command::da_id);
  FcId port_id{};

  static constexpr std::string_view name = "DA_ID";
  static constexpr Command command = Command::da_id;
  static constexpr auto layout =
      codec::layout<20>(codec::field<0, 16>(&DaId::preamble, "preamble"), codec::check<8, 2>(0x0300, "command"),
                        codec::field<17, 3>(&DaId::port_id, "port_id"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<DaId> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const DaId&, const DaId&) = default;
};

}  // namespace wire::ct
