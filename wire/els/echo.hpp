// ECHO: the accept returns the data.
#pragma once
#include <vector>

#include "wire/codec.hpp"
#include "wire/els/command.hpp"

namespace wire::els {

/// ECHO and LS_ACC to it (FC-LS 4.2.9): command word (10000000h, 02000000h), then data of any length.
struct Echo {
  Command command = Command::echo;  // ls_acc in the accept
  std::vector<std::uint8_t> data;

  static constexpr std::string_view name = "ECHO";
  static constexpr std::array<Command, 1> commands{Command::echo};
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] static Result<Echo> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Echo&, const Echo&) = default;
};

}  // namespace wire::els
