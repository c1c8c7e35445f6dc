#include "fc2_fabric/drivers/crossbar_path.hpp"

namespace fc2::drivers {
namespace {

/// Of one path at a time: then others have their turn.
constexpr std::size_t frames_of_a_turn = 64;
/// Slots are given back after so many frames, and when no frame is there: the barrier that it takes delays none.
constexpr std::size_t frames_of_a_release = 16;
/// Looked at together: those that are there are fetched from the writer's core side by side.
constexpr std::size_t frames_of_a_look = 16;
/// A frame up to this length is copied out of its slot at once.
constexpr std::size_t short_frame_bytes = 256;
/// Frames of single slots, at most, read together.
constexpr std::size_t frames_of_a_run = 16;

/// Neither first nor last of its sequence, and so long that it is worth a look.
[[nodiscard]] bool may_be_of_run(const RingReader::Slot& slot) {
  return slot.sof == wire::Sof::n3 && slot.eof == wire::Eof::n && slot.size_bytes > short_frame_bytes;
}
[[nodiscard]] bool has_run_headers(const Frame& first) {
  return header_of(first).device_header_size() == run_header_bytes - frame_header_bytes;
}
/// As it came: what the slot says of it.
void describe(Frame& frame, const RingReader::Slot& slot, wire::FcId peer) {
  frame.size_bytes = slot.size_bytes;
  frame.sof = slot.sof;
  frame.eof = slot.eof;
  frame.only_from = peer;
}
/// The same with the first octets of the slot, which are read once, into a copy.
void copy_first(Frame& frame, const RingReader::Slot& slot, wire::FcId peer, std::size_t octets) {
  std::memcpy(frame.own.data(), slot.bytes.data(), octets);
  describe(frame, slot, peer);
}
/// The same with all of a short frame, by cache lines of its slot: of a length that is not known the compiler makes
/// `rep movs`, whose start takes longer than the copy. What lies behind the frame in its last line is nobody's.
void copy_short(Frame& frame, const RingReader::Slot& slot, wire::FcId peer) {
  constexpr std::size_t first_line = cache_line_bytes - offsetof(RingSlot, bytes);
  static_assert(short_frame_bytes + cache_line_bytes <= max_frame_bytes);
  std::memcpy(frame.own.data(), slot.bytes.data(), first_line);
  for (std::size_t at = first_line; at < slot.size_bytes; at += cache_line_bytes)
    std::memcpy(frame.own.data() + at, slot.bytes.data() + at, cache_line_bytes);
  describe(frame, slot, peer);
}

}  // namespace

// What that port wrote into the ring came before it.
void Crossbar::frame_received(FramePtr frame) {
  if (paths_.empty()) return is_mark(*frame) ? void() : port_.receive(std::move(frame));
  const Inside inside(*this);
  const wire::FcId s_id = s_id_of(*frame);
  Path* const path = find(s_id);
  if (path != nullptr && path->reading) read(*path, path->slot_count);
  if (stream_ == nullptr) return;
  if (!is_mark(*frame)) return port_.receive(std::move(frame));
  const auto header = wire::FcHeader::parse(frame->content());
  if (path != nullptr && header && header->parameter == path->number) mark_received(*path, header->ox_id.value);
}

// The first opens the ring. A later one comes from a far end that was not heard.
void Crossbar::mark_received(Path& path, unsigned note) {
  path.bell.set_note(note);
  if (!std::exchange(path.reading, true)) path.in.open();
  ring(path);
  board_.add(path.note);
  look_for_room(path);
}

void Crossbar::read_to_the_end() {
  const Inside inside(*this);
  for (std::size_t i = 0; i < paths_.size() && stream_ != nullptr; ++i)
    if (paths_[i]->reading) read(*paths_[i], paths_[i]->slot_count);
}

bool Crossbar::has_news(Path& path) {
  if (path.is_finished() || (path.may_read() && path.in.ready()) || path.has_unreleased()) return true;
  if (path.way == Way::Marked) return path.out.reader_is_open();
  if (path.way == Way::Leaving) return false;
  // Asks again: the reader may have told of a few slots while this side was awake, and tells only once.
  return (path.held && path.out.want_room(room_to_resume(path.slot_count))) || path.out.is_broken();
}

// A far end can take off the notes of others: a poll looks at one path more, in turn.
bool Crossbar::has_input(Look look) const {
  if (!board_.wanted())
    return std::any_of(paths_.begin(), paths_.end(), [](const auto& path) { return has_news(*path); });
  const std::size_t count = look == Look::Everywhere ? paths_.size() : 1;
  for (std::size_t i = 0; i < count; ++i) {
    Path& path = *paths_[next_to_read_++ % paths_.size()];
    if (has_news(path)) board_.add(path.note);
  }
  return board_.collect();
}

bool Crossbar::read_now() {
  const Inside inside(*this);
  bool found = false;
  if (!board_.wanted()) {
    const std::size_t first = next_to_read_++;
    for (std::size_t i = 0; i < paths_.size(); ++i) found |= look_at(*paths_[(first + i) % paths_.size()]);
  } else if (has_input(Look::Told)) {
    board_.take_due([&](unsigned note) {
      const auto at = by_note_.find(note);
      if (at == by_note_.end()) return;
      Path& path = *at->second;
      found |= look_at(path);
      if (stream_ != nullptr && has_news(path)) board_.add(note);
    });
  }
  return stream_ == nullptr || (remove_finished() || found);
}

// True: there was something.
bool Crossbar::look_at(Path& path) {
  if (path.way == Way::Marked && path.out.reader_is_open()) opened_by_far_end(path);
  bool found = look_for_room(path);
  if (path.way == Way::Direct && path.out.is_broken()) give_up(path);
  if (!path.may_read() || !path.in.ready()) {
    if (path.has_unreleased()) give_back(path);
    return found;
  }
  read(path, frames_of_a_turn);
  return true;
}

// What threads posted before a frame was written is taken before it is delivered: a receive, before its message. So the
// frames are counted first: those that are written after the look at the posts may follow posts that it did not see.
void Crossbar::read(Path& path, std::size_t frames) {
  for (std::size_t count = 0; count < frames;) {
    const std::size_t most = std::min(frames - count, frames_of_a_look);
    const std::size_t there = path.in.count_ready(static_cast<std::uint32_t>(most));
    if (there == 0) return;
    guard_.catch_up();
    if (stream_ == nullptr) return;
    count += read_those(path, there);
    if (stream_ == nullptr) return;
  }
}

// Pre: so many are ready. How many it read: more, where the last is a run that stands in one slot.
std::size_t Crossbar::read_those(Path& path, std::size_t there) {
  std::size_t count = 0;
  while (count < there) {
    const auto slot = path.in.look();
    const std::size_t run = slot ? read_run(path, *slot, there - count) : 0;
    count += std::max<std::size_t>(run, 1);
    if (run == 0) read_one(path, slot);
    if (stream_ == nullptr) return count;
    if (path.in.unreleased() >= frames_of_a_release) give_back(path);
  }
  return count;
}

void Crossbar::read_one(Path& path, const std::optional<RingReader::Slot>& slot) {
  path.in.pass();
  if (slot)
    deliver(path, *slot);
  else
    port_.counters().discard(Discard::BadHeader);
}

// What others may change is looked at once, or in a copy: headers are compared, and those that were expected count.
// They go on with a message that has begun, so that no post has to be looked for between them.
std::size_t Crossbar::read_run(Path& path, const RingReader::Slot& slot, std::size_t most) {
  if (slot.is_run()) return read_whole_run(path, slot);
  if (path.refused != 0) return --path.refused, 0;
  if (!may_be_of_run(slot)) return 0;
  Frame first;
  copy_first(first, slot, path.peer, run_header_bytes);
  if (!has_run_headers(first)) return 0;
  const std::size_t data_bytes = slot.size_bytes - run_header_bytes;
  RunHeaders headers(first);
  std::uint32_t frames = 1;
  for (; frames < std::min(most, frames_of_a_run); ++frames) {
    headers.go_on(data_bytes);
    const auto next = path.in.peek(frames);
    if (!next || next->size_bytes != first.size_bytes || next->sof != first.sof || next->eof != first.eof ||
        !headers.are_at(next->bytes.data()))
      break;
  }
  const std::size_t taken = port_.receive_run(
      {first, frames, run_header_bytes, slot.bytes.data() + run_header_bytes, data_bytes, sizeof(RingSlot), nullptr});
  path.in.take(static_cast<std::uint32_t>(taken));
  if (taken == 0) path.refused = frames - 1;
  return taken;
}

// Its headers are read once, into a copy. The slots are given back behind it: its data stay until then.
std::size_t Crossbar::read_whole_run(Path& path, const RingReader::Slot& slot) {
  Frame first;
  copy_first(first, slot, path.peer, run_header_bytes);
  path.in.take(slot.run_frames);
  const std::span<const std::uint8_t> all = path.in.data_of(slot);
  const std::size_t data_bytes = slot.size_bytes - run_header_bytes;
  RunHeaders headers(first);
  bool offered = has_run_headers(first);
  for (std::size_t read = 0; read < slot.run_frames && stream_ != nullptr;) {
    const auto data = all.subspan(read * data_bytes);
    const std::size_t left = slot.run_frames - read;
    std::size_t taken = 0;
    if (offered)
      taken = port_.receive_run({first, left, run_header_bytes, data.data(), data_bytes, data_bytes, nullptr});
    if (taken == 0) {
      if (!offered) guard_.catch_up();
      if (stream_ != nullptr) deliver_of_run(first, data.first(data_bytes));
      offered = false;
      taken = 1;
    }
    headers.go_on(data_bytes, taken);
    headers.write(first.own.data());
    read += taken;
  }
  return slot.run_frames;
}

void Crossbar::deliver_of_run(const Frame& headers, std::span<const std::uint8_t> data) {
  FramePtr frame = port_.pool().take();
  frame->sof = headers.sof;
  frame->eof = headers.eof;
  frame->size_bytes = headers.size_bytes;
  frame->only_from = headers.only_from;
  std::memcpy(frame->own.data(), headers.own.data(), run_header_bytes);
  std::memcpy(frame->own.data() + run_header_bytes, data.data(), data.size());
  port_.receive(std::move(frame));
}

/// A short Sequence of one frame, in a copy that nobody can change or keep (FrameRun::is_whole). False: nothing has
/// happened.
inline bool Crossbar::deliver_whole(const Path& path, const RingReader::Slot& slot) {
  if (slot.sof != wire::Sof::i3 || slot.eof != wire::Eof::t || slot.size_bytes > short_frame_bytes) return false;
  Frame frame;
  copy_short(frame, slot, path.peer);
  return port_.receive_run(FrameRun::of_whole(frame)) != 0;
}

// A frame that nobody kept was copied once, from its slot to where its data belong.
void Crossbar::deliver(Path& path, const RingReader::Slot& slot) {
  if (deliver_whole(path, slot)) return;  // and the path may be gone
  FramePtr frame = port_.pool().take();
  describe(*frame, slot, path.peer);
  if (slot.size_bytes <= short_frame_bytes)
    std::memcpy(frame->own.data(), slot.bytes.data(), slot.size_bytes);
  else
    path.read_place.lend(slot.bytes, *frame);
  port_.receive(std::move(frame));
  if (stream_ != nullptr) path.read_place.take_back();  // else the path is gone
}

void Crossbar::give_back(Path& path) {
  if (path.in.release()) ring(path);
}

}  // namespace fc2::drivers
