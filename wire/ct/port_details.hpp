// Accepts that tell more of one port: GFT_ID, GFF_ID, GPT_ID, and GA_NXT, which tells all.
#pragma once
#include "wire/ct/port_type.hpp"
#include "wire/ct/preamble.hpp"
#include "wire/ct/rft_id.hpp"
#include "wire/fc_header.hpp"

namespace wire::ct {

/// Accept of GFT_ID, 48 bytes: preamble, FC-4 types.
struct Fc4TypesAccept {
  CtHeader preamble = CtHeader::of(Command::accept);
  Fc4Types types{};

  static constexpr std::string_view name = "CT_ACC(FC4_TYPES)";
  static constexpr auto layout =
      codec::layout<48>(codec::field<0, 16>(&Fc4TypesAccept::preamble, "preamble"),
                        codec::check<8, 2>(0x8002, "command"), codec::field<16, 32>(&Fc4TypesAccept::types, "types"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Fc4TypesAccept> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Fc4TypesAccept&, const Fc4TypesAccept&) = default;
};

/// FC-4 features, 128 bytes: those of TYPE t are bits (4 t mod 32) to (4 t mod 32) + 3 of big-endian word (t / 8).
struct Fc4Features {
  std::array<std::uint8_t, 128> bytes{};
  friend constexpr bool operator==(const Fc4Features&, const Fc4Features&) = default;
  [[nodiscard]] constexpr std::uint8_t of(Type type) const {
    return static_cast<std::uint8_t>(bytes[index(type)] >> shift(type) & 0xF);
  }
  constexpr void set(Type type, std::uint8_t features) {
    std::uint8_t& byte = bytes[index(type)];
    byte = static_cast<std::uint8_t>((byte & ~(0xFU << shift(type))) | (features & 0xFU) << shift(type));
  }

 private:
  static constexpr std::size_t index(Type type) {
    const auto code = static_cast<std::size_t>(type);
    return 4 * (code / 8) + 3 - code % 8 / 2;
  }
  static constexpr unsigned shift(Type type) { return static_cast<unsigned>(type) % 2 * 4; }
};
/// "08:3,58:1": TYPEs and their features; "none".
[[nodiscard]] std::string to_string(const Fc4Features& features);

/// Accept of GFF_ID, 144 bytes: preamble, FC-4 features.
struct Fc4FeaturesAccept {
  CtHeader preamble = CtHeader::of(Command::accept);
  Fc4Features features{};

  static constexpr std::string_view name = "CT_ACC(FC4_FEATURES)";
  static constexpr auto layout = codec::layout<144>(codec::field<0, 16>(&Fc4FeaturesAccept::preamble, "preamble"),
                                                    codec::check<8, 2>(0x8002, "command"),
                                                    codec::field<16, 128>(&Fc4FeaturesAccept::features, "features"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Fc4FeaturesAccept> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Fc4FeaturesAccept&, const Fc4FeaturesAccept&) = default;
};

/// Accept of GPT_ID, 20 bytes: preamble, port type, three reserved bytes.
struct PortTypeAccept {
  CtHeader preamble = CtHeader::of(Command::accept);
  PortType port_type{};

  static constexpr std::string_view name = "CT_ACC(PORT_TYPE)";
  static constexpr auto layout = codec::layout<20>(codec::field<0, 16>(&PortTypeAccept::preamble, "preamble"),
                                                   codec::check<8, 2>(0x8002, "command"),
                                                   codec::field<16, 1>(&PortTypeAccept::port_type, "port_type"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<PortTypeAccept> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const PortTypeAccept&, const PortTypeAccept&) = default;
};

/// A symbolic name in a field of fixed size: length byte, name, then anything.
struct SymbolicNameField {
  std::array<std::uint8_t, 256> bytes{};
  friend constexpr bool operator==(const SymbolicNameField&, const SymbolicNameField&) = default;
  /// At most 255 bytes of `text`.
  [[nodiscard]] static SymbolicNameField of(std::string_view text);
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] std::string to_string(const SymbolicNameField& field);

/// Accept of GA_NXT, 636 bytes, after the preamble:
/// word    | 31-24     | 23-0
///  4      | port type | N_Port_ID
///  5-6    | Port_Name
///  7-70   | symbolic port name, its length first
///  71-72  | Node_Name
///  73-136 | symbolic node name, its length first
///  137-138 | initial process associator
///  139-142 | IP address of the node
///  143    | classes of service: bit n for class n
///  144-151 | FC-4 types
///  152-155 | IP address of the port
///  156-157 | Fabric Port_Name: of the F_Port
///  158    | reserved  | hard address
struct NextPortAccept {
  CtHeader preamble = CtHeader::of(Command::accept);
  PortType port_type{};
  FcId port_id{};
  Wwn port_name{};
  SymbolicNameField symbolic_port_name{};
  Wwn node_name{};
  SymbolicNameField symbolic_node_name{};
  std::uint64_t initial_process_associator = 0;
  IpAddress node_ip_address{};
  std::uint32_t classes_of_service = 0;
  Fc4Types types{};
  IpAddress port_ip_address{};
  Wwn fabric_port_name{};
  FcId hard_address{};

  static constexpr std::string_view name = "CT_ACC(NEXT_PORT)";
  static constexpr auto layout = codec::layout<636>(
      codec::field<0, 16>(&NextPortAccept::preamble, "preamble"), codec::check<8, 2>(0x8002, "command"),
      codec::field<16, 1>(&NextPortAccept::port_type, "port_type"),
      codec::field<17, 3>(&NextPortAccept::port_id, "port_id"),
      codec::field<20, 8>(&NextPortAccept::port_name, "port_name"),
      codec::field<28, 256>(&NextPortAccept::symbolic_port_name, "symbolic_port_name"),
      codec::field<284, 8>(&NextPortAccept::node_name, "node_name"),
      codec::field<292, 256>(&NextPortAccept::symbolic_node_name, "symbolic_node_name"),
      codec::field<548, 8>(&NextPortAccept::initial_process_associator, "initial_process_associator"),
      codec::field<556, 16>(&NextPortAccept::node_ip_address, "node_ip_address"),
      codec::field<572, 4>(&NextPortAccept::classes_of_service, "classes_of_service"),
      codec::field<576, 32>(&NextPortAccept::types, "types"),
      codec::field<608, 16>(&NextPortAccept::port_ip_address, "port_ip_address"),
      codec::field<624, 8>(&NextPortAccept::fabric_port_name, "fabric_port_name"),
      codec::field<633, 3>(&NextPortAccept::hard_address, "hard_address"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<NextPortAccept> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const NextPortAccept&, const NextPortAccept&) = default;
};

}  // namespace wire::ct
