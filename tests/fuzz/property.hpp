// What must hold for any bytes: no crash; what parses is written and parsed again to the same message, and
// has a text.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "wire/bytes.hpp"
#include "wire/result.hpp"

namespace wire::fuzz {

[[noreturn]] inline void fail(const char* what, std::string_view message) {
  std::fprintf(stderr, "%s: %.*s\n", what, static_cast<int>(message.size()), message.data());
  std::abort();
}

/// Whether the costly question is put for this input: for one in FCVI_FUZZ_PROBES_ONE_OF of those that a libFuzzer
/// program tries, always the same ones; for every input of a replay.
inline bool is_probed(Bytes input) {
#ifdef FCVI_FUZZ_PROBES_ONE_OF
  std::uint32_t hash = 2'166'136'261U;  // FNV-1a
  for (const std::uint8_t byte : input) hash = (hash ^ byte) * 16'777'619U;
  return (hash >> 16) % FCVI_FUZZ_PROBES_ONE_OF == 0;
#else
  return static_cast<void>(input), true;
#endif
}

/// The input in memory of exactly its size, so that a sanitizer sees any byte beyond it.
class ExactCopy {
 public:
  explicit ExactCopy(Bytes bytes) : bytes_(bytes.begin(), bytes.end()) { bytes_.shrink_to_fit(); }
  [[nodiscard]] Bytes view() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

template <class Message>
void check(Bytes bytes) {
  const auto message = Message::parse(bytes);
  if (!message) {
    if (to_string(message.error()).empty()) fail("error without a text", Message::name);
    return;
  }
  if (message->to_string().empty()) fail("no text", Message::name);
  std::vector<std::uint8_t> written(message->size(), 0xA5);
  message->write(written);
  const auto again = Message::parse(written);
  if (!again) fail("does not parse what it wrote", Message::name);
  if (!(*again == *message)) fail("does not parse to what it wrote", Message::name);
}

}  // namespace wire::fuzz
