// Out-of-order fabrics (FC-VI 8.1, B.2.5 rules 4c, 5b, 6e, 7): from the first frame that overtakes another until
// nothing is missing, the frames of all open messages are taken as they come (fcvi/epoch.hpp). What is known to be
// missing for R_A_TOV is lost.
#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "fc2_fabric/node/class_2.hpp"
#include "fcvi/message_receiver.hpp"

namespace fcvi {
namespace mr = machines::message_responder;
using wire::fcvi::DeviceHeader;
using wire::fcvi::Opcode;

// --- its beginning -----------------------------------------------------------------------------------------------

void MessageReceiver::frame_in_any_order(const IuFrame& iu) {
  if (!in_epoch()) {
    switch (place_of(iu)) {
      case Place::Next: return take_frame(iu);
      case Place::Past: return discard_of_the_past(iu.header.msg_id);
      case Place::Ahead: break;
    }
    begin_epoch();
  }
  frame_of_epoch(iu);
  if (in_epoch() && !kept_->epoch_timer.pending())
    services().scheduler.schedule_after(kept_->epoch_timer, services().port.r_a_tov());
}

void MessageReceiver::begin_epoch() {
  keep().epoch.next_to_claim = expected_;
  if (!machine_.is<mr::Expecting>()) adopt_message();
}

/// The message that was open so far, and came in order. Where it finds no room, the frame at hand finds none either,
/// which needs as much.
void MessageReceiver::adopt_message() {
  OpenMessage* open = open_message(expected_, ReorderPool::Need::Now);
  if (open == nullptr) return;
  const auto received = static_cast<std::uint32_t>(message_->bytes_received);
  if (received != 0)
    open->arrivals.add({.end = received, .last_seq_cnt = static_cast<std::uint16_t>(expected_seq_cnt_ - 1)});
  open->claimed = open->has_target = true;
  if (machine_.is<mr::Refusing>()) open->refused = noted_;
  if (message_->kind == Kind::Send) {
    open->data = ScatteredData(message_->receive.data, received);
    kept_->epoch.occupants.push_back(expected_);  // at Unreliable Delivery it is asked for
  }
  open->message = *message_;
  process(mr::FramesOvertaken{});
}

// --- frames in ---------------------------------------------------------------------------------------------------

void MessageReceiver::frame_of_epoch(const IuFrame& iu) {
  const wire::MsgId id = iu.header.msg_id;
  const std::int32_t ahead = wire::serial_distance(expected_, id);
  if (ahead < 0) return discard_of_the_past(id);
  OpenMessage* open = kept_->epoch.find(id);
  if (open == nullptr) {
    if (kept_->epoch.seen.contains(static_cast<std::uint32_t>(ahead))) return discard_of_the_past(id);  // it is over
    open = open_message(id, need_to_open(iu));
    if (open == nullptr) return no_room(iu.frame);
    open->message = message_of(iu);
    services().message_exchanges.opened(endpoint_.peer_port, iu.ox_id(), endpoint_.handle);
  }
  take_piece(*open, iu);
}

/// A duplicate, or of a message that is lost.
void MessageReceiver::discard_of_the_past(wire::MsgId id) {
  discard_frame();
  if (!is_errored(id)) services().port.acknowledger().keep_sequence(*frame_);  // a duplicate of what is here
}

/// Class 2 sends it again (rule 8b). In class 3 it is lost as if the fabric had lost it.
void MessageReceiver::no_room(const fc2::ReceivedFrame& frame) {
  services().port.acknowledger().busy(frame);
  services().reorder_pool_full();
}

/// What is waited for is taken while there is any room: all that is kept behind it goes with it. At Unreliable Delivery
/// nothing waits, and a Send needs its books until it is told whether it finds a descriptor, or room for its data.
ReorderPool::Need MessageReceiver::need_to_open(const IuFrame& iu) const {
  const bool goes_at_once = iu.offset() == 0 && last_of_message(iu.frame);
  if (iu.header.msg_id == expected_) return ReorderPool::Need::Now;
  if (!reliable())
    return goes_at_once || iu.header.opcode == Opcode::send_rqst ? ReorderPool::Need::Now : ReorderPool::Need::Book;
  const bool has_target = iu.header.opcode == Opcode::write_rqst && !needs_response(false);
  return has_target ? ReorderPool::Need::Book : ReorderPool::Need::Share;
}

ReorderPool::Need MessageReceiver::need_of(const OpenMessage& open) const {
  if (open.id() == expected_) return ReorderPool::Need::Now;
  if (!reliable() && (open.message.has_receive || open.is_parked()))
    return ReorderPool::Need::Now;  // as few as the descriptors
  return open.has_target ? ReorderPool::Need::Book : ReorderPool::Need::Share;
}

bool MessageReceiver::charge(OpenMessage& open, std::size_t bytes, ReorderPool::Need need) {
  if (!kept_->share.take(endpoint_.peer_port, bytes, need)) return false;
  open.charged += bytes;
  return true;
}

/// Rule 4c a) to c): with the first frame of a message beyond Mexp the rest of those before it, and what is between, is
/// known to be missing. nullptr: no room.
OpenMessage* MessageReceiver::open_message(wire::MsgId id, ReorderPool::Need need) {
  Arrivals& seen = kept_->epoch.seen;
  const auto at = static_cast<std::uint32_t>(wire::serial_distance(expected_, id));
  const runtime::TimeNs now = services().now(), missed = seen.missed_since(at);
  const Arrivals::Range place{.begin = at, .end = at + 1, .missed_since = now};
  const std::size_t growth = seen.bytes_to_grow(place);
  if (at != 0 && !seen.has_room(place, 256 * Epoch::most_seen_ranges)) return nullptr;
  if (!kept_->share.take(endpoint_.peer_port, OpenMessage::pool_bytes() + growth, need)) return nullptr;
  if (missed == runtime::never && !kept_->epoch.open.empty())
    if (OpenMessage& newest = kept_->epoch.open.rbegin()->second; newest.overtaken == runtime::never)
      newest.overtaken = now;
  seen.add(place);
  OpenMessage& open = kept_->epoch.open[id];
  open.charged = OpenMessage::pool_bytes();
  open.begun = open.latest = now;
  open.overtaken = missed;
  return &open;
}

void MessageReceiver::take_piece(OpenMessage& open, const IuFrame& iu) {
  if (open.is_whole()) return discard_of_the_past(open.id());
  const bool forbidden = open.message.kind == Kind::Read && !reliable();     // 6.6.1
  const bool lacks_data = iu.payload.empty() && open.message.length() != 0;  // nothing tells where it stands
  if (forbidden || lacks_data || !belongs(open.message, iu)) return give_up_breach(open);
  const std::uint32_t begin = iu.offset();
  const std::uint16_t seq_cnt = iu.seq_cnt();
  const runtime::TimeNs since = open.overtaken != runtime::never ? open.overtaken : services().now();
  const Arrivals::Range piece{begin, begin + static_cast<std::uint32_t>(iu.payload.size()), seq_cnt, seq_cnt, since};
  switch (open.arrivals.classify(piece)) {
    case Arrivals::Piece::Duplicate: return discard_of_the_past(open.id());
    case Arrivals::Piece::Conflict: return give_up_breach(open);
    case Arrivals::Piece::New: break;
  }
  if (!reliable() && !find_descriptor(open, piece)) return;  // it was refused
  if (reliable()) {
    find_target(open);
    claim_in_order();  // as far as it showed now what it is
  }
  add_piece(open, iu, piece);
}

void MessageReceiver::add_piece(OpenMessage& open, const IuFrame& iu, const Arrivals::Range& piece) {
  const std::size_t growth = open.arrivals.bytes_to_grow(piece);
  const bool room = open.arrivals.has_room(piece, open.message.length()) &&
                    kept_->share.take(endpoint_.peer_port, growth, need_of(open));
  const bool stored = room && store(open, iu, piece);
  if (stored)
    open.arrivals.add(piece);
  else if (room)
    kept_->share.give_back(growth);
  if (!stored) {
    no_room(iu.frame);
    frame_ = nullptr;                                                                   // it is counted
    return reliable() || iu.frame.class_2 ? void() : give_up(open, mr::Loss::Timeout);  // it can never be whole
  }
  open.latest = services().now();
  if (open.is_end(piece.end)) open.last = {.header = iu.frame.header, .data_field = {}, .class_2 = iu.frame.class_2};
  ++services().counters.data_frames_received;
  services().counters.data_bytes_received += iu.payload.size();
  if (iu.frame.last_of_sequence) ++services().counters.ius_received;
  piece_taken(open);
}

void MessageReceiver::piece_taken(OpenMessage& open) {
  if (reliable()) {
    deliver_in_order();
  } else if (open.refused) {
    refuse_open(open, *open.refused);
  } else if (open.is_whole()) {
    deliver_whole(open);
  }
}

// --- data --------------------------------------------------------------------------------------------------------

/// False: it has to be kept, and there is no room.
bool MessageReceiver::store(OpenMessage& open, const IuFrame& iu, const Arrivals::Range& piece) {
  if (open.refused) {
    if (is_told_now(open)) return true;
    services().discard(Discard::NotReceiving);  // it is acknowledged: its response tells why
    return true;
  }
  if (iu.payload.empty()) return true;
  if (open.is_parked()) {
    std::memcpy(open.parked.data() + piece.begin, iu.payload.data(), iu.payload.size());
    return true;
  }
  if (!open.has_target || waits_for_its_end(open, piece)) return hold(open, iu);
  if (!place_piece(open, piece.begin, iu.payload)) open.refused = ReceiveError::Protection;
  return true;
}

/// The last bytes of an RDMA Write are written last, and at the reliable levels in its turn: programs poll for them.
bool MessageReceiver::waits_for_its_end(const OpenMessage& open, const Arrivals::Range& piece) const {
  if (!open.message.is_write() || !open.is_end(piece.end)) return false;
  const bool rest_is_here = piece.begin == 0 || open.arrivals.is_whole(piece.begin);
  return !rest_is_here || (reliable() && open.id() != expected_);
}

bool MessageReceiver::hold(OpenMessage& open, const IuFrame& iu) {
  const auto need = open.has_target ? need_of(open) : ReorderPool::Need::Share;
  if (!charge(open, OpenMessage::held_bytes, need)) return false;
  const auto kept = (*iu.frame.owner)->leave_place(iu.payload);
  open.held.push_back({std::move(*iu.frame.owner), iu.offset(), kept});
  return true;
}

/// What waited for the target; the end of an RDMA Write only if `end_too`.
void MessageReceiver::place_held(OpenMessage& open, bool end_too) {
  std::erase_if(open.held, [&](const OpenMessage::Held& held) {
    const bool is_end = open.is_end(held.offset + static_cast<std::uint32_t>(held.payload.size()));
    if (open.message.is_write() && is_end && !end_too && !open.refused) return false;
    if (open.refused)
      services().discard(Discard::NotReceiving);
    else if (!place_piece(open, held.offset, held.payload))
      open.refused = ReceiveError::Protection;
    open.charged -= OpenMessage::held_bytes;
    kept_->share.give_back(OpenMessage::held_bytes);
    return true;
  });
}

bool MessageReceiver::place_piece(OpenMessage& open, std::uint32_t offset, std::span<const std::uint8_t> payload) {
  return open.message.kind == Kind::Send ? open.data.place(offset, payload) : write_remote(open, offset, payload);
}

bool MessageReceiver::write_remote(const OpenMessage& open, std::uint32_t offset,
                                   std::span<const std::uint8_t> payload) {
  const DeviceHeader& request = open.message.header;
  const vi::Vi& vi = *endpoint_.vi;
  const auto write = [&](std::size_t begin, std::size_t size) {
    return vi.write_remote(request.rmt_va_handle, request.rmt_va + offset + begin, payload.subspan(begin, size));
  };
  if (!reliable()) return write(0, payload.size());  // order is not promised there (VI-ARCH 2.5.1)
  const std::byte* to =
      vi.remote_memory(request.rmt_va_handle, request.rmt_va + offset, payload.size(), vi::Access::RemoteWrite);
  // nullptr: nothing is there, and write() says so.
  for (const Epoch::Part& part :
       kept_->epoch.not_overwritten(open.id(), reinterpret_cast<std::uintptr_t>(to), payload.size()))
    if (!write(part.begin, part.end - part.begin)) return false;
  return true;
}

// --- what a message needs ----------------------------------------------------------------------------------------

/// An RDMA Write names its target. At Reliable Reception it has no effect before it is known what all before it were.
void MessageReceiver::find_target(OpenMessage& open) {
  if (open.has_target || !open.message.is_write() || (!open.claimed && needs_response(false))) return;
  const DeviceHeader& request = open.message.header;
  const std::byte* target = endpoint_.vi->remote_memory(request.rmt_va_handle, request.rmt_va, open.message.length(),
                                                        vi::Access::RemoteWrite);
  open.has_target = target != nullptr;  // else its claim will tell
  open.target = reinterpret_cast<std::uintptr_t>(target);
}

bool MessageReceiver::waits_to_be_claimed(const OpenMessage& open) const {
  const DeviceHeader& header = open.message.header;
  const bool read = open.message.kind == Kind::Read;
  if (is_before_resp2(header) || (needs_response(read) && endpoint_.awaits_resp3())) return true;  // C.5.4, C.5.10.1
  return waits_for_reads(header) || (read && open.id() != expected_);
}

std::optional<mr::ReceiveError> MessageReceiver::claim_of(OpenMessage& open) {
  const Turn turn(*this, open.message);
  return claim();
}

/// False: it cannot be known yet.
bool MessageReceiver::claim_for(OpenMessage& open) {
  if (open.claimed) return true;
  if (waits_to_be_claimed(open)) return false;
  const auto refused = claim_of(open);
  if (refused == ReceiveError::QueueEmpty && open.id() != expected_)
    return false;  // one may be posted until its turn has come
  open.claimed = true;
  open.refused = refused;
  if (open.message.kind == Kind::Send) {
    open.data = ScatteredData(open.message.receive.data, 0);
    open.has_target = true;
  }
  find_target(open);
  place_held(open, false);
  return true;
}

/// Reliable levels: receive descriptors in the order of the messages, as far as all before showed what they are.
void MessageReceiver::claim_in_order() {
  wire::MsgId& next = kept_->epoch.next_to_claim;
  while (kept_->epoch.seen.contains(static_cast<std::uint32_t>(wire::serial_distance(expected_, next)))) {
    OpenMessage& open = *kept_->epoch.find(next);  // none is over before its turn
    // Reliable Delivery: what is behind an RDMA Read may pass it (VI-ARCH 6.3.1.1).
    const bool passed = open.message.kind == Kind::Read && !needs_response(false);
    if (!passed && !claim_for(open)) return;
    next = wire::advance(next);
  }
}

// --- messages whose turn has come --------------------------------------------------------------------------------

void MessageReceiver::deliver_in_order() {
  while (!stopped()) {
    claim_in_order();
    OpenMessage* open = kept_->epoch.find(expected_);
    if (open == nullptr || !deliver_next(*open)) return;
  }
}

/// The response to a refused one waits for the initiative, and for its turn.
bool MessageReceiver::is_told_now(const OpenMessage& open) const {
  return open.refused && open.id() == expected_ && !needs_response(open.message.kind == Kind::Read);
}

bool MessageReceiver::deliver_next(OpenMessage& open) {
  if (!claim_for(open)) return false;
  const bool whole = open.is_whole();
  if (!whole && !is_told_now(open)) return false;
  place_held(open, whole);
  conclude(open);
  return true;
}

/// It is whole, or refused. The machine says what follows.
void MessageReceiver::conclude(OpenMessage& open) {
  const auto refused = open.refused;
  const fc2::ReceivedFrame last = open.last;
  const bool ends_with_frame_at_hand = is_told_now(open);  // if any is still at hand, which is discarded (8.4.2 h)
  Message message = take_out(open);
  const Turn turn(*this, message);
  if (!ends_with_frame_at_hand) frame_ = nullptr;
  reply_to_ = &last;
  if (refused)
    process(mr::ClaimRefused{*refused, true, needs_response()});
  else if (message.kind == Kind::Read)
    process(mr::ReadRequested{});
  else
    process(mr::WholeMessageReceived{consumes_descriptor(), needs_response()});
  reply_to_ = nullptr;
}

/// It is not open any more.
MessageReceiver::Message MessageReceiver::take_out(OpenMessage& open) {
  for (std::size_t i = 0; i < open.held.size(); ++i) services().discard(Discard::NotReceiving);
  kept_->share.give_back(open.charged + open.arrivals.heap_bytes());
  const Message message = open.message;
  leave_descriptor(open);
  kept_->epoch.open.erase(message.header.msg_id);
  return message;
}

/// Those in front that are over are the past. Nothing left: the epoch ends.
void MessageReceiver::skip_what_is_over() {
  std::uint32_t over = kept_->epoch.seen.prefix();
  if (!kept_->epoch.open.empty())
    over =
        std::min(over, static_cast<std::uint32_t>(wire::serial_distance(expected_, kept_->epoch.open.begin()->first)));
  kept_->epoch.seen.forget_first(over);
  expected_ = wire::advance(expected_, over);
  expected_seq_cnt_ = 0;
  assert(!reliable() || !wire::serial_less(kept_->epoch.next_to_claim, expected_));  // what is delivered was claimed
  if (!in_epoch()) end_epoch();
}

void MessageReceiver::end_epoch() {
  for (const auto& [id, open] : kept_->epoch.open) {
    for (std::size_t i = 0; i < open.held.size(); ++i) services().discard(Discard::NotReceiving);  // B.2.4 rule 1 a)
    kept_->share.give_back(open.charged + open.arrivals.heap_bytes());
  }
  kept_->share.give_back(kept_->epoch.seen.heap_bytes());
  kept_->epoch.clear();
  services().scheduler.cancel(kept_->epoch_timer);
}

// --- what is missing ---------------------------------------------------------------------------------------------

/// A reliable connection breaks: by the message whose turn it is, for nothing behind it was delivered.
void MessageReceiver::give_up(OpenMessage& open, mr::Loss loss) {
  OpenMessage* first = reliable() ? kept_->epoch.find(expected_) : nullptr;
  OpenMessage& lost = first != nullptr ? *first : open;
  const auto refused = lost.refused;
  const bool came = !lost.arrivals.empty() && lost.message.kind != Kind::Read;
  Message message = take_out(lost);
  const Turn turn(*this, message);
  if (refused)
    fail_receive(*refused);  // it would have been told with its last frame
  else if (came && !reliable() && consumes_descriptor() &&
           !message.has_receive) {  // rule 3a: its descriptor is the next one
    if (const auto work = endpoint_.vi->claim_receive(0))
      message.receive = *work, message.has_receive = true;  // touches no byte of it
  }
  const bool begun = came && !refused && (message.has_receive || !consumes_descriptor());
  process(mr::FrameLost{loss, begun});
}

/// Its frames contradict each other: rule 6b, "this is a Protocol Error".
void MessageReceiver::give_up_breach(OpenMessage& open) {
  reason_ = wire::fcvi::Reason::protocol_error;
  give_up(open, mr::Loss::SequenceError);
  reason_.reset();
}

/// Rules 7a, 7b for messages of which nothing came, in all gaps up to `end`, a distance from Mexp.
void MessageReceiver::give_up_missing(std::uint32_t end) {
  if (!reliable()) {
    std::uint32_t first = 0;
    for (const Arrivals::Range& range : kept_->epoch.seen.ranges()) {
      if (range.begin > end) break;
      if (range.begin != first)
        remember_errored(wire::advance(expected_, first), wire::advance(expected_, range.begin - 1));
      first = range.end;
    }
    kept_->epoch.seen.fill_before(end);
  }
  process(mr::MessageGap{.first_frame = true});
}

bool MessageReceiver::abort_in_epoch(wire::OxId ox_id) {
  const auto newest = std::find_if(kept_->epoch.open.rbegin(), kept_->epoch.open.rend(),
                                   [&](const auto& entry) { return entry.second.message.ox_id == ox_id; });
  if (newest == kept_->epoch.open.rend()) return false;
  give_up(newest->second, mr::Loss::SequenceError);
  return true;
}

/// Since when something of it is missing (rules 4c b) c), 6e a), 8.4.1 note 1).
runtime::TimeNs MessageReceiver::missing_since(const OpenMessage& open) const {
  const bool read = open.message.kind == Kind::Read;
  if (is_before_resp2(open.message.header) || (needs_response(read) && endpoint_.awaits_resp3())) return open.begun;
  // What is whole waits for something that is missing for longer than since its latest frame; so is a gap of its own.
  return std::min(open.arrivals.oldest_gap(), open.overtaken != runtime::never ? open.overtaken : open.latest);
}

runtime::TimeNs MessageReceiver::oldest_missing() const {
  runtime::TimeNs oldest = kept_->epoch.seen.oldest_gap();
  for (const auto& [id, open] : kept_->epoch.open) oldest = std::min(oldest, missing_since(open));
  return oldest;
}

/// Rule 7. What is missing is found in any order; each has its own R_A_TOV. One pass over the books gives up all that
/// is due, and there are no more passes than a thousand in R_A_TOV, however many gaps show at moments of their own:
/// what shows behind one waits that thousandth longer.
void MessageReceiver::epoch_timer_expired() {
  runtime::Scheduler& scheduler = services().scheduler;
  const runtime::TimeNs now = scheduler.now(), r_a_tov = services().port.r_a_tov();
  if (needs_response(false) && endpoint_.listener.answers_reads())
    return scheduler.schedule_after(kept_->epoch_timer, r_a_tov);  // it shows after them
  give_up_overdue(now - r_a_tov);
  if (!in_epoch()) return;
  const runtime::TimeNs since = oldest_missing();  // while there is an epoch something is
  const bool more = since <= now - r_a_tov;        // others have their turn, too
  scheduler.schedule(kept_->epoch_timer, more ? now : std::max(since + r_a_tov, now + r_a_tov / 1024));
}

void MessageReceiver::give_up_overdue(runtime::TimeNs due) {
  if (reliable()) return give_up_first_overdue(due);
  if (const std::uint32_t end = kept_->epoch.seen.end_of_gaps(due); end != 0) give_up_missing(end);
  for (const wire::MsgId id : overdue_messages(due)) {
    OpenMessage* open = stopped() ? nullptr : kept_->epoch.find(id);
    if (open != nullptr) give_up(*open, mr::Loss::Timeout);
  }
}

/// Rule 7b: the connection ends with it.
void MessageReceiver::give_up_first_overdue(runtime::TimeNs due) {
  if (oldest_missing() > due) return;
  if (OpenMessage* first = kept_->epoch.find(expected_)) return give_up(*first, mr::Loss::Timeout);
  give_up_missing(kept_->epoch.seen.end_of_gaps(due));  // what is behind it is not missing for longer
}

/// A slice of them.
std::vector<wire::MsgId> MessageReceiver::overdue_messages(runtime::TimeNs due) const {
  constexpr std::size_t most_at_once = 1024;
  std::vector<wire::MsgId> overdue;
  for (auto entry = kept_->epoch.open.begin(); entry != kept_->epoch.open.end() && overdue.size() < most_at_once;
       ++entry)
    if (missing_since(entry->second) <= due) overdue.push_back(entry->first);
  return overdue;
}

}  // namespace fcvi
