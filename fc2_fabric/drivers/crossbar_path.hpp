// What the two halves of the crossbar know in common: crossbar.cpp writes, and keeps paths; crossbar_reading.cpp reads.
#pragma once
#include <algorithm>
#include <cstring>
#include <utility>

#include "fc2_fabric/drivers/crossbar.hpp"
#include "fc2_fabric/frame/frame_header.hpp"
#include "wire/fc_header.hpp"

namespace fc2::drivers {

/// A writer that found too few goes on when so many are free.
[[nodiscard]] constexpr std::uint32_t room_to_resume(std::uint32_t slot_count) { return slot_count / 4; }

[[nodiscard]] inline bool is_mark(const Frame& frame) { return r_ctl_of(frame) == Crossbar::way_mark; }

/// The headers of a run's frames, one after another (FrameRun).
class RunHeaders {
 public:
  explicit RunHeaders(const Frame& first)
      : seq_cnt_(header_of(first).seq_cnt.value), parameter_(header_of(first).parameter) {
    std::memcpy(bytes_.data(), first.bytes.data(), bytes_.size());
  }
  void write(std::uint8_t* to) const { std::memcpy(to, bytes_.data(), bytes_.size()); }
  [[nodiscard]] bool are_at(const std::uint8_t* at) const { return std::memcmp(at, bytes_.data(), bytes_.size()) == 0; }
  /// To those of the next frame, or of one behind it.
  void go_on(std::size_t data_bytes, std::size_t frames = 1) {
    wire::set_seq_cnt(bytes_, seq_cnt_ = static_cast<std::uint16_t>(seq_cnt_ + frames));
    wire::set_parameter(bytes_, parameter_ += static_cast<std::uint32_t>(frames * data_bytes));
  }

 private:
  std::array<std::uint8_t, run_header_bytes> bytes_;
  std::uint16_t seq_cnt_;
  std::uint32_t parameter_;
};

struct Crossbar::Path {
  Path(const PathRecord& record, runtime::drivers::SharedMemory memory, runtime::drivers::PeerDoorbell doorbell)
      : peer(record.peer), number(record.number), slot_count(record.slot_count), process_id(record.process_id),
        rings(std::move(memory), record.slot_count, record.side), out(rings.outbound()), in(rings.inbound()),
        bell(std::move(doorbell)) {}

  const wire::FcId peer;
  const std::uint32_t number;
  const std::uint32_t slot_count;
  const std::uint32_t process_id;
  RingPair rings;
  RingWriter out;
  RingReader in;
  runtime::drivers::PeerDoorbell bell;
  FrameLender write_place, read_place;
  FrameQueue waiting;  // for the ring, or behind the mark
  Way way = Way::Marked;
  bool reading = false;                                 // the far end's mark has come
  bool held = false;                                    // Hold::ring
  unsigned note = runtime::drivers::Doorbell::no_note;  // that the far end leaves
  unsigned unrung = 0;                                  // frames written since the bell
  std::size_t refused = 0;                              // frames to be read that were offered as a run in vain
  // in ticks
  unsigned marked = 0;     // since the first mark
  unsigned unheard = 0;    // since the bell was rung
  unsigned stuck = 0;      // with many frames waiting and none gone
  std::uint64_t gone = 0;  // frames that waited
  std::uint64_t gone_before = 0;

  /// The far end writes only from when we have opened the ring; else it may never have mapped it.
  [[nodiscard]] bool is_finished() const {
    return way == Way::Leaving && waiting.empty() && (!reading || in.is_over());
  }
  /// Slots to give back, as soon as there is nothing else to do here.
  [[nodiscard]] bool has_unreleased() const { return reading && in.unreleased() != 0; }
  /// Else the far end runs out of slots: answers to what it sends wait here, and it takes none.
  [[nodiscard]] bool may_read() const { return reading && waiting.size() < waiting_to_stop_reading; }
};

/// A call of the port's may close the crossbar, which then lasts until the call returns. No counting for each frame.
class Crossbar::Inside {
 public:
  explicit Inside(Crossbar& crossbar) : crossbar_(crossbar) { ++crossbar_.inside_; }
  ~Inside() {
    std::shared_ptr<Crossbar> last;
    if (--crossbar_.inside_ == 0) last = std::move(crossbar_.kept_);
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Crossbar& crossbar_;
};

}  // namespace fc2::drivers
