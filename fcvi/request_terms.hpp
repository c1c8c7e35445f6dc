// What a retried CONNECT_RQST must repeat (FC-VI C.4 rules 8, 9): mode, addresses and attributes.
#pragma once
#include <cstdint>
#include <memory>

#include "wire/fcvi/connect_rqst.hpp"

namespace fcvi {

/// Kept as long as the connection that was asked for. An address has 148 bytes on the wire, nearly all of them zeros,
/// which are counted instead: all of it takes some 60 bytes for discriminators of some letters, and at most twice
/// what it takes on the wire.
class RequestTerms {
 public:
  RequestTerms() = default;
  explicit RequestTerms(const wire::fcvi::ConnectRqst& request);
  /// `request` asks for the same.
  [[nodiscard]] bool are_of(const wire::fcvi::ConnectRqst& request) const;
  /// Bytes of memory beside the object.
  [[nodiscard]] std::size_t heap_bytes() const { return size_; }

 private:
  std::unique_ptr<std::uint8_t[]> packed_;
  std::uint16_t size_ = 0;
};

}  // namespace fcvi
