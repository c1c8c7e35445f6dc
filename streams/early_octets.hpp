// Octets of a stream that arrived before their turn, for who can put them where they belong without waiting for those
// before them (IFT 8, speculative placement). Only a TCP that is near enough has them: the emulated one. Octets are
// numbered from 0 in their direction.
//
// Whoever has put octets to their place lets them go: TCP drops them, and does not acknowledge them. When all before
// them were read, they are passed over, and count as read and acknowledged; or called back, and the other end sends
// them again. All calls are made by the stream's user, and none calls anybody back.
#pragma once
#include <cstdint>
#include <optional>

#include "wire/bytes.hpp"

namespace streams {

class EarlyOctets {
 public:
  /// The next octet that read() gives.
  [[nodiscard]] virtual std::uint64_t position() const = 0;
  /// The first octet of a segment that came before its turn since early octets are looked at: each one once, in the
  /// order of arrival. Nothing: there is no other one now; StreamUser::readable() tells of more.
  [[nodiscard]] virtual std::optional<std::uint64_t> next_segment() = 0;
  /// Copies what is there from octet `at` on without a gap, at most what `room` takes: how many octets. 0 where `at`
  /// was read, let go or did not arrive.
  [[nodiscard]] virtual std::size_t peek(std::uint64_t at, wire::MutableBytes room) = 0;
  /// Pre: peek() gives all of these.
  virtual void let_go(std::uint64_t at, std::size_t octets) = 0;
  /// Pre: they were let go by one call, and position() is the first of them.
  virtual void pass_over(std::size_t octets) = 0;
  /// Pre: they were let go.
  virtual void call_back(std::uint64_t at, std::size_t octets) = 0;

 protected:
  ~EarlyOctets() = default;
};

}  // namespace streams
