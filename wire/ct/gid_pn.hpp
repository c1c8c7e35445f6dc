// GID_PN: the N_Port_ID of a Port_Name. Accept: PortIdAccept.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// GID_PN (FC-GS 5.2.5), 24 bytes, after the preamble:
/// word | 31-0
///  4-5 | Port_Name
struct GidPn {
  CtHeader preamble = CtHeader::of(Command::gid_pn);
  Wwn port_name{};

  static constexpr std::string_view name = "GID_PN";
  static constexpr Command command = Command::gid_pn;
  static constexpr auto layout =
      codec::layout<24>(codec::field<0, 16>(&GidPn::preamble, "preamble"), codec::check<8, 2>(0x0121, "command"),
                        codec::field<16, 8>(&GidPn::port_name, "port_name"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GidPn> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GidPn&, const GidPn&) = default;
};

}  // namespace wire::ct
