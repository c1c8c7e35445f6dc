// A file descriptor with an owner.
#pragma once
#include <unistd.h>

#include <utility>

namespace runtime::drivers {

/// Closes what it owns. -1: nothing.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  /// The caller's from now on.
  [[nodiscard]] int release() { return std::exchange(number_, -1); }
  explicit operator bool() const { return number_ >= 0; }
  /// Another one for the same open file; nothing where the process has no more.
  [[nodiscard]] Descriptor duplicate() const;

 private:
  int number_ = -1;
};

}  // namespace runtime::drivers
