// RSNN_NN: registers the symbolic name of a node.
#pragma once
#include <string>

#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// RSNN_NN (FC-GS 5.2.5), after the preamble:
/// word | 31-0
///  4-5 | Node_Name
///  then | length byte, symbolic name, zeros where the sender pads
struct RsnnNn {
  CtHeader preamble = CtHeader::of(Command::rsnn_nn);
  Wwn node_name{};
  std::string symbolic_name;         // at most 255 bytes
  std::uint16_t padding_length = 0;  // bytes

  static constexpr std::string_view name = "RSNN_NN";
  static constexpr Command command = Command::rsnn_nn;
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] static Result<RsnnNn> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const RsnnNn&, const RsnnNn&) = default;
};

}  // namespace wire::ct
