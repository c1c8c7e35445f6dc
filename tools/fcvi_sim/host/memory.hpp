// Registered memory of simulated programs. Addresses are the simulator's own, so that captures repeat byte
// for byte: RDMA addresses travel on the wire (FCVI_RMT_VA).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "vi/nic.hpp"

namespace sim {

/// Keeps the memory of large regions that went for others of their size: a new page costs more than its data, and
/// comes from where no cache holds it.
class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory();
  /// Filled with a pattern that no test data is made of.
  [[nodiscard]] std::uint8_t* take(std::size_t size_bytes);
  void give_back(std::uint8_t* memory, std::size_t size_bytes);

 private:
  static constexpr std::size_t most_kept = 8, most_kept_bytes = 64u << 20;
  struct Kept {
    std::uint8_t* memory;
    std::size_t size_bytes;
  };
  std::vector<Kept> kept_;
  std::size_t kept_bytes_ = 0;
};

/// One registered region; deregistered when it goes. Moves, never copies.
class Region {
 public:
  Region() = default;
  /// Pre: the NIC accepts it (limits are the simulator's own). `address` is a multiple of 64.
  Region(vi::Nic& nic, std::uint64_t address, std::size_t size_bytes, vi::MemoryAttributes attributes,
         std::shared_ptr<HostMemory> memory = std::make_shared<HostMemory>());
  Region(Region&& other) noexcept { swap(other); }
  Region& operator=(Region&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Region();

  [[nodiscard]] std::uint64_t address() const { return address_; }
  [[nodiscard]] wire::MemHandle handle() const { return handle_; }
  [[nodiscard]] std::span<std::uint8_t> bytes() const { return {host_.get(), size_bytes_}; }
  [[nodiscard]] std::uint8_t* host(std::uint64_t address) const { return host_.get() + (address - address_); }

 private:
  struct Free {
    std::shared_ptr<HostMemory> from;
    std::size_t size_bytes;
    void operator()(std::uint8_t* memory) const { from->give_back(memory, size_bytes); }
  };
  void swap(Region& other) noexcept;
  vi::Nic* nic_ = nullptr;
  std::uint64_t address_ = 0;
  std::size_t size_bytes_ = 0;
  wire::MemHandle handle_{};
  std::unique_ptr<std::uint8_t[], Free> host_;
};

/// Hands out the addresses of one NIC: upwards from `base`, never one twice.
class AddressSpace {
 public:
  explicit AddressSpace(std::uint64_t base) : next_(base) {}
  /// At least one byte; filled with a pattern that no test data is made of.
  Region allocate(vi::Nic& nic, std::uint64_t size_bytes, vi::MemoryAttributes attributes);

 private:
  std::uint64_t next_;
  std::shared_ptr<HostMemory> memory_ = std::make_shared<HostMemory>();  // some regions go after this
};

/// A piece of a message in a region.
struct Piece {
  std::uint64_t address = 0;
  std::uint32_t length_bytes = 0;
};

/// Where the messages of a transfer lie: each in a place of its own, or `slots` of them, one in the place of the other
/// (0: of its own). Each is cut into pieces at odd places; the pieces lie in reverse
/// order with a byte between them, so that a transport that takes memory for contiguous or aligned does not
/// get away with it.
class Layout {
 public:
  Layout(std::uint64_t total_bytes, std::uint64_t message_bytes, std::uint32_t segments, std::uint64_t slots = 0)
      : total_bytes_(total_bytes), message_bytes_(message_bytes), segments_(segments),
        slots_(slots == 0 ? message_count() : std::min(slots, message_count())) {}

  /// Of the memory that all places need.
  [[nodiscard]] std::uint64_t size_bytes() const { return slots_ * stride(); }
  [[nodiscard]] std::uint64_t message_count() const {
    return total_bytes_ == 0 ? 1 : (total_bytes_ + message_bytes_ - 1) / message_bytes_;
  }
  [[nodiscard]] std::uint32_t message_length(std::uint64_t message) const;
  /// Where it begins in the data; of one behind the last: where they end.
  [[nodiscard]] std::uint64_t message_start(std::uint64_t message) const {
    return std::min(message * message_bytes_, total_bytes_);
  }
  /// `segments` pieces of message `message`, in the order of its bytes, as offsets from the region's address.
  /// Some may be empty.
  void pieces(std::uint64_t message, std::vector<Piece>& out) const;

 private:
  [[nodiscard]] std::uint64_t stride() const { return message_bytes_ + (segments_ > 1 ? segments_ : 0); }
  std::uint64_t total_bytes_, message_bytes_;
  std::uint32_t segments_;
  std::uint64_t slots_;
};

}  // namespace sim
