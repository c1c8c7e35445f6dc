// Identifiers, counters and addresses of FC-FS and FC-VI, each a type of its own.
#pragma once
#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace wire {

/// N_Port_ID, 24 bits: domain, area, port (FC-FS).
struct FcId {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(const FcId&, const FcId&) = default;
  [[nodiscard]] constexpr std::uint8_t domain() const { return static_cast<std::uint8_t>(value >> 16); }
  [[nodiscard]] constexpr std::uint8_t area() const { return static_cast<std::uint8_t>(value >> 8); }
  [[nodiscard]] constexpr std::uint8_t port() const { return static_cast<std::uint8_t>(value); }
};

/// Well-known addresses (FC-FS).
namespace well_known {
inline constexpr FcId unidentified{0x000000};  // S_ID of a FLOGI
inline constexpr FcId name_server{0xFFFFFC};   // directory service
inline constexpr FcId fabric_controller{0xFFFFFD};
inline constexpr FcId f_port{0xFFFFFE};  // fabric login
inline constexpr FcId broadcast{0xFFFFFF};
}  // namespace well_known

/// FC-FS: FFFC01h to FFFCFEh are the Domain_Controllers', FFFFF0h to FFFFFFh the fabric's services; FFFC00h and what
/// lies between is reserved. None is an N_Port's (ruling 283).
[[nodiscard]] constexpr bool is_of_fabric(FcId id) { return id.value >= 0xFFFC00; }

/// World wide name: Port_Name, Node_Name, Fabric_Name.
struct Wwn {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(const Wwn&, const Wwn&) = default;
};

/// Exchange identifier of the originator.
struct OxId {
  std::uint16_t value = 0;
  static const OxId unassigned;
  friend constexpr auto operator<=>(const OxId&, const OxId&) = default;
};
inline constexpr OxId OxId::unassigned{0xFFFF};

/// Exchange identifier of the responder.
struct RxId {
  std::uint16_t value = 0;
  static const RxId unassigned;
  friend constexpr auto operator<=>(const RxId&, const RxId&) = default;
};
inline constexpr RxId RxId::unassigned{0xFFFF};

/// Sequence identifier.
struct SeqId {
  std::uint8_t value = 0;
  friend constexpr auto operator<=>(const SeqId&, const SeqId&) = default;
};

/// Frame count; wraps. Order across the wrap: serial_less.
struct SeqCnt {
  std::uint16_t value = 0;
  friend constexpr auto operator<=>(const SeqCnt&, const SeqCnt&) = default;
};

/// FCVI_HANDLE (FC-VI 5.9.2). FFFFFFFFh means not yet assigned and is never allocated (ruling 2).
struct FcviHandle {
  std::uint32_t value = 0;
  static const FcviHandle unassigned;
  friend constexpr auto operator<=>(const FcviHandle&, const FcviHandle&) = default;
};
inline constexpr FcviHandle FcviHandle::unassigned{0xFFFFFFFF};

/// FCVI_MSG_ID (FC-VI 5.9.6): the first message is 1; after FFFFFFFFh comes 0. Order across the wrap: serial_less.
struct MsgId {
  std::uint32_t value = 0;
  static const MsgId first;
  friend constexpr auto operator<=>(const MsgId&, const MsgId&) = default;
};
inline constexpr MsgId MsgId::first{1};

/// Handle of a registered memory region (FCVI_RMT_VA_HANDLE, FC-VI 5.9.9).
struct MemHandle {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(const MemHandle&, const MemHandle&) = default;
};

/// FCVI_CONNECTION_ID (FC-VI 5.9.10); FFFFFFFFh is unassigned or unknown.
struct ConnectionId {
  std::uint32_t value = 0;
  static const ConnectionId unassigned;
  friend constexpr auto operator<=>(const ConnectionId&, const ConnectionId&) = default;
};
inline constexpr ConnectionId ConnectionId::unassigned{0xFFFFFFFF};

/// IPv6 address; IPv4 stands as IPv4-mapped (::ffff:a.b.c.d). FC-VI 7.2.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};
  friend constexpr auto operator<=>(const IpAddress&, const IpAddress&) = default;
  [[nodiscard]] static constexpr IpAddress v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
    return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, a, b, c, d}};
  }
  /// "10.0.0.1" (becomes IPv4-mapped) or an IPv6 text (RFC 4291 2.2); empty for any other text.
  [[nodiscard]] static std::optional<IpAddress> from_string(std::string_view text);
  [[nodiscard]] bool is_unspecified() const { return *this == IpAddress{}; }
  [[nodiscard]] bool is_v4_mapped() const;
  /// A right-justified IPv4 address (first 12 bytes zero, not :: or ::1) as IPv4-mapped; any other as it is.
  [[nodiscard]] IpAddress normalized() const;
};

/// The integer types above.
template <class T>
concept StrongInteger = requires(const T& t) {
  { t.value } -> std::convertible_to<std::uint64_t>;
  requires std::unsigned_integral<decltype(T::value)>;
};

/// Hexadecimal with the standard's digits: FcId "010100", Wwn "20:00:02:fc:f0:00:00:01", others "0000002Ah".
[[nodiscard]] std::string to_string(FcId id);
[[nodiscard]] std::string to_string(Wwn name);
[[nodiscard]] std::string to_string(OxId id);
[[nodiscard]] std::string to_string(RxId id);
[[nodiscard]] std::string to_string(SeqId id);
[[nodiscard]] std::string to_string(SeqCnt count);
[[nodiscard]] std::string to_string(FcviHandle handle);
[[nodiscard]] std::string to_string(MsgId id);
[[nodiscard]] std::string to_string(MemHandle handle);
[[nodiscard]] std::string to_string(ConnectionId id);
/// IPv4-mapped as "10.0.0.1", any other as RFC 5952 says.
[[nodiscard]] std::string to_string(const IpAddress& address);

/// `left` comes before `right` in serial-number arithmetic (RFC 1982); false where they are half the circle apart.
[[nodiscard]] constexpr bool serial_less(MsgId left, MsgId right) {
  const std::uint32_t ahead = right.value - left.value;
  return ahead != 0 && ahead < 0x80000000U;
}
[[nodiscard]] constexpr bool serial_less(SeqCnt left, SeqCnt right) {
  const auto ahead = static_cast<std::uint16_t>(right.value - left.value);
  return ahead != 0 && ahead < 0x8000U;
}
/// Steps from `from` to `to`; negative where `to` comes before.
[[nodiscard]] constexpr std::int32_t serial_distance(MsgId from, MsgId to) {
  return static_cast<std::int32_t>(to.value - from.value);
}
[[nodiscard]] constexpr std::int32_t serial_distance(SeqCnt from, SeqCnt to) {
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(to.value - from.value));
}
/// The value `steps` further on, across the wrap.
[[nodiscard]] constexpr MsgId advance(MsgId id, std::uint32_t steps = 1) { return {id.value + steps}; }
[[nodiscard]] constexpr SeqCnt advance(SeqCnt count, std::uint16_t steps = 1) {
  return {static_cast<std::uint16_t>(count.value + steps)};
}

}  // namespace wire

template <wire::StrongInteger T>
struct std::hash<T> {
  std::size_t operator()(const T& t) const noexcept { return std::hash<decltype(t.value)>{}(t.value); }
};
template <>
struct std::hash<wire::IpAddress> {
  std::size_t operator()(const wire::IpAddress& address) const noexcept;
};
