// Values as bytes, for the same program elsewhere: nothing is converted.
#pragma once
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sim {

using ByteString = std::vector<std::uint8_t>;

template <class T>
concept Plain = std::is_trivially_copyable_v<T>;

class ByteWriter {
 public:
  template <Plain T>
  void put(const T& value) {
    put_bytes({reinterpret_cast<const std::uint8_t*>(&value), sizeof value});
  }
  void put_bytes(std::span<const std::uint8_t> more) { bytes_.insert(bytes_.end(), more.begin(), more.end()); }
  void put_text(std::string_view text) {
    put(text.size());
    put_bytes({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  template <Plain T>
  void put_list(const std::vector<T>& list) {
    put(list.size());
    put_bytes({reinterpret_cast<const std::uint8_t*>(list.data()), list.size() * sizeof(T)});
  }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] const ByteString& bytes() const { return bytes_; }
  /// All of it; it begins anew.
  ByteString take() { return std::exchange(bytes_, {}); }

 private:
  ByteString bytes_;
};

/// Reads what a ByteWriter wrote, in the same order. Throws std::length_error where it ends too early.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  template <Plain T>
  T get() {
    T value;
    std::memcpy(&value, get_bytes(sizeof value).data(), sizeof value);
    return value;
  }
  std::span<const std::uint8_t> get_bytes(std::size_t count) {
    if (count > rest_.size()) throw std::length_error("a message from another part ends too early");
    const auto bytes = rest_.first(count);
    rest_ = rest_.subspan(count);
    return bytes;
  }
  std::string get_text() {
    const auto bytes = get_bytes(get<std::size_t>());
    return {bytes.begin(), bytes.end()};
  }
  template <Plain T>
  std::vector<T> get_list() {
    const auto count = get<std::size_t>();
    if (count > rest_.size() / sizeof(T)) throw std::length_error("a message from another part ends too early");
    std::vector<T> list(count);
    const auto bytes = get_bytes(count * sizeof(T));
    if (count != 0) std::memcpy(list.data(), bytes.data(), bytes.size());
    return list;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

}  // namespace sim
