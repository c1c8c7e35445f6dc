#include "fc2_fabric/drivers/crossbar.hpp"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "fc2_fabric/frame/frame_header.hpp"
#include "wire/fc_header.hpp"

namespace fc2::drivers {
namespace {

/// Slots that message data leaves free: for what cannot be kept back (responses, link services).
constexpr std::uint32_t reserve = 16;
/// A writer that found too few goes on when so many are free.
[[nodiscard]] constexpr std::uint32_t room_to_resume(std::uint32_t slot_count) { return slot_count / 4; }
/// Frames of a message after which the reader is woken, although more follow.
constexpr unsigned frames_of_a_ring = 16;
/// Way marks that the far end does not answer: it could not map the path.
constexpr unsigned max_marks = 8;
/// Of one path at a time: then others have their turn.
constexpr std::size_t frames_of_a_turn = 64;
/// Slots are given back after so many frames.
constexpr std::size_t frames_of_a_release = 16;
/// A frame up to this length is copied out of its slot at once.
constexpr std::size_t short_frame_bytes = 256;
/// Addresses remembered as asked for.
constexpr std::size_t max_asked = 4096;

[[nodiscard]] bool is_mark(const Frame& frame) {
  return frame.bytes[0] == static_cast<std::uint8_t>(Crossbar::way_mark);
}
[[nodiscard]] wire::Type type_of(const Frame& frame) { return static_cast<wire::Type>(frame.bytes[8]); }

}  // namespace

struct Crossbar::Path {
  Path(const PathRecord& record, runtime::drivers::SharedMemory memory, runtime::drivers::PeerDoorbell doorbell)
      : peer(record.peer), number(record.number), slot_count(record.slot_count),
        rings(std::move(memory), record.slot_count, record.side), out(rings.outbound()), in(rings.inbound()),
        bell(std::move(doorbell)) {}

  const wire::FcId peer;
  const std::uint32_t number;
  const std::uint32_t slot_count;
  RingPair rings;
  RingWriter out;
  RingReader in;
  runtime::drivers::PeerDoorbell bell;
  FrameLender write_place, read_place;
  FrameQueue waiting;  // for the ring, or behind the mark
  Way way = Way::Service;
  bool reading = false;        // the far end's mark has come
  bool port_held = false;      // the port keeps back message data for the far end
  bool service_holds = false;  // the service wants so of what goes by it
  unsigned marks = 0;
  unsigned unrung = 0;  // frames written since the bell

  [[nodiscard]] bool is_finished() const { return way == Way::Leaving && waiting.empty() && in.is_over(); }
};

Crossbar::Crossbar(NPort& port, runtime::CoreGuard& guard, std::shared_ptr<FrameStream> stream)
    : port_(port), guard_(guard), stream_(std::move(stream)) {
  guard_.add_memory_input(*this);
  OutputListener& listener = *this;
  stream_->set_listener(&listener);
}

Crossbar::~Crossbar() = default;

void Crossbar::close() {
  if (stream_ == nullptr) return;
  guard_.remove_memory_input(*this);
  port_.scheduler().cancel(mark_timer_);
  std::exchange(stream_, nullptr)->set_listener(nullptr);
  for (const auto& path : paths_) {
    path->out.end();
    path->bell.ring();
  }
  last_used_ = nullptr;
  paths_.clear();
}

Crossbar::Path* Crossbar::find(wire::FcId peer) {
  if (last_used_ != nullptr && last_used_->peer == peer) return last_used_;
  // The newest: an older one of the same port may not be finished.
  const auto found = std::find_if(paths_.rbegin(), paths_.rend(), [&](const auto& path) { return path->peer == peer; });
  return found == paths_.rend() ? nullptr : last_used_ = found->get();
}

std::size_t Crossbar::direct_count() const {
  return static_cast<std::size_t>(
      std::count_if(paths_.begin(), paths_.end(), [](const auto& path) { return path->way == Way::Direct; }));
}

// --- out ---------------------------------------------------------------------------------------------------------

FramePtr Crossbar::make_frame(FramePool& pool, wire::FcId destination) {
  Path* const path = find(destination);
  if (path == nullptr || path->way == Way::Service) return stream_->make_frame(pool, destination);
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
  const bool wants_path = port_.has_fc4(type_of(*frame));  // not for logins and names
  stream_->send(std::move(frame));
  if (wants_path && !stream_->paused()) ask_for_path(d_id);
  if (stream_->paused()) pause();
}

// What the service holds back concerns no ring.
void Crossbar::service_holds(wire::FcId peer, bool holds) {
  Path* const path = find(peer);
  if (path != nullptr) path->service_holds = holds;
  const bool by_service = path == nullptr || path->way == Way::Service || path->way == Way::Leaving;
  if (holds && by_service) port_.pause_output(peer);
  if (!holds && (path == nullptr || !path->port_held)) port_.resume_output(peer);
}

void Crossbar::release_port(Path& path) {
  if (!std::exchange(path.port_held, false)) return;
  const bool by_service = path.way == Way::Service || path.way == Way::Leaving;
  if (!(by_service && path.service_holds)) port_.resume_output(path.peer);
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
  const bool at_once = path.waiting.empty() && !(path.way == Way::Direct && path.out.room() == 0);
  if (path.way == Way::Marked || !at_once) {
    frame->leave_place();
    path.waiting.push(std::move(frame));
    return;
  }
  if (path.way == Way::Direct) return write(path, std::move(frame));
  if (is_mark(*frame)) mark_passes(path);
  stream_->send(std::move(frame));
  if (stream_->paused()) pause();
}

void Crossbar::mark_passes(Path& path) {
  if (path.way == Way::Leaving) return;
  path.way = Way::Marked;
  path.port_held = true;
  port_.pause_output(path.peer);
  if (!mark_timer_.pending()) port_.scheduler().schedule_after(mark_timer_, mark_again);
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
  if (last || ++path.unrung == frames_of_a_ring) {
    path.unrung = 0;
    path.bell.ring();
  }
  if (path.out.room(reserve) < reserve) [[unlikely]]
    out_of_room(path);
}

void Crossbar::out_of_room(Path& path) {
  if (path.out.is_broken()) {
    port_.counters().discard(Discard::BadHeader);
    return leave(path);
  }
  if (!path.port_held) port_.pause_output(path.peer);
  path.port_held = true;
  path.bell.ring();
  look_for_room(path);
}

// True: the port goes on.
bool Crossbar::look_for_room(Path& path) {
  if (!path.port_held || path.way != Way::Direct || !path.out.want_room(room_to_resume(path.slot_count))) return false;
  pump(path);
  if (!path.waiting.empty()) return false;
  release_port(path);
  return true;
}

// What waits, as far as it can go.
void Crossbar::pump(Path& path) {
  while (!path.waiting.empty()) {
    if (path.way == Way::Marked || (path.way == Way::Direct ? path.out.room() == 0 : stream_->paused())) break;
    FramePtr frame = path.waiting.pop();
    if (path.way == Way::Direct) {
      write(path, std::move(frame));
      continue;
    }
    if (is_mark(*frame)) mark_passes(path);
    stream_->send(std::move(frame));
  }
  if (stream_->paused()) pause();
  if (path.way == Way::Leaving && path.waiting.empty()) release_port(path);
}

void Crossbar::output_resumed() {
  for (const auto& path : paths_) pump(*path);
  remove_finished();
  if (!stream_->paused()) resume();
}

// --- paths -------------------------------------------------------------------------------------------------------

void Crossbar::path_received(const PathRecord& record, runtime::drivers::Descriptor memory,
                             const runtime::drivers::DoorbellDescriptors& doorbell) {
  using runtime::drivers::SharedMemory;
  if (!RingPair::is_slot_count(record.slot_count)) return;
  auto mapped = SharedMemory::map(memory, RingPair::size_bytes(record.slot_count), SharedMemory::Access::ReadWrite);
  auto bell = runtime::drivers::PeerDoorbell::map(doorbell);
  if (!mapped || !bell) return;  // the far end's mark finds no path, and its frames wait for the next
  auto path = std::make_unique<Path>(record, std::move(mapped), std::move(bell));
  if (Path* const earlier = find(record.peer)) path->waiting.take(earlier->waiting);
  last_used_ = nullptr;
  paths_.push_back(std::move(path));
  send_mark(*paths_.back());
}

void Crossbar::send_mark(const Path& path) {
  FramePtr mark = port_.pool().take();
  wire::FcHeader header;
  header.r_ctl = way_mark;
  header.s_id = port_.n_port_id();
  header.d_id = path.peer;
  header.parameter = path.number;
  header.write(mark->bytes.first<frame_header_bytes>());
  mark->size_bytes = frame_header_bytes;
  mark->sof = wire::Sof::i3;
  mark->eof = wire::Eof::t;
  port_.transmitter().send(std::move(mark));
}

void Crossbar::marks_due() {
  bool any = false;
  for (const auto& path : paths_) {
    if (path->way != Way::Marked || path->out.reader_is_open()) continue;
    if (++path->marks == max_marks) {
      leave(*path);
      continue;
    }
    any = true;
    send_mark(*path);
  }
  if (any) port_.scheduler().schedule_after(mark_timer_, mark_again);
}

void Crossbar::path_ended(const PathEnd& end) {
  Path* const path = find(end.peer);
  if (path == nullptr) return;
  asked_[end.peer.value] = port_.scheduler().now();
  if (end.cause == PathEnd::Cause::Service) {
    leave(*path);
    return remove_finished();
  }
  const auto self = shared_from_this();
  read_all_from(end.peer);  // whatever it wrote before its end
  if (stream_ == nullptr) return;
  if (path->port_held) port_.resume_output(end.peer);
  last_used_ = nullptr;
  std::erase_if(paths_, [&](const auto& gone) { return gone->peer == end.peer; });
}

void Crossbar::leave(Path& path) {
  if (path.way == Way::Leaving) return;
  path.way = Way::Leaving;
  path.out.end();
  path.bell.ring();
  pump(path);
}

void Crossbar::remove_finished() {
  last_used_ = nullptr;
  std::erase_if(paths_, [](const auto& path) { return path->is_finished(); });
}

void Crossbar::drain(std::chrono::milliseconds limit) {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + limit;
  const auto waits = [](const auto& path) { return !path->waiting.empty(); };
  while (stream_ != nullptr && std::any_of(paths_.begin(), paths_.end(), waits)) {
    if (read_now()) continue;
    if (std::chrono::steady_clock::now() >= end) return;
    std::this_thread::sleep_for(1ms);
  }
}

// --- in ----------------------------------------------------------------------------------------------------------

// What that port wrote into the ring came before it.
void Crossbar::frame_received(FramePtr frame) {
  if (paths_.empty()) return port_.receive(std::move(frame));
  const auto self = shared_from_this();
  const wire::FcId s_id = s_id_of(*frame);
  read_all_from(s_id);
  if (stream_ == nullptr) return;
  if (!is_mark(*frame)) return port_.receive(std::move(frame));
  Path* const path = find(s_id);
  const auto header = wire::FcHeader::parse(frame->content());
  if (path == nullptr || !header || header->parameter != path->number) return;
  path->reading = true;
  path->in.open();
  path->bell.ring();
}

void Crossbar::read_all_from(wire::FcId peer) {
  for (std::size_t i = 0; i < paths_.size() && stream_ != nullptr; ++i)
    if (paths_[i]->peer == peer && paths_[i]->reading) read(*paths_[i], paths_[i]->slot_count);
}

void Crossbar::read_to_the_end() {
  const auto self = shared_from_this();
  for (std::size_t i = 0; i < paths_.size() && stream_ != nullptr; ++i)
    if (paths_[i]->reading) read(*paths_[i], paths_[i]->slot_count);
}

bool Crossbar::has_input() const {
  return std::any_of(paths_.begin(), paths_.end(), [](const auto& path) {
    if (path->is_finished() || (path->reading && path->in.ready())) return true;
    if (path->way == Way::Marked) return path->out.reader_is_open();
    // Asks again: the reader may have told of a few slots while this side was awake, and tells only once.
    return path->way == Way::Direct && path->port_held && path->out.want_room(room_to_resume(path->slot_count));
  });
}

bool Crossbar::read_now() {
  bool found = false, finished = false, caught_up = false;
  const auto self = shared_from_this();
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    Path& path = *paths_[(next_to_read_ + i) % paths_.size()];
    if (path.way == Way::Marked && path.out.reader_is_open()) path.way = Way::Direct;
    found |= look_for_room(path);
    if (path.reading && path.in.ready()) {
      if (!std::exchange(caught_up, true)) guard_.catch_up();
      found = true;
      read(path, frames_of_a_turn);
      if (stream_ == nullptr) return true;
    }
    finished |= path.is_finished();
  }
  ++next_to_read_;
  if (finished) remove_finished();
  return found || finished;
}

void Crossbar::read(Path& path, std::size_t frames) {
  for (std::size_t count = 1; count <= frames && path.in.ready(); ++count) {
    const auto slot = path.in.next();
    if (slot)
      deliver(path, *slot);
    else
      port_.counters().discard(Discard::BadHeader);
    if (stream_ == nullptr) return;
    if (count % frames_of_a_release == 0) give_back(path);
  }
  give_back(path);
}

// A frame that nobody kept was copied once, from its slot to where its data belong.
void Crossbar::deliver(Path& path, const RingReader::Slot& slot) {
  FramePtr frame = port_.pool().take();
  frame->sof = slot.sof;
  frame->eof = slot.eof;
  frame->size_bytes = slot.size_bytes;
  frame->only_from = path.peer;
  if (slot.size_bytes <= short_frame_bytes)
    std::memcpy(frame->own.data(), slot.bytes.data(), slot.size_bytes);
  else
    path.read_place.lend(slot.bytes, *frame);
  port_.receive(std::move(frame));
  if (stream_ != nullptr) path.read_place.take_back();  // else the path is gone
}

void Crossbar::give_back(Path& path) {
  if (path.in.release()) path.bell.ring();
}

}  // namespace fc2::drivers
