// Memory of a consumer that is registered and not there (VI-ARCH 3.2.1).
#pragma once
#include "vi/memory_guard.hpp"

namespace support {

/// What touches the hole is refused, as the kernel would. One at a time; none at first.
class Hole final : public vi::MemoryGuard {
 public:
  bool run(const std::byte* host, std::size_t length_bytes, Body body, void* context) const override {
    if (size_ != 0 && host < begin_ + size_ && begin_ < host + length_bytes) return false;
    body(context);
    return true;
  }
  void open(const void* at, std::size_t length_bytes) {
    begin_ = static_cast<const std::byte*>(at), size_ = length_bytes;
  }
  void close() { size_ = 0; }

 private:
  const std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace support
