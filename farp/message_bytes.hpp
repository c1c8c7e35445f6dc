// A request's payload as the bytes of its IU.
#pragma once
#include <cstdint>
#include <vector>

namespace farp {

template <class Message>
std::vector<std::uint8_t> bytes_of(const Message& message) {
  std::vector<std::uint8_t> bytes(message.size());
  message.write(bytes);
  return bytes;
}

}  // namespace farp
