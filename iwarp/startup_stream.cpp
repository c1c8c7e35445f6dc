#include "iwarp/startup_stream.hpp"

#include <utility>

namespace iwarp {
using wire::mpa::StartupFrame;

void StartupStream::connect(const streams::Address& to, const streams::Address& from) {
  close();
  stream_ = services_.streams.connect(to, from, *this);
}

void StartupStream::adopt(std::unique_ptr<streams::Stream> stream) {
  close();
  stream_ = std::move(stream);
  established_ = true;
  stream_->set_user(*this);
}

void StartupStream::close() {
  stream_.reset();
  out_.clear();
  in_.clear();
  established_ = expects_frame_ = false;
}

std::unique_ptr<streams::Stream> StartupStream::release(std::vector<std::uint8_t>& unsent) {
  unsent = std::move(out_);
  auto stream = std::move(stream_);
  close();
  return stream;
}

void StartupStream::connected() {
  established_ = true;
  user_.stream_established();
}

void StartupStream::closed(streams::Reason) {
  const bool was_established = established_;
  close();
  was_established ? user_.stream_ended() : user_.stream_refused();
}

void StartupStream::end() {
  const bool within = !in_.empty();
  close();
  within ? user_.frame_refused() : user_.stream_ended();
}

void StartupStream::send(const StartupFrame& frame) {
  const std::size_t before = out_.size();
  out_.resize(before + frame.size());
  frame.write(wire::MutableBytes(out_).subspan(before));
  stream_->ask_writable();
  const std::size_t taken = stream_->write(wire::Bytes(out_));
  out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(taken));
}

void StartupStream::writable() {
  const std::size_t taken = stream_->write(wire::Bytes(out_));
  out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(taken));
  out_.empty() ? user_.all_sent() : stream_->ask_writable();
}

void StartupStream::expect_frame() {
  expects_frame_ = true;
  stream_->ask_readable();
}

void StartupStream::expect_nothing() {
  expects_frame_ = false;
  stream_->ask_readable();
}

/// Octets that are read before the frame is looked at again.
std::size_t StartupStream::wanted() const {
  if (!expects_frame_) return 1;
  constexpr std::size_t length_at = StartupFrame::header_bytes - 2;
  if (in_.size() < StartupFrame::header_bytes) return StartupFrame::header_bytes;
  return StartupFrame::header_bytes + wire::load_big<2>(in_, length_at);
}

/// A frame that is wrong is told as soon as its octets tell.
void StartupStream::readable() {
  for (;;) {
    const std::size_t before = in_.size(), whole = wanted();
    in_.resize(whole);
    const streams::ReadResult result = stream_->read(wire::MutableBytes(in_).subspan(before));
    in_.resize(before + result.octets);
    if (!expects_frame_ && !in_.empty()) return user_.octets_unexpected();
    const auto frame = StartupFrame::parse(in_);
    if (frame) {
      expects_frame_ = false;
      in_.clear();
      return user_.frame_received(*frame);
    }
    if (frame.error().code != wire::ParseCode::truncated) return user_.frame_refused();
    if (in_.size() < whole) return result.end ? end() : stream_->ask_readable();
  }
}

}  // namespace iwarp
