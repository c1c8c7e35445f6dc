// CT accepts. Which of them answers a request depends on the request: they share response code 8002h.
#pragma once
#include <string>
#include <vector>

#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// Accept without data (FC-GS 4.4.3), 16 bytes: of every registration.
struct CtAccept {
  CtHeader preamble = CtHeader::of(Command::accept);

  static constexpr std::string_view name = "CT_ACC";
  static constexpr auto layout =
      codec::layout<16>(codec::field<0, 16>(&CtAccept::preamble, "preamble"), codec::check<8, 2>(0x8002, "command"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<CtAccept> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const CtAccept&, const CtAccept&) = default;
};

/// Accept with one N_Port_ID (GID_PN), 20 bytes: preamble, reserved byte, N_Port_ID.
struct PortIdAccept {
  CtHeader preamble = CtHeader::of(Command::accept);
  FcId port_id{};

  static constexpr std::string_view name = "CT_ACC(PORT_ID)";
  static constexpr auto layout =
      codec::layout<20>(codec::field<0, 16>(&PortIdAccept::preamble, "preamble"), codec::check<8, 2>(0x8002, "command"),
                        codec::field<17, 3>(&PortIdAccept::port_id, "port_id"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<PortIdAccept> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const PortIdAccept&, const PortIdAccept&) = default;
};

/// Accept with one name (GPN_ID, GNN_ID), 24 bytes: preamble, Port_Name or Node_Name.
struct NameAccept {
  CtHeader preamble = CtHeader::of(Command::accept);
  Wwn world_wide_name{};

  static constexpr std::string_view name = "CT_ACC(NAME)";
  static constexpr auto layout =
      codec::layout<24>(codec::field<0, 16>(&NameAccept::preamble, "preamble"), codec::check<8, 2>(0x8002, "command"),
                        codec::field<16, 8>(&NameAccept::world_wide_name, "world_wide_name"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<NameAccept> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const NameAccept&, const NameAccept&) = default;
};

/// Accept with a list of N_Port_IDs (GID_IPP, GID_FT, GID_NN): preamble, then 4 bytes each
/// word | 31-24                  | 23-0
///  4.. | 80h in the last, else 0 | N_Port_ID
/// An empty list is not sent: the server rejects instead. Entries beyond the one marked last are ignored. Where a
/// residual size says that the list is cut, there is no last one.
struct PortIdListAccept {
  CtHeader preamble = CtHeader::of(Command::accept);
  std::vector<FcId> port_ids;

  static constexpr std::string_view name = "CT_ACC(PORT_IDS)";
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] static Result<PortIdListAccept> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const PortIdListAccept&, const PortIdListAccept&) = default;
};
using GidIppAccept = PortIdListAccept;
using GidFtAccept = PortIdListAccept;
using GidNnAccept = PortIdListAccept;

/// Accept with IP addresses (GIPP_ID): preamble, then 16 bytes each, IPv6 or IPv4-mapped. FC-GS has one; a port that
/// registered several gets all in the answer, and a client that expects one reads the first.
struct IpAddressListAccept {
  CtHeader preamble = CtHeader::of(Command::accept);
  std::vector<IpAddress> ip_addresses;

  static constexpr std::string_view name = "CT_ACC(IP_ADDRESSES)";
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] static Result<IpAddressListAccept> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const IpAddressListAccept&, const IpAddressListAccept&) = default;
};

/// Entry of a GPN_FT or GNN_FT accept, 16 bytes
/// word | 31-24                  | 23-0
///  0   | 80h in the last, else 0 | N_Port_ID
///  1   | reserved
///  2-3 | Port_Name, or Node_Name
struct PortEntry {
  static constexpr std::uint8_t last_entry = 0x80;

  std::uint8_t control = 0;
  FcId port_id{};
  Wwn world_wide_name{};

  static constexpr std::string_view name = "PORT";
  static constexpr auto layout =
      codec::layout<16>(codec::word<0, 4>(codec::part<31, 24>(&PortEntry::control, "control"),
                                          codec::part<23, 0>(&PortEntry::port_id, "port_id")),
                        codec::field<8, 8>(&PortEntry::world_wide_name, "world_wide_name"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<PortEntry> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const PortEntry&, const PortEntry&) = default;
};

/// Accept of GPN_FT, GPN_IPP and GNN_FT: preamble, then entries; write() marks the last.
struct GpnFtAccept {
  CtHeader preamble = CtHeader::of(Command::accept);
  std::vector<PortEntry> entries;

  static constexpr std::string_view name = "CT_ACC(GPN_FT)";
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] static Result<GpnFtAccept> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GpnFtAccept&, const GpnFtAccept&) = default;
};

/// Accept with a symbolic name (GSPN_ID, GSNN_NN): preamble, length byte, name, then zeros where the server pads.
struct SymbolicNameAccept {
  CtHeader preamble = CtHeader::of(Command::accept);
  std::string symbolic_name;         // at most 255 bytes
  std::uint16_t padding_length = 0;  // bytes

  static constexpr std::string_view name = "CT_ACC(SYMBOLIC_NAME)";
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] static Result<SymbolicNameAccept> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const SymbolicNameAccept&, const SymbolicNameAccept&) = default;
};

}  // namespace wire::ct
