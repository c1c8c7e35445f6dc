#include "iwarp/send_queue.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace iwarp {
using wire::rdmap::Control;
using wire::rdmap::Opcode;
namespace rdmap = wire::rdmap;

namespace {

Opcode opcode_of(const SendRequest& request) {
  if (request.invalidates)
    return request.solicited_event ? Opcode::send_with_se_and_invalidate : Opcode::send_with_invalidate;
  return request.solicited_event ? Opcode::send_with_se : Opcode::send;
}

}  // namespace

bool SendQueue::put(const Entry& entry) {
  if (entries_.size() >= depth_ + (entry.silent ? 1 : 0)) return false;
  if (entries_.full()) entries_.set_capacity(std::max(2 * entries_.capacity(), PlacesAllocator<Entry>::first));
  entries_.push_back(entry);
  return true;
}

void SendQueue::post_rtr(Operation operation) {
  SendRequest request;
  request.operation = operation;
  put({request, true});
}

bool SendQueue::is_due() const {
  if (next_ == entries_.size()) return false;
  const Entry& entry = entries_[next_];
  const bool is_read = entry.request.operation == Operation::rdma_read;
  if (finishing_ && is_read) return false;
  if (entry.request.fence && receiver_.awaited() != 0) return false;
  return !is_read || receiver_.awaited() < ord_;
}

Status SendQueue::judge(const SendRequest& request) const {
  const bool is_read = request.operation == Operation::rdma_read;
  if (octets_of(request.pieces) > std::numeric_limits<std::uint32_t>::max()) return Status::local_length;
  if (is_read && request.pieces.size() > 1) return Status::local_length;
  const Right right = is_read ? Right::local_write : Right::local_read;
  const auto granted = [&](const LocalPiece& piece) {
    return services_.memory.reach(piece.stag, who_, piece.offset, piece.octets, right).has_value();
  };
  return std::all_of(request.pieces.begin(), request.pieces.end(), granted) ? Status::success
                                                                            : Status::local_protection;
}

SendQueue::Added SendQueue::add_segment(Framing& framing) {
  Entry& entry = entries_[next_];
  if (const Status status = judge(entry.request); status != Status::success) return fail(entry, status);
  switch (entry.request.operation) {
    case Operation::send: return add_send(framing, entry);
    case Operation::rdma_write: return add_write(framing, entry);
    case Operation::rdma_read: return add_read(framing, entry);
    case Operation::immediate_data: return add_immediate_data(framing, entry);
    case Operation::local_invalidate: return invalidate(entry);
    case Operation::receive: break;
  }
  assert(false && "no operation of a send queue");
  return fail(entry, Status::local_protection);
}

SendQueue::Added SendQueue::fail(Entry& entry, Status status) {
  entry.status = status;
  return message_added(entry, State::done), Added::failed;
}

SendQueue::Added SendQueue::message_added(Entry& entry, State state) {
  entry.state = state;
  ++next_;
  return Added::whole;
}

/// Of the next segment, beside its header.
std::uint32_t SendQueue::octets_now(const Framing& framing, const Entry& entry, bool tagged) const {
  const std::uint64_t left = octets_of(entry.request.pieces) - entry.octets_sent;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(left, framing.mulpdu() - wire::ddp::header_bytes(tagged)));
}

SendQueue::Added SendQueue::add_send(Framing& framing, Entry& entry) {
  const wire::ddp::Header header{.tagged = false,
                                 .rsvd_ulp = Control{.opcode = opcode_of(entry.request)}.to_rsvd_ulp(),
                                 .rsvd_ulp_untagged = entry.request.invalidates ? entry.request.invalidates->value : 0,
                                 .queue_number = rdmap::send_queue,
                                 .msn = send_msn_,
                                 .message_offset = entry.octets_sent};
  const Added added = add(framing, entry, header, octets_now(framing, entry, false));
  if (added == Added::whole) send_msn_ = advance(send_msn_);
  return added;
}

SendQueue::Added SendQueue::add_write(Framing& framing, Entry& entry) {
  const wire::ddp::Header header{.tagged = true,
                                 .rsvd_ulp = Control{.opcode = Opcode::rdma_write}.to_rsvd_ulp(),
                                 .stag = entry.request.remote_stag,
                                 .tagged_offset = entry.request.remote_offset + entry.octets_sent};
  return add(framing, entry, header, octets_now(framing, entry, true));
}

/// Gathers the next `octets` of the message.
SendQueue::Added SendQueue::add(Framing& framing, Entry& entry, const wire::ddp::Header& header, std::uint32_t octets) {
  std::array<wire::Bytes, most_local_pieces> pieces;
  std::size_t count = 0;
  std::uint32_t before = entry.octets_sent, left = octets;
  for (const LocalPiece& piece : entry.request.pieces) {
    const std::uint32_t skipped = std::min(before, piece.octets), here = std::min(left, piece.octets - skipped);
    before -= skipped;
    left -= here;
    if (here != 0)
      pieces[count++] = *services_.memory.reach(piece.stag, who_, piece.offset + skipped, here, Right::local_read);
  }
  entry.octets_sent += octets;
  wire::ddp::Header whole = header;
  whole.last = entry.octets_sent == octets_of(entry.request.pieces);
  std::array<std::uint8_t, wire::ddp::untagged_header_bytes> octets_of_header;
  whole.write(octets_of_header);
  framing.add(wire::Bytes(octets_of_header).first(whole.size()), std::span<const wire::Bytes>(pieces).first(count));
  return whole.last ? message_added(entry, State::added) : Added::part;
}

SendQueue::Added SendQueue::add_read(Framing& framing, Entry& entry) {
  const LocalPiece sink = entry.request.pieces.empty() ? LocalPiece{} : entry.request.pieces.front();
  const wire::ddp::Header header{.last = true,
                                 .rsvd_ulp = Control{.opcode = Opcode::rdma_read_request}.to_rsvd_ulp(),
                                 .queue_number = rdmap::read_request_queue,
                                 .msn = read_msn_};
  const rdmap::ReadRequest request{sink.stag, sink.offset, sink.octets, entry.request.remote_stag,
                                   entry.request.remote_offset};
  std::array<std::uint8_t, wire::ddp::untagged_header_bytes + rdmap::ReadRequest::size()> octets;
  header.write(octets);
  request.write(wire::MutableBytes(octets).subspan(header.size()));
  framing.add(octets, {});
  read_msn_ = advance(read_msn_);
  receiver_.await_response({sink.stag, sink.offset, sink.octets});
  return message_added(entry, State::awaits_response);
}

/// RFC 7306 6.3: as a Send of queue 0, of exactly 8 octets.
SendQueue::Added SendQueue::add_immediate_data(Framing& framing, Entry& entry) {
  const Opcode opcode = entry.request.solicited_event ? Opcode::immediate_data_with_se : Opcode::immediate_data;
  const wire::ddp::Header header{.last = true,
                                 .rsvd_ulp = Control{.opcode = opcode}.to_rsvd_ulp(),
                                 .queue_number = rdmap::send_queue,
                                 .msn = send_msn_};
  std::array<std::uint8_t, wire::ddp::untagged_header_bytes + rdmap::ImmediateData::size()> octets;
  header.write(octets);
  rdmap::ImmediateData{entry.request.immediate}.write(wire::MutableBytes(octets).subspan(header.size()));
  framing.add(octets, {});
  send_msn_ = advance(send_msn_);
  return message_added(entry, State::added);
}

SendQueue::Added SendQueue::invalidate(Entry& entry) {
  const bool done = !services_.memory.invalidate(entry.request.remote_stag, who_, Right::local_read);
  return done ? message_added(entry, State::done) : fail(entry, Status::local_protection);
}

void SendQueue::flushed() {
  for (std::size_t i = next_; i-- > 0;) {
    Entry& entry = entries_[i];
    if (entry.state == State::added) entry.state = State::done;
    if (entry.silent && !std::exchange(entry.told, true)) user_.rtr_sent();
  }
  tell_completed();
}

void SendQueue::response_received() {
  const auto oldest = std::find_if(entries_.begin(), entries_.end(),
                                   [](const Entry& entry) { return entry.state == State::awaits_response; });
  if (oldest == entries_.end()) return;
  oldest->state = State::done;
  tell_completed();
}

void SendQueue::tell_completed() {
  while (!entries_.empty() && entries_.front().state == State::done) {
    const Entry entry = entries_.front();
    entries_.pop_front();
    --next_;
    if (entry.silent) continue;
    const bool read = entry.request.operation == Operation::rdma_read && entry.status == Status::success;
    user_.operation_completed({.id = entry.request.id,
                               .operation = entry.request.operation,
                               .status = entry.status,
                               .octets = read ? static_cast<std::uint32_t>(octets_of(entry.request.pieces)) : 0});
  }
  if (entries_.empty()) entries_.set_capacity(0);
}

void SendQueue::flush() {
  for (Entry& entry : entries_) {
    if (entry.state != State::done) entry.status = Status::flushed;
    entry.state = State::done;
  }
  next_ = entries_.size();
  tell_completed();
}

}  // namespace iwarp
