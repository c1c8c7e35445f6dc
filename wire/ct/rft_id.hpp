// RFT_ID: registers the FC-4 types of a port.
#pragma once
#include "wire/ct/preamble.hpp"
#include "wire/fc_header.hpp"

namespace wire::ct {

/// FC-4 types, 32 bytes: TYPE t is bit (t mod 32) of big-endian word (t / 32).
struct Fc4Types {
  std::array<std::uint8_t, 32> bytes{};
  friend constexpr bool operator==(const Fc4Types&, const Fc4Types&) = default;
  [[nodiscard]] constexpr bool has(Type type) const { return (bytes[index(type)] & bit(type)) != 0; }
  constexpr void add(Type type) { bytes[index(type)] = static_cast<std::uint8_t>(bytes[index(type)] | bit(type)); }

 private:
  static constexpr std::size_t index(Type type) {
    const auto code = static_cast<unsigned>(type);
    return 4 * (code / 32) + 3 - (code % 32) / 8;
  }
  static constexpr unsigned bit(Type type) { return 1U << (static_cast<unsigned>(type) % 8); }
};
/// "08,58h": the types; "none".
[[nodiscard]] std::string to_string(const Fc4Types& types);

/// RFT_ID (FC-GS 5.2.5), 52 bytes, after the preamble:
/// word | 31-24    | 23-0
///  4   | reserved | N_Port_ID
///  5-12 | FC-4 types
struct RftId {
  CtHeader preamble = CtHeader::of(Command::rft_id);
  FcId port_id{};
  Fc4Types types{};

  static constexpr std::string_view name = "RFT_ID";
  static constexpr Command command = Command::rft_id;
  static constexpr auto layout =
      codec::layout<52>(codec::field<0, 16>(&RftId::preamble, "preamble"), codec::check<8, 2>(0x0217, "command"),
                        codec::field<17, 3>(&RftId::port_id, "port_id"), codec::field<20, 32>(&RftId::types, "types"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<RftId> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const RftId&, const RftId&) = default;
};

}  // namespace wire::ct
