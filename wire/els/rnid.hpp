// RNID: request node identification data.
#pragma once
#include "wire/codec.hpp"
#include "wire/els/command.hpp"

namespace wire::els {

/// Formats of node identification data: the names alone, or with those comes what a topology is drawn from.
enum class RnidFormat : std::uint8_t { common = 0x00, topology = 0xDF };
[[nodiscard]] std::string_view to_string(RnidFormat format);

/// Associated Type: what the port belongs to.
enum class RnidType : std::uint32_t { unknown = 0x01, other = 0x02, switch_ = 0x04, host = 0x0A };
[[nodiscard]] std::string_view to_string(RnidType type);

/// RNID (FC-LS 4.2.20), 8 bytes
/// word | 31-24   | 23-0
///  0   | 78h     | 0
///  1   | format  | reserved
struct Rnid {
  RnidFormat format{};

  static constexpr std::string_view name = "RNID";
  static constexpr std::array<Command, 1> commands{Command::rnid};
  static constexpr auto layout =
      codec::layout<8>(codec::constant<0, 1>(0x78, "command"), codec::field<4, 1>(&Rnid::format, "format"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Rnid> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Rnid&, const Rnid&) = default;
};

/// LS_ACC to RNID with the common data alone (FC-LS 4.2.20), 24 bytes
/// word | 31-24      | 23-16               | 15-8     | 7-0
///  0   | 02h        | 0
///  1   | format 00h | common length 16    | reserved | specific length 0
///  2-3 | Port_Name
///  4-5 | Node_Name
struct RnidAcc {
  Wwn port_name{};
  Wwn node_name{};

  static constexpr std::string_view name = "LS_ACC(RNID)";
  static constexpr auto layout = codec::layout<24>(
      codec::constant<0, 1>(0x02, "command"), codec::constant<4, 4>(0x00100000, "format and lengths"),
      codec::field<8, 8>(&RnidAcc::port_name, "port_name"), codec::field<16, 8>(&RnidAcc::node_name, "node_name"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<RnidAcc> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const RnidAcc&, const RnidAcc&) = default;
};

/// LS_ACC to RNID with General Topology Discovery data (FC-LS 4.2.20), 76 bytes: as above with format DFh and specific
/// length 52, then
/// word  | 31-24           | 23-16      | 15-0
///  6-9  | vendor specific
///  10   | Associated Type
///  11   | physical port number
///  12   | number of attached nodes
///  13   | node management | IP version | UDP port
///  14-17| IP address
///  18   | reserved (31-16)             | vendor specific
struct RnidTopologyAcc {
  Wwn port_name{};
  Wwn node_name{};
  RnidType type{};
  std::uint32_t physical_port = 0;
  std::uint32_t attached_nodes = 0;

  static constexpr std::string_view name = "LS_ACC(RNID topology)";
  static constexpr auto layout =
      codec::layout<76>(codec::constant<0, 1>(0x02, "command"), codec::constant<4, 4>(0xDF100034, "format and lengths"),
                        codec::field<8, 8>(&RnidTopologyAcc::port_name, "port_name"),
                        codec::field<16, 8>(&RnidTopologyAcc::node_name, "node_name"),
                        codec::field<40, 4>(&RnidTopologyAcc::type, "type"),
                        codec::field<44, 4>(&RnidTopologyAcc::physical_port, "physical_port"),
                        codec::field<48, 4>(&RnidTopologyAcc::attached_nodes, "attached_nodes"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<RnidTopologyAcc> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const RnidTopologyAcc&, const RnidTopologyAcc&) = default;
};

}  // namespace wire::els
