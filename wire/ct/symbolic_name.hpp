// A symbolic name as RSPN_ID, RSNN_NN and the accepts of GSPN_ID and GSNN_NN carry it.
#pragma once
#include <string>

#include "wire/codec.hpp"

namespace wire::ct {

/// Length byte, name of at most 255 bytes, then zeros up to the end of the payload.
struct SymbolicName {
  std::string text;
  std::uint16_t padding_length = 0;  // bytes

  static constexpr std::size_t max_length = 255;

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] static Result<SymbolicName> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const SymbolicName&, const SymbolicName&) = default;
};

}  // namespace wire::ct
