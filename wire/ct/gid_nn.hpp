// GID_NN: the N_Port_IDs of a Node_Name. Accept: PortIdListAccept.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// GID_NN (FC-GS 5.2.5), 24 bytes, after the preamble:
/// word | 31-0
///  4-5 | Node_Name
struct GidNn {
  CtHeader preamble = CtHeader::of(Command::gid_nn);
  Wwn node_name{};

  static constexpr std::string_view name = "GID_NN";
  static constexpr Command command = Command::gid_nn;
  static constexpr auto layout =
      codec::layout<24>(codec::field<0, 16>(&GidNn::preamble, "preamble"), codec::check<8, 2>(0x0131, "command"),
                        codec::field<16, 8>(&GidNn::node_name, "node_name"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GidNn> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GidNn&, const GidNn&) = default;
};

}  // namespace wire::ct
