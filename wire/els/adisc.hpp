// ADISC: discover address. Its accept has the same fields.
#pragma once
#include "wire/codec.hpp"
#include "wire/els/command.hpp"

namespace wire::els {

/// ADISC and LS_ACC to it (FC-LS 4.2.11), 28 bytes
/// word | 31-24    | 23-0
///  0   | 52h, 02h | 0
///  1   | reserved | hard address
///  2-3 | Port_Name
///  4-5 | Node_Name
///  6   | reserved | N_Port_ID
struct Adisc {
  Command command = Command::adisc;  // ls_acc in the accept
  FcId hard_address{};
  Wwn port_name{};
  Wwn node_name{};
  FcId n_port_id{};

  static constexpr std::string_view name = "ADISC";
  static constexpr std::array<Command, 1> commands{Command::adisc};
  static constexpr auto layout = codec::layout<28>(
      codec::choice<0, 1>(&Adisc::command, "command", Command::adisc, Command::ls_acc),
      codec::field<5, 3>(&Adisc::hard_address, "hard_address"), codec::field<8, 8>(&Adisc::port_name, "port_name"),
      codec::field<16, 8>(&Adisc::node_name, "node_name"), codec::field<25, 3>(&Adisc::n_port_id, "n_port_id"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Adisc> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Adisc&, const Adisc&) = default;
};

}  // namespace wire::els
