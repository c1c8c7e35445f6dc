// Moves data between frames and the data segments of a descriptor.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "vi/memory.hpp"

namespace vi {

/// Walks the data segments of one descriptor, in order. The consumer may change, deregister or unmap anything at any
/// time: each segment is read once, from memory that is checked when it is read, and each copy checks handle, bounds
/// and tag again unless no memory was deregistered since (VI-ARCH 3.2.1: the error arises at the reference). Segments
/// of length zero reference nothing, nor does what no message reaches.
class DataCursor {
 public:
  DataCursor() = default;
  /// `segment_count` segments (16 bits, as in a descriptor) at `segments_address`, which lies in the region of
  /// `segments_handle`. Must not outlive `memory`.
  DataCursor(const MemoryTable& memory, Ptag tag, wire::MemHandle segments_handle, std::uint64_t segments_address,
             std::uint32_t segment_count)
      : memory_(&memory), segments_address_(segments_address), segments_handle_(segments_handle),
        segments_left_(static_cast<std::uint16_t>(segment_count)), tag_(tag) {}
  /// Reads the first segment, which stands at `host`: where segments_address is, as was just looked up. For data that
  /// will be accessed so. Where that fails nothing has happened: the first reference finds it.
  void begin(const std::byte* host, Access access);

  /// Memory -> frame. False: protection error, `to` is undefined. Pre: at most the bytes left are asked for.
  bool gather(std::span<std::uint8_t> to);
  /// Frame -> memory. False: protection error; bytes before it are placed. In order, the last word of `from`
  /// last.
  bool scatter(std::span<const std::uint8_t> from);
  /// Passes over so many bytes, which are not looked at. False: the segments end before.
  bool skip(std::uint64_t length_bytes);

  // Several frames' data at once, in the present segment, if all that is left of it was found and no memory was
  // deregistered since; elsewhere there is nothing, and the functions above know why.

  /// Where the data to be gathered lie. Does not move: skip() what was taken. The consumer may unmap them at any time:
  /// to be read by read_rest(), or by write_pieces() of another.
  [[nodiscard]] std::span<const std::byte> rest_to_gather() const { return rest(Access::Local); }
  /// False: they are gone, `to` is undefined.
  [[nodiscard]] bool read_rest(std::span<std::uint8_t> to, const std::byte* from) const {
    return memory_->read(to, from);
  }
  /// How many of the pieces are in their place, whole ones; moves over them.
  std::size_t scatter_pieces(MemoryTable::Pieces from);

  enum class Reach : std::uint8_t { Allowed, TooShort, Refused };
  /// Whether `length_bytes` can be moved from here on, without moving: judges the bytes that this touches and no
  /// others. TooShort, also where something is not allowed: the segments end before.
  [[nodiscard]] Reach reach(std::uint64_t length_bytes, Access access) const;

  /// Where the next bytes lie in the host's memory, for system calls that gather or scatter.
  class Window;
  /// At most `max_bytes`, and as many pieces as a window holds. Does not move: consume() what was moved. Segments are
  /// read, and each piece is checked, as by gather() and scatter(); the window ends before what is not allowed.
  [[nodiscard]] Window peek(std::uint64_t max_bytes, Access access) const;
  /// The first `bytes` of a window that peek() gave since this cursor moved last. The segments are not read again.
  void consume(const Window& window, std::uint64_t bytes);

  /// Adds up the lengths of all segments that are left, without moving. False: some reference is not allowed.
  [[nodiscard]] bool check(std::uint64_t& length_bytes, Access access = Access::Local) const;

 private:
  [[nodiscard]] std::span<std::byte> rest(Access access) const {
    return bytes_left_ != 0 && is_granted(access) ? std::span(host_, bytes_left_) : std::span<std::byte>();
  }
  bool next_segment();
  [[nodiscard]] bool take_segment(const std::byte* host);
  void advance(std::uint32_t length_bytes);
  void find_memory(Access access);
  [[nodiscard]] bool is_granted(Access access) const {
    return generation_ == memory_->generation() && granted_access_ == access;
  }
  [[nodiscard]] bool allows(std::uint32_t length_bytes, Access access) const;
  template <class Copy>
  bool walk(std::size_t length_bytes, Access access, Copy copy);

  const MemoryTable* memory_ = nullptr;
  std::uint64_t segments_address_ = 0;
  std::uint64_t address_ = 0;     // of the present segment's next byte
  std::uint32_t bytes_left_ = 0;  // in the present segment
  wire::MemHandle handle_{};      // of the present segment
  wire::MemHandle segments_handle_{};
  std::uint16_t segments_left_ = 0;
  Access granted_access_{};
  Ptag tag_;
  std::uint32_t generation_ = 0;  // in which all that is left of the segment was granted; 0: none
  std::byte* host_ = nullptr;     // where address_ is in it
};

class DataCursor::Window {
 public:
  static constexpr std::size_t max_pieces = 16;

  /// None is empty. The consumer may unmap them at any time: for calls that return an error then, as the kernel's do.
  [[nodiscard]] std::span<const std::span<std::byte>> pieces() const { return std::span(pieces_).first(count_); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// What stands behind it: Allowed where it has max_bytes or max_pieces, else why it has not.
  [[nodiscard]] Reach end() const { return end_; }

 private:
  friend class DataCursor;
  std::array<std::span<std::byte>, max_pieces> pieces_{};
  std::array<DataCursor, max_pieces> starts_{};  // where each piece begins
  std::size_t count_ = 0;
  std::uint64_t bytes_ = 0;
  Reach end_ = Reach::Allowed;
};

}  // namespace vi
