#include "fc2_fabric/drivers/crossbar.hpp"

#include <thread>

#include "fc2_fabric/drivers/crossbar_path.hpp"
#include "runtime/drivers/process.hpp"

namespace fc2::drivers {
namespace {

/// Slots that message data leaves free: for what cannot be kept back (responses, link services).
constexpr std::uint32_t reserve = 16;
/// Frames of a message after which the reader is woken, although more follow.
constexpr unsigned frames_of_a_ring = 16;
/// Addresses remembered as asked for.
constexpr std::size_t max_asked = 4096;
/// With more paths their far ends leave notes; with fewer all are looked at each time.
constexpr std::size_t paths_without_notes = 16;
/// Ticks after which a far end that did not hear the bell is told by the service: 1, 2, 4 ... and then it is stopped.
constexpr unsigned last_tick_unheard = 16;

/// The data of the run's frames from the `first` on. False: they are gone.
[[nodiscard]] bool gather(std::span<std::uint8_t> to, const FrameRun& run, std::size_t first) {
  const std::uint8_t* data = run.data + first * run.stride_bytes;
  const std::size_t piece_bytes = run.is_dense() ? to.size() : run.data_bytes;
  for (; !to.empty(); to = to.subspan(piece_bytes), data += run.stride_bytes) {
    if (run.reader == nullptr)
      std::memcpy(to.data(), data, piece_bytes);
    else if (!run.reader->read(to.first(piece_bytes), data))
      return false;
  }
  return true;
}

/// A set-up or an end of a connection (FC-VI Table 1): who refuses, or is refused, talks to nobody.
[[nodiscard]] bool is_control(const Frame& frame) {
  const wire::RCtl r_ctl = r_ctl_of(frame);
  return r_ctl == wire::RCtl::unsolicited_control || r_ctl == wire::RCtl::solicited_control;
}

}  // namespace

Crossbar::Crossbar(NPort& port, runtime::CoreGuard& guard, std::shared_ptr<FrameStream> stream,
                   runtime::drivers::Doorbell& doorbell)
    : FrameOutput(true), port_(port), guard_(guard), stream_(std::move(stream)), doorbell_(doorbell), board_(doorbell) {
  guard_.add_memory_input(*this);
  OutputListener& listener = *this;
  stream_->set_listener(&listener);
}

Crossbar::~Crossbar() = default;

void Crossbar::close() {
  if (stream_ == nullptr) return;
  if (inside_ != 0) kept_ = shared_from_this();
  guard_.remove_memory_input(*this);
  port_.scheduler().cancel(tick_timer_);
  std::exchange(stream_, nullptr)->set_listener(nullptr);
  for (const auto& path : paths_) {
    path->out.end();
    path->bell.ring();
  }
  board_.want(false);
  doorbell_.set_peer_core(-1);
  last_used_ = nullptr;
  by_peer_.clear();
  by_note_.clear();
  paths_.clear();
  leaving_ = 0;
  by_service_.clear();
}

Crossbar::Path* Crossbar::find(wire::FcId peer) {
  if (last_used_ != nullptr && last_used_->peer == peer) return last_used_;
  const auto found = by_peer_.find(peer.value);
  return found == by_peer_.end() ? nullptr : last_used_ = found->second;
}

std::size_t Crossbar::direct_count() const {
  return static_cast<std::size_t>(
      std::count_if(paths_.begin(), paths_.end(), [](const auto& path) { return path->way == Way::Direct; }));
}

std::size_t Crossbar::waiting_count() const {
  std::size_t count = by_service_.size();
  for (const auto& path : paths_) count += path->waiting.size();
  return count;
}

// --- out ---------------------------------------------------------------------------------------------------------

FramePtr Crossbar::make_frame(FramePool& pool, wire::FcId destination) {
  Path* const path = find(destination);
  if (path == nullptr)
    return by_service_.empty() && !stream_->paused() ? stream_->make_frame(pool, destination) : pool.take();
  FramePtr frame = pool.take();
  if (path->way == Way::Direct && path->waiting.empty() && path->write_place.borrower() == nullptr &&
      path->out.room() != 0)
    path->write_place.lend(path->out.place(), *frame);
  return frame;
}

void Crossbar::send(FramePtr frame) {
  if (stream_ == nullptr) return;
  if (last_used_ != nullptr && frame->lender == &last_used_->write_place) return write(*last_used_, std::move(frame));
  const wire::FcId d_id = d_id_of(*frame);
  if (Path* const path = find(d_id)) return put(*path, std::move(frame));
  const bool wants_path = port_.has_fc4(type_of(*frame)) && !is_control(*frame);  // not for logins, names and set-ups
  send_by_service(std::move(frame));
  if (wants_path && !stream_->paused()) ask_for_path(d_id);
}

// While its socket is full, frames of rings go on: what goes by the service is kept back by destination.
void Crossbar::send_by_service(FramePtr frame) {
  if (by_service_.empty() && !stream_->paused()) {
    stream_->send(std::move(frame));
    if (stream_->paused() && paths_.empty()) pause();
    return;
  }
  if (port_.has_fc4(type_of(*frame))) set_hold(d_id_of(*frame), &Hold::socket, true);
  frame->leave_place();
  by_service_.push(std::move(frame));
  if (by_service_.size() >= max_by_service) pause();
}

void Crossbar::output_resumed() {
  tell_service();
  while (!by_service_.empty() && !stream_->paused()) stream_->send(by_service_.pop());
  for (const auto& path : paths_)
    if (path->way == Way::Leaving) pump(*path);
  remove_finished();
  if (stream_->paused() || !by_service_.empty()) return;
  std::vector<std::uint32_t> held;
  for (const auto& [peer, hold] : holds_)
    if (hold.socket) held.push_back(peer);
  for (const std::uint32_t peer : held) set_hold({peer}, &Hold::socket, false);
  resume();
}

void Crossbar::ask_for_path(wire::FcId peer) {
  if (peer == port_.n_port_id()) return;
  const TimeNs now = port_.scheduler().now();
  const auto asked = asked_.find(peer.value);
  if (asked != asked_.end() && now - asked->second < ask_again) return;
  if (asked_.size() >= max_asked) asked_.clear();
  if (stream_->send_record(RecordKind::PathRequest, Destination{peer}.write())) asked_[peer.value] = now;
}

void Crossbar::put(Path& path, FramePtr frame) {
  const bool waits = !path.waiting.empty() || path.way == Way::Marked ||
                     (path.way == Way::Direct ? path.out.room() == 0 : by_service_.size() >= max_by_service);
  if (waits) return keep(path, std::move(frame));
  if (path.way == Way::Direct) return write(path, std::move(frame));
  send_by_service(std::move(frame));
}

void Crossbar::keep(Path& path, FramePtr frame) {
  if (path.held && port_.has_fc4(type_of(*frame))) hold_ring(path, true);  // also where the port knows its far end anew
  frame->leave_place();
  path.waiting.push(std::move(frame));
  if (path.way == Way::Leaving) {
    if (path.waiting.size() >= max_waiting) pause();
    return;
  }
  if (path.waiting.size() == waiting_to_stop_reading) start_ticking();
  if (path.waiting.size() >= max_waiting || path.out.is_broken()) give_up(path);
}

// Pre: there is room.
void Crossbar::write(Path& path, FramePtr frame) {
  const std::uint16_t size_bytes = frame->size_bytes;
  const bool last = frame->eof == wire::Eof::t || wire::class_of_service(frame->sof) != 3;
  if (frame->lender == &path.write_place) {
    frame->forget_place();
  } else {
    path.write_place.take_back();
    std::memcpy(path.out.place().data(), frame->bytes.data(), size_bytes);
  }
  path.out.publish(size_bytes, frame->sof, frame->eof);
  published(path, last);
}

inline void Crossbar::published(Path& path, bool last, unsigned frames) {
  if ((path.unrung += frames) >= frames_of_a_ring || last) {
    path.unrung = 0;
    ring(path);
  }
  if (path.out.room(reserve) < reserve) [[unlikely]]
    out_of_room(path);
}

std::size_t Crossbar::send_run(const FrameRun& run) {
  if (stream_ == nullptr) return 0;
  Path* const path = find(d_id_of(run.first));
  const bool goes = path != nullptr && path->way == Way::Direct && path->waiting.empty() && !path->held &&
                    run.header_bytes == run_header_bytes && run.data_bytes <= run_data_bytes && !run.is_whole();
  if (!goes) return 0;
  path->write_place.take_back();
  return write(*path, run);
}

// Those behind the last slot that message data may take wait at the port.
std::size_t Crossbar::write(Path& path, const FrameRun& run) {
  RunHeaders headers(run.first);
  for (std::size_t sent = 0; sent != run.frames;) {
    if (path.held || path.way != Way::Direct) return sent;
    const std::uint32_t frames = path.out.run_room(static_cast<std::uint32_t>(run.frames - sent), reserve - 1);
    if (frames == 0 || !gather(path.out.run_place(frames, run.data_bytes), run, sent)) return sent;
    headers.write(path.out.place().data());
    headers.go_on(run.data_bytes, frames);
    path.out.publish_run(run.first.size_bytes, frames);
    published(path, false, frames);
    sent += frames;
  }
  return run.frames;
}

void Crossbar::ring(Path& path) {
  const bool woken = path.bell.ring();
  doorbell_.set_peer_core(path.bell.core());
  if (!woken) [[likely]]
    return;
  path.unheard = 0;
  start_ticking();
}

void Crossbar::out_of_room(Path& path) {
  if (path.out.is_broken()) return give_up(path);
  if (!path.held) hold_ring(path, true);
  ring(path);
  look_for_room(path);
}

// True: the port goes on.
bool Crossbar::look_for_room(Path& path) {
  if (!path.held || path.way != Way::Direct || !path.out.want_room(room_to_resume(path.slot_count))) return false;
  pump(path);
  if (!path.waiting.empty()) return false;
  if (path.way == Way::Direct) hold_ring(path, false);
  return true;
}

// What waits, as far as it can go.
void Crossbar::pump(Path& path) {
  const bool could_read = path.may_read();
  while (!path.waiting.empty() && path.way != Way::Marked) {
    if (path.way == Way::Direct ? path.out.room() == 0 : by_service_.size() >= max_by_service) break;
    ++path.gone;
    FramePtr frame = path.waiting.pop();
    if (path.way == Way::Direct)
      write(path, std::move(frame));
    else
      send_by_service(std::move(frame));
  }
  if (path.way == Way::Leaving && path.waiting.empty()) hold_ring(path, false);
  if (could_read != path.may_read()) board_.add(path.note);
}

// --- what the port keeps back ------------------------------------------------------------------------------------

void Crossbar::set_hold(wire::FcId peer, bool Hold::*reason, bool on) {
  if (!on && !holds_.contains(peer.value)) return;
  Hold& hold = holds_[peer.value];
  hold.*reason = on;
  apply_hold(peer, hold);
  if (!hold.ring && !hold.service && !hold.socket) holds_.erase(peer.value);
}

// What the service holds back, or has no room for, concerns no ring.
void Crossbar::apply_hold(wire::FcId peer, Hold& hold) {
  const Path* const path = find(peer);
  const bool by_service = path == nullptr || path->way == Way::Leaving;
  const bool wanted = hold.ring || (by_service && (hold.service || hold.socket));
  if (wanted) port_.pause_output(peer);
  if (std::exchange(hold.told, wanted) && !wanted) port_.resume_output(peer);
}

void Crossbar::hold_ring(Path& path, bool on) {
  path.held = on;
  set_hold(path.peer, &Hold::ring, on);
}

void Crossbar::way_changed(const Path& path) {
  const auto found = holds_.find(path.peer.value);
  if (found != holds_.end()) apply_hold(path.peer, found->second);
}

void Crossbar::service_holds(wire::FcId peer, bool holds) { set_hold(peer, &Hold::service, holds); }

// --- paths -------------------------------------------------------------------------------------------------------

void Crossbar::path_received(const PathRecord& record, OpenFiles files) {
  using runtime::drivers::SharedMemory;
  runtime::drivers::SharedMemory memory;
  runtime::drivers::PeerDoorbell bell;
  if (files.size() == files_of_a_path && RingPair::is_slot_count(record.slot_count) && find(record.peer) == nullptr) {
    memory = SharedMemory::map(files[0], RingPair::size_bytes(record.slot_count), SharedMemory::Access::ReadWrite);
    bell = runtime::drivers::PeerDoorbell::map({std::move(files[1]), std::move(files[2])});
  }
  if (!memory || !bell) {
    untold_.push_back({record.peer, PathEnd::Cause::Refused, record.number});
    untold_.push_back({record.peer, PathEnd::Cause::Released, record.number});
    return tell_service();
  }
  auto path = std::make_unique<Path>(record, std::move(memory), std::move(bell));
  path->note = board_.take();
  last_used_ = by_peer_[record.peer.value] = path.get();
  if (path->note != runtime::drivers::Doorbell::no_note) by_note_[path->note] = path.get();
  paths_.push_back(std::move(path));
  want_notes();
  hold_ring(*paths_.back(), true);
  send_mark(*paths_.back());
  start_ticking();
}

// Those that were there before have left none.
void Crossbar::want_notes() {
  const bool wants = paths_.size() > paths_without_notes && by_note_.size() == paths_.size();
  if (wants == board_.wanted()) return;
  board_.want(wants);
  if (wants)
    for (const auto& path : paths_) board_.add(path->note);
}

void Crossbar::send_mark(const Path& path) {
  FramePtr mark = port_.pool().take();
  wire::FcHeader header;
  header.r_ctl = way_mark;
  header.s_id = port_.n_port_id();
  header.d_id = path.peer;
  header.ox_id = {static_cast<std::uint16_t>(path.note)};
  header.parameter = path.number;
  header.write(mark->bytes.first<frame_header_bytes>());
  mark->size_bytes = frame_header_bytes;
  mark->sof = wire::Sof::i3;
  mark->eof = wire::Eof::t;
  send_by_service(std::move(mark));
}

void Crossbar::tell_service(const Path& path, PathEnd::Cause cause) {
  untold_.push_back({path.peer, cause, path.number});
  tell_service();
}

void Crossbar::tell_service() {
  while (!untold_.empty() && stream_->send_record(RecordKind::PathEnd, untold_.front().write()))
    untold_.erase(untold_.begin());
}

void Crossbar::path_ended(const PathEnd& end) {
  Path* const path = find(end.peer);
  if (path == nullptr || path->number != end.number) return;
  asked_[end.peer.value] = port_.scheduler().now();
  if (end.cause != PathEnd::Cause::PeerGone) {
    leave(*path);
    remove_finished();
    return;
  }
  const Inside inside(*this);
  if (path->reading) read(*path, path->slot_count);  // whatever it wrote before its end
  if (stream_ == nullptr) return;
  hold_ring(*path, false);
  forget(*path);
}

void Crossbar::leave(Path& path) {
  if (path.way == Way::Leaving) return;
  path.way = Way::Leaving;
  ++leaving_;
  path.out.end();
  ring(path);
  way_changed(path);
  pump(path);
  board_.add(path.note);
}

// By itself: the far end breaks the rules, or takes nothing.
void Crossbar::give_up(Path& path) {
  if (path.way == Way::Leaving) return;
  if (path.out.is_broken()) port_.counters().discard(Discard::BadHeader);
  tell_service(path, PathEnd::Cause::Refused);
  leave(path);
}

void Crossbar::forget(const Path& path) {
  last_used_ = nullptr;
  doorbell_.set_peer_core(-1);  // it may have been that one's
  if (path.way == Way::Leaving) --leaving_;
  by_peer_.erase(path.peer.value);
  by_note_.erase(path.note);
  board_.give_back(path.note);
  std::erase_if(paths_, [&](const auto& gone) { return gone.get() == &path; });
  want_notes();
}

// Each read ends with it: all paths are looked at only while one of them leaves.
bool Crossbar::remove_finished() {
  if (leaving_ == 0) return false;
  bool any = false;
  for (std::size_t i = paths_.size(); i-- > 0;) {
    if (!paths_[i]->is_finished()) continue;
    tell_service(*paths_[i], PathEnd::Cause::Released);
    forget(*paths_[i]);
    any = true;
  }
  return any;
}

// --- far ends that are waited for --------------------------------------------------------------------------------

void Crossbar::start_ticking() {
  if (!tick_timer_.pending()) port_.scheduler().schedule_after(tick_timer_, tick);
}

void Crossbar::tick_over() {
  bool more = false;
  for (std::size_t i = 0; i < paths_.size(); ++i) more |= tick_of(*paths_[i]);
  remove_finished();
  if (more) start_ticking();
}

// True: something is expected of it still.
bool Crossbar::tick_of(Path& path) {
  if (path.way == Way::Marked && path.out.reader_is_open()) opened_by_far_end(path);
  if (path.way == Way::Marked && ++path.marked % ticks_of_a_mark == 0)
    path.marked == max_marks* ticks_of_a_mark ? give_up(path) : send_mark(path);
  if (path.bell.unanswered()) {
    if (std::has_single_bit(++path.unheard) && path.unheard <= last_tick_unheard) send_mark(path);
  } else {
    path.unheard = 0;
  }
  const bool full = path.way == Way::Direct && path.waiting.size() >= waiting_to_stop_reading;
  path.stuck = full && std::exchange(path.gone_before, path.gone) == path.gone ? path.stuck + 1 : 0;
  if (path.stuck == ticks_to_leave) give_up(path);
  return path.way == Way::Marked || full || (path.unheard != 0 && path.unheard < last_tick_unheard);
}

void Crossbar::opened_by_far_end(Path& path) {
  path.way = Way::Direct;
  way_changed(path);
  look_for_room(path);
}

void Crossbar::drain(std::chrono::steady_clock::time_point end) {
  using namespace std::chrono_literals;
  const Inside inside(*this);
  const auto waits = [](const auto& path) {
    return !path->waiting.empty() && (path->way == Way::Leaving || !runtime::drivers::is_stopped(path->process_id));
  };
  while (stream_ != nullptr && std::any_of(paths_.begin(), paths_.end(), waits)) {
    stream_->drain(0ms);
    const bool told = stream_->read_now();  // the service tells of far ends that are gone
    if (stream_ == nullptr || read_now() || told) continue;
    if (std::chrono::steady_clock::now() >= end) return;
    std::this_thread::sleep_for(1ms);
  }
}

}  // namespace fc2::drivers
