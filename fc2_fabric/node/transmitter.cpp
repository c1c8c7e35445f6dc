#include "fc2_fabric/node/transmitter.hpp"

#include <algorithm>
#include <utility>

#include "state_machines/consistency.hpp"

namespace fc2 {

FrameSource::~FrameSource() {
  if (transmitter_ != nullptr) transmitter_->withdraw(*this);
}

Transmitter::~Transmitter() {
  while (round_ != nullptr) withdraw(*round_);
}

void Transmitter::attach(FrameOutput* output) {
  if (output_ != nullptr) output_->set_listener(nullptr);
  output_ = output;
  if (output_ != nullptr) {
    output_->set_listener(this);
    return wake();
  }
  scheduler_.cancel(*this);
  waiting_.clear();
}

FramePtr Transmitter::take_back() { return waiting_.empty() ? nullptr : waiting_.pop(); }

// A paused output says when it goes on.
void Transmitter::wake() {
  if (output_ != nullptr && !output_->paused() && !pending() && !idle()) scheduler_.schedule(*this, output_->free_at());
}

void Transmitter::send(FramePtr frame) {
  if (output_ == nullptr) return;  // no link: lost, as on a dark fibre
  waiting_.push(std::move(frame));
  wake();
}

void Transmitter::submit(FrameSource& source) {
  if (&source == asked_) return;  // it is asked on until it has no more
  if (source.transmitter_ != nullptr) return wake();
  const bool was_idle = idle() && !pending();
  source.transmitter_ = this;
  ++round_size_;
  if (round_ == nullptr) {
    round_ = source.previous_ = source.following_ = &source;
  } else {  // last of the round
    source.following_ = round_;
    source.previous_ = round_->previous_;
    source.previous_->following_ = round_->previous_ = &source;
  }
  if (!was_idle || output_ == nullptr || output_->paused()) return wake();
  if (!amid_sequence_ && output_->free_at() <= scheduler_.now() && scheduler_.may_go_at_once()) [[likely]]
    return ask_the_only(source);
  scheduler_.schedule_at_once(*this, output_->free_at());
}

void Transmitter::withdraw(FrameSource& source) {
  if (source.transmitter_ != this) return;
  source.transmitter_ = nullptr;
  if (&source == asked_) asked_ = nullptr;
  --round_size_;
  if (round_ == &source) round_ = source.following_ == &source ? nullptr : source.following_;
  source.previous_->following_ = source.following_;
  source.following_->previous_ = source.previous_;
}

/// Ended also where the source fails for lack of memory.
struct Asked {
  Asked(FrameSource*& asked, FrameSource& source) : place(asked) { place = &source; }
  ~Asked() { place = nullptr; }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
  FrameSource*& place;
};

/// A Sequence of one frame is offered where the frame may be looked at in place.
inline void Transmitter::put_out(FramePtr frame) {
  const bool whole = frame->sof == wire::Sof::i3 && frame->eof == wire::Eof::t && frame->lender == nullptr;
  if (whole && output_->takes_runs() && output_->free_at() <= scheduler_.now() &&
      output_->send_run(FrameRun::of_whole(*frame)) != 0)
    return;
  output_->send(std::move(frame));
}

bool Transmitter::pull() {
  blocked_ = false;
  for (std::size_t to_ask = round_size_; to_ask > 0 && round_ != nullptr; --to_ask) {
    FrameSource& source = *round_;
    FramePtr frame = output_->make_frame(pool_, source.destination());
    const FrameSource::Next next = (Asked(asked_, source), source.next_frame(*frame));
    if (take(source, next, std::move(frame))) return true;
  }
  return false;
}

/// What the source that was asked has made goes out. False: nothing.
bool Transmitter::take(FrameSource& source, FrameSource::Next next, FramePtr frame) {
  switch (next) {
    case FrameSource::Next::Made:
      if (source.transmitter_ == this) round_ = source.following_;
      amid_sequence_ = frame->eof == wire::Eof::n;
      put_out(std::move(frame));
      return true;
    case FrameSource::Next::MadeLast:
      withdraw(source);
      amid_sequence_ = false;
      put_out(std::move(frame));
      return true;
    case FrameSource::Next::Exhausted: withdraw(source); break;
    case FrameSource::Next::Blocked:
      blocked_ = true;
      round_ = source.following_;
      break;
  }
  return false;
}

// Mostly a message of one frame, and nothing else: what fire() would do with a round that is this source.
inline void Transmitter::ask_the_only(FrameSource& source) {
  blocked_ = false;
  FramePtr frame = output_->make_frame(pool_, source.destination());
  const FrameSource::Next next = (Asked(asked_, source), source.next_frame(*frame));
  if (next == FrameSource::Next::MadeLast && round_size_ == 1 && round_ == &source) [[likely]] {
    round_ = nullptr;  // withdraw()
    round_size_ = 0;
    source.transmitter_ = nullptr;
    amid_sequence_ = false;
    put_out(std::move(frame));
  } else if (!take(source, next, std::move(frame))) {
    return FCVI_ASSERT_CONSISTENT(*this);
  }
  ++frames_sent_;
  if (!idle()) [[unlikely]]
    return go_on(scheduler_.now(), 1);
  FCVI_ASSERT_CONSISTENT(*this);
}

/// Of a source that is alone: others would have their turns between its frames.
inline std::size_t Transmitter::send_run(std::size_t most) {
  if (!amid_sequence_ || round_size_ != 1 || !waiting_.empty() || !output_->takes_runs()) return 0;
  const std::size_t sent = round_->send_run(*output_, most);
  frames_sent_ += sent;
  return sent;
}

bool Transmitter::send_one() {
  if (!waiting_.empty())
    output_->send(waiting_.pop());
  else if (!pull())
    return false;
  ++frames_sent_;
  return true;
}

void Transmitter::fire(TimeNs now) {
  // Mostly a message of one frame, and nothing else: what the loop would do.
  if (waiting_.empty() && !amid_sequence_ && round_ != nullptr && output_ != nullptr && output_->free_at() <= now) {
    const bool more = pull();
    frames_sent_ += more ? 1 : 0;
    if (!more || idle()) [[likely]]
      return FCVI_ASSERT_CONSISTENT(*this);
    return go_on(now, 1);
  }
  go_on(now, 0);
}

/// So many frames went in this turn.
void Transmitter::go_on(TimeNs now, std::size_t sent) {
  bool more = true;
  for (; more && sent < frames_per_turn && output_ != nullptr && output_->free_at() <= now;) {
    const std::size_t run = send_run(frames_per_turn - sent);
    more = (run != 0 || send_one()) && !idle();
    sent += std::max<std::size_t>(run, 1);
  }
  if (more) wake();
  FCVI_ASSERT_CONSISTENT(*this);
}

bool Transmitter::round_is_whole() const {
  std::size_t sources = 0;
  const FrameSource* source = round_;
  while (source != nullptr && sources <= round_size_) {
    if (source->transmitter_ != this || source->following_->previous_ != source) return false;
    ++sources;
    source = source->following_ == round_ ? nullptr : source->following_;
  }
  return sources == round_size_;
}

// Without a link nothing waits as a frame; sources may. With one: a paused output says when it goes on, and whoever a
// blocked source waits for.
bool Transmitter::is_consistent() const {
  if (asked_ != nullptr || !round_is_whole()) return false;
  if (output_ == nullptr) return waiting_.empty() && !pending();
  return idle() || pending() || output_->paused() || (waiting_.empty() && blocked_);
}

}  // namespace fc2
