// GFF_ID: the FC-4 features of an N_Port_ID. Accept: Fc4FeaturesAccept.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// GFF_ID (FC-GS 5.2.5), 20 bytes, after the preamble:
/// word | 31-24    | 23-0
///  4   | reserved | N_Port_ID
struct GffId {
  CtHeader preamble = CtHeader::of(Command::gff_id);
  FcId port_id{};

  static constexpr std::string_view name = "GFF_ID";
  static constexpr Command command = Command::gff_id;
  static constexpr auto layout =
      codec::layout<20>(codec::field<0, 16>(&GffId::preamble, "preamble"), codec::check<8, 2>(0x011F, "command"),
                        codec::field<17, 3>(&GffId::port_id, "port_id"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GffId> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GffId&, const GffId&) = default;
};

}  // namespace wire::ct
