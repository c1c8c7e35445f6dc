#include "iwarp/receiver.hpp"

#include <algorithm>
#include <cassert>

namespace iwarp {
using wire::ddp::TaggedError;
using wire::ddp::UntaggedError;
using wire::rdmap::Cause;
using wire::rdmap::Layer;
using wire::rdmap::Opcode;
using wire::rdmap::OperationError;
using wire::rdmap::ProtectionError;
namespace rdmap = wire::rdmap;

namespace {

constexpr std::uint8_t most_version = 1;  // of DDP and of RDMAP; 0 is the Consortium's (ruling I-2)

template <class Ring>
void make_place(Ring& ring, std::size_t most) {
  if (ring.full()) ring.set_capacity(std::min(most, 2 * ring.capacity() + 1));
}

}  // namespace

Receiver::Receiver(MemoryTable& memory, ReceiverUser& user, const ReceiverConfig& config)
    : memory_(memory), user_(user), config_(config) {}

void Receiver::await_response(const AwaitedResponse& response) {
  make_place(awaited_, config_.read_depth);
  awaited_.push_back(response);
  renew({response.sink_stag, response.sink_offset, response.size_bytes});
}

bool Receiver::is_consistent() const {
  return receives_.size() <= config_.receive_depth && placed_ <= payload_octets_ &&
         std::all_of(awaited_.begin(), awaited_.end(),
                     [](const AwaitedResponse& one) { return one.received_bytes <= one.size_bytes; });
}

bool Receiver::post(const ReceiveRequest& request) {
  if (receives_.size() >= config_.receive_depth) return false;
  make_place(receives_, config_.receive_depth);
  receives_.push_back(request);
  for (const LocalPiece& piece : request.pieces) renew(piece);
  return true;
}

std::optional<Completion> Receiver::flush_one() {
  if (receives_.empty()) return std::nullopt;
  const Completion completion{.id = receives_.front().id, .status = Status::flushed};
  receives_.pop_front();
  return completion;
}

// --- a segment begins ----------------------------------------------------------------------------------------------

void Receiver::ulpdu_begun(wire::Bytes ddp_header, std::size_t payload_octets) {
  header_ = *wire::ddp::Header::parse(ddp_header);
  control_ = rdmap::Control::of(header_.rsvd_ulp);
  payload_octets_ = payload_octets;
  placed_ = 0;
  unplaced_ = false;
  target_ = Target::dropped;
  if (!header_.tagged && header_.queue_number == rdmap::terminate_queue && control_.opcode == Opcode::terminate) {
    target_ = Target::header;
    return;
  }
  if (stopped_) return;
  if (const Refusal refusal = judge()) return refuse(*refusal);
  if (memory_.written() != nullptr && payload_octets_ != 0) note_placement();
}

/// What is placed early must not be under it (IFT 8.2).
void Receiver::note_placement() {
  std::array<wire::MutableBytes, most_local_pieces> pieces;
  const std::size_t count = payload_room(payload_octets_, pieces);
  for (const wire::MutableBytes piece : std::span(pieces).first(count)) memory_.written()->place(piece);
}

/// A buffer of which nothing counts but what comes now.
void Receiver::renew(const LocalPiece& piece) {
  if (memory_.written() == nullptr) return;
  const auto memory = memory_.reach(piece.stag, config_.who, piece.offset, piece.octets, Right::local_write);
  if (memory) memory_.written()->renew(*memory);
}

Receiver::Refusal Receiver::judge() {
  if (const Refusal refusal = judge_versions()) return refusal;
  return header_.tagged ? judge_tagged() : judge_untagged();
}

/// All segments of a stream have one DV (RFC 5041 4.1); DDP's checks come before RDMAP's (RFC 5040 7.2).
Receiver::Refusal Receiver::judge_versions() {
  if (header_.version > most_version || header_.version != version_.value_or(header_.version))
    return header_.tagged ? Cause::of(TaggedError::invalid_version) : Cause::of(UntaggedError::invalid_version);
  if (!header_.tagged && header_.queue_number > rdmap::terminate_queue) return Cause::of(UntaggedError::invalid_qn);
  if (control_.version > most_version) return Cause::of(OperationError::invalid_version);
  if (!rdmap::is_known(control_.opcode) || rdmap::info_of(control_.opcode).tagged != header_.tagged)
    return Cause::of(OperationError::unexpected_opcode);
  version_ = header_.version;
  return std::nullopt;
}

Receiver::Refusal Receiver::judge_tagged() {
  return control_.opcode == Opcode::rdma_write ? judge_write() : judge_response();
}

Receiver::Refusal Receiver::judge_write() {
  const auto memory =
      memory_.reach(header_.stag, config_.who, header_.tagged_offset, payload_octets_, Right::remote_write);
  if (!memory) return Cause::of(tagged_error_of(memory.error()));
  tagged_ = *memory;
  target_ = Target::tagged;
  return std::nullopt;
}

/// It must be the next part of what the oldest RDMA Read asked for.
Receiver::Refusal Receiver::judge_response() {
  if (awaited_.empty()) return Cause::of(OperationError::unexpected_opcode);
  const AwaitedResponse& read = awaited_.front();
  const std::uint32_t left = read.size_bytes - read.received_bytes;
  if (payload_octets_ != 0 && header_.stag != read.sink_stag) return Cause::of(TaggedError::invalid_stag);
  if (payload_octets_ != 0 && header_.tagged_offset != read.sink_offset + read.received_bytes)
    return Cause::of(TaggedError::base_or_bounds);
  if (payload_octets_ > left || (header_.last && payload_octets_ < left)) return Cause::of(TaggedError::base_or_bounds);
  const auto memory =
      memory_.reach(header_.stag, config_.who, header_.tagged_offset, payload_octets_, Right::local_write);
  if (!memory) return Cause::of(tagged_error_of(memory.error()));
  tagged_ = *memory;
  target_ = Target::tagged;
  return std::nullopt;
}

Receiver::Refusal Receiver::judge_untagged() {
  const rdmap::OpcodeInfo& info = rdmap::info_of(control_.opcode);
  const bool is_send = info.queue_number == rdmap::send_queue && info.header == rdmap::RdmaHeader::none;
  const bool is_request = control_.opcode == Opcode::rdma_read_request;
  const bool is_immediate = info.header == rdmap::RdmaHeader::immediate_data && config_.immediate_data;
  if ((!is_send && !is_request && !is_immediate) || info.queue_number != header_.queue_number)
    return Cause::of(OperationError::unexpected_opcode);
  if (const Refusal refusal = judge_order(header_.queue_number)) return refusal;
  if (is_immediate) return judge_immediate_data();
  return is_send ? judge_send() : judge_header_message(rdmap::ReadRequest::size());
}

Receiver::Refusal Receiver::judge_order(std::size_t queue) {
  if (header_.msn != queues_[queue].msn) return Cause::of(UntaggedError::msn_range);
  if (header_.message_offset != queues_[queue].offset) return Cause::of(UntaggedError::invalid_mo);
  return std::nullopt;
}

Receiver::Refusal Receiver::judge_send() {
  Queue& queue = queues_[rdmap::send_queue];
  if (queue.offset == 0) {
    queue.opcode = control_.opcode;
    queue.invalidates = header_.rsvd_ulp_untagged;
  } else if (queue.opcode != control_.opcode) {
    return Cause::of(OperationError::unexpected_opcode);
  }
  target_ = Target::receive;
  // It may be an RTR indication, which needs no buffer: deliver_send() looks again.
  if (first_ && payload_octets_ == 0 && header_.last) return std::nullopt;
  return judge_buffer();
}

/// Of a shared queue the message takes one as it begins.
bool Receiver::has_receive() {
  if (!receives_.empty() || config_.shared == nullptr) return !receives_.empty();
  const auto taken = config_.shared->take_receive();
  return taken && post(*taken);
}

Receiver::Refusal Receiver::judge_buffer() {
  if (!has_receive()) return Cause::of(UntaggedError::no_buffer);
  const std::uint64_t end = std::uint64_t{header_.message_offset} + payload_octets_;
  if (end > octets_of(receives_.front().pieces)) return Cause::of(UntaggedError::message_too_long);
  for (const LocalPiece& piece : receives_.front().pieces)
    if (!memory_.reach(piece.stag, config_.who, piece.offset, piece.octets, Right::local_write))
      return Cause::local_catastrophic(Layer::ddp);
  return std::nullopt;
}

/// A message that is a header alone, in one segment.
Receiver::Refusal Receiver::judge_header_message(std::size_t header_octets) {
  if (payload_octets_ > header_octets) return Cause::of(UntaggedError::message_too_long);
  if (payload_octets_ < header_octets || !header_.last) return Cause::of(OperationError::unspecified);
  target_ = Target::header;
  return std::nullopt;
}

/// It consumes a receive, and nothing of it (RFC 7306 6.3).
Receiver::Refusal Receiver::judge_immediate_data() {
  if (!has_receive()) return Cause::of(UntaggedError::no_buffer);
  return judge_header_message(rdmap::ImmediateData::size());
}

/// The segment, for an error that is found later.
CapturedError Receiver::here() const {
  return {.segment_length = static_cast<std::uint16_t>(header_.size() + payload_octets_), .ddp_header = header_};
}

/// A Local Catastrophic Error tells no header (RFC 5040 Figure 10).
CapturedError Receiver::captured(Cause cause) const {
  CapturedError error = cause.type == 0 ? CapturedError{} : here();
  error.cause = cause;
  return error;
}

void Receiver::refuse(Cause cause) {
  target_ = Target::dropped;
  if (std::exchange(first_, false)) static_cast<void>(user_.first_ulpdu_received());
  user_.segment_refused(captured(cause));
}

// --- its payload ---------------------------------------------------------------------------------------------------

std::size_t Receiver::payload_room(std::size_t octets, std::span<wire::MutableBytes> pieces) {
  if (unplaced_ || stopped_) return 0;
  switch (target_) {
    case Target::tagged: pieces.front() = tagged_.subspan(placed_).first(octets); return 1;
    case Target::receive:
      return receive_room(receives_.front(), std::uint64_t{header_.message_offset} + placed_, octets, pieces);
    case Target::dropped:
    case Target::header: break;
  }
  return 0;
}

/// The pieces of a receive behind its first `before` octets.
std::size_t Receiver::receive_room(const ReceiveRequest& receive, std::uint64_t before, std::size_t octets,
                                   std::span<wire::MutableBytes> pieces) const {
  std::size_t count = 0;
  for (const LocalPiece& piece : receive.pieces) {
    if (octets == 0 || count == pieces.size()) break;
    if (before >= piece.octets) {
      before -= piece.octets;
      continue;
    }
    const std::size_t here = std::min<std::size_t>(octets, piece.octets - before);
    const auto memory = memory_.reach(piece.stag, config_.who, piece.offset + before, here, Right::local_write);
    if (!memory) break;
    pieces[count++] = *memory;
    octets -= here;
    before = 0;
  }
  return count;
}

void Receiver::payload_unplaced() { unplaced_ = true; }

void Receiver::payload_received(wire::Bytes octets) {
  if (target_ == Target::header) {
    const std::size_t here = std::min(octets.size(), rdma_header_.size() - std::min(placed_, rdma_header_.size()));
    std::copy_n(octets.begin(), here, rdma_header_.begin() + static_cast<std::ptrdiff_t>(placed_));
    placed_ += here;
    return;
  }
  while (!octets.empty()) {
    std::array<wire::MutableBytes, most_local_pieces> pieces;
    const std::size_t count = payload_room(octets.size(), pieces);
    if (count == 0) {
      unplaced_ = target_ != Target::dropped;
      return;
    }
    for (const wire::MutableBytes piece : std::span(pieces).first(count)) {
      std::copy_n(octets.begin(), piece.size(), piece.begin());
      octets = octets.subspan(piece.size());
      placed_ += piece.size();
    }
  }
}

// --- one that came before its turn ---------------------------------------------------------------------------------

/// As judge(), of what can be told before its turn.
std::size_t Receiver::early_room(wire::Bytes ddp_header, std::size_t payload_octets,
                                 std::span<wire::MutableBytes> pieces) const {
  const wire::ddp::Header header = *wire::ddp::Header::parse(ddp_header);
  if (stopped_ || payload_octets == 0 || !may_come(header)) return 0;
  return header.tagged ? early_tagged_room(header, payload_octets, pieces)
                       : early_send_room(header, payload_octets, pieces);
}

/// Its versions, opcode and queue are those of a message with a payload of the ULP's.
bool Receiver::may_come(const wire::ddp::Header& header) const {
  const rdmap::Control control = rdmap::Control::of(header.rsvd_ulp);
  if (header.version > most_version || header.version != version_.value_or(header.version)) return false;
  if (control.version > most_version || !rdmap::is_known(control.opcode)) return false;
  const rdmap::OpcodeInfo& info = rdmap::info_of(control.opcode);
  return info.tagged == header.tagged && info.has_payload && info.header == rdmap::RdmaHeader::none &&
         (header.tagged || header.queue_number == info.queue_number);
}

/// A response within what any RDMA Read asked for.
std::size_t Receiver::early_tagged_room(const wire::ddp::Header& header, std::size_t octets,
                                        std::span<wire::MutableBytes> pieces) const {
  const bool is_write = rdmap::Control::of(header.rsvd_ulp).opcode == Opcode::rdma_write;
  const auto answers = [&header, octets](const AwaitedResponse& read) {
    const std::uint64_t before = header.tagged_offset - read.sink_offset;
    return header.stag == read.sink_stag && header.tagged_offset >= read.sink_offset && before <= read.size_bytes &&
           octets <= read.size_bytes - before;
  };
  if (!is_write && std::none_of(awaited_.begin(), awaited_.end(), answers)) return 0;
  const auto memory = memory_.reach(header.stag, config_.who, header.tagged_offset, octets,
                                    is_write ? Right::remote_write : Right::local_write);
  if (!memory || pieces.empty()) return 0;
  pieces.front() = *memory;
  return 1;
}

/// Into the receive that its message will take, if that is posted.
std::size_t Receiver::early_send_room(const wire::ddp::Header& header, std::size_t octets,
                                      std::span<wire::MutableBytes> pieces) const {
  const Queue& queue = queues_[rdmap::send_queue];
  const std::uint32_t ahead = header.msn.value - queue.msn.value;  // modulo 2^32
  if (ahead >= receives_.size()) return 0;
  if (ahead == 0 && queue.offset != 0 && queue.opcode != rdmap::Control::of(header.rsvd_ulp).opcode) return 0;
  if (ahead == 0 && header.message_offset < queue.offset) return 0;
  const std::size_t count = receive_room(receives_[ahead], header.message_offset, octets, pieces);
  std::size_t room = 0;
  for (const wire::MutableBytes piece : pieces.first(count)) room += piece.size();
  return room == octets ? count : 0;
}

// --- it is whole ---------------------------------------------------------------------------------------------------

void Receiver::ulpdu_ended() {
  const bool is_terminate = target_ == Target::header && control_.opcode == Opcode::terminate;
  if (is_terminate) return deliver_terminate();
  if (stopped_ || target_ == Target::dropped) return;
  if (unplaced_) return refuse(Cause::local_catastrophic(Layer::ddp));
  const bool was_first = std::exchange(first_, false);
  const bool is_rtr = was_first && user_.first_ulpdu_received();
  if (is_rtr && control_.opcode == Opcode::send && payload_octets_ == 0 && header_.last) {
    queues_[rdmap::send_queue].msn = advance(queues_[rdmap::send_queue].msn);
    return;
  }
  deliver();
}

void Receiver::deliver() {
  if (control_.opcode == Opcode::rdma_write) return count_written();
  if (header_.tagged) return deliver_response();
  Queue& queue = queues_[header_.queue_number];
  queue.offset += static_cast<std::uint32_t>(payload_octets_);
  if (!header_.last) return;
  if (rdmap::info_of(control_.opcode).header == rdmap::RdmaHeader::immediate_data)
    deliver_immediate_data();
  else if (header_.queue_number == rdmap::send_queue)
    deliver_send();
  else
    deliver_read_request();
  queue.msn = advance(queue.msn);
  queue.offset = 0;
  written_ = 0;
}

void Receiver::count_written() {
  written_ = (writing_ ? written_ : 0) + static_cast<std::uint32_t>(payload_octets_);
  writing_ = !header_.last;
}

void Receiver::deliver_send() {
  if (!has_receive()) return refuse(Cause::of(UntaggedError::no_buffer));
  const Queue& queue = queues_[rdmap::send_queue];
  const rdmap::OpcodeInfo& info = rdmap::info_of(queue.opcode);
  Completion completion{.id = receives_.front().id, .octets = queue.offset, .solicited_event = info.solicited_event};
  if (info.invalidates) {
    if (const Refusal refusal = invalidate(completion)) return refuse(*refusal);
  }
  receives_.pop_front();
  user_.send_received(completion);
}

void Receiver::deliver_immediate_data() {
  const Completion completion{.id = receives_.front().id,
                              .octets = written_,
                              .solicited_event = rdmap::info_of(control_.opcode).solicited_event,
                              .immediate = rdmap::ImmediateData::parse(rdma_header_)->data};
  receives_.pop_front();
  user_.send_received(completion);
}

Receiver::Refusal Receiver::invalidate(Completion& completion) {
  const STag stag{queues_[rdmap::send_queue].invalidates};
  const auto denial = memory_.invalidate(stag, config_.who, Right::remote_invalidate);
  if (denial == Denial::access_rights) return Cause::of(ProtectionError::stag_cannot_be_invalidated);
  if (denial) return Cause::of(protection_error_of(*denial));
  completion.invalidated = stag;
  return std::nullopt;
}

void Receiver::deliver_read_request() { user_.read_request_received(*rdmap::ReadRequest::parse(rdma_header_), here()); }

void Receiver::deliver_response() {
  AwaitedResponse& read = awaited_.front();
  read.received_bytes += static_cast<std::uint32_t>(payload_octets_);
  if (!header_.last) return;
  awaited_.pop_front();
  user_.read_response_received();
}

void Receiver::deliver_terminate() {
  const wire::Bytes octets = wire::Bytes(rdma_header_).first(placed_);
  const Queue& queue = queues_[rdmap::terminate_queue];
  const bool well_formed = header_.msn == queue.msn && header_.message_offset == 0 && header_.last &&
                           header_.version <= most_version && rdmap::Terminate::parse(octets).has_value();
  user_.terminate_received(octets, well_formed);
}

void Receiver::framing_failed(wire::mpa::ErrorCode error) {
  target_ = Target::dropped;
  user_.framing_refused(error);
}

}  // namespace iwarp
