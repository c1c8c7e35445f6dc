#include "vitcp/setup_stream.hpp"

#include <algorithm>
#include <cassert>

namespace vitcp {
using wire::vitcp::SegmentHeader;

void SetupStream::connect(const streams::Address& to, const streams::Address& from) {
  clear();
  stream_ = services_.streams.connect(to, from, *this);
}

void SetupStream::adopt(std::unique_ptr<streams::Stream> stream) {
  clear();
  stream_ = std::move(stream);
  established_ = true;
  stream_->set_user(*this);
}

void SetupStream::clear() {
  out_.clear();
  in_.clear();
  established_ = expects_segment_ = false;
}

std::unique_ptr<streams::Stream> SetupStream::release(std::vector<std::uint8_t>& unsent) {
  unsent = std::move(out_);
  auto stream = std::move(stream_);
  clear();
  return stream;
}

void SetupStream::connected() {
  established_ = true;
  user_.stream_established();
}

void SetupStream::closed(streams::Reason reason) {
  const bool was_established = established_;
  close();
  was_established ? user_.stream_ended() : user_.stream_refused(reason);
}

void SetupStream::send(const wire::vitcp::Segment& segment) {
  const std::size_t before = out_.size();
  out_.resize(before + segment.size());
  segment.write(wire::MutableBytes(out_).subspan(before));
  write();
}

void SetupStream::write() {
  const std::size_t taken = stream_->write(wire::Bytes(out_));
  out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(taken));
  if (!out_.empty()) stream_->ask_writable();
}

void SetupStream::expect_segment() {
  expects_segment_ = true;
  stream_->ask_readable();
}

void SetupStream::expect_nothing() {
  expects_segment_ = false;
  stream_->ask_readable();
}

void SetupStream::end() {
  close();
  user_.stream_ended();
}

/// Octets of the segment, as far as it is known how many it has.
std::size_t SetupStream::wanted() const {
  if (!expects_segment_) return 1;
  if (in_.size() < wire::vitcp::segment_header_bytes) return wire::vitcp::segment_header_bytes;
  const auto header = SegmentHeader::parse(in_);
  return header ? header->segment_length : in_.size();
}

void SetupStream::readable() {
  for (std::size_t whole = wanted();; whole = wanted()) {
    const std::size_t before = in_.size();
    in_.resize(whole);
    const streams::ReadResult result = stream_->read(wire::MutableBytes(in_).subspan(before));
    in_.resize(before + result.octets);
    if (in_.size() < whole) return result.end ? end() : stream_->ask_readable();
    if (!expects_segment_) return user_.octets_unexpected();
    if (wanted() == whole) return judge();
  }
}

void SetupStream::judge() {
  expects_segment_ = false;
  const std::vector<std::uint8_t> octets = std::exchange(in_, {});
  const auto segment = wire::vitcp::Segment::parse(octets, false);
  if (segment) return user_.segment_received(*segment);
  services_.counters.refuse(segment.error());
  user_.segment_refused(octets);
}

}  // namespace vitcp
