#include "iwarp/ddp_stream.hpp"

#include <utility>

#include "state_machines/consistency.hpp"

namespace iwarp {
namespace ds = machines::ddp_stream;

bool DdpStream::is_consistent() const {
  return has_stream() != machine_.is_any_of<ds::Disabled, ds::Closed>() &&
         linger_.pending() == machine_.is_any_of<ds::Finishing, ds::Draining, ds::Answering>() &&
         (framing_ == nullptr || framing_->is_consistent());
}

template <class Event>
void DdpStream::process(const Event& event) {
  machine_.process(event, *this);
  settle();
}

void DdpStream::settle() {
  FCVI_ASSERT_CONSISTENT(*this);
  effects_.drain([this](Effect effect) {
    switch (effect) {
      case Effect::failed: return user_.ddp_failed();
      case Effect::half_closed: return user_.peer_closed();
      case Effect::lost: return user_.llp_lost();
      case Effect::pump: return pump();
      case Effect::gone: return user_.stream_gone();
    }
  });
}

void DdpStream::enable(std::unique_ptr<streams::Stream> stream, std::unique_ptr<Framing> framing, wire::Bytes unsent) {
  stream_ = std::move(stream);
  framing_ = std::move(framing);
  stream_->set_user(*this);
  stream_->separate_writes();
  look_at_segments();
  framing_->keep_first(unsent);
  if (framing_->is_blocked()) stream_->ask_writable();
  process(ds::StreamEnabled{});
}

/// RFC 5044 4.5, 5.1: EMSS is that of the stream, which may change. Looked at now and then.
void DdpStream::look_at_segments() {
  if (batches_until_look_ != 0) return --batches_until_look_, void();
  batches_until_look_ = batches_between_looks;
  if (const auto octets = stream_->segment_octets()) framing_->set_emss(*octets);
}

void DdpStream::segment_invalid() { process(ds::SegmentInvalid{}); }
void DdpStream::llp_error_found() { process(ds::LlpErrorFound{}); }
void DdpStream::stop_reception() { process(ds::ReceptionStopped{}); }
void DdpStream::close() { process(ds::CloseRequested{}); }
void DdpStream::abort() { process(ds::AbortRequested{}); }
void DdpStream::linger_expired() { process(ds::LingerExpired{}); }
void DdpStream::closed(streams::Reason) { process(ds::LlpLost{}); }

void DdpStream::reset_llp() {
  stream_->reset();
  stream_.reset();
}

/// What is owed is being sent, and then the end.
bool DdpStream::is_ending() const { return machine_.is_any_of<ds::Finishing, ds::Answering>(); }

void DdpStream::readable() {
  Framing::Progress progress{.more = true};
  while (stream_ != nullptr && progress.more && !progress.end) progress = framing_->read(*stream_);
  pump();  // responses, completions: what was read may let something go out
  if (stream_ == nullptr || ended_) return;
  if (!progress.end) return stream_->ask_readable();
  ended_ = true;
  framing_->is_at_boundary() ? process(ds::LlpCloseReceived{}) : process(ds::LlpLost{});
}

/// Also where nothing is kept, and the stream is shut down: the start-up may have asked for it.
void DdpStream::writable() {
  if (framing_->is_blocked()) framing_->write_kept(*stream_);
  if (framing_->is_blocked()) return stream_->ask_writable();
  pump();
}

void DdpStream::pump() {
  if (stream_ == nullptr || std::exchange(pumping_, true)) return;
  while (stream_ != nullptr && !framing_->is_blocked()) {
    bool added = false;
    while (stream_ != nullptr && framing_->has_room() && user_.add_segment(*framing_)) added = true;
    if (!added || stream_ == nullptr) break;
    framing_->flush(*stream_);
    look_at_segments();
    if (framing_->is_blocked()) stream_->ask_writable();
    user_.segments_flushed();
  }
  pumping_ = false;
  if (stream_ != nullptr && is_ending() && !framing_->is_blocked() && !user_.owes_segments())
    process(ds::OutputFinished{});
}

}  // namespace iwarp
