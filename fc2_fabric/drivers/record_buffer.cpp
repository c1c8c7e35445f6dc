#include "fc2_fabric/drivers/record_buffer.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace fc2::drivers {

// --- bytes -------------------------------------------------------------------------------------------------------

std::span<std::uint8_t> ByteQueue::room_for(std::size_t size) {
  assert(size <= room());
  if (capacity_ - end_ < size) {
    std::memmove(bytes_.get(), bytes_.get() + begin_, this->size());
    end_ = this->size();
    begin_ = 0;
  }
  return {bytes_.get() + end_, capacity_ - end_};
}

void ByteQueue::taken(std::size_t count) {
  assert(count <= size());
  begin_ += count;
  if (begin_ == end_) begin_ = end_ = 0;
}

// --- out ---------------------------------------------------------------------------------------------------------

void RecordWriter::lend_place(Frame& frame) {
  if (place_.borrower() != nullptr || !has_room()) return;
  const auto record = queue_.room_for(record_header_bytes + max_frame_bytes);
  place_.lend(record.subspan(record_header_bytes).first<max_frame_bytes>(), frame);
}

std::uint8_t* RecordWriter::begin_record(const RecordHeader& header) {
  const std::span<std::uint8_t> record = queue_.room_for(record_header_bytes + header.body_bytes);
  header.write(record.first<record_header_bytes>());
  queue_.added(record_header_bytes + header.body_bytes);
  return record.data() + record_header_bytes;
}

// Its place has room for any size, so that the record begins where the place was lent.
void RecordWriter::add(Frame& frame) {
  assert(frame.size_bytes <= max_frame_bytes);
  if (frame.lender == &place_) {
    begin_record(RecordHeader::of(frame));
    return frame.forget_place();
  }
  place_.take_back();
  std::memcpy(begin_record(RecordHeader::of(frame)), frame.bytes.data(), frame.size_bytes);
}

void RecordWriter::add(RecordKind kind, std::span<const std::uint8_t> body) {
  assert(body.size() <= max_record_body_bytes);
  place_.take_back();
  std::uint8_t* at = begin_record({.kind = kind, .body_bytes = static_cast<std::uint32_t>(body.size())});
  std::copy(body.begin(), body.end(), at);  // also of a null span, as memcpy() is not
}

// The next record begins elsewhere when the queue is empty.
void RecordWriter::sent(std::size_t count) {
  if (count == queue_.size()) place_.take_back();
  queue_.taken(count);
}

// --- in ----------------------------------------------------------------------------------------------------------

std::span<std::uint8_t> RecordReader::room() {
  take_back();
  return queue_.room_for(queue_.room());
}

std::optional<RecordReader::Record> RecordReader::next() {
  const std::span<std::uint8_t> bytes = queue_.content();
  if (bytes.size() < record_header_bytes) return std::nullopt;
  fault_ = RecordHeader::fault(bytes.first<record_header_bytes>());
  if (fault_ != nullptr) return std::nullopt;
  const RecordHeader header = RecordHeader::read(bytes.first<record_header_bytes>());
  if (bytes.size() - record_header_bytes < header.body_bytes) return std::nullopt;
  queue_.taken(record_header_bytes + header.body_bytes);
  return Record{header, bytes.subspan(record_header_bytes, header.body_bytes)};
}

FramePtr RecordReader::frame_of(const Record& record, FramePool& pool) {
  take_back();
  FramePtr frame = pool.take();
  frame->sof = record.header.sof;
  frame->eof = record.header.eof;
  frame->size_bytes = static_cast<std::uint16_t>(record.body.size());
  place_.lend(FrameBytes(record.body.data(), max_frame_bytes), *frame);
  return frame;
}

}  // namespace fc2::drivers
