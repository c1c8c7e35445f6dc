// A ring of octets of a fixed size, addressed by the numbers of the octets in their stream.
#pragma once
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "wire/bytes.hpp"

namespace streams {

class OctetRing {
 public:
  explicit OctetRing(std::size_t size) : octets_(size) {}
  void put(std::uint64_t at, wire::Bytes from) {
    const auto [first, rest] = pieces(at, from.size());
    copy(first, from.first(first.size()));
    copy(rest, from.subspan(first.size()));
  }
  void get(std::uint64_t at, wire::MutableBytes to) {
    const auto [first, rest] = pieces(at, to.size());
    copy(to.first(first.size()), first);
    copy(to.subspan(first.size()), rest);
  }
  /// `count` octets from number `at` on: in two pieces where the ring wraps.
  [[nodiscard]] std::pair<wire::MutableBytes, wire::MutableBytes> pieces(std::uint64_t at, std::size_t count) {
    const std::size_t begin = static_cast<std::size_t>(at % octets_.size());
    const std::size_t first = std::min(count, octets_.size() - begin);
    return {wire::MutableBytes(octets_).subspan(begin, first), wire::MutableBytes(octets_).first(count - first)};
  }

 private:
  static void copy(wire::MutableBytes to, wire::Bytes from) {
    if (!to.empty()) std::memcpy(to.data(), from.data(), to.size());
  }
  std::vector<std::uint8_t> octets_;
};

}  // namespace streams
