// GIPA_NN: the initial process associator of a node, eight bytes that no request here registers.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// GIPA_NN (FC-GS 5.2.5), 24 bytes, after the preamble:
/// word | 31-0
///  4-5 | Node_Name
struct GipaNn {
  CtHeader preamble = CtHeader::of(Command::gipa_nn);
  Wwn node_name{};

  static constexpr std::string_view name = "GIPA_NN";
  static constexpr Command command = Command::gipa_nn;
  static constexpr auto layout =
      codec::layout<24>(codec::field<0, 16>(&GipaNn::preamble, "preamble"), codec::check<8, 2>(0x0136, "command"),
                        codec::field<16, 8>(&GipaNn::node_name, "node_name"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GipaNn> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GipaNn&, const GipaNn&) = default;
};

}  // namespace wire::ct
