// FIP descriptors: type, length in words (both part of the length), content (FC-BB).
#pragma once
#include <variant>
#include <vector>

#include "wire/ethernet.hpp"

namespace wire::fip {

enum class DescriptorType : std::uint8_t {
  priority = 1,
  mac = 2,
  fc_map = 3,
  name_id = 4,
  fabric = 5,
  max_fcoe_size = 6,
  flogi = 7,
  fdisc = 8,
  logo = 9,
  elp = 10,
  vn_port = 11,
  fka_adv_period = 12,
  vendor_id = 13,
  vlan = 14,
  fc4_features = 15,
};
[[nodiscard]] std::string_view to_string(DescriptorType type);
/// Types from 128 on may be left out of account by a receiver that does not know them.
inline constexpr std::uint8_t first_non_critical_type = 128;

/// 4 bytes: reserved, priority of the FCF (smaller is better).
struct Priority {
  std::uint8_t priority = 128;
  static constexpr std::string_view name = "PRI";
  static constexpr auto layout =
      codec::layout<4>(codec::constant<0, 2>(0x0101, "type"), codec::field<3, 1>(&Priority::priority, "priority"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Priority> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Priority&, const Priority&) = default;
};

/// 8 bytes: a MAC address; what it means depends on the message.
struct Mac {
  MacAddress address{};
  static constexpr std::string_view name = "MAC";
  static constexpr auto layout =
      codec::layout<8>(codec::constant<0, 2>(0x0202, "type"), codec::field<2, 6>(&Mac::address, "address"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Mac> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Mac&, const Mac&) = default;
};

/// 8 bytes: 3 reserved, FC-MAP.
struct FcMap {
  std::uint32_t fc_map = default_fc_map;
  static constexpr std::string_view name = "FCMAP";
  static constexpr auto layout =
      codec::layout<8>(codec::constant<0, 2>(0x0302, "type"), codec::field<5, 3>(&FcMap::fc_map, "fc_map"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<FcMap> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const FcMap&, const FcMap&) = default;
};

/// 12 bytes: 2 reserved, name: switch name in an advertisement, Node_Name in a solicitation.
struct NameId {
  Wwn name_id{};
  static constexpr std::string_view name = "NAME";
  static constexpr auto layout =
      codec::layout<12>(codec::constant<0, 2>(0x0403, "type"), codec::field<4, 8>(&NameId::name_id, "name_id"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<NameId> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const NameId&, const NameId&) = default;
};

/// 16 bytes: virtual fabric ID, reserved, FC-MAP, fabric name.
struct Fabric {
  std::uint16_t vf_id = 0;
  std::uint32_t fc_map = default_fc_map;
  Wwn fabric_name{};
  static constexpr std::string_view name = "FAB";
  static constexpr auto layout = codec::layout<16>(
      codec::constant<0, 2>(0x0504, "type"), codec::field<2, 2>(&Fabric::vf_id, "vf_id"),
      codec::field<5, 3>(&Fabric::fc_map, "fc_map"), codec::field<8, 8>(&Fabric::fabric_name, "fabric_name"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Fabric> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Fabric&, const Fabric&) = default;
};

/// 4 bytes: largest FCoE PDU that the sender takes, bytes.
struct MaxFcoeSize {
  std::uint16_t size_bytes = 0;
  static constexpr std::string_view name = "MAX_SIZE";
  static constexpr auto layout = codec::layout<4>(codec::constant<0, 2>(0x0601, "type"),
                                                  codec::field<2, 2>(&MaxFcoeSize::size_bytes, "size_bytes"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<MaxFcoeSize> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const MaxFcoeSize&, const MaxFcoeSize&) = default;
};

/// 4 bytes and an FC frame without delimiters and CRC: FLOGI, FDISC, LOGO or ELP, request or reply.
struct EncapsulatedFrame {
  DescriptorType type = DescriptorType::flogi;  // flogi, fdisc, logo or elp
  std::vector<std::uint8_t> fc_frame;           // a multiple of 4 bytes, at most 1016
  static constexpr std::string_view name = "FRAME";
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] static Result<EncapsulatedFrame> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const EncapsulatedFrame&, const EncapsulatedFrame&) = default;
};

/// 20 bytes: MAC address, reserved, N_Port_ID and Port_Name of a VN_Port.
struct VnPort {
  MacAddress address{};
  FcId n_port_id{};
  Wwn port_name{};
  static constexpr std::string_view name = "VN_PORT";
  static constexpr auto layout = codec::layout<20>(
      codec::constant<0, 2>(0x0B05, "type"), codec::field<2, 6>(&VnPort::address, "address"),
      codec::field<9, 3>(&VnPort::n_port_id, "n_port_id"), codec::field<12, 8>(&VnPort::port_name, "port_name"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<VnPort> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const VnPort&, const VnPort&) = default;
};

/// 8 bytes: flag D (keep-alives are not wanted), keep-alive and advertisement period in ms.
struct FkaAdvPeriod {
  bool no_keep_alive = false;
  std::uint32_t period_ms = 8000;
  static constexpr std::string_view name = "FKA";
  static constexpr auto layout = codec::layout<8>(
      codec::constant<0, 2>(0x0C02, "type"), codec::word<3, 1>(codec::part<0, 0>(&FkaAdvPeriod::no_keep_alive, "d")),
      codec::field<4, 4>(&FkaAdvPeriod::period_ms, "period_ms"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<FkaAdvPeriod> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const FkaAdvPeriod&, const FkaAdvPeriod&) = default;
};

/// 12 bytes: 2 reserved, vendor identification.
struct VendorId {
  std::array<std::uint8_t, 8> vendor_id{};
  static constexpr std::string_view name = "VENDOR";
  static constexpr auto layout =
      codec::layout<12>(codec::constant<0, 2>(0x0D03, "type"), codec::field<4, 8>(&VendorId::vendor_id, "vendor_id"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<VendorId> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const VendorId&, const VendorId&) = default;
};

/// 4 bytes: VLAN on which FCoE is offered, 12 bits.
struct Vlan {
  std::uint16_t vlan_id = 0;
  static constexpr std::string_view name = "VLAN";
  static constexpr auto layout = codec::layout<4>(codec::constant<0, 2>(0x0E01, "type"),
                                                  codec::word<2, 2>(codec::part<11, 0>(&Vlan::vlan_id, "vlan_id")));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Vlan> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Vlan&, const Vlan&) = default;
};

/// 164 bytes: 2 reserved, FC-4 types (as in RFT_ID), FC-4 features (4 bits a type).
struct Fc4Features {
  std::array<std::uint8_t, 32> types{};
  std::array<std::uint8_t, 128> features{};
  static constexpr std::string_view name = "FC4";
  static constexpr auto layout =
      codec::layout<164>(codec::constant<0, 2>(0x0F29, "type"), codec::field<4, 32>(&Fc4Features::types, "types"),
                         codec::field<36, 128>(&Fc4Features::features, "features"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Fc4Features> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Fc4Features&, const Fc4Features&) = default;
};

/// Vendor's own, and any descriptor whose length is not the one of its type: kept as it came.
struct UnknownDescriptor {
  std::uint8_t type = 0;
  std::vector<std::uint8_t> content;  // 2 to 1018 bytes, with type and length a multiple of 4
  static constexpr std::string_view name = "UNKNOWN";
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] static Result<UnknownDescriptor> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const UnknownDescriptor&, const UnknownDescriptor&) = default;
};

using Descriptor = std::variant<Priority, Mac, FcMap, NameId, Fabric, MaxFcoeSize, EncapsulatedFrame, VnPort,
                                FkaAdvPeriod, VendorId, Vlan, Fc4Features, UnknownDescriptor>;
/// The descriptor at the start of `bytes`; a length of 0, or beyond `bytes`, is an error.
[[nodiscard]] Result<Descriptor> parse_descriptor(Bytes bytes);
/// As it stands in its first byte.
[[nodiscard]] std::uint8_t type_of(const Descriptor& descriptor);
[[nodiscard]] std::size_t size(const Descriptor& descriptor);
void write(const Descriptor& descriptor, MutableBytes to);
[[nodiscard]] std::string to_string(const Descriptor& descriptor);

}  // namespace wire::fip
