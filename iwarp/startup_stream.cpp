#include "iwarp/startup_stream.hpp"

#include <type_traits>
#include <utility>

namespace iwarp {
using wire::ift::AdaptionIndication;
using wire::mpa::StartupFrame;

namespace {

/// Octets of the frame that begins so, as far as it is known how many it has.
std::size_t octets_wanted(wire::Bytes in, std::type_identity<StartupFrame>) {
  if (in.size() < StartupFrame::header_bytes) return StartupFrame::header_bytes;
  return StartupFrame::header_bytes + wire::load_big<2>(in, StartupFrame::header_bytes - 2);
}
std::size_t octets_wanted(wire::Bytes, std::type_identity<AdaptionIndication>) { return AdaptionIndication::size(); }

}  // namespace

template <class Frame>
void StartupStream<Frame>::connect(const streams::Address& to, const streams::Address& from) {
  close();
  stream_ = services_.streams.connect(to, from, *this);
}

template <class Frame>
void StartupStream<Frame>::adopt(std::unique_ptr<streams::Stream> stream) {
  close();
  stream_ = std::move(stream);
  established_ = true;
  stream_->set_user(*this);
}

template <class Frame>
void StartupStream<Frame>::close() {
  stream_.reset();
  out_.clear();
  in_.clear();
  established_ = expects_frame_ = false;
}

template <class Frame>
std::unique_ptr<streams::Stream> StartupStream<Frame>::release(std::vector<std::uint8_t>& unsent) {
  unsent = std::move(out_);
  auto stream = std::move(stream_);
  close();
  return stream;
}

template <class Frame>
void StartupStream<Frame>::connected() {
  established_ = true;
  user_.stream_established();
}

template <class Frame>
void StartupStream<Frame>::closed(streams::Reason reason) {
  reason_ = reason;
  const bool was_established = established_;
  close();
  was_established ? user_.stream_ended() : user_.stream_refused();
}

template <class Frame>
void StartupStream<Frame>::end() {
  const bool within = !in_.empty();
  close();
  within ? user_.frame_refused() : user_.stream_ended();
}

template <class Frame>
void StartupStream<Frame>::send(const Frame& frame) {
  const std::size_t before = out_.size();
  out_.resize(before + frame.size());
  frame.write(wire::MutableBytes(out_).subspan(before));
  stream_->ask_writable();
  const std::size_t taken = stream_->write(wire::Bytes(out_));
  out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(taken));
}

template <class Frame>
void StartupStream<Frame>::writable() {
  const std::size_t taken = stream_->write(wire::Bytes(out_));
  out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(taken));
  out_.empty() ? user_.all_sent() : stream_->ask_writable();
}

template <class Frame>
void StartupStream<Frame>::expect_frame() {
  expects_frame_ = true;
  stream_->ask_readable();
}

template <class Frame>
void StartupStream<Frame>::expect_nothing() {
  expects_frame_ = false;
  stream_->ask_readable();
}

/// Octets that are read before the frame is looked at again.
template <class Frame>
std::size_t StartupStream<Frame>::wanted() const {
  return expects_frame_ ? octets_wanted(wire::Bytes(in_), std::type_identity<Frame>{}) : 1;
}

/// A frame that is wrong is told as soon as its octets tell.
template <class Frame>
void StartupStream<Frame>::readable() {
  for (;;) {
    const std::size_t before = in_.size(), whole = wanted();
    in_.resize(whole);
    const streams::ReadResult result = stream_->read(wire::MutableBytes(in_).subspan(before));
    in_.resize(before + result.octets);
    if (!expects_frame_ && !in_.empty()) return user_.octets_unexpected();
    const auto frame = Frame::parse(in_);
    if (frame) {
      expects_frame_ = false;
      in_.clear();
      return user_.frame_received(*frame);
    }
    if (frame.error().code != wire::ParseCode::truncated) return user_.frame_refused();
    if (in_.size() < whole) return result.end ? end() : stream_->ask_readable();
  }
}

template class StartupStream<StartupFrame>;
template class StartupStream<AdaptionIndication>;

}  // namespace iwarp
