// A Fibre Channel frame in a pooled buffer: exactly the bytes that the wire would carry, without SOF, CRC and EOF.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fc2_fabric/frame/time.hpp"
#include "wire/delimiters.hpp"

namespace fc2 {

inline constexpr std::size_t frame_header_bytes = 24;
inline constexpr std::size_t max_data_field_bytes = 2112;  // FC-FS: the Device_Header is part of it
inline constexpr std::size_t min_data_field_bytes = 256;   // FC-LS: the smallest receive data field size

class FramePool;
class ReceiveBuffers;

/// Contents are the owner's to write until it hands the frame on.
struct Frame {
  Frame* next = nullptr;  // in a FrameQueue, or in the pool's free list
  FramePool* pool = nullptr;
  TimeNs arrival = 0;            // on a channel: when the far end has it
  std::uint16_t size_bytes = 0;  // header and data field, fill bytes included
  wire::Sof sof{};
  wire::Eof eof{};
  std::uint16_t fault = 0;            // number of the rule that a fault followed with it, for taps; 0: none
  bool crc_error = false;             // changed on its way: receivers see it by the CRC, and discard it (FC-FS)
  std::uint32_t path_age = 0;         // in a fabric of several switches: its configuration when the frame came in,
  TimeNs entered = 0;                 // and the time
  std::uint32_t buffer_epoch = 0;     // see ReceiveBuffers
  ReceiveBuffers* buffers = nullptr;  // it holds one: the sender of the link that it came by waits for that
  std::array<std::uint8_t, frame_header_bytes + max_data_field_bytes> bytes;

  [[nodiscard]] std::span<const std::uint8_t> content() const { return std::span(bytes).first(size_bytes); }
  [[nodiscard]] std::span<std::uint8_t> data_field() { return std::span(bytes).subspan(frame_header_bytes); }
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
    ++outstanding_;
    return FramePtr(frame);
  }
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
  [[nodiscard]] const Frame* front() const { return first_; }
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  Frame* first_ = nullptr;
  Frame* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace fc2
