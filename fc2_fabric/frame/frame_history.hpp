// The last frames that passed somewhere, in memory that is taken once: a new frame displaces the oldest ones. To keep a
// frame costs a copy of what is kept of it, no allocation and no system call.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fc2_fabric/frame/counters.hpp"
#include "fc2_fabric/frame/ethernet_frame.hpp"
#include "fc2_fabric/frame/frame.hpp"

namespace fc2 {

struct HistoryLimits {
  std::size_t bytes = 8u << 20;  // of the frames' contents; at least room for the largest Ethernet frame
  std::size_t frames = 32'768;   // at least 1
  // What is kept of a long frame of an FC-4 (R_CTL 0xh), unless whole frames are wanted; of all others everything is. A
  // set-up of FC-VI (652 bytes, 692 on Ethernet) is none: without it nobody knows what the messages behind it are.
  std::size_t long_frame_bytes = 704, kept_of_long_frame = 128;
};

/// A frame that passed, and what became of it.
struct PassedFrame {
  enum class Outcome : std::uint8_t {
    Passed,     // it went on at once, or after `left_at - at`
    Waiting,    // for the port that it goes to
    Discarded,  // by the switch, for `reason`
    Lost,       // the link that it went to, or waited for, is gone
  };
  TimeNs at = 0;       // when it came
  TimeNs left_at = 0;  // when it left, was discarded or lost; 0: no tap saw that
  // Ports by numbers of the keeper; 0: the fabric itself, or not known.
  std::uint32_t seen_at = 0, from = 0, to = 0;
  std::uint32_t offset = 0;  // of its bytes in the ring
  std::uint16_t size_bytes = 0, kept_bytes = 0;
  bool ethernet = false;   // an Ethernet frame, with its 802.1Q tag; else the content of a frame
  wire::Sof sof{};         // not of an Ethernet frame
  wire::Eof eof{};         // the same
  bool crc_error = false;  // the same
  bool outbound = false;   // the port where it was seen sent it, else received it
  bool waited = false;
  Outcome outcome = Outcome::Passed;
  Discard reason = Discard::Count;
  bool again = false;           // of first_end: what became of it after it had been shown
  std::uint8_t remark = 0;      // the keeper's: what else is to be said of it; 0: nothing
  std::uint16_t fault = 0;      // the keeper's number of the fault that befell it; 0: none
  std::uint64_t first_end = 0;  // not 0: that frame once more, as it left, or as `again` says
};

class FrameHistory {
 public:
  /// Counts all that were ever kept, from 1.
  using Number = std::uint64_t;
  /// The memory is reserved here, and used as frames come.
  explicit FrameHistory(HistoryLimits limits);
  FrameHistory(const FrameHistory&) = delete;
  FrameHistory& operator=(const FrameHistory&) = delete;

  /// Keeps it; its number is in frame.record from then on, and for an Ethernet frame in that of its body.
  PassedFrame& add(TimeNs at, const Frame& frame);
  PassedFrame& add(TimeNs at, const fcoe::EthernetFrame& frame);
  /// That one at its other end, where its bytes are the same: none are kept.
  PassedFrame& add_end(TimeNs at, Number first_end);
  /// From now on frames are kept whole, or no longer.
  void keep_whole(bool whole) { whole_ = whole; }
  /// nullptr: none, or displaced.
  [[nodiscard]] PassedFrame* find(Number number) { return holds(number) ? &slot(number) : nullptr; }
  [[nodiscard]] bool holds(Number number) const { return number >= first_ && number < end_; }
  /// Of one that it holds.
  [[nodiscard]] const PassedFrame& at(Number number) const { return frames_[index_of(number)]; }
  [[nodiscard]] std::span<const std::uint8_t> bytes_of(const PassedFrame& frame) const {
    return {bytes_.get() + frame.offset, frame.kept_bytes};
  }
  /// Those that it holds are first() to end() - 1.
  [[nodiscard]] Number first() const { return first_; }
  [[nodiscard]] Number end() const { return end_; }
  [[nodiscard]] bool empty() const { return first_ == end_; }
  /// The first of those that came at `time` or later.
  [[nodiscard]] Number first_since(TimeNs time) const;
  /// At the latest when so many frames, or so many bytes, have come after `number` it may be displaced.
  [[nodiscard]] bool is_half_way_out(Number number) const;
  [[nodiscard]] const HistoryLimits& limits() const { return limits_; }

 private:
  friend class HistoryCopy;
  FrameHistory(HistoryLimits limits, Number origin);
  void append(const FrameHistory& other, Number number);
  void restart(Number origin);
  [[nodiscard]] std::size_t index_of(Number number) const { return (number - origin_) % limits_.frames; }
  [[nodiscard]] PassedFrame& slot(Number number) { return frames_[index_of(number)]; }
  PassedFrame& next_slot();
  [[nodiscard]] std::size_t kept_of(const Frame& frame) const;
  [[nodiscard]] std::size_t kept_of(const fcoe::EthernetFrame& frame) const;
  PassedFrame& make_room(TimeNs at, std::size_t kept_bytes);
  void forget_oldest();

  const HistoryLimits limits_;
  const std::unique_ptr<std::uint8_t[]> bytes_;
  std::vector<PassedFrame> frames_;  // by number; never moves
  Number origin_;                    // of the first place in frames_
  bool whole_ = false;
  Number first_, end_;
  Number last_with_bytes_ = 0;
  std::size_t next_offset_ = 0;
  std::size_t held_bytes_ = 0;
};

/// A snapshot that is made in steps, so that whoever keeps frames is held up for no longer than one. It takes no
/// frames of its own, and no more memory than what was held when it began.
class HistoryCopy {
 public:
  /// What a step copies at most. A frame that is kept displaces fewer: those of 24 bytes that have room in its place,
  /// each with its other end. So nothing is displaced before it is copied if a step is made at once, and behind each
  /// frame that is kept.
  static constexpr std::size_t frames_a_step = 256, bytes_a_step = 64u << 10;

  /// Of what `original` holds now, which must outlive the last step. std::bad_alloc if there is no memory.
  explicit HistoryCopy(const FrameHistory& original);
  /// Copies more, the oldest first, as it is now. False: nothing is left to copy.
  bool step();
  [[nodiscard]] bool is_complete() const { return copy_->end() == end_; }
  /// What was copied so far.
  [[nodiscard]] const FrameHistory& history() const { return *copy_; }
  /// The same, given away: no call but the destructor may follow.
  [[nodiscard]] std::unique_ptr<const FrameHistory> take() { return std::move(copy_); }

 private:
  const FrameHistory& original_;
  const FrameHistory::Number end_;
  std::unique_ptr<FrameHistory> copy_;
};

}  // namespace fc2
