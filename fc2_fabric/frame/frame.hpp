// A Fibre Channel frame: exactly the bytes that the wire would carry, without SOF, CRC and EOF, and a descriptor that
// only this process knows. The bytes lie in the frame itself, or in a place that somebody lends.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fc2_fabric/frame/time.hpp"
#include "wire/delimiters.hpp"
#include "wire/types.hpp"

namespace fc2 {

inline constexpr std::size_t frame_header_bytes = 24;
inline constexpr std::size_t max_data_field_bytes = 2112;  // FC-FS: the Device_Header is part of it
inline constexpr std::size_t min_data_field_bytes = 256;   // FC-LS: the smallest receive data field size
inline constexpr std::size_t max_frame_bytes = frame_header_bytes + max_data_field_bytes;

/// Where the bytes of a frame lie: room for the largest.
using FrameBytes = std::span<std::uint8_t, max_frame_bytes>;

class FramePool;
class ReceiveBuffers;
struct Frame;

/// Lends a place to one frame at a time: the buffer of a link, a slot in shared memory. The place must last until the
/// frame left it. Who needs it back earlier calls take_back(), and so does its end.
class FrameLender {
 public:
  FrameLender() = default;
  FrameLender(const FrameLender&) = delete;
  FrameLender& operator=(const FrameLender&) = delete;
  ~FrameLender() { take_back(); }
  /// Nothing is copied: what the frame held before is not in the place.
  void lend(FrameBytes place, Frame& frame);
  /// The frame that stands in the place; nullptr: none.
  [[nodiscard]] const Frame* borrower() const { return borrower_; }
  /// The frame takes its bytes along.
  void take_back();

 private:
  friend struct Frame;
  Frame* borrower_ = nullptr;
};

/// Contents are the owner's to write until it hands the frame on.
struct Frame {
  Frame() = default;
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  Frame* next = nullptr;  // in a FrameQueue, or in the pool's free list
  FramePool* pool = nullptr;
  TimeNs arrival = 0;            // on a channel: when the far end has it
  std::uint16_t size_bytes = 0;  // header and data field, fill bytes included
  wire::Sof sof{};
  wire::Eof eof{};
  std::uint16_t fault = 0;            // number of the rule that a fault followed with it, for taps; 0: none
  bool crc_error = false;             // changed on its way: receivers see it by the CRC, and discard it (FC-FS)
  std::uint32_t path_age = 0;         // in a fabric of several switches: its configuration when the frame came in,
  std::uint32_t buffer_epoch = 0;     // see ReceiveBuffers
  TimeNs entered = 0;                 // when the frame came into the fabric
  mutable std::uint64_t record = 0;   // its number in a FrameHistory, which a tap writes; 0: it is in none
  ReceiveBuffers* buffers = nullptr;  // it holds one: the sender of the link that it came by waits for that
  wire::FcId only_from{};             // not 0: with another S_ID it is discarded; read from memory that others write
  FrameLender* lender = nullptr;      // of the place where the bytes lie; nullptr: `own`
  FrameBytes bytes{own};
  std::array<std::uint8_t, max_frame_bytes> own;

  [[nodiscard]] std::span<const std::uint8_t> content() const { return bytes.first(size_bytes); }
  [[nodiscard]] std::span<std::uint8_t> data_field() { return bytes.subspan<frame_header_bytes>(); }

  /// Before the frame is kept for longer than its place lasts, or becomes longer than it came: its bytes move into it.
  void leave_place() {
    if (lender != nullptr) [[unlikely]]
      move_out();
  }
  /// The same; gives `part` of the content where it is then.
  [[nodiscard]] std::span<const std::uint8_t> leave_place(std::span<const std::uint8_t> part) {
    const auto offset = static_cast<std::size_t>(part.data() - bytes.data());
    leave_place();
    return part.empty() ? part : std::span<const std::uint8_t>(bytes).subspan(offset, part.size());
  }
  /// The place is free again, what lies there is no longer the frame's.
  void forget_place() noexcept {
    std::exchange(lender, nullptr)->borrower_ = nullptr;
    bytes = FrameBytes(own);
  }

 private:
  void move_out();
};

/// The receive buffer that the frame holds can take another.
void free_buffer(Frame& frame) noexcept;

struct FrameReturn {
  void operator()(Frame* frame) const noexcept;
};
/// Sole owner of a frame; gives it back to its pool.
using FramePtr = std::unique_ptr<Frame, FrameReturn>;

/// Frames by the slab. take() allocates only while the pool grows towards its working set. The pool outlives its
/// frames.
class FramePool {
 public:
  FramePool() = default;
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;
  FramePtr take() {
    if (free_ == nullptr) grow();
    Frame* frame = std::exchange(free_, free_->next);
    frame->next = nullptr;
    frame->fault = 0;
    frame->crc_error = false;
    frame->only_from = {};
    frame->record = 0;
    ++outstanding_;
    return FramePtr(frame);
  }
  /// Its bytes lie in it, wherever those of the original do.
  FramePtr copy(const Frame& original);
  [[nodiscard]] std::size_t outstanding() const { return outstanding_; }
  [[nodiscard]] std::size_t capacity() const { return slabs_.size() * frames_per_slab; }

 private:
  friend struct FrameReturn;
  static constexpr std::size_t frames_per_slab = 64;
  void grow();
  void give_back(Frame* frame) noexcept {
    if (frame->buffers != nullptr) [[unlikely]]
      free_buffer(*frame);
    if (frame->lender != nullptr) [[unlikely]]
      frame->forget_place();
    frame->next = std::exchange(free_, frame);
    --outstanding_;
  }
  Frame* free_ = nullptr;
  std::size_t outstanding_ = 0;
  std::vector<std::unique_ptr<std::array<Frame, frames_per_slab>>> slabs_;
};

inline void FrameReturn::operator()(Frame* frame) const noexcept { frame->pool->give_back(frame); }

/// First in, first out; links through the frames, so that it never allocates.
class FrameQueue {
 public:
  FrameQueue() = default;
  FrameQueue(const FrameQueue&) = delete;
  FrameQueue& operator=(const FrameQueue&) = delete;
  ~FrameQueue() { clear(); }
  void push(FramePtr frame) {
    Frame* raw = frame.release();
    (first_ == nullptr ? first_ : last_->next) = raw;
    last_ = raw;
    ++size_;
  }
  /// In order of arrival, after those of the same time. At once unless a later one is there already.
  void insert_by_arrival(FramePtr frame) {
    if (empty() || last_->arrival <= frame->arrival) return push(std::move(frame));
    Frame** link = &first_;
    while ((*link)->arrival <= frame->arrival) link = &(*link)->next;
    frame->next = *link;
    *link = frame.release();
    ++size_;
  }
  FramePtr pop() {
    Frame* frame = std::exchange(first_, first_->next);
    frame->next = nullptr;
    --size_;
    return FramePtr(frame);
  }
  void clear() {
    while (!empty()) pop();
  }
  /// All of `others`, behind what is here.
  void take(FrameQueue& others) {
    while (!others.empty()) push(others.pop());
  }
  [[nodiscard]] const Frame* front() const { return first_; }
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  Frame* first_ = nullptr;
  Frame* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace fc2
