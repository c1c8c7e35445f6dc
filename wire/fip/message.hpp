// A whole FIP message: header, descriptors, padding (FC-BB).
#pragma once
#include <vector>

#include "wire/fip/descriptors.hpp"
#include "wire/fip/header.hpp"

namespace wire::fip {

/// What stands after the Ethernet header of a FIP frame (type 8914h). The length of the descriptor list
/// counts, not that of the frame: some NICs pad, some send 48-byte frames.
struct FipMessage {
  Operation operation{};
  std::uint8_t subcode = 0;
  std::uint16_t flags = 0;
  std::vector<Descriptor> descriptors;
  std::vector<std::uint8_t> padding;  // what followed the list

  static constexpr std::string_view name = "FIP";
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] static Result<FipMessage> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const FipMessage&, const FipMessage&) = default;

  /// "Discovery Advertisement".
  [[nodiscard]] std::string_view message_name() const;
  [[nodiscard]] bool has(std::uint16_t flag_bits) const { return (flags & flag_bits) == flag_bits; }
  /// First descriptor of a kind; null if there is none.
  template <class T>
  [[nodiscard]] const T* find() const {
    for (const Descriptor& descriptor : descriptors)
      if (const T* found = std::get_if<T>(&descriptor)) return found;
    return nullptr;
  }
  /// Ethernet frame of this message, as long as it needs to be.
  [[nodiscard]] std::vector<std::uint8_t> to_ethernet(const MacAddress& destination, const MacAddress& source) const;
};

}  // namespace wire::fip
