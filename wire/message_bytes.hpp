// A message as a vector of bytes, for payloads that are assembled whole.
#pragma once
#include <cstdint>
#include <vector>

namespace wire {

template <class Message>
std::vector<std::uint8_t> bytes_of(const Message& message) {
  std::vector<std::uint8_t> bytes(message.size());
  message.write(bytes);
  return bytes;
}

}  // namespace wire
