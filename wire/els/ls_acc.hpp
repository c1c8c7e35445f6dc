// LS_ACC without parameters: the accept of LOGO, SCR, RSCN, RRQ.
#pragma once
#include "wire/codec.hpp"
#include "wire/els/command.hpp"

namespace wire::els {

/// LS_ACC (FC-LS 4.4), 4 bytes: 02000000h
struct LsAcc {
  static constexpr std::string_view name = "LS_ACC";
  static constexpr auto layout = codec::layout<4>(codec::constant<0, 1>(0x02, "command"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<LsAcc> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const LsAcc&, const LsAcc&) = default;
};

}  // namespace wire::els
