// A ring of slots for Fibre Channel frames in memory that two processes share: one writes, the other reads. A free slot
// is what a receive buffer is on a link: the writer's buffer-to-buffer credit.
//
// A run of frames (FrameRun) takes as many slots as it has frames, but tells of all in the first: the headers of its
// first frame stand there, and what follows from them for the others is not written. Its data stand one behind another
// in a slab beside the slots, where those slots have as much room as they need: one copy in and one out for all.
//
// Neither side trusts the other. The writer's only input is how many slots were given back; the reader takes length and
// delimiters of a slot once and checks them. What a side writes amiss can spoil this ring and nothing else.
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>

#include "fc2_fabric/frame/frame.hpp"
#include "runtime/drivers/shared_memory.hpp"

namespace fc2::drivers {

constexpr std::size_t cache_line_bytes = 64;

/// One cache line that tells of the next frame: header and, of a short message, most of its data come with it.
struct alignas(cache_line_bytes) RingSlot {
  std::atomic<std::uint32_t> turn;  // the number of the frame that stands here, counted from 1
  std::uint16_t size_bytes;         // of a run: of each of its frames
  std::uint8_t sof;                 // of a run: run_mark
  std::uint8_t eof;                 // of a run: how many frames it has
  std::uint8_t bytes[max_frame_bytes];
};

/// Frames in a run: header and a Device_Header of 32 bytes, which are the first cache line of a slot, then data.
inline constexpr std::size_t run_header_bytes = frame_header_bytes + 32;
inline constexpr std::size_t run_data_bytes = max_frame_bytes - run_header_bytes;  // of each, at most
inline constexpr std::uint8_t run_mark = 0;                                        // no SOF
inline constexpr std::uint32_t max_run_frames = 32;
/// What a slot has in the slab, so that each begins with a cache line.
inline constexpr std::size_t slab_share_bytes =
    (run_data_bytes + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;

/// Counts begin at 0 and wrap.
struct RingHeader {
  alignas(cache_line_bytes) std::atomic<std::uint32_t> given_back;  // by the reader: slots
  std::atomic<std::uint32_t> open;                                  // by the reader: not 0 from when it reads on
  alignas(cache_line_bytes) std::atomic<std::uint32_t> wants_room;  // by the writer: not 0 while it waits for slots
  std::atomic<std::uint32_t> ended;  // by the writer: not 0 when it has written its last frame
};

struct RingView {
  RingHeader* header = nullptr;
  RingSlot* slots = nullptr;
  std::uint8_t* slab = nullptr;
  std::uint32_t slot_count = 0;  // a power of two
};

/// The two rings between two ports. `side` is 0 or 1: which of them this process writes.
class RingPair {
 public:
  static constexpr std::uint32_t max_slots = 1u << 14;
  [[nodiscard]] static constexpr bool is_slot_count(std::uint32_t count) {
    return count >= 64 && count <= max_slots && (count & (count - 1)) == 0;
  }
  [[nodiscard]] static constexpr std::size_t size_bytes(std::uint32_t slot_count) {
    return 2 * (header_bytes + slot_count * (sizeof(RingSlot) + slab_share_bytes));
  }
  RingPair() = default;
  RingPair(runtime::drivers::SharedMemory memory, std::uint32_t slot_count, unsigned side)
      : memory_(std::move(memory)), slot_count_(slot_count), side_(side) {}
  [[nodiscard]] RingView outbound() const { return view(side_); }
  [[nodiscard]] RingView inbound() const { return view(1 - side_); }

 private:
  static constexpr std::size_t header_bytes = 4096;
  static_assert(sizeof(RingHeader) <= header_bytes);
  [[nodiscard]] RingView view(unsigned side) const;

  runtime::drivers::SharedMemory memory_;
  std::uint32_t slot_count_ = 0;
  unsigned side_ = 0;
};

class RingWriter {
 public:
  explicit RingWriter(RingView ring) : ring_(ring) {}
  /// Free slots; looks at the reader's count only where it knows of fewer than `enough`.
  [[nodiscard]] std::uint32_t room(std::uint32_t enough = 1) {
    if (known_room() < enough) look();
    return known_room();
  }
  /// Where the next frame's bytes go. Pre: room() != 0.
  [[nodiscard]] FrameBytes place() const { return FrameBytes(slot().bytes); }
  /// The frame that stands in place() is the reader's.
  void publish(std::uint16_t size_bytes, wire::Sof sof, wire::Eof eof);
  /// How many of `frames` can go as one run with slots left over: some, if any can. A run does not go round the end.
  [[nodiscard]] std::uint32_t run_room(std::uint32_t frames, std::uint32_t left_over);
  /// Where the data of a run go. Pre: `frames` have room, `data_bytes` of each are run_data_bytes at most.
  [[nodiscard]] std::span<std::uint8_t> run_place(std::uint32_t frames, std::size_t data_bytes) const {
    return {ring_.slab + index() * slab_share_bytes, frames * data_bytes};
  }
  /// The run whose first headers stand in place(), and its data in run_place(), is the reader's.
  void publish_run(std::uint16_t size_bytes, std::uint32_t frames);
  /// The reader is to tell when it has given back slots. True: at least `enough` are free already.
  [[nodiscard]] bool want_room(std::uint32_t enough);
  [[nodiscard]] bool reader_is_open() const { return ring_.header->open.load(std::memory_order_acquire) != 0; }
  /// Nothing is written any more.
  void end() { ring_.header->ended.store(1, std::memory_order_release); }
  /// The reader's count cannot be: nothing goes out here any more.
  [[nodiscard]] bool is_broken() const { return broken_; }

 private:
  [[nodiscard]] std::uint32_t index() const { return written_ & (ring_.slot_count - 1); }
  [[nodiscard]] RingSlot& slot() const { return ring_.slots[index()]; }
  [[nodiscard]] std::uint32_t known_room() const { return broken_ ? 0 : ring_.slot_count - (written_ - given_back_); }
  void look();
  void claim_next() const;

  RingView ring_;
  std::uint32_t written_ = 0, given_back_ = 0;
  bool broken_ = false;
};

class RingReader {
 public:
  struct Slot {
    std::uint16_t size_bytes;
    wire::Sof sof;
    wire::Eof eof;
    std::uint32_t run_frames;  // 0: it is a frame, and no run
    FrameBytes bytes;  // of a run: the headers of its first frame; the writer can still change them; until release()
    [[nodiscard]] bool is_run() const { return run_frames != 0; }
  };
  explicit RingReader(RingView ring) : ring_(ring) {}
  void open() { ring_.header->open.store(1, std::memory_order_release); }
  [[nodiscard]] bool ready() const { return slot().turn.load(std::memory_order_acquire) == read_ + 1; }
  /// Frames that are ready one behind another, the next one first, at most so many; a run is one. Fetches what follows
  /// their headers.
  [[nodiscard]] std::uint32_t count_ready(std::uint32_t most) const;
  /// The next frame. Pre: ready(). None: it cannot be one.
  [[nodiscard]] std::optional<Slot> look() const { return look_at(index(0)); }
  /// Takes it, which is no run. Pre: ready().
  void pass();
  /// Both; a run as a whole.
  [[nodiscard]] std::optional<Slot> next() {
    const std::optional<Slot> taken = look();
    pass();
    if (taken && taken->is_run()) take(taken->run_frames - 1);
    return taken;
  }
  /// The frame `ahead` of the next one. None: it is not there, lies beyond the end of the memory, from where the ring
  /// goes on at its beginning, is a run, or cannot be a frame.
  [[nodiscard]] std::optional<Slot> peek(std::uint32_t ahead) const;
  /// Of a run that look() or next() gave: those of its frames, one behind another. The writer can still change them.
  [[nodiscard]] std::span<const std::uint8_t> data_of(const Slot& run) const {
    const std::size_t index = static_cast<std::size_t>(run.bytes.data() - ring_.slots->bytes) / sizeof(RingSlot);
    return {ring_.slab + index * slab_share_bytes, run.run_frames * (run.size_bytes - run_header_bytes)};
  }
  /// Takes so many frames that look() and peek() showed.
  void take(std::uint32_t frames) { read_ += frames; }
  /// Slots whose frames were taken and that release() has not given back.
  [[nodiscard]] std::uint32_t unreleased() const { return read_ - released_; }
  /// Gives the slots back whose frames were taken. True: the writer waits for that. Costs a full barrier.
  [[nodiscard]] bool release();
  /// All was read that will ever be written.
  [[nodiscard]] bool is_over() const { return ring_.header->ended.load(std::memory_order_acquire) != 0 && !ready(); }

 private:
  [[nodiscard]] std::uint32_t index(std::uint32_t ahead) const { return (read_ + ahead) & (ring_.slot_count - 1); }
  [[nodiscard]] RingSlot& slot(std::uint32_t ahead = 0) const { return ring_.slots[index(ahead)]; }
  void fetch_next() const;
  [[nodiscard]] std::optional<Slot> look_at(std::uint32_t index) const;
  [[nodiscard]] std::optional<Slot> run_at(std::uint32_t index, std::uint16_t size_bytes, std::uint32_t frames) const;

  RingView ring_;
  std::uint32_t read_ = 0, released_ = 0;
};

}  // namespace fc2::drivers
