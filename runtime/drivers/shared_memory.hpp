// Memory that several processes have mapped, without a name: who has the descriptor can map it.
#pragma once
#include <cstddef>

#include "runtime/drivers/descriptor.hpp"

namespace runtime::drivers {

/// A mapping. A child of fork() does not have it: it has none of its parent's links either.
class SharedMemory {
 public:
  enum class Access {
    Own,        // the maker's: read and write
    ReadWrite,  // of memory that came from another process
    ReadOnly,
  };
  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  /// Zeroed; can neither shrink nor grow. `others_read_only`: no other process can map it for writing. Pages are the
  /// system's when they are touched first. Nothing: the system has no memory or descriptor left.
  static SharedMemory make(std::size_t size_bytes, bool others_read_only = false);
  /// Nothing: it is not of that size, or may shrink while it is mapped (which would raise SIGBUS).
  static SharedMemory map(const Descriptor& descriptor, std::size_t size_bytes, Access access);

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }
  explicit operator bool() const { return data_ != nullptr; }
  /// Of make() alone, until it is given away.
  [[nodiscard]] const Descriptor& descriptor() const { return descriptor_; }
  /// The memory stays; its last descriptor here goes.
  void forget_descriptor() { descriptor_ = Descriptor(); }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
  Descriptor descriptor_;
};

}  // namespace runtime::drivers
