// Numbers and texts as bytes, for pipes and messages between processes of one build on machines of one byte order.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sim::share {

class Packer {
 public:
  Packer& operator<<(std::uint64_t number) {
    text_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return *this;
  }
  Packer& operator<<(std::string_view text) {
    *this << std::uint64_t{text.size()};
    text_.append(text);
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Reads what a Packer wrote, in its order. What is cut short reads as 0 and "", and is_good() is false from then on.
class Unpacker {
 public:
  explicit Unpacker(std::string_view text) : rest_(text) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    if (const std::string_view bytes = take(sizeof value); good_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(number())); }
  [[nodiscard]] bool is_good() const { return good_; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  std::string_view take(std::uint64_t size) {
    good_ = good_ && size <= rest_.size();
    if (!good_) return {};
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace sim::share
