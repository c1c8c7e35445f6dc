// RFF_ID: registers the features of an FC-4 of a port.
#pragma once
#include "wire/ct/preamble.hpp"
#include "wire/fc_header.hpp"

namespace wire::ct {

/// RFF_ID (FC-GS 5.2.5), 24 bytes, after the preamble:
/// word | 31-24    | 23-0
///  4   | reserved | N_Port_ID
///  5   | reserved (31-16), FC-4 features (15-8), TYPE (7-0)
struct RffId {
  CtHeader preamble = CtHeader::of(Command::rff_id);
  FcId port_id{};
  std::uint8_t features = 0;
  Type type{};

  static constexpr std::string_view name = "RFF_ID";
  static constexpr Command command = Command::rff_id;
  static constexpr auto layout =
      codec::layout<24>(codec::field<0, 16>(&RffId::preamble, "preamble"), codec::check<8, 2>(0x021F, "command"),
                        codec::field<17, 3>(&RffId::port_id, "port_id"),
                        codec::field<22, 1>(&RffId::features, "features"), codec::field<23, 1>(&RffId::type, "type"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<RffId> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const RffId&, const RffId&) = default;
};

}  // namespace wire::ct
