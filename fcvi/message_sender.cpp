#include "fcvi/message_sender.hpp"

#include <algorithm>
#include <cstring>

#include "fc2_fabric/node/class_2.hpp"
#include "fcvi/fc4.hpp"
#include "state_machines/consistency.hpp"
#include "wire/fcvi/message_status.hpp"
#include "wire/fcvi/whole_send.hpp"

namespace fcvi {
namespace mo = machines::message_originator;
using wire::fcvi::DeviceHeader;
using wire::fcvi::Opcode;

namespace {
constexpr std::uint64_t max_frames_per_iu = 65536;  // FC-VI 5.6: SEQ_CNT does not repeat within one IU

Opcode request_opcode(vi::SendKind kind) {
  switch (kind) {
    case vi::SendKind::Send: return Opcode::send_rqst;
    case vi::SendKind::RdmaWrite: return Opcode::write_rqst;
    case vi::SendKind::RdmaRead: return Opcode::read_rqst;
  }
  return Opcode::send_rqst;
}

/// Table 6.
mo::Completion completion_of(wire::fcvi::MessageStatus status) {
  if (status.ok()) return mo::Completion::Success;
  if (status.prot_err) return mo::Completion::RdmaProtectionError;
  if (status.desc_err) return mo::Completion::RemoteDescriptorError;
  return mo::Completion::TransportError;
}

/// VI-DG 5.2: bit 7 is of RDMA alone, bit 8 of what takes a receive descriptor; an answer that says otherwise: ruling
/// 205.
std::uint32_t error_bits_of(mo::Completion completion, const vi::SendWork& work) {
  const bool takes_receive = work.kind == vi::SendKind::Send || work.has_immediate;
  switch (completion) {
    case mo::Completion::Success:
    case mo::Completion::Flushed: return 0;  // the model says that
    case mo::Completion::TransportError: return vi::status::transport_error;
    case mo::Completion::LocalProtectionError: return vi::status::protection_error;
    case mo::Completion::RdmaProtectionError:
      return work.kind == vi::SendKind::Send ? vi::status::remote_descriptor_error : vi::status::rdma_protection_error;
    case mo::Completion::RemoteDescriptorError:
      return takes_receive ? vi::status::remote_descriptor_error : vi::status::transport_error;
  }
  return vi::status::transport_error;
}
/// FC-VI 5.9.7.3.1: what the Disconnect tells of a message of ours that failed (ruling 200).
wire::fcvi::Reason reason_of(mo::Completion completion) {
  using wire::fcvi::Reason;
  switch (completion) {
    case mo::Completion::
        LocalProtectionError:  // "length, format or protection error on Descriptor access", here or there
    case mo::Completion::RemoteDescriptorError: return Reason::remote_descriptor_error;
    case mo::Completion::RdmaProtectionError: return Reason::rdma_protection_error;
    case mo::Completion::Success:
    case mo::Completion::Flushed:
    case mo::Completion::TransportError: break;
  }
  return Reason::transport_error;
}
}  // namespace

MessageSender::MessageSender(Endpoint& endpoint)
    : endpoint_(endpoint), numbers_(endpoint.services.config.first_msg_id, endpoint.services.now()) {}
MessageSender::~MessageSender() = default;

MessageSender::Pipeline::Pipeline(MessageSender& sender)
    : share(sender.services().reorder_pool), timer(sender), retry(sender) {}

MessageSender::Pipeline& MessageSender::pipeline() {
  if (pipeline_ == nullptr) pipeline_ = std::make_unique<Pipeline>(*this);
  return *pipeline_;
}

void MessageSender::wake() {
  if (!endpoint_.is_ending) services().port.transmitter().submit(*this);
}

bool MessageSender::needs_response() const { return endpoint_.reliability == vi::ReliabilityLevel::ReliableReception; }

// --- frames out --------------------------------------------------------------------------------------------------

fc2::FrameSource::Next MessageSender::next_frame(fc2::Frame& frame) {
  vi::Vi* const vi = endpoint_.vi;
  if (vi != nullptr && vi->can_transmit() && may_go_short() && send_short(frame, *vi)) [[likely]]
    return has_more() ? Next::Made : Next::MadeLast;
  return next_of_any(frame);
}

[[gnu::noinline]] fc2::FrameSource::Next MessageSender::next_of_any(fc2::Frame& frame) {
  for (;;) {
    vi::Vi* vi = endpoint_.vi;
    if (vi == nullptr || !vi->can_transmit()) return Next::Exhausted;
    if (!sending_) {
      const Begun begun = start_next(frame);
      if (begun == Begun::SentWhole) return has_more() ? Next::Made : Next::MadeLast;
      if (begun == Begun::Nothing) return Next::Exhausted;
    }
    fc2::SequenceSender& sequence = pipeline_->sequence;
    Message& message = pipeline_->messages.back();
    if (!sequence.is_open() && !begin_sequence(message)) return Next::Blocked;
    if (!sequence.may_send()) return Next::Blocked;
    if (fill(frame, message)) return Next::Made;
    if (message.bytes_moved == 0) give_up_unsent(message);
    process(message, mo::LocalProtectionError{});  // its memory is gone; the next message may go on
  }
}

/// Pre: nothing is being sent.
bool MessageSender::has_more() const { return endpoint_.vi != nullptr && !endpoint_.vi->send_queue_empty(); }

MessageSender::Begun MessageSender::start_next(fc2::Frame& frame) {
  if (pipeline_ != nullptr && (pipeline_->messages.size() == endpoint_.window || pipeline_->failing))
    return Begun::Nothing;  // FC-VI 7.3 FCVI_PIPELINE_DEPTH
  runtime::Scheduler& scheduler = services().scheduler;
  if (const auto from = numbers_.wait_until(scheduler.now(), services().port.r_a_tov())) {
    scheduler.schedule(pipeline().retry, *from);
    return Begun::Nothing;
  }
  if (endpoint_.vi->send_queue_empty()) return Begun::Nothing;  // usually, when it is asked again
  const bool may_go = may_go_whole();
  auto work = endpoint_.vi->begin_send();
  if (!work) return Begun::Nothing;
  if (may_go && send_whole(frame, *work)) return Begun::SentWhole;
  open_message(*work);
  return Begun::Message;
}

void MessageSender::open_message(const vi::SendWork& work) {
  const std::size_t window = endpoint_.window;
  auto& messages = pipeline().messages;
  if (messages.full())
    messages.set_capacity(std::min(window, 2 * messages.capacity() + 2));  // grows with what is under way
  messages.push_back(Message{.machine = {}, .work = work, .msg_id = numbers_.take(services().now())});
  sending_ = true;
  request_of(work, messages.back().msg_id).write(pipeline_->device_header);
}

// Most messages are small. One that nothing comes back for, and nothing is open before, is complete when its only frame
// is made: LastFrameSent takes the table's Queued to Completed, with the one effect complete(Success), and the test
// MessageOriginator.Queued_whole_message_completes_and_nothing_else holds it to that. All else goes the long way.
bool MessageSender::may_go_whole() const {
  return !has_open() && !needs_response() && endpoint_.clear_to_send() && !endpoint_.class_2();
}

/// What start_next() asks for before it goes on to may_go_whole(), and that.
inline bool MessageSender::may_go_short() const {
  return !sending_ && (pipeline_ == nullptr || (pipeline_->messages.empty() && !pipeline_->failing)) &&
         !numbers_.begins_half() && !needs_response() && endpoint_.clear_to_send() &&
         (!endpoint_.options.class_2 || !endpoint_.class_2()) && services().takes_short_cuts();
}

/// Of a Send that is all that the model has under way: without SendWork and its cursor. False: nothing has happened.
inline bool MessageSender::send_short(fc2::Frame& frame, vi::Vi& vi) {
  if (vi.send_queue_empty()) return false;
  fc2::RemotePort* const remote = services().port.find_remote_port(endpoint_.peer_port);
  if (remote == nullptr) return false;
  const auto send = vi.read_short_send(frame.data_field().subspan<device_header_bytes>());
  constexpr std::size_t every_port_takes = fc2::min_data_field_bytes - device_header_bytes;
  if (!send || (send->length_bytes > every_port_takes &&
                send->length_bytes > remote->send_data_field_bytes() - device_header_bytes))
    return false;
  const auto exchange = services().port.begin_one_frame_exchange(*remote);
  if (!exchange) return false;
  const wire::fcvi::WholeSend whole{.d_id = exchange->d_id(),
                                    .s_id = exchange->s_id(),
                                    .cs_ctl = endpoint_.cs_ctl(),
                                    .seq_id = exchange->seq_id(),
                                    .ox_id = exchange->ox_id(),
                                    .handle = endpoint_.peer_handle,
                                    .msg_id = numbers_.take(services().now()),
                                    .has_immediate = send->has_immediate,
                                    .immediate_data = send->immediate_data,
                                    .length_bytes = send->length_bytes};
  whole.write(frame.bytes);
  frame.size_bytes = static_cast<std::uint16_t>(whole.frame_bytes());
  frame.sof = wire::Sof::i3;
  frame.eof = wire::Eof::t;
  count_whole(send->length_bytes);
  ++services().counters.short_cuts;
  vi.complete_short_send(*send);
  if (pipeline_ != nullptr || endpoint_.is_ending) settle();  // else there is nothing to settle
  return true;
}

/// False: nothing has happened.
bool MessageSender::send_whole(fc2::Frame& frame, vi::SendWork& work) {
  if (work.kind == vi::SendKind::RdmaRead) return false;
  fc2::RemotePort* const remote = services().port.find_remote_port(endpoint_.peer_port);
  if (remote == nullptr || work.length_bytes > remote->send_data_field_bytes() - device_header_bytes) return false;
  const std::span<std::uint8_t> data = frame.data_field().subspan(device_header_bytes, work.length_bytes);
  vi::DataCursor source = work.data;
  if (!source.gather(data)) return false;
  const auto exchange = services().port.begin_one_frame_exchange(*remote);
  if (!exchange) return false;
  stamp_whole(frame, *exchange, request_of(work, numbers_.take(services().now())));
  if (vi::Vi* vi = endpoint_.vi) vi->complete_send(work, 0);
  settle();
  return true;
}

/// The data stand in the frame.
void MessageSender::stamp_whole(fc2::Frame& frame, const fc2::OneFrameExchange& exchange,
                                const wire::fcvi::MessageRequest& request) {
  request.write(frame.data_field().first<device_header_bytes>());
  exchange.stamp(frame,
                 {.r_ctl = wire::RCtl::solicited_data,
                  .fc4 = fc4,
                  .df_ctl = wire::df_ctl::device_header_32,
                  .cs_ctl = endpoint_.cs_ctl()},
                 device_header_bytes + request.total_length);
  count_whole(request.total_length);
}

inline void MessageSender::count_whole(std::uint32_t length_bytes) {
  ProviderCounters& counters = services().counters;
  ++counters.data_frames_sent;
  counters.data_bytes_sent += length_bytes;
  ++counters.ius_sent;
  ++counters.messages_sent;
}

bool MessageSender::start_exchange(Message& message) {
  auto& port = services().port;
  message.exchange = port.originate(endpoint_.peer_port, wire::Type::fc_vi, *this);
  if (message.exchange == nullptr)
    port.scheduler().schedule_after(pipeline_->retry, exchange_retry_ns);  // all are in use
  else if (endpoint_.class_2())
    message.exchange->use_class_2();
  return message.exchange != nullptr;
}

wire::fcvi::MessageRequest MessageSender::request_of(const vi::SendWork& work, wire::MsgId msg_id) const {
  return {.opcode = request_opcode(work.kind),
          .handle = endpoint_.peer_handle,
          .msg_id = msg_id,
          .has_immediate = work.has_immediate,
          .immediate_data = work.immediate_data,
          .rmt_va = work.remote_address,
          .rmt_va_handle = work.remote_handle,
          .total_length = work.length_bytes};
}

bool MessageSender::begin_sequence(Message& message) {
  if (message.exchange == nullptr && !start_exchange(message)) return false;
  const wire::RCtl r_ctl = is_read(message) ? wire::RCtl::unsolicited_command : wire::RCtl::solicited_data;
  fc2::SequenceSender& sequence = pipeline_->sequence;
  if (!sequence.begin(*message.exchange, r_ctl, wire::df_ctl::device_header_32, endpoint_.cs_ctl())) return false;
  const std::uint64_t frame_bytes = sequence.data_field_bytes() - device_header_bytes;
  const std::uint64_t configured = services().config.max_iu_bytes;
  const std::uint64_t most = max_frames_per_iu * frame_bytes;
  pipeline_->iu_bytes_left =
      configured == 0 ? most : std::clamp(configured / frame_bytes * frame_bytes, frame_bytes, most);
  return true;
}

bool MessageSender::fill(fc2::Frame& frame, Message& message) {
  Pipeline& pipeline = *pipeline_;
  const std::uint64_t to_send = is_read(message) ? 0 : message.work.length_bytes - message.bytes_moved;
  const std::uint64_t room = pipeline.sequence.data_field_bytes() - device_header_bytes;
  const auto size = static_cast<std::size_t>(std::min({room, pipeline.iu_bytes_left, to_send}));
  const std::span<std::uint8_t> data_field = frame.data_field();
  std::memcpy(data_field.data(), pipeline.device_header.data(), device_header_bytes);
  if (!message.work.data.gather(data_field.subspan(device_header_bytes, size))) return false;
  const auto offset = static_cast<std::uint32_t>(message.bytes_moved);
  const bool last = size == to_send;
  pipeline.iu_bytes_left -= size;
  const bool answer = last && (is_read(message) || needs_response());
  const fc2::SequenceEnd end{.last_of_exchange = last && !answer, .transfer_initiative = answer};
  const bool class_2 = message.exchange->is_class_2();
  if (end.last_of_exchange && !class_2) message.exchange = nullptr;  // the exchange ends with this frame (5.2.1)
  pipeline.sequence.stamp(frame, device_header_bytes + size, offset,
                          last || pipeline.iu_bytes_left == 0 ? &end : nullptr);
  if (!is_read(message)) message.bytes_moved += size;
  ProviderCounters& counters = services().counters;
  ++counters.data_frames_sent;
  counters.data_bytes_sent += size;
  if (last || pipeline.iu_bytes_left == 0) ++counters.ius_sent;
  if ((offset == 0) != last)
    endpoint_.vi->set_partly_sent(message.work, !last);  // VI-DG 5.2 bit 4; not of a single frame
  if (offset == 0 && (!last || class_2)) process(message, mo::SendStarted{});
  if (last) finish_sending(message);
  return true;
}

/// Of the message that is being sent, in a segment of its descriptor that was found: those that go on with it and do
/// not end its IU. Fewer than two are no run.
std::size_t MessageSender::frames_of_run(const Message& message, std::size_t most) const {
  const fc2::SequenceSender& sequence = pipeline_->sequence;
  if (is_read(message) || !sequence.goes_on() || !sequence.may_send()) return 0;
  const std::size_t data_bytes = sequence.data_field_bytes() - device_header_bytes;
  const std::uint64_t left = std::min(message.work.length_bytes - message.bytes_moved, pipeline_->iu_bytes_left);
  const std::size_t there = message.work.data.rest_to_gather().size();
  if (left <= 2 * data_bytes || data_bytes % 4 != 0) return 0;
  const std::size_t frames =
      std::min<std::size_t>({most, static_cast<std::size_t>((left - 1) / data_bytes), there / data_bytes});
  return frames < 2 ? 0 : frames;
}

// What next_frame() and fill() do for each of them.
std::size_t MessageSender::send_run(fc2::FrameOutput& output, std::size_t most) {
  if (!sending_ || !services().takes_short_cuts()) return 0;
  if (endpoint_.vi == nullptr || !endpoint_.vi->can_transmit()) return 0;
  Pipeline& pipeline = *pipeline_;
  Message& message = pipeline.messages.back();
  const std::size_t frames = frames_of_run(message, most);
  if (frames == 0) return 0;
  const std::size_t data_bytes = pipeline.sequence.data_field_bytes() - device_header_bytes;
  fc2::Frame first;
  std::memcpy(first.data_field().data(), pipeline.device_header.data(), device_header_bytes);
  pipeline.sequence.stamp_run(first, device_header_bytes + data_bytes, static_cast<std::uint32_t>(message.bytes_moved));
  const auto* const data = reinterpret_cast<const std::uint8_t*>(message.work.data.rest_to_gather().data());
  const std::size_t sent = output.send_run(
      {first, frames, fc2::frame_header_bytes + device_header_bytes, data, data_bytes, data_bytes, this});
  if (sent == 0) return 0;
  const std::uint64_t bytes = sent * data_bytes;
  pipeline.sequence.run_sent(sent);
  pipeline.iu_bytes_left -= bytes;
  message.work.data.skip(bytes);
  message.bytes_moved += bytes;
  services().counters.data_frames_sent += sent;
  services().counters.data_bytes_sent += bytes;
  return sent;
}

bool MessageSender::read(std::span<std::uint8_t> to, const std::uint8_t* from) const {
  return pipeline_->messages.back().work.data.read_rest(to, reinterpret_cast<const std::byte*>(from));
}

// No frame of the exchange went out: the peer knows nothing of it.
void MessageSender::give_up_unsent(Message& message) {
  pipeline_->sequence.abandon();
  sending_ = false;
  services().port.release(*std::exchange(message.exchange, nullptr));
}

void MessageSender::finish_sending(Message& message) {
  sending_ = false;
  ++services().counters.messages_sent;
  if (message.exchange == nullptr || !message.exchange->is_class_2()) last_frame_sent(message);
}

void MessageSender::last_frame_sent(Message& message) {
  process(message, mo::LastFrameSent{.read = is_read(message), .needs_response = needs_response()});
}

// Class 2: only now the initiative is passed, or the message known to be received (FC-VI 5.5, FC-FS).
void MessageSender::sequence_acknowledged(fc2::Exchange& exchange) {
  for (Message& message : pipeline_->messages) {
    if (message.exchange != &exchange) continue;
    if (sending_ && &message == &pipeline_->messages.back()) return wake();  // its next IU
    if (!is_read(message) && !needs_response()) message.exchange = nullptr;  // the exchange ended
    return last_frame_sent(message);
  }
}

// --- answers in --------------------------------------------------------------------------------------------------

MessageSender::Message* MessageSender::find(wire::MsgId msg_id) {
  if (!has_open()) return nullptr;
  const std::uint32_t index = msg_id.value - pipeline_->messages.front().msg_id.value;
  return index < pipeline_->messages.size() ? &pipeline_->messages[index] : nullptr;
}

/// An IU with this opcode answers it, and it was sent to the end. Sends and Writes are answered only at Reliable
/// Reception (5.2.2).
bool MessageSender::awaits(const Message& message, Opcode answer) const {
  if (sending_ && &message == &pipeline_->messages.back()) return false;
  switch (message.work.kind) {
    case vi::SendKind::Send: return answer == Opcode::send_resp && needs_response();
    case vi::SendKind::RdmaWrite: return answer == Opcode::write_resp && needs_response();
    case vi::SendKind::RdmaRead: return answer == Opcode::read_resp;
  }
  return false;
}

void MessageSender::response_received(const IuFrame& iu) {
  Message* message = find(iu.header.msg_id);
  const bool ours = message != nullptr && message->exchange != nullptr && message->exchange->ox_id() == iu.ox_id();
  if (!ours) return services().discard(fc2::Discard::UnexpectedIu);
  if (!awaits(*message, iu.header.opcode)) return services().discard(fc2::Discard::UnexpectedIu);
  if (message->exchange->awaits_acknowledgement()) message->exchange->all_acknowledged();  // it overtook an ACK
  if (iu.frame.last_of_sequence) ++services().counters.ius_received;
  if (iu.header.opcode != Opcode::read_resp) return status_received(*message, iu.header);
  if (services().port.in_order())
    read_data_received(*message, iu);
  else
    read_data_in_any_order(*message, iu);
}

/// Out-of-order fabric (FC-VI 8.4.1 d): placed as it comes. What is missing for FCVI_ULP_TIMEOUT is missed by rule 9.
void MessageSender::read_data_in_any_order(Message& message, const IuFrame& iu) {
  const bool failed = !wire::fcvi::MessageStatus::from_flags(iu.header.flags).ok();
  const bool next = message.pieces == nullptr && iu.offset() == static_cast<std::uint32_t>(message.bytes_moved);
  if (failed || next) return read_data_received(message, iu);
  if (message.pieces == nullptr && iu.offset() < message.bytes_moved)
    return services().discard(fc2::Discard::WrongSequence);
  if (iu.payload.empty() && message.work.length_bytes != 0)
    return services().discard(fc2::Discard::WrongSequence);  // it brings nothing
  if (!read_data_belongs(message, iu)) return process(message, mo::ExchangeError{});
  if (message.pieces == nullptr && !keep_pieces(message)) {
    services().port.acknowledger().busy(iu.frame);
    return services().reorder_pool_full();
  }
  const std::uint16_t seq_cnt = iu.seq_cnt();
  const std::uint32_t begin = iu.offset(), end = begin + static_cast<std::uint32_t>(iu.payload.size());
  read_piece_received(message, iu, {begin, end, seq_cnt, seq_cnt, 0});
}

/// From here on a book is kept of what is here. False: no room.
bool MessageSender::keep_pieces(Message& message) {
  if (!pipeline_->share.take(endpoint_.peer_port, sizeof(ReadPieces), ReorderPool::Need::Now)) return false;
  message.pieces = std::make_unique<ReadPieces>();
  const auto received = static_cast<std::uint32_t>(message.bytes_moved);
  message.pieces->data = ScatteredData(message.work.data, received);
  if (received != 0)
    message.pieces->arrivals.add({0, received, 0, static_cast<std::uint16_t>(message.read_seq_cnt - 1), 0});
  return true;
}

void MessageSender::read_piece_received(Message& message, const IuFrame& iu, const Arrivals::Range& piece) {
  Arrivals& arrivals = message.pieces->arrivals;
  switch (arrivals.classify(piece)) {
    case Arrivals::Piece::Duplicate: return services().discard(fc2::Discard::WrongSequence);
    case Arrivals::Piece::Conflict: return process(message, mo::ExchangeError{});
    case Arrivals::Piece::New: break;
  }
  if (!endpoint_.vi->is_open(message.work)) return;  // flushed; the end of the connection is on its way
  const std::size_t growth = arrivals.bytes_to_grow(piece);
  if (!arrivals.has_room(piece, message.work.length_bytes) ||
      !pipeline_->share.take(endpoint_.peer_port, growth, ReorderPool::Need::Now)) {
    services().port.acknowledger().busy(iu.frame);
    return services().reorder_pool_full();
  }
  if (!message.pieces->data.place(piece.begin, iu.payload)) {
    pipeline_->share.give_back(growth);
    return process(message, mo::LocalProtectionError{});
  }
  arrivals.add(piece);
  read_data_placed(message, iu.payload.size());
}

/// The message is over.
void MessageSender::drop_pieces(Message& message) {
  if (message.pieces == nullptr) return;
  pipeline_->share.give_back(sizeof(ReadPieces) + message.pieces->arrivals.heap_bytes());
  message.pieces.reset();
}

void MessageSender::status_received(Message& message, const DeviceHeader& header) {
  const auto status = wire::fcvi::MessageStatus::from_flags(header.flags);
  services().port.release(*std::exchange(message.exchange, nullptr));  // Last_Sequence (5.8.4)
  if (!status.ok()) endpoint_.end.peer_knows = true;
  process(message, mo::ResponseReceived{completion_of(status)});
}

bool MessageSender::read_data_fits(const Message& message, const IuFrame& iu) const {
  return iu.seq_cnt() == message.read_seq_cnt && iu.offset() == static_cast<std::uint32_t>(message.bytes_moved) &&
         read_data_belongs(message, iu);
}

bool MessageSender::read_data_belongs(const Message& message, const IuFrame& iu) const {
  const vi::SendWork& work = message.work;
  const std::uint64_t received = iu.end();
  const bool whole = received == work.length_bytes;
  const bool ends = iu.frame.last_of_sequence && iu.frame.header.has(wire::f_ctl::last_sequence);
  return iu.header.rmt_va == work.remote_address && iu.header.rmt_va_handle == work.remote_handle &&
         iu.header.tot_len_or_connection_id == work.length_bytes && received <= work.length_bytes && whole == ends;
}

void MessageSender::read_data_received(Message& message, const IuFrame& iu) {
  const auto status = wire::fcvi::MessageStatus::from_flags(iu.header.flags);
  if (!status.ok()) {
    endpoint_.end.peer_knows = true;
    services().port.release(*std::exchange(message.exchange, nullptr));
    return process(message, mo::ReadDataReceived{.status = completion_of(status)});
  }
  if (!read_data_fits(message, iu)) return process(message, mo::ExchangeError{});
  if (!endpoint_.vi->is_open(message.work)) return;  // flushed; the end of the connection is on its way
  if (!message.work.data.scatter(iu.payload)) return process(message, mo::LocalProtectionError{});
  ++message.read_seq_cnt;
  read_data_placed(message, iu.payload.size());
}

void MessageSender::read_data_placed(Message& message, std::size_t bytes) {
  pipeline_->placed_bytes = bytes;
  const bool last = message.bytes_moved + bytes == message.work.length_bytes;
  if (last) drop_pieces(message);
  if (last) services().port.release(*std::exchange(message.exchange, nullptr));
  pipeline_->read_progress_until = services().now() + services().ulp_timeout();
  process(message, mo::ReadDataReceived{.last = last});
}

// --- the machine -------------------------------------------------------------------------------------------------

template <class E>
void MessageSender::feed(Message& message, const E& event) {
  pipeline_->current = &message;
  message.machine.process(event, *this);
}

template <class E>
void MessageSender::process(Message& message, const E& event) {
  feed(message, event);
  settle();
}

void MessageSender::settle() {
  if (pipeline_ != nullptr) {
    drop_completed();
    pipeline_->failures.drain([this](Verdict failure) { endpoint_.listener.failed(reason_of(failure)); });
  }
  if (endpoint_.is_ending) endpoint_.listener.answers_came();
  FCVI_ASSERT_CONSISTENT(*this);
}

/// Told when the machine has come to rest. A connection fails once, by what is found first.
void MessageSender::connection_failed(Verdict verdict) {
  if (pipeline_->failures.empty()) pipeline_->failures.push(verdict);
}

/// MSG_IDs are consecutive (find() relies on it), only the last message is being sent, and what the books of read data
/// take of the pool is what they hold.
bool MessageSender::is_consistent() const {
  return pipeline_ == nullptr ? !sending_ : pipeline_->is_consistent(endpoint_.window, sending_);
}

bool MessageSender::Pipeline::is_consistent(std::uint32_t window, bool sending) const {
  std::size_t books = 0;
  bool in_order = true, holds_failure = false;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    in_order = in_order && message.msg_id.value == static_cast<std::uint32_t>(messages.front().msg_id.value + i);
    holds_failure = holds_failure || message.held != Verdict::Success;
    if (message.pieces != nullptr) books += sizeof(ReadPieces) + message.pieces->arrivals.heap_bytes();
  }
  return in_order && books == share.bytes() && messages.size() <= window && (!holds_failure || failing) &&
         (!sending || !messages.empty()) && (!sequence.is_open() || sending) && failures.empty();
}

void MessageSender::drop_completed() {
  const std::size_t before = pipeline_->messages.size();
  while (!pipeline_->messages.empty()) {
    Message& first = pipeline_->messages.front();
    if (first.machine.is<mo::AwaitClearToSend>() && endpoint_.clear_to_send())
      feed(first, mo::ClearToSend{});  // its turn
    if (!first.machine.is<mo::Completed>()) break;
    if (first.held != mo::Completion::Success) {  // all before it completed well, as they did at the peer
      endpoint_.note_failure(reason_of(first.held));
      endpoint_.vi->complete_send(first.work, error_bits_of(first.held, first.work));
      connection_failed(first.held);
      break;
    }
    drop_pieces(first);
    pipeline_->messages.pop_front();
  }
  if (pipeline_->messages.size() != before) wake();  // the window or a fence may have opened
}

/// Completions keep the order of posting (VI-ARCH 6.3.1.1): Sends and RDMA Writes among themselves, and so do RDMA
/// Reads; at Reliable Reception all, so that nothing completes well behind a message that failed (VI-ARCH 2.5.3, Annex
/// E).
bool MessageSender::in_turn(const Message& message) const {
  for (auto earlier = pipeline_->messages.begin(); &*earlier != &message; ++earlier) {
    if (earlier->machine.is<mo::Completed>()) continue;  // where one holds a failure, another before it is not complete
    if (needs_response() || is_read(*earlier) == is_read(message)) return false;
  }
  return true;
}

void MessageSender::clear_to_send() {
  if (pipeline_ == nullptr) return settle();
  for (Message& message : pipeline_->messages)
    if (in_turn(message)) feed(message, mo::ClearToSend{});
  settle();
}

bool MessageSender::awaits_answers(wire::MsgId last) const {
  if (!needs_response() || last.value == 0 || !has_open()) return false;  // 0: none, or its number came round
  return !wire::serial_less(last, pipeline_->messages.front().msg_id);    // the first is not complete
}

void MessageSender::stop_sending() { services().port.transmitter().withdraw(*this); }

void MessageSender::connection_ended() {
  services().port.transmitter().withdraw(*this);
  if (pipeline_ == nullptr) return;
  pipeline_->sequence.abandon();
  for (Message& message : pipeline_->messages) {
    feed(message, mo::ConnectionEnded{});
    // One that waited for a SEQ_ID or for credit: no frame of it went.
    if (message.exchange != nullptr) services().port.release(*std::exchange(message.exchange, nullptr));
  }
  for (; !pipeline_->messages.empty(); pipeline_->messages.pop_front()) drop_pieces(pipeline_->messages.front());
  sending_ = false;
}

void MessageSender::arm_timer() {
  if (pipeline_->timer.pending())
    return;  // deadlines are in order of age, but for reads that make progress: those re-arm
  runtime::TimeNs earliest = runtime::never;
  for (const Message& message : pipeline_->messages) earliest = std::min(earliest, deadline_of(message));
  if (earliest != runtime::never) services().scheduler.schedule(pipeline_->timer, earliest);
}

/// FC-VI 8.4.1 a). Reads are answered in order (VI-ARCH 6.3.1.1): while data comes, those behind it wait their turn.
runtime::TimeNs MessageSender::deadline_of(const Message& message) const {
  return is_read(message) ? std::max(message.deadline, pipeline_->read_progress_until) : message.deadline;
}

void MessageSender::timer_expired() {
  const runtime::TimeNs now = services().now();
  const auto late = std::find_if(pipeline_->messages.begin(), pipeline_->messages.end(),
                                 [&](const Message& message) { return deadline_of(message) <= now; });
  if (late != pipeline_->messages.end())
    process(*late, mo::ResponseTimeout{});  // rule 9: the connection ends, with those before it if not at once
  arm_timer();
}

// A control IU has no place here; where it is the exchange's last sequence the answer cannot come any more.
void MessageSender::sequence_received(fc2::Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t>) {
  services().discard(fc2::Discard::UnexpectedIu);
  if (!exchange.is_open()) exchange_failed(exchange, fc2::ExchangeFailure::SequenceError);
}

void MessageSender::exchange_failed(fc2::Exchange& exchange, fc2::ExchangeFailure failure) {
  for (Message& message : pipeline_->messages) {
    if (message.exchange != &exchange) continue;
    message.exchange = nullptr;
    if (&message == &pipeline_->messages.back()) pipeline_->sequence.abandon();
    if (failure == fc2::ExchangeFailure::PortLoggedOut) return;  // it ends the whole connection next
    if (message.machine.is<mo::Queued>()) return;  // nothing went out: it waits on, and takes another exchange
    return process(message, mo::ExchangeError{});
  }
}

void MessageSender::start_response_timer() {
  pipeline_->current->deadline = services().now() + services().ulp_timeout();
  arm_timer();
}

void MessageSender::stop_response_timer() { pipeline_->current->deadline = runtime::never; }

void MessageSender::place_read_data() {
  pipeline_->current->bytes_moved += pipeline_->placed_bytes;
  auto& counters = services().counters;
  ++counters.data_frames_received;
  counters.data_bytes_received += pipeline_->placed_bytes;
}

/// At Reliable Reception a failure waits, too, until all messages before it are complete, or fail in their own time
/// (VI-ARCH 2.5.3, Annex E: lock step): drop_completed() tells it.
void MessageSender::complete(mo::Completion completion) {
  if (completion == mo::Completion::Flushed) return;  // the model flushed it on its way to Error
  const bool failure = completion != mo::Completion::Success;
  if (failure && needs_response()) {
    pipeline_->current->held = completion;
    pipeline_->current->deadline = runtime::never;
    pipeline_->failing = true;
    return;
  }
  if (failure) {
    pipeline_->verdict = completion;
    endpoint_.note_failure(reason_of(completion));
  }
  vi::Vi* vi = endpoint_.vi;  // null: memory ran out while the connection was stopped
  if (vi != nullptr) vi->complete_send(pipeline_->current->work, error_bits_of(completion, pipeline_->current->work));
}

void MessageSender::fail_connection() {
  if (pipeline_->current->held == Verdict::Success) connection_failed(pipeline_->verdict);  // else when its turn comes
}

void MessageSender::abort_exchange() {
  if (pipeline_->current == &pipeline_->messages.back()) {
    pipeline_->sequence.abandon();
    sending_ = false;
  }
  if (pipeline_->current->exchange != nullptr)
    services().port.abort(*std::exchange(pipeline_->current->exchange, nullptr));
}

void MessageSender::count_stale() { services().discard(fc2::Discard::UnexpectedIu); }
bool MessageSender::reliable() const { return endpoint_.is_reliable(); }
bool MessageSender::may_complete() const { return endpoint_.clear_to_send() && in_turn(*pipeline_->current); }
bool MessageSender::reports_transport_errors() const { return is_read(*pipeline_->current) || needs_response(); }
void MessageSender::on_row(const fsm::Row& row) { services().fired(row); }
void MessageSender::unexpected(std::string_view, std::string_view, std::string_view) { services().unexpected(); }

}  // namespace fcvi
