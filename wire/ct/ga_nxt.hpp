// GA_NXT: all that is known of the port with the next higher N_Port_ID; the lowest follows the
// highest. Accept: NextPortAccept.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// GA_NXT (FC-GS 5.2.5), 20 bytes, after the preamble:
/// word | 31-24    | 23-0
///  4   | reserved | N_Port_ID
struct GaNxt {
  CtHeader preamble = CtHeader::of(Command::ga_nxt);
  FcId port_id{};

  static constexpr std::string_view name = "GA_NXT";
  static constexpr Command command = Command::ga_nxt;
  static constexpr auto layout =
      codec::layout<20>(codec::field<0, 16>(&GaNxt::preamble, "preamble"), codec::check<8, 2>(0x0100, "command"),
                        codec::field<17, 3>(&GaNxt::port_id, "port_id"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GaNxt> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GaNxt&, const GaNxt&) = default;
};

}  // namespace wire::ct
