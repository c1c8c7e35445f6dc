#include "vitcp/message_sender.hpp"

#include <algorithm>
#include <cassert>

#include "state_machines/consistency.hpp"
#include "vi/nic.hpp"

namespace vitcp {
namespace ms = machines::vitcp_sender;
namespace status = vi::status;
using wire::vitcp::MessageNumber;
using wire::vitcp::SegmentType;

namespace {

SegmentType type_of(vi::SendKind kind) {
  switch (kind) {
    case vi::SendKind::Send: return SegmentType::send;
    case vi::SendKind::RdmaWrite: return SegmentType::rdma_write;
    case vi::SendKind::RdmaRead: return SegmentType::rdma_read_request;
  }
  return SegmentType::send;
}

}  // namespace

bool MessageSender::is_consistent() const {
  const bool sends = machine_.is_any_of<ms::Sending, ms::Padding>();
  return sends == (due_ != Due::nothing) && (channel_.acknowledges() || sent_.empty()) &&
         (sends || machine_.is<ms::Ended>() || message_.octets_sent == 0);
}

template <class Event>
void MessageSender::process(const Event& event) {
  const Due before = std::exchange(due_, Due::nothing);
  machine_.process(event, *this);
  if (due_ == Due::nothing && machine_.is_any_of<ms::Sending, ms::Padding>()) due_ = before;  // it goes on
  if (!machine_.is_any_of<ms::Sending, ms::Padding>()) message_.octets_sent = 0;
  FCVI_ASSERT_CONSISTENT(*this);
}

void MessageSender::connection_established() { process(ms::ConnectionEstablished{}); }

void MessageSender::connection_ended() {
  process(ms::ConnectionEnded{});
  sent_.clear();
}

// --- segments out --------------------------------------------------------------------------------------------------

bool MessageSender::add_segment(SegmentWriter& writer) {
  if (channel_.stopped || due_ == Due::flush || !begin_next()) return false;
  const auto room = writer.payload_room(type_of(message_.work.kind));
  if (!room) return false;
  due_ == Due::segment ? add_data(writer, *room) : add_padding(writer, *room);
  return true;
}

/// False: nothing is to be sent now.
bool MessageSender::begin_next() {
  while (ms::may_begin(machine_)) {
    const auto work = channel_.vi->begin_send();
    if (channel_.stopped || !work) return false;
    message_ = Message{.work = *work};
    process(ms::MessagePosted{.read = message_.is_read(),
                              .takes_receive = message_.takes_receive(),
                              .too_long = work->length_bytes > channel_.terms.mtu_bytes});
  }
  return due_ != Due::nothing && !channel_.stopped;
}

void MessageSender::begin_segment(SegmentWriter& writer, std::size_t octets) {
  if (message_.octets_sent == 0) message_.number = advance(channel_.last_sent);
  channel_.last_sent = message_.number;
  const vi::SendWork& work = message_.work;
  wire::vitcp::SegmentHeader header = channel_.header(type_of(work.kind), message_.number);
  header.end_of_message = octets == message_.octets_left();
  header.immediate_data_valid = work.has_immediate;
  header.immediate_data = work.immediate_data;
  header.data_offset = message_.octets_sent;
  header.transmit_error = due_ == Due::padding;
  const wire::vitcp::RdmaHeader rdma{work.remote_address, work.remote_handle, work.length_bytes};
  writer.begin(header, work.kind == vi::SendKind::Send ? nullptr : &rdma, octets);
}

/// Of large pieces of memory the stream reads; small ones are copied behind their header.
void MessageSender::add_data(SegmentWriter& writer, std::size_t room) {
  const std::size_t octets = std::min<std::size_t>(room, message_.octets_left());
  if (writer.copies(octets)) return add_copied(writer, octets);
  const vi::DataCursor::Window window = message_.work.data.peek(octets, vi::Access::Local);
  if (window.bytes() == 0) return memory_lost();
  const auto whole = static_cast<std::size_t>(window.bytes());
  if (writer.copies(whole)) return add_copied(writer, whole);
  for (const std::span<std::byte> piece : window.pieces())
    if (!channel_.vi->nic().memory().is_there(piece.data(), piece.size())) return memory_lost();
  begin_segment(writer, whole);
  for (const std::span<std::byte> piece : window.pieces()) writer.lend(piece);
  message_.work.data.consume(window, whole);
  writer.end();
  segment_added(writer, whole);
}

void MessageSender::add_copied(SegmentWriter& writer, std::size_t octets) {
  const MessageNumber before = channel_.last_sent;
  begin_segment(writer, octets);
  if (!message_.is_read() && !gather(writer, octets)) {
    writer.drop();
    channel_.last_sent = before;
    channel_.nop_owed = true;  // what its header told
    return memory_lost();
  }
  writer.end();
  segment_added(writer, octets);
}

/// False: memory of it is gone.
bool MessageSender::gather(SegmentWriter& writer, std::size_t octets) {
  for (std::size_t here = 0; octets != 0; octets -= here) {
    here = std::min(octets, SegmentWriter::copied_at_once);
    if (!message_.work.data.gather(writer.copied_payload(here))) return false;
  }
  return true;
}

void MessageSender::memory_lost() {
  const bool nothing = message_.octets_sent == 0;
  process(ms::MemoryLost{nothing ? ms::Sent::Nothing : ms::Sent::Some});
}

void MessageSender::add_padding(SegmentWriter& writer, std::size_t room) {
  const std::size_t octets = std::min({room, SegmentWriter::most_padding_octets, std::size_t{message_.octets_left()}});
  begin_segment(writer, octets);
  writer.pad();
  writer.end();
  segment_added(writer, octets);
}

void MessageSender::segment_added(const SegmentWriter& writer, std::size_t octets) {
  const bool last = octets == message_.octets_left();
  if (message_.octets_sent == 0 && message_.takes_receive()) ++channel_.peer_receives_used;  // ruling V-6
  message_.octets_sent += static_cast<std::uint32_t>(octets);
  if (last)
    ++channel_.services.counters.messages_sent;
  else
    channel_.vi->set_partly_sent(message_.work, true);  // VI-DG 5.2 bit 4
  if (last && writer.lends())
    due_ = Due::flush;
  else
    process(ms::SegmentSent{.last = last, .read = message_.is_read()});
}

void MessageSender::batch_flushed() {
  if (due_ == Due::flush && !channel_.stopped) process(ms::SegmentSent{.last = true, .read = message_.is_read()});
}

void MessageSender::memory_cut() { channel_.vi->complete_send(message_.work, status::protection_error); }

// --- what the peer tells -------------------------------------------------------------------------------------------

void MessageSender::told(const wire::vitcp::SegmentHeader& header) {
  channel_.peer_receives_posted = header.rx_descriptors_posted;
  if (machine_.is<ms::AwaitDescriptor>() && channel_.peer_can_receive()) {
    process(ms::DescriptorsPosted{});
    channel_.listener.wants_to_send();
  }
  if (channel_.acknowledges() && !machine_.is<ms::Ended>()) acknowledged(header);
}

/// What repeats the last one says nothing.
void MessageSender::acknowledged(const wire::vitcp::SegmentHeader& header) {
  const MessageNumber number = header.message_ack;
  const bool is_new = serial_less(named_, number) && !serial_less(advance(channel_.last_sent), number);
  if (header.remote_error.is_vi_error()) {
    if (is_new) named_ = number;  // ruling V-30: it may be one that was not sent yet
    error_ = header.remote_error;
    return process(ms::ErrorReported{});
  }
  if (number == named_) return;
  if (!is_new || !is_whole(number)) {
    channel_.services.counters.refuse(Refusal::message_ack);
    return process(ms::AckOutOfRange{});
  }
  named_ = number;
  process(ms::MessagesAcknowledged{.all = sent_.empty() || !serial_less(number, sent_.back().number)});
  channel_.listener.wants_to_send();  // what stood behind them may begin (VI-ARCH 6.3.1)
}

/// All of it was sent.
bool MessageSender::is_whole(MessageNumber number) const {
  return !serial_less(channel_.last_sent, number) && !(is_within_message() && number == message_.number);
}

/// Those before this number.
void MessageSender::complete_up_to(MessageNumber number) {
  while (!sent_.empty() && serial_less(sent_.front().number, number)) {
    const vi::SendWork work = sent_.front().work;
    sent_.pop_front();
    channel_.vi->complete_send(work, 0);
  }
}

/// VI-DG 5.2: bit 7 is of RDMA alone, bit 8 of what takes a receive descriptor (rulings 205, V-19).
std::uint32_t MessageSender::refusal_bits(const vi::SendWork& work) const {
  const bool takes_receive = work.kind == vi::SendKind::Send || work.has_immediate;
  if (error_.rdma_memory_protection_error && work.kind != vi::SendKind::Send) return status::rdma_protection_error;
  if (error_.rdma_memory_protection_error || error_.vi_descriptor_error)
    return takes_receive ? status::remote_descriptor_error : status::transport_error;
  return status::transport_error;
}

void MessageSender::complete_refused() {
  complete_up_to(named_);
  if (!sent_.empty() && sent_.front().number == named_)
    channel_.vi->complete_send(sent_.front().work, refusal_bits(sent_.front().work));
  else if (is_within_message() && message_.number == named_)
    channel_.vi->complete_send(message_.work, refusal_bits(message_.work));
}

// --- effects -------------------------------------------------------------------------------------------------------

void MessageSender::complete(ms::Completion completion) {
  std::uint32_t bits = 0;
  switch (completion) {
    case ms::Completion::LengthError: bits = status::length_error; break;
    case ms::Completion::LocalProtectionError: bits = status::protection_error; break;
    case ms::Completion::RdmaProtectionError: bits = status::rdma_protection_error; break;
    case ms::Completion::Success: break;
  }
  channel_.vi->complete_send(message_.work, bits);
}

void MessageSender::await_ack() {
  if (sent_.full()) sent_.set_capacity(2 * sent_.capacity() + 4);  // grows with what is under way
  sent_.push_back({message_.work, message_.number});
}

void MessageSender::read_completed() {
  if (machine_.is<ms::AwaitWindow>()) process(ms::ReadCompleted{});
  channel_.listener.wants_to_send();  // what stood behind it may begin (VI-ARCH 6.3.1.1)
}

void MessageSender::unexpected(std::string_view, std::string_view, std::string_view) {
  ++channel_.services.counters.unexpected_events;
}

}  // namespace vitcp
