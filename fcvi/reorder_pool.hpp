// The memory of a port for what overtook other frames, bounded in bytes and shared among peers and connections.
#pragma once
#include <cstdint>
#include <map>

#include "fc2_fabric/frame/frame.hpp"
#include "wire/types.hpp"

namespace fcvi {

/// What a frame that is kept counts, with a round share for its descriptor: when a pool is full must not depend on what
/// else a descriptor comes to hold.
inline constexpr std::size_t kept_frame_bytes = fc2::max_frame_bytes + 64;

/// Who asks gets memory if afterwards its peer holds no more than is free, and its stream no more than its peer could
/// still take: one stream alone has a third of the pool, one peer half of it, and whoever comes later finds room. So
/// something is always free: for those who bring what others wait for (Need::Now), shares do not count, and the books
/// of what is placed as it comes (Need::Book) may make two thirds of the pool one peer's. What is refused is for the
/// caller to put elsewhere, to lose (class 3) or to busy (class 2).
class ReorderPool {
 public:
  explicit ReorderPool(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  ReorderPool(const ReorderPool&) = delete;
  ReorderPool& operator=(const ReorderPool&) = delete;

  enum class Need : std::uint8_t { Share, Book, Now };
  /// Of one stream of one connection.
  class Share {
   public:
    explicit Share(ReorderPool& pool) : pool_(pool) {}
    ~Share() { give_back(bytes_); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    /// False: nothing was taken. `peer` stays the same while anything is held.
    [[nodiscard]] bool take(wire::FcId peer, std::uint64_t bytes, Need need = Need::Share);
    /// take() would not say false.
    [[nodiscard]] bool has_room(wire::FcId peer, std::uint64_t bytes, Need need = Need::Share) const;
    void give_back(std::uint64_t bytes);
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

   private:
    ReorderPool& pool_;
    wire::FcId peer_{};
    std::uint64_t bytes_ = 0;
  };

  [[nodiscard]] std::uint64_t limit_bytes() const { return limit_bytes_; }
  [[nodiscard]] std::uint64_t held_bytes() const { return held_bytes_; }
  /// The most that was ever held at once.
  [[nodiscard]] std::uint64_t peak_bytes() const { return peak_bytes_; }

 private:
  [[nodiscard]] std::uint64_t held_by(wire::FcId peer) const;
  [[nodiscard]] bool may_take(std::uint64_t of_stream, std::uint64_t of_peer, std::uint64_t bytes, Need need) const;
  const std::uint64_t limit_bytes_;
  std::uint64_t held_bytes_ = 0, peak_bytes_ = 0;
  std::map<std::uint32_t, std::uint64_t> of_peer_;  // those that hold something
};

}  // namespace fcvi
