// GSNN_NN: the symbolic name of a Node_Name. Accept: SymbolicNameAccept.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// GSNN_NN (FC-GS 5.2.5), 24 bytes, after the preamble:
/// word | 31-0
///  4-5 | Node_Name
struct GsnnNn {
  CtHeader preamble = CtHeader::of(Command::gsnn_nn);
  Wwn node_name{};

  static constexpr std::string_view name = "GSNN_NN";
  static constexpr Command command = Command::gsnn_nn;
  static constexpr auto layout =
      codec::layout<24>(codec::field<0, 16>(&GsnnNn::preamble, "preamble"), codec::check<8, 2>(0x0139, "command"),
                        codec::field<16, 8>(&GsnnNn::node_name, "node_name"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GsnnNn> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GsnnNn&, const GsnnNn&) = default;
};

}  // namespace wire::ct
