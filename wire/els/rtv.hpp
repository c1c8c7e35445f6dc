// RTV: read timeout values.
#pragma once
#include "wire/codec.hpp"
#include "wire/els/command.hpp"

namespace wire::els {

/// RTV (FC-LS 4.2.12), 4 bytes: 0E000000h
struct Rtv {
  static constexpr std::string_view name = "RTV";
  static constexpr std::array<Command, 1> commands{Command::rtv};
  static constexpr auto layout = codec::layout<4>(codec::constant<0, 1>(0x0E, "command"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Rtv> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Rtv&, const Rtv&) = default;
};

/// LS_ACC to RTV (FC-LS 4.2.12), 16 bytes
/// word | 31-0
///  0   | 02000000h
///  1   | R_A_TOV, ms
///  2   | E_D_TOV, ms or ns
///  3   | timeout qualifier
struct RtvAcc {
  static constexpr std::uint32_t e_d_tov_in_ns = 1U << 26;   // timeout qualifier: E_D_TOV resolution
  static constexpr std::uint32_t r_t_tov_100_us = 1U << 19;  // timeout qualifier: R_T_TOV is 100 us

  std::uint32_t r_a_tov_ms = 0;
  std::uint32_t e_d_tov = 0;
  std::uint32_t timeout_qualifier = 0;

  static constexpr std::string_view name = "LS_ACC(RTV)";
  static constexpr auto layout =
      codec::layout<16>(codec::constant<0, 1>(0x02, "command"), codec::field<4, 4>(&RtvAcc::r_a_tov_ms, "r_a_tov_ms"),
                        codec::field<8, 4>(&RtvAcc::e_d_tov, "e_d_tov"),
                        codec::field<12, 4>(&RtvAcc::timeout_qualifier, "timeout_qualifier"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<RtvAcc> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const RtvAcc&, const RtvAcc&) = default;
};

}  // namespace wire::els
