// SHA-256 of data in pieces.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace sim {

using Sha256 = std::array<std::uint8_t, 32>;

class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  void add(std::span<const std::uint8_t> bytes);
  /// Once, at the end.
  [[nodiscard]] Sha256 finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] Sha256 sha256(std::span<const std::uint8_t> bytes);
/// 64 lower-case digits.
[[nodiscard]] std::string to_string(const Sha256& digest);

}  // namespace sim
