// RNN_ID: registers the Node_Name of a port.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// RNN_ID (FC-GS 5.2.5), 28 bytes, after the preamble:
/// word | 31-24    | 23-0
///  4   | reserved | N_Port_ID
///  5-6 | Node_Name
struct RnnId {
  CtHeader preamble = CtHeader::of(Command::rnn_id);
  FcId port_id{};
  Wwn node_name{};

  static constexpr std::string_view name = "RNN_ID";
  static constexpr Command command = Command::rnn_id;
  static constexpr auto layout = codec::layout<28>(
      codec::field<0, 16>(&RnnId::preamble, "preamble"), codec::check<8, 2>(0x0213, "command"),
      codec::field<17, 3>(&RnnId::port_id, "port_id"), codec::field<20, 8>(&RnnId::node_name, "node_name"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<RnnId> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const RnnId&, const RnnId&) = default;
};

}  // namespace wire::ct
