// RRQ: reinstate recovery qualifier, after R_A_TOV, for an exchange that was aborted.
#pragma once
#include "wire/codec.hpp"
#include "wire/els/command.hpp"

namespace wire::els {

/// RRQ (FC-LS 4.2.14), 12 bytes
/// word | 31-24    | 23-0
///  0   | 12h      | 0
///  1   | reserved | S_ID of the exchange originator
///  2   | OX_ID (31-16), RX_ID (15-0)
struct Rrq {
  FcId originator_s_id{};
  OxId ox_id{};
  RxId rx_id{};

  static constexpr std::string_view name = "RRQ";
  static constexpr std::array<Command, 1> commands{Command::rrq};
  static constexpr auto layout = codec::layout<12>(
      codec::constant<0, 1>(0x12, "command"), codec::field<5, 3>(&Rrq::originator_s_id, "originator_s_id"),
      codec::field<8, 2>(&Rrq::ox_id, "ox_id"), codec::field<10, 2>(&Rrq::rx_id, "rx_id"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Rrq> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Rrq&, const Rrq&) = default;
};

}  // namespace wire::els
