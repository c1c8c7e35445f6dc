#include "tools/fcvi_sim/replay/player.hpp"

#include <algorithm>

#include "wire/describe.hpp"

namespace sim::replay {
namespace {

// Frames of different connections may pass each other, but no further than this.
constexpr std::size_t window = 512;
// So long a frame may wait for the link behind others.
constexpr capture::Time longest_in_queue = 1'000'000;

/// Whom a frame is for, and to which of its endpoints: what is told apart here has no order.
struct Stream {
  std::uint32_t port = 0, handle = 0;
  bool is_message = false;
  std::uint32_t connection = 0;  // the handle also of a Disconnect; 0: none
  friend bool operator==(const Stream& one, const Stream& other) {
    return one.port == other.port && one.handle == other.handle && one.is_message == other.is_message;
  }
  /// Messages and Disconnects of two connections take turns.
  [[nodiscard]] bool is_of_another_connection(const Stream& other) const {
    return port == other.port && connection != 0 && other.connection != 0 && connection != other.connection;
  }
};

bool is_disconnect(wire::fcvi::Opcode opcode) {
  return opcode == wire::fcvi::Opcode::disconnect_rqst || opcode == wire::fcvi::Opcode::disconnect_resp;
}

Stream stream_of(const wire::FcHeader& header, wire::Bytes data_field) {
  Stream stream{header.d_id.value, 0, false};
  if (header.type != wire::Type::fc_vi || (static_cast<unsigned>(header.r_ctl) & 0xF0) != 0) return stream;
  const auto fields = wire::fcvi::DeviceHeader::parse(header.device_header_size(), data_field);
  if (!fields) return stream;
  stream.is_message = static_cast<unsigned>(fields->opcode) < static_cast<unsigned>(wire::fcvi::Opcode::connect_rqst);
  if (stream.is_message) stream.handle = fields->handle.value;
  if ((stream.is_message || is_disconnect(fields->opcode)) && fields->handle != wire::FcviHandle::unassigned)
    stream.connection = fields->handle.value;
  return stream;
}

Stream stream_of(const CapturedFrame& frame) { return stream_of(frame.header, frame.data_field()); }

Stream stream_of(const SentFrame& frame) {
  const wire::Bytes bytes = frame.bytes;
  return stream_of(*wire::FcHeader::parse(bytes), bytes.subspan(wire::FcHeader::size()));
}

enum class Phase : std::uint8_t { other, set_up, disconnect };

Phase phase_of(const CapturedFrame& frame) {
  if (!frame.is_fc_vi()) return Phase::other;
  const auto fields = wire::fcvi::DeviceHeader::parse(frame.header.device_header_size(), frame.data_field());
  if (!fields) return Phase::other;
  switch (fields->opcode) {
    case wire::fcvi::Opcode::connect_rqst:
    case wire::fcvi::Opcode::connect_resp1:
    case wire::fcvi::Opcode::connect_resp2:
    case wire::fcvi::Opcode::connect_resp3: return Phase::set_up;
    case wire::fcvi::Opcode::disconnect_rqst:
    case wire::fcvi::Opcode::disconnect_resp: return Phase::disconnect;
    default: return Phase::other;
  }
}

/// Set-ups of two connections, or their Disconnects: they take turns as the user and the peer had it.
bool take_turns(const CapturedFrame& one, const CapturedFrame& other) {
  const Phase phase = phase_of(one);
  if (phase == Phase::other || phase != phase_of(other)) return false;
  return one.header.ox_id != other.header.ox_id || one.by_responder() != other.by_responder();
}

/// One is ABTS of another Exchange than the FC-VI frame that the other is.
bool aborts_another(const CapturedFrame& one, const CapturedFrame& other) {
  const bool first = one.header.r_ctl == wire::RCtl::abts && other.is_fc_vi();
  const bool second = other.header.r_ctl == wire::RCtl::abts && one.is_fc_vi();
  return (first || second) && one.header.ox_id != other.header.ox_id;
}

std::string_view name_of(wire::Bytes frame) {
  return wire::message_name(*wire::FcHeader::parse(frame), frame.subspan(wire::FcHeader::size()));
}

/// Where the capture has none: class 3, but for frames that no other class has.
wire::Sof likely_sof(const CapturedFrame& frame) {
  if (wire::is_link_control(frame.header.r_ctl)) return wire::Sof::n2;
  return frame.begins_sequence ? wire::Sof::i3 : wire::Sof::n3;
}

bool is_on_its_way(const CapturedFrame& frame) { return frame.on_its_way; }

/// So long behind its last frame a port answers. Later it may ask again for what its user gave up: that shows nowhere.
capture::Time last_heard(const Conversation& conversation, capture::Time tolerance) {
  const capture::Time last = conversation.frames.empty() ? 0 : conversation.frames.back().at;
  return std::clamp(conversation.end, last, last + tolerance);
}

}  // namespace

Player::Player(const Conversation& conversation, const Script& script, const PortTraits& traits, Options options)
    : conversation_(conversation), script_(script), traits_(traits), options_(options),
      takes_late_(std::any_of(conversation.frames.begin(), conversation.frames.end(), is_on_its_way)),
      end_(last_heard(conversation, options.tolerance)), start_(scheduler_.now()), driver_(scheduler_),
      host_(scheduler_, pool_, traits), user_(driver_, host_, script, translation_) {
  for (std::size_t i = 0; i < conversation.frames.size(); ++i)
    if (conversation.frames[i].sent) await(i);
}

void Player::await(std::size_t at) {
  if (!conversation_.frames[at].is_of_other_fc4()) return awaited_.push_back(at);
  came_.insert(at);
  ++of_others_;
}

Player::~Player() {
  if (connected_) host_.port().link_down();
}

void Player::run() {
  set_gate();
  scheduler_.schedule(*this, scheduler_.now());
  while (!over_ && scheduler_.run_next(runtime::never)) {
    user_.tend();
    watch_queue();
  }
}

// --- the course of the conversation ------------------------------------------------------------------------------

void Player::advance(runtime::TimeNs now) {
  while (!over_ && step(now)) {}
}

/// False: it waits, for the time of the next frame or for one of the port.
bool Player::step(runtime::TimeNs now) {
  if (next_ == conversation_.frames.size()) return await_end(now);
  const CapturedFrame& frame = conversation_.frames[next_];
  if (time_of(next_) <= now && connected_ && breaks_link(next_)) call_user();  // the link takes nothing before
  set_gate();
  if (script_.links_down.contains(next_)) break_link();
  if (time_of(next_) > now) {
    scheduler_.schedule(*this, time_of(next_));
    return false;
  }
  const bool from_n_port = frame.header.d_id == wire::well_known::f_port;  // its FLOGI: the link is up
  if (!connected_ && (frame.sent || traits_.own_id || from_n_port)) connect();
  call_user();
  if (frame.sent && !came_.contains(next_)) return await_frame(now);
  if (!frame.sent && connected_) hand_over(frame);
  came_.erase(next_++);
  return !over_;
}

/// What comes now nobody captured.
bool Player::await_end(runtime::TimeNs now) {
  set_gate();
  over_ = now >= start_ + end_;
  if (!over_) scheduler_.schedule(*this, start_ + end_);
  return false;
}

/// True: it was missed, and the conversation goes on without it.
bool Player::await_frame(runtime::TimeNs now) {
  const runtime::TimeNs latest = time_of(next_) + options_.tolerance;
  if (now < latest) {
    scheduler_.schedule(*this, latest);
    return false;
  }
  const CapturedFrame& frame = conversation_.frames[next_];
  note({Difference::Kind::missing, &frame, {}, captured_time(), {}});
  accept(next_);
  return !over_;
}

void Player::call_user() {
  for (; called_ <= next_; ++called_) {
    const auto [first, last] = script_.calls.equal_range(called_);
    for (auto call = first; call != last; ++call)
      std::visit(
          [this](const auto& what) {
            using What = std::decay_t<decltype(what)>;
            if constexpr (std::is_same_v<What, call::LogOut>)
              host_.leave();
            else if constexpr (std::is_same_v<What, call::LinkBreak>)
              reconnect();
            else if constexpr (std::is_same_v<What, call::LogIn>)
              host_.log_in(what.port);
            else if constexpr (std::is_same_v<What, call::List>)
              host_.list_ports(what.wanted);
            else
              user_.call(what);
          },
          call->second);
  }
}

void Player::hand_over(const CapturedFrame& captured) {
  const std::vector<std::uint8_t> bytes = translation_.to_now(captured);
  fc2::FramePtr frame = pool_.take();
  frame->size_bytes = static_cast<std::uint16_t>(std::min(bytes.size(), frame->bytes.size()));
  std::copy_n(bytes.begin(), frame->size_bytes, frame->bytes.begin());
  frame->sof = captured.sof.value_or(likely_sof(captured));
  frame->eof = captured.eof.value_or(captured.header.has(wire::f_ctl::end_sequence) ? wire::Eof::t : wire::Eof::n);
  frame->crc_error = captured.crc_error;
  frame->arrival = scheduler_.now();
  ++handed_over_;
  host_.port().receive(std::move(frame));
}

void Player::reconnect() {
  host_.port().link_interrupted();
  connect();
}

/// As soon as nothing more was sent or received; it is up again when the next frame is sent.
void Player::break_link() {
  if (!connected_ || broken_at_ == next_) return;
  broken_at_ = next_;
  host_.port().link_down();
  connected_ = false;
}

void Player::connect() {
  connected_ = true;
  if (traits_.public_loop)
    host_.port().link_up_on_public_loop(*this, static_cast<std::uint8_t>(next_sent().s_id.value),
                                        next_sent().d_id == wire::well_known::f_port);
  else if (traits_.own_id)
    host_.port().link_up_without_fabric(*this, next_sent().s_id);
  else
    host_.port().link_up(*this);
}

wire::FcHeader Player::next_sent() const {
  for (std::size_t at = next_; at < conversation_.frames.size(); ++at)
    if (conversation_.frames[at].sent) return conversation_.frames[at].header;
  wire::FcHeader none;
  none.s_id = *traits_.own_id;
  return none;
}

bool Player::breaks_link(std::size_t at) const {
  const auto [first, last] = script_.calls.equal_range(at);
  return std::any_of(first, last,
                     [](const auto& call) { return std::holds_alternative<call::LinkBreak>(call.second); });
}

/// Open while a frame of the port is due, and where none is for so long that one would be wrong.
void Player::set_gate() {
  skip_matched();
  bool open = true;
  if (first_awaited_ < awaited_.size()) {
    const runtime::TimeNs due = due_time(), now = scheduler_.now();
    open = due <= now || due - now > options_.tolerance;
    if (!open && time_of(next_) > due) scheduler_.schedule(*this, due);
    if (!open && script_.link_takes_ahead) scheduler_.schedule(gate_timer_, due);
  }
  if (open == !paused()) return;
  if (open)
    resume(Pause::Link);
  else
    pause(Pause::Link);
}

/// When the link takes the next frame. One that it took ahead of its time it has to send first.
runtime::TimeNs Player::due_time() const {
  const std::size_t ahead = script_.link_takes_ahead && first_awaited_ > 0 ? 1 : 0;
  const runtime::TimeNs due = time_of(awaited_[first_awaited_ - ahead]);
  return ahead == 0 ? due : std::max(due, taken_until_);
}

void Player::skip_matched() {
  while (first_awaited_ < awaited_.size() &&
         (awaited_[first_awaited_] < next_ || came_.contains(awaited_[first_awaited_])))
    ++first_awaited_;
}

// --- what the port sends -----------------------------------------------------------------------------------------

void Player::send(fc2::FramePtr frame) {
  if (over_) return;
  const std::span<const std::uint8_t> content = frame->content();
  const SentFrame now{{content.begin(), content.end()}, frame->sof, frame->eof, frame->crc_error};
  const runtime::TimeNs ready = ready_.empty() ? scheduler_.now() : ready_.front();
  if (!ready_.empty()) ready_.pop_front();
  if (!match(now)) no_match(now, ready);
  set_gate();
  if (!over_) scheduler_.schedule(*this, scheduler_.now());
}

void Player::watch_queue() {
  while (ready_.size() < host_.port().waiting_frames()) ready_.push_back(scheduler_.now());
}

bool Player::match(const SentFrame& now) {
  const auto at = find_match(now);
  if (!at) return false;
  accept(*at);
  ++compared_;
  return true;
}

std::optional<std::size_t> Player::find_match(const SentFrame& now) {
  skip_matched();
  for (std::size_t i = first_awaited_; i < awaited_.size() && i < first_awaited_ + window; ++i) {
    const std::size_t at = awaited_[i];
    if (came_.contains(at) || !may_pass(i)) continue;
    if (time_of(at) > scheduler_.now() + options_.tolerance) break;
    if (matches(at, now)) return at;
  }
  return std::nullopt;
}

/// No frame that is still awaited before it is of its own stream: such keep their order.
bool Player::may_pass(std::size_t index) const {
  const CapturedFrame& frame = conversation_.frames[awaited_[index]];
  const Stream own = stream_of(frame);
  for (std::size_t i = first_awaited_; i < index; ++i) {
    if (came_.contains(awaited_[i])) continue;
    const CapturedFrame& before = conversation_.frames[awaited_[i]];
    if (take_turns(frame, before) || aborts_another(frame, before)) continue;
    const Stream other = stream_of(before);
    if (own.is_of_another_connection(other)) continue;
    if (other == own || (other.port == own.port && !(other.is_message && own.is_message))) return false;
  }
  return true;
}

bool Player::matches(std::size_t at, const SentFrame& now) {
  const CapturedFrame& captured = conversation_.frames[at];
  std::vector<Translation::Pair> learned;
  const SentFrame as_captured{translation_.to_captured(now.bytes, captured, learned), now.sof, now.eof, now.crc_error};
  if (differ(captured, as_captured)) return false;
  for (const Translation::Pair& pair : learned) translation_.learn(pair);
  return true;
}

void Player::accept(std::size_t at) {
  taken_until_ = std::max(taken_until_, time_of(at));
  if (at == next_)
    ++next_;
  else
    came_.insert(at);
}

/// The awaited frame that the port most likely means: of the same stream and name, or else the next one.
std::size_t Player::best_candidate(const SentFrame& now) const {
  const Stream stream = stream_of(now);
  for (std::size_t i = first_awaited_; i < awaited_.size() && i < first_awaited_ + window; ++i) {
    const CapturedFrame& frame = conversation_.frames[awaited_[i]];
    if (!came_.contains(awaited_[i]) && stream_of(frame) == stream) return awaited_[i];
  }
  return awaited_[first_awaited_];
}

void Player::no_match(const SentFrame& now, runtime::TimeNs ready) {
  if (first_awaited_ == awaited_.size()) return note_extra(now, ready);
  const std::size_t at = best_candidate(now);
  const CapturedFrame* captured = &conversation_.frames[at];
  const bool early = time_of(at) > scheduler_.now() + options_.tolerance;
  if (early || name_of(captured->bytes) != name_of(now.bytes)) return note_extra(now, ready);
  std::vector<Translation::Pair> learned;
  const SentFrame as_captured{translation_.to_captured(now.bytes, *captured, learned), now.sof, now.eof, now.crc_error};
  for (const Translation::Pair& pair : learned) translation_.learn(pair);
  const CapturedFrame& next = conversation_.frames[awaited_[first_awaited_]];
  if (!differ(*captured, as_captured))
    note({Difference::Kind::early, captured, as_captured, captured_time(), {}, &next});
  else
    note({Difference::Kind::changed, captured, as_captured, captured_time(),
          replay::differences(*captured, as_captured)});
  accept(at);
}

/// Had the capture gone on, it may be there: it waits for the link behind others, or it answers what was taken in late.
bool Player::may_be_behind_end(capture::Time at) const {
  if (first_awaited_ < awaited_.size()) return time_of(conversation_.frames.size() - 1) <= start_ + at;
  return at + (takes_late_ ? options_.tolerance : longest_in_queue) >= conversation_.end;
}

void Player::note_extra(const SentFrame& now, runtime::TimeNs ready) {
  if (may_be_behind_end(ready - start_)) return behind_end_.push_back(now);
  const auto following =
      std::find_if(awaited_.begin(), awaited_.end(), [&](std::size_t at) { return time_of(at) >= ready; });
  const CapturedFrame* captured = following == awaited_.end() ? nullptr : &conversation_.frames[*following];
  note({Difference::Kind::extra, captured, now, ready - start_, {}});
}

void Player::note(Difference difference) {
  differences_.push_back(std::move(difference));
  if (!options_.all) over_ = true;
}

}  // namespace sim::replay
