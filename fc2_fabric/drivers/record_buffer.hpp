// What lies between records and the system calls that carry their bytes: no I/O here. A frame that is sent is made
// where it is sent from, and one that came is looked at where it came to.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "fc2_fabric/drivers/link_records.hpp"
#include "fc2_fabric/frame/frame.hpp"

namespace fc2::drivers {

/// Bytes that leave in the order in which they came, and lie in one piece: near the end of the memory they move to its
/// beginning.
class ByteQueue {
 public:
  /// `behind`: so many bytes behind the latest may be touched as well.
  explicit ByteQueue(std::size_t capacity, std::size_t behind = 0)
      : capacity_(capacity), bytes_(std::make_unique_for_overwrite<std::uint8_t[]>(capacity + behind)) {}

  [[nodiscard]] std::size_t size() const { return end_ - begin_; }
  [[nodiscard]] std::size_t room() const { return capacity_ - size(); }
  [[nodiscard]] std::span<std::uint8_t> content() { return {bytes_.get() + begin_, size()}; }
  /// Where the next bytes go: `size` at least, which is no more than room(). What lies in the queue may move.
  [[nodiscard]] std::span<std::uint8_t> room_for(std::size_t size);
  void added(std::size_t count) { end_ += count; }
  /// They stay where they are until more come.
  void taken(std::size_t count);

 private:
  std::size_t capacity_;
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t begin_ = 0, end_ = 0;
};

/// Records that wait to be sent.
class RecordWriter {
 public:
  explicit RecordWriter(std::size_t capacity) : queue_(capacity) {}

  [[nodiscard]] std::size_t room() const { return queue_.room(); }
  /// For a record of any kind.
  [[nodiscard]] bool has_room() const { return room() >= max_record_bytes; }
  /// The bytes of `frame` will lie in its record, if it is the next: one frame at a time, and while there is room.
  void lend_place(Frame& frame);
  /// While there is room. A frame with a place here is not copied, and leaves it.
  void add(Frame& frame);
  void add(RecordKind kind, std::span<const std::uint8_t> body);

  [[nodiscard]] std::span<std::uint8_t> waiting() { return queue_.content(); }
  [[nodiscard]] bool empty() const { return queue_.size() == 0; }
  void sent(std::size_t count);
  void clear() { sent(queue_.size()); }

 private:
  std::uint8_t* begin_record(const RecordHeader& header);

  ByteQueue queue_;
  FrameLender place_;
};

/// Bytes that came, taken apart.
class RecordReader {
 public:
  struct Record {
    RecordHeader header;
    std::span<std::uint8_t> body;  // until room() is called
  };
  explicit RecordReader(std::size_t capacity) : queue_(capacity, max_frame_bytes) {}

  /// For bytes that come next. What lies here moves.
  [[nodiscard]] std::span<std::uint8_t> room();
  void filled(std::size_t count) { queue_.added(count); }
  /// Takes the next record. None: the rest of it is to come, or fault() says why it cannot be one.
  [[nodiscard]] std::optional<Record> next();
  [[nodiscard]] const char* fault() const { return fault_; }
  /// No part of a record waits.
  [[nodiscard]] bool empty() const { return queue_.size() == 0; }
  /// The frame that the record is. It stands here until take_back(), where whoever kept it gets a copy.
  [[nodiscard]] FramePtr frame_of(const Record& record, FramePool& pool);
  void take_back() { place_.take_back(); }

 private:
  ByteQueue queue_;
  FrameLender place_;
  const char* fault_ = nullptr;
};

}  // namespace fc2::drivers
