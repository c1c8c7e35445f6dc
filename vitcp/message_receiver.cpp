#include "vitcp/message_receiver.hpp"

#include <algorithm>
#include <utility>

#include "state_machines/consistency.hpp"
#include "vi/nic.hpp"
#include "vitcp/memory_pieces.hpp"

namespace vitcp {
namespace mr = machines::vitcp_receiver;
namespace status = vi::status;
using wire::vitcp::SegmentHeader;
using wire::vitcp::SegmentType;

bool MessageReceiver::is_consistent() const { return !message_.receive || message_.takes_receive(); }

template <class Event>
void MessageReceiver::process(const Event& event) {
  machine_.process(event, *this);
  FCVI_ASSERT_CONSISTENT(*this);
}

void MessageReceiver::connection_established() { process(mr::ConnectionEstablished{}); }
void MessageReceiver::reads_answered() { process(mr::ReadsAnswered{}); }
void MessageReceiver::connection_ended() { process(mr::ConnectionEnded{}); }

void MessageReceiver::violated(Refusal refusal) {
  channel_.services.counters.refuse(refusal);
  process(mr::ProtocolViolated{});
}

void MessageReceiver::refused(const wire::ParseError&) {
  mr::resumes(machine_) ? process(mr::SegmentCorrupt{.plausible = false}) : process(mr::ProtocolViolated{});
}

// --- the header ----------------------------------------------------------------------------------------------------

bool MessageReceiver::has_to_wait(const SegmentHeader& header) const {
  const bool is_data = header.type == SegmentType::send || header.type == SegmentType::rdma_write;
  return holds() && (is_data || (header.type == SegmentType::rdma_read_request && header.transmit_error));
}

void MessageReceiver::segment_begun(const SegmentHeader& header, const wire::vitcp::RdmaHeader& rdma,
                                    std::size_t payload_octets) {
  header_ = header;
  if (mr::resumes(machine_)) resume(header);
  if (const auto refusal = out_of_turn(header, rdma)) return violated(*refusal);
  switch (header.type) {
    case SegmentType::send:
    case SegmentType::rdma_write:
      if (mr::resumes(machine_)) return lose(header, rdma);
      return mr::between_messages(machine_) ? begin_message(header, rdma, payload_octets) : judge_more(payload_octets);
    case SegmentType::rdma_read_request: message_ = Message{.header = header, .rdma = rdma}; return;
    case SegmentType::rdma_read_response: {
      if (!parts_.read_requester.response_begun(header, payload_octets)) violated(Refusal::read_response);
      return;
    }
    case SegmentType::nop:
    case SegmentType::connect_request:
    case SegmentType::connect_accept:
    case SegmentType::connect_reject:
    case SegmentType::connect_no_match: return;
  }
}

/// Ruling V-21: behind a wrong CRC the first segment of a message goes on, and a NOP tells how far the peer is.
void MessageReceiver::resume(const SegmentHeader& header) {
  if (serial_less(header.message_number, channel_.due)) return;
  switch (header.type) {
    case SegmentType::nop: return skip_to(advance(header.message_number));
    case SegmentType::send:
    case SegmentType::rdma_write:
    case SegmentType::rdma_read_request:
      if (header.data_offset != 0) return;
      skip_to(header.message_number);
      return process(mr::MessageFound{});
    default: return;
  }
}

/// Messages before this one are lost. The consumer is told of each, once (VI-TCP 3.6 item 2). The peer counts a receive
/// descriptor for a Send and for immediate data, and so do we: one that it believed to be used for ever would stop it
/// in the end.
void MessageReceiver::skip_to(wire::vitcp::MessageNumber number) {
  std::uint32_t lost = number.value - channel_.due.value;
  if (lost == 0) {
    dropped_without_receive_ = 0;  // what was damaged was of none
    return;
  }
  channel_.due = number;
  if (message_.has_failed) {
    --lost;
    if (message_.takes_receive() && !message_.receive) ++channel_.receives_claimed;
  }
  flag_lost(lost);
  message_ = {};
}

/// Those that nothing else is known of are taken for Sends. The queue bounds how many are told.
void MessageReceiver::flag_lost(std::uint32_t messages) {
  std::uint32_t without = std::min(std::exchange(dropped_without_receive_, 0), messages);
  messages -= without;
  for (; without != 0; --without) {
    message_ = Message{.header = {.type = SegmentType::rdma_write}};
    process(mr::MessageLost{});
  }
  for (bool taken = true; messages != 0 && taken; --messages) {
    message_ = Message{.header = {.type = SegmentType::send}};
    claim(0);
    taken = message_.receive.has_value();
    if (!taken) channel_.receives_claimed = static_cast<std::uint16_t>(channel_.receives_claimed + messages);
    process(mr::MessageLost{});
  }
}

/// Of a message that cannot be whole any more. The consumer is told, once.
void MessageReceiver::lose(const SegmentHeader& header, const wire::vitcp::RdmaHeader& rdma) {
  const bool told = message_.has_failed && header.message_number == channel_.due;
  if (told || serial_less(header.message_number, channel_.due)) return;
  skip_to(header.message_number);
  begin_message(header, rdma, 0);
  message_.note(Verdict::CrcWrong);
  process(mr::MessageLost{});
}

/// Why the segment may not come now.
std::optional<Refusal> MessageReceiver::out_of_turn(const SegmentHeader& header,
                                                    const wire::vitcp::RdmaHeader& rdma) const {
  const bool between = mr::between_messages(machine_);
  switch (header.type) {
    case SegmentType::send:
    case SegmentType::rdma_write: return discontinuous(header, rdma);
    case SegmentType::rdma_read_request:
      if (!between) return mr::resumes(machine_) ? Refusal::message_number : Refusal::message_mixed;
      if (rdma.length_bytes > channel_.terms.mtu_bytes) return Refusal::transfer_size;
      return header.message_number == channel_.due ? std::nullopt : std::optional(Refusal::message_number);
    case SegmentType::rdma_read_response: return std::nullopt;
    case SegmentType::nop:
      return header.message_number == nop_number() ? std::nullopt : std::optional(Refusal::message_number);
    case SegmentType::connect_request:
    case SegmentType::connect_accept:
    case SegmentType::connect_reject:
    case SegmentType::connect_no_match: break;
  }
  return Refusal::connection_segment;
}

/// Of a Send or RdmaWrite (VI-TCP 2.2.2.2.3, 3.2).
std::optional<Refusal> MessageReceiver::discontinuous(const SegmentHeader& header,
                                                      const wire::vitcp::RdmaHeader& rdma) const {
  if (mr::resumes(machine_)) return header.data_offset == 0 ? std::optional(Refusal::message_number) : std::nullopt;
  if (mr::between_messages(machine_)) {
    if (header.message_number != channel_.due) return Refusal::message_number;
    if (header.type == SegmentType::rdma_write && rdma.length_bytes > channel_.terms.mtu_bytes)
      return Refusal::transfer_size;  // VI-TCP 2.2.1, ruling V-9
    return header.data_offset == 0 ? std::nullopt : std::optional(Refusal::segment_order);
  }
  const SegmentHeader& first = message_.header;
  if (header.type != first.type) return Refusal::message_mixed;
  if (header.message_number != first.message_number) return Refusal::message_mixed;
  if (header.data_offset != message_.octets) return Refusal::segment_order;
  const bool same = header.immediate_data_valid == first.immediate_data_valid &&
                    header.immediate_data == first.immediate_data && (message_.is_send() || rdma == message_.rdma);
  return same ? std::nullopt : std::optional(Refusal::segment_differs);
}

/// That of the last message that was begun (VI-TCP 3.2, Notes on NOP).
wire::vitcp::MessageNumber MessageReceiver::nop_number() const {
  const bool begun = !mr::between_messages(machine_) && !mr::resumes(machine_);
  return begun ? channel_.due : wire::vitcp::MessageNumber{channel_.due.value - 1};
}

// --- where it goes -------------------------------------------------------------------------------------------------

void MessageReceiver::begin_message(const SegmentHeader& header, const wire::vitcp::RdmaHeader& rdma,
                                    std::size_t payload_octets) {
  message_ = Message{.header = header, .rdma = rdma};
  if (header.transmit_error) message_.note(Verdict::TransmitError);
  claim(payload_octets);
}

/// The receive descriptor first, then the target: both, for a message that fails takes its descriptor all the same.
void MessageReceiver::claim(std::size_t payload_octets) {
  vi::Vi& vi = *channel_.vi;
  if (message_.takes_receive()) {
    message_.receive = vi.claim_receive(message_.is_send() ? payload_octets : 0);
    if (!message_.receive) return message_.note(Verdict::QueueEmpty);
    ++channel_.receives_claimed;
    const std::uint32_t bits = message_.receive->error_bits;
    if (bits != 0) message_.note(bits == status::protection_error ? Verdict::Protection : Verdict::TooSmall);
  }
  if (!message_.is_send() && target(message_.rdma.length_bytes) == nullptr) message_.note(Verdict::Protection);
}

/// The length of a Send is known at its end only.
void MessageReceiver::judge_more(std::size_t payload_octets) {
  if (header_.transmit_error) message_.note(Verdict::TransmitError);
  if (!message_.is_send() || !message_.receive || message_.verdict != Verdict::Good) return;
  vi::ReceiveWork& work = *message_.receive;
  auto reach = work.data.reach(payload_octets, vi::Access::LocalWrite);
  if (std::uint64_t{message_.octets} + payload_octets > channel_.terms.mtu_bytes)
    reach = vi::DataCursor::Reach::TooShort;
  if (reach == vi::DataCursor::Reach::Allowed) return;
  const bool too_short = reach == vi::DataCursor::Reach::TooShort;
  work.error_bits = too_short ? status::length_error : status::protection_error;
  message_.note(too_short ? Verdict::TooSmall : Verdict::Protection);
}

bool MessageReceiver::is_placed() const { return message_.verdict == Verdict::Good && mr::places(machine_); }

/// Where the message goes on in registered memory, for so many octets; nullptr: it must not.
std::byte* MessageReceiver::target(std::size_t octets) const {
  const wire::vitcp::RdmaHeader& rdma = message_.rdma;
  return channel_.vi->remote_memory(rdma.memory_handle, rdma.address + message_.octets, octets,
                                    vi::Access::RemoteWrite);
}

std::size_t MessageReceiver::payload_room(std::size_t octets, std::span<wire::MutableBytes> pieces) {
  if (header_.type == SegmentType::rdma_read_response) return parts_.read_requester.response_room(octets, pieces);
  if (!is_placed()) return 0;
  const vi::MemoryTable& table = channel_.vi->nic().memory();
  if (!message_.is_send()) {
    std::byte* const memory = target(octets);
    if (memory == nullptr || !table.is_there(memory, octets)) return 0;
    pieces.front() = {reinterpret_cast<std::uint8_t*>(memory), octets};
    return 1;
  }
  return memory_pieces(table, message_.receive->data, octets, pieces);
}

void MessageReceiver::payload_placed(std::size_t octets) {
  if (header_.type == SegmentType::rdma_read_response) return parts_.read_requester.response_placed(octets);
  message_.octets += static_cast<std::uint32_t>(octets);
  if (message_.is_send() && !message_.receive->data.skip(octets)) message_.note(Verdict::Protection);
}

void MessageReceiver::payload_received(wire::Bytes octets) {
  if (header_.type == SegmentType::rdma_read_response) return parts_.read_requester.response_received(octets);
  if (is_placed()) place(octets);
  message_.octets += static_cast<std::uint32_t>(octets.size());
}

void MessageReceiver::place(wire::Bytes octets) {
  if (message_.is_send()) {
    if (message_.receive->data.scatter(octets)) return;
    message_.receive->error_bits = status::protection_error;
    return message_.note(Verdict::Protection);
  }
  const wire::vitcp::RdmaHeader& rdma = message_.rdma;
  if (!channel_.vi->write_remote(rdma.memory_handle, rdma.address + message_.octets, octets))
    message_.note(Verdict::Protection);
}

// --- the end of a segment ------------------------------------------------------------------------------------------

void MessageReceiver::segment_ended() {
  const SegmentHeader header = header_;
  switch (header.type) {
    case SegmentType::send:
    case SegmentType::rdma_write:
      if (!mr::resumes(machine_)) process(mr::SegmentReceived{message_.verdict, header.end_of_message});
      break;
    case SegmentType::rdma_read_request:
      if (header.transmit_error) {  // VI-TCP 3.2: of any message
        process(mr::SegmentReceived{Verdict::TransmitError, true});
        break;
      }
      if (!window_open()) channel_.services.counters.refuse(Refusal::read_window);
      process(mr::ReadRequested{});
      break;
    case SegmentType::rdma_read_response: parts_.read_requester.response_ended(header); break;
    default: break;
  }
  if (!channel_.stopped) parts_.sender.told(header);
}

/// Ruling V-21: what can be believed of it is its length, as long as what stands behind it looks like a segment. A type
/// that says so flags its message at once; any other may be what was hit.
void MessageReceiver::segment_damaged(const SegmentHeader& header) {
  header_ = header;
  const bool is_data = header.type == SegmentType::send || header.type == SegmentType::rdma_write;
  if (header.type == SegmentType::rdma_read_response) {
    const auto octets = header.payload_bytes(true);
    if (parts_.read_requester.response_damaged(header, octets ? *octets : 0)) return;
  }
  if (!is_data || !mr::places(machine_)) {
    note_dropped(header);
    return process(mr::SegmentCorrupt{});
  }
  if (mr::between_messages(machine_)) begin_message(header, {}, 0);
  message_.note(Verdict::CrcWrong);
  process(mr::SegmentReceived{Verdict::CrcWrong, false});
}

void MessageReceiver::note_dropped(const SegmentHeader& header) {
  const bool without = header.type == SegmentType::rdma_read_request ||
                       (header.type == SegmentType::rdma_write && !header.immediate_data_valid);
  if (!without || header.data_offset != 0 || serial_less(header.message_number, channel_.due)) return;
  if (dropped_without_receive_ != 0 && !serial_less(last_dropped_, header.message_number)) return;
  ++dropped_without_receive_;
  last_dropped_ = header.message_number;
}

// --- effects -------------------------------------------------------------------------------------------------------

std::uint32_t MessageReceiver::op_code() const {
  if (message_.header.type == SegmentType::rdma_read_request) return status::op_rdma_read;
  return message_.is_send() ? status::op_receive : status::op_remote_rdma_write;
}

void MessageReceiver::complete_receive() {
  ++channel_.services.counters.messages_received;
  if (!message_.receive) return;
  const auto immediate =
      message_.header.immediate_data_valid ? std::optional(message_.header.immediate_data) : std::nullopt;
  channel_.vi->complete_receive(*message_.receive, 0, op_code(), message_.octets, immediate);
}

void MessageReceiver::fail_receive(Verdict verdict) {
  ++channel_.services.counters.messages_dropped;
  message_.has_failed = true;
  if (!message_.receive) return report(verdict);
  std::uint32_t bits = status::transport_error;
  if (verdict == Verdict::TooSmall || verdict == Verdict::Protection)
    bits = message_.receive->error_bits != 0 ? message_.receive->error_bits : status::protection_error;
  channel_.vi->complete_receive(*message_.receive, bits, op_code(), 0, std::nullopt);
}

/// No descriptor tells of it (VI-DG 3.8.1).
void MessageReceiver::report(Verdict verdict) {
  vi::ErrorCode code = vi::ErrorCode::RecvQEmpty;
  switch (verdict) {
    case Verdict::CrcWrong: code = vi::ErrorCode::RdmaWData; break;
    case Verdict::TransmitError: code = vi::ErrorCode::RdmaWAbort; break;
    case Verdict::Protection: code = vi::ErrorCode::RdmaWProt; break;
    case Verdict::QueueEmpty:
    case Verdict::TooSmall:
    case Verdict::Good: break;
  }
  if (message_.header.type == SegmentType::rdma_read_request) code = vi::ErrorCode::RdmaTransport;
  if (message_.takes_receive()) code = vi::ErrorCode::RecvQEmpty;
  channel_.vi->report(code, vi::ResourceCode::Vi, 0, op_code());
}

/// Where the completion could not be written, its descriptor's memory being gone, the message is in error.
void MessageReceiver::acknowledge() {
  channel_.ack = channel_.due;
  channel_.remote_error.vi_descriptor_error = channel_.stopped;
  channel_.ack_due = true;
}

void MessageReceiver::report_error(Verdict verdict) {
  const bool memory = verdict == Verdict::Protection && !message_.is_send();
  channel_.ack = channel_.due;
  channel_.remote_error.unrecoverable_transport_error =
      verdict == Verdict::CrcWrong || verdict == Verdict::TransmitError;
  channel_.remote_error.rdma_memory_protection_error = memory;
  channel_.remote_error.vi_descriptor_error = !memory && !channel_.remote_error.unrecoverable_transport_error;
  channel_.ack_due = true;
}

void MessageReceiver::accept_read() { parts_.read_responder.add(channel_.due, message_.rdma); }

void MessageReceiver::expect_next_message() {
  channel_.due = advance(channel_.due);
  message_ = {};
}

/// A segment that was damaged, but is of no message of which the consumer was told: it is told all the same.
void MessageReceiver::fail_connection(Failure failure) {
  if (failure == Failure::Transport && !message_.has_failed)
    channel_.vi->report(vi::ErrorCode::RdmaTransport, vi::ResourceCode::Vi, 0, 0);
  channel_.listener.failed(failure);
}

void MessageReceiver::unexpected(std::string_view, std::string_view, std::string_view) {
  ++channel_.services.counters.unexpected_events;
}

}  // namespace vitcp
