// GNN_ID: the Node_Name of an N_Port_ID. Accept: NameAccept.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// GNN_ID (FC-GS 5.2.5), 20 bytes, after the preamble:
/// word | 31-24    | 23-0
///  4   | reserved | N_Port_ID
struct GnnId {
  CtHeader preamble = CtHeader::of(Command::gnn_id);
  FcId port_id{};

  static constexpr std::string_view name = "GNN_ID";
  static constexpr Command command = Command::gnn_id;
  static constexpr auto layout =
      codec::layout<20>(codec::field<0, 16>(&GnnId::preamble, "preamble"), codec::check<8, 2>(0x0113, "command"),
                        codec::field<17, 3>(&GnnId::port_id, "port_id"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GnnId> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GnnId&, const GnnId&) = default;
};

}  // namespace wire::ct
