// GFT_ID: the FC-4 types of an N_Port_ID. Accept: Fc4TypesAccept.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// GFT_ID (FC-GS 5.2.5), 20 bytes, after the preamble:
/// word | 31-24    | 23-0
///  4   | reserved | N_Port_ID
struct GftId {
  CtHeader preamble = CtHeader::of(Command::gft_id);
  FcId port_id{};

  static constexpr std::string_view name = "GFT_ID";
  static constexpr Command command = Command::gft_id;
  static constexpr auto layout =
      codec::layout<20>(codec::field<0, 16>(&GftId::preamble, "preamble"), codec::check<8, 2>(0x0117, "command"),
                        codec::field<17, 3>(&GftId::port_id, "port_id"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GftId> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GftId&, const GftId&) = default;
};

}  // namespace wire::ct
