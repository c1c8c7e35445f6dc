// A packet of a capture file, and what the file says about it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "wire/bytes.hpp"

namespace sim::capture {

/// As the registry of link types numbers them.
enum class LinkType : std::uint32_t {
  ethernet = 1,
  linux_cooked = 113,  // of all interfaces at once: `tcpdump -i any`
  fc = 224,
  fc_with_delimiters = 225,
  linux_cooked_2 = 276,
};
[[nodiscard]] constexpr bool is_cooked(LinkType type) {
  return type == LinkType::linux_cooked || type == LinkType::linux_cooked_2;
}
[[nodiscard]] constexpr bool is_known(LinkType type) {
  return type == LinkType::ethernet || type == LinkType::fc || type == LinkType::fc_with_delimiters || is_cooked(type);
}

/// Of the port at which it was captured.
enum class Direction : std::uint8_t { unknown, sent, received };

struct Packet {
  std::uint64_t number = 0;   // from 1
  std::int64_t at = 0;        // nanoseconds since the epoch of the file's clock
  std::size_t interface = 0;  // position among the file's interfaces
  LinkType link_type{};
  Direction direction = Direction::unknown;
  std::size_t original_bytes = 0;  // on the wire; more than data.size() where the snap length cut it
  std::vector<std::uint8_t> data;
  std::vector<std::string> comments;
  bool after_gap = false;  // who captured missed frames since the packet before

  [[nodiscard]] bool is_cut() const { return data.size() < original_bytes; }
};

}  // namespace sim::capture
