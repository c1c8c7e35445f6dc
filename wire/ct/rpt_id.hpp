// RPT_ID: registers the type of a port.
#pragma once
#include "wire/ct/preamble.hpp"
#include "wire/ct/port_type.hpp"

namespace wire::ct {

/// RPT_ID (FC-GS 5.2.5), 24 bytes, after the preamble:
/// word | 31-24     | 23-0
///  4   | reserved  | N_Port_ID
///  5   | port type | reserved
struct RptId {
  CtHeader preamble = CtHeader::of(Command::rpt_id);
  FcId port_id{};
  PortType port_type{};

  static constexpr std::string_view name = "RPT_ID";
  static constexpr Command command = Command::rpt_id;
  static constexpr auto layout = codec::layout<24>(
      codec::field<0, 16>(&RptId::preamble, "preamble"), codec::check<8, 2>(0x021A, "command"),
      codec::field<17, 3>(&RptId::port_id, "port_id"), codec::field<20, 1>(&RptId::port_type, "port_type"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<RptId> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const RptId&, const RptId&) = default;
};

}  // namespace wire::ct
