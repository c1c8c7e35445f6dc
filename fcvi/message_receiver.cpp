#include "fcvi/message_receiver.hpp"

#include <algorithm>
#include <utility>

#include "fc2_fabric/node/class_2.hpp"
#include "state_machines/consistency.hpp"
#include "state_machines/row_effects.hpp"

namespace fcvi {
namespace mr = machines::message_responder;
using wire::fcvi::DeviceHeader;
using wire::fcvi::MessageStatus;
using wire::fcvi::Opcode;
using wire::fcvi::Reason;

namespace {
/// What a good descriptor says.
std::uint32_t error_bits_of(mr::ReceiveError error) {
  switch (error) {
    case mr::ReceiveError::Protection: return vi::status::protection_error;
    case mr::ReceiveError::QueueEmpty:
    case mr::ReceiveError::TooSmall:  // these have none
    case mr::ReceiveError::Transport: break;
  }
  return vi::status::transport_error | vi::status::partial_error;
}

/// FC-VI 5.9.7.3.1: a descriptor of ours met it. `rdma`: an RDMA Write with Immediate Data.
Reason reason_of(mr::ReceiveError error, bool rdma) {
  switch (error) {
    case mr::ReceiveError::QueueEmpty:
    case mr::ReceiveError::TooSmall: return Reason::remote_descriptor_error;
    case mr::ReceiveError::Protection: return rdma ? Reason::rdma_protection_error : Reason::remote_descriptor_error;
    case mr::ReceiveError::Transport: break;
  }
  return Reason::transport_error;
}

/// No descriptor did: what we tell the application asynchronously (VI-DG 3.8.1), and the peer (5.9.7.3.2).
struct Told {
  vi::ErrorCode code;
  Reason reason;
};

/// VI-DG 3.8.1, ruling 253: of an RDMA Write that ends early a part is here, and that is what the consumer wants to
/// know. A frame that is here and does not belong there (`breach`) is an error of the transport. Read requests have one
/// frame: they do not end early.
Told told_of(mr::ReceiveError error, bool read, bool breach) {
  switch (error) {
    case mr::ReceiveError::QueueEmpty: return {vi::ErrorCode::RecvQEmpty, Reason::remote_descriptor_error};
    case mr::ReceiveError::TooSmall:  // of a descriptor, which tells it
    case mr::ReceiveError::Protection:
      if (read) return {vi::ErrorCode::RdmaRProt, Reason::remote_rdma_read_protection_error};
      return {vi::ErrorCode::RdmaWProt, Reason::remote_rdma_write_protection_error};
    case mr::ReceiveError::Transport: break;
  }
  return {breach ? vi::ErrorCode::RdmaTransport : vi::ErrorCode::RdmaWAbort, Reason::remote_rdma_write_packet_abort};
}
}  // namespace

// What waits in order: message_receiver_waiting.cpp. Frames that overtook others: message_receiver_epochs.cpp.

MessageReceiver::MessageReceiver(Endpoint& endpoint) : endpoint_(endpoint) {}
MessageReceiver::~MessageReceiver() = default;

MessageReceiver::Kept::Kept(MessageReceiver& receiver)
    : share(receiver.services().reorder_pool), early(share), epoch_timer(receiver) {}

MessageReceiver::Kept& MessageReceiver::keep() {
  if (kept_ == nullptr) kept_ = std::make_unique<Kept>(*this);
  return *kept_;
}

bool MessageReceiver::needs_response(bool read) const {
  return read || endpoint_.reliability == vi::ReliabilityLevel::ReliableReception;
}

std::uint32_t MessageReceiver::op_code() const {
  return message_->kind == Kind::Send ? vi::status::op_receive : vi::status::op_remote_rdma_write;
}

// --- frames in ---------------------------------------------------------------------------------------------------

void MessageReceiver::request_received(const IuFrame& iu) {
  frame_ = &iu.frame;
  if (stopped()) {
    if (mr::expects_frames(machine_))
      discard_frame();  // the model stopped the VI; the machine hears of it next
    else
      process(mr::FrameRefused{});
  } else if (!services().port.in_order()) {
    frame_in_any_order(iu);
  } else if (nothing_waits_ || takes_straight(iu.header)) {
    if (!receive_short(iu)) take_frame(iu);
  } else {
    sort_frame(iu);
  }
  frame_ = nullptr;
}

/// C.5.4, C.5.5: the server sends nothing, an answer neither, before RESP3: a message that wants one waits for the
/// RESP2 that it overtook, on an in-order fabric too, where RESP2 may be late by a fault.
bool MessageReceiver::is_before_resp2(const DeviceHeader& header) const {
  return endpoint_.awaits_resp2() && endpoint_.is_reliable() && needs_response(header.opcode == Opcode::read_rqst);
}

/// The VI and the machine stop together, but where memory ran out on the way.
bool MessageReceiver::stopped() const {
  const vi::Vi* vi = endpoint_.vi;
  return vi == nullptr || !vi->can_receive() || !is_enabled();
}

// Most messages are Sends of one frame that nothing comes back for, and their descriptor is posted. The table takes
// such a one (WholeMessageReceived, "Send, one frame") from Expecting to Expecting, and what the row's effects do is
// done here at once. All that is different in any way goes the long way; tests/fcvi/short_cuts_test.cpp compares them.
/// False: nothing has happened. Pre: as take_frame(), on an in-order fabric.
bool MessageReceiver::receive_short(const IuFrame& iu) {
  const DeviceHeader& header = iu.header;
  const bool whole = header.opcode == Opcode::send_rqst && iu.seq_cnt() == 0 && iu.frame.last_of_sequence &&
                     iu.frame.header.has(wire::f_ctl::last_sequence) && iu.offset() == 0 &&
                     iu.payload.size() == header.tot_len_or_connection_id;
  const bool immediate = header.has(wire::fcvi::message_request_flag::imm_data);
  return whole && take_short(header.msg_id, iu.payload, immediate ? std::optional(header.parameter) : std::nullopt);
}

/// As request_received(), as long as nothing has to be found out.
bool MessageReceiver::whole_send_received(const wire::fcvi::WholeSend& send, std::span<const std::uint8_t> payload) {
  if (!nothing_waits_ || !services().port.in_order() || stopped()) return false;
  return take_short(send.msg_id, payload, send.has_immediate ? std::optional(send.immediate_data) : std::nullopt);
}

bool MessageReceiver::take_short(wire::MsgId msg_id, std::span<const std::uint8_t> payload,
                                 std::optional<std::uint32_t> immediate) {
  if (msg_id != expected_ || expected_seq_cnt_ != 0 || !machine_.is<mr::Expecting>()) return false;
  if (needs_response(false) || in_epoch() || !services().takes_short_cuts()) return false;
  if (!endpoint_.vi->receive_short(payload, immediate)) return false;
  last_frame_at_ = services().now();
  ProviderCounters& counters = services().counters;
  ++counters.data_frames_received;
  counters.data_bytes_received += payload.size();
  ++counters.ius_received;
  ++counters.messages_received;
  ++counters.short_cuts;
  endpoint_.message_completed(msg_id);
  expected_ = wire::advance(expected_);
  FCVI_ASSERT_CONSISTENT(*this);
  return true;
}

/// On an out-of-order fabric the next one, always.
void MessageReceiver::take_frame(const IuFrame& iu) {
  frame_ = &iu.frame;
  if (order_by_message(iu)) {
    last_frame_at_ = services().now();
    if (iu.seq_cnt() != expected_seq_cnt_)
      wrong_seq_cnt();
    else if (machine_.is<mr::Expecting>())
      first_frame(iu);
    else
      next_frame(iu);
    if (machine_.is<mr::Refusing>()) {  // what follows it is still the rest of this message
      ++expected_seq_cnt_;
      message_->bytes_received += iu.payload.size();
      services().port.acknowledger().keep_sequence(iu.frame);  // its response tells why
    }
  }
  frame_ = nullptr;
}

/// Rules 6c, 6d: frames are missing. Out of order that alone is no error (6e), but here the offset says that none is:
/// rules 6a, 6b.
void MessageReceiver::wrong_seq_cnt() {
  if (services().port.in_order())
    process(mr::FrameLost{mr::Loss::FrameGap});
  else
    process_breach(mr::FrameLost{mr::Loss::SequenceError});
}

/// True when the frame is one of message Mexp (B.2.5 rules 4 to 6).
bool MessageReceiver::order_by_message(const IuFrame& iu) {
  const std::int32_t ahead = wire::serial_distance(expected_, iu.header.msg_id);
  if (ahead < 0) process_breach(mr::StaleMessage{.errored = is_errored(iu.header.msg_id)});
  if (ahead > 0) {
    came_instead_ = iu.header.msg_id;
    process(mr::MessageGap{.first_frame = iu.seq_cnt() == 0});
  }
  return expected_ == iu.header.msg_id;  // rule 4a c)
}

MessageReceiver::Message MessageReceiver::message_of(const IuFrame& iu) {
  const bool immediate = iu.header.has(wire::fcvi::message_request_flag::imm_data);
  Message message;
  message.kind = iu.header.opcode == Opcode::send_rqst   ? Kind::Send
                 : iu.header.opcode == Opcode::read_rqst ? Kind::Read
                 : immediate                             ? Kind::WriteImmediate
                                                         : Kind::Write;
  message.header = iu.header;
  message.ox_id = iu.ox_id();
  return message;
}

/// Of a message of one frame, as most are, nothing is to be kept.
void MessageReceiver::first_frame(const IuFrame& iu) {
  if (last_of_message(iu.frame)) {
    Message whole = message_of(iu);
    const Turn turn(*this, whole);
    return begin_message(iu, true);
  }
  if (long_message_ == nullptr) long_message_ = std::make_unique<Message>();
  message_ = long_message_.get();
  *message_ = message_of(iu);
  begin_message(iu, false);
}

void MessageReceiver::begin_message(const IuFrame& iu, bool last) {
  if (message_->kind == Kind::Read && !endpoint_.is_reliable())
    return process(mr::FrameLost{mr::Loss::SequenceError});  // 6.6.1: not allowed
  // C.5.10.1: no response before RESP3, which on an in-order fabric is lost when a message comes first (Annex F).
  if (needs_response() && endpoint_.awaits_resp3()) return process(mr::FrameLost{mr::Loss::SequenceError});
  if (!fits(iu)) return process_breach(mr::FrameLost{mr::Loss::SequenceError});
  if (const auto refused = claim()) return refuse(*refused, last);
  if (message_->kind == Kind::Read) {
    ++services().counters.ius_received;
    return process(mr::ReadRequested{});
  }
  if (!place(iu.payload)) return refuse(ReceiveError::Protection, last);
  if (last) return process(mr::WholeMessageReceived{consumes_descriptor(), needs_response()});
  process(mr::MessageStarted{});
  await_more();
}

void MessageReceiver::refuse(ReceiveError error, bool last) {
  process(mr::ClaimRefused{error, last, needs_response()});
  await_more();
}

/// The rest of the open message, or of the refused one, within R_A_TOV.
void MessageReceiver::await_more() {
  if (!machine_.is_any_of<mr::Receiving, mr::Refusing>()) return;
  services().message_exchanges.opened(endpoint_.peer_port, message_->ox_id, endpoint_.handle);
  services().scheduler.schedule_after(timer_, services().port.r_a_tov());
}

// Most frames of a long message neither begin nor end a sequence. One that goes on where the frame before ended, with
// the Device_Header of the first, is all that belongs() asks for; the table has one row for it in Receiving, whose one
// effect is PlaceData (MessageResponder.Receiving_frame_that_is_not_last_places_data_and_nothing_else). So it is
// carried out, unless somebody is told of rows.
static bool goes_on(const ReceivedMessage& message, const IuFrame& iu) {
  return !iu.frame.last_of_sequence && iu.offset() == static_cast<std::uint32_t>(message.bytes_received) &&
         iu.end() < message.length() && iu.ox_id() == message.ox_id && iu.header == message.header;
}

void MessageReceiver::next_frame(const IuFrame& iu) {
  if (machine_.is<mr::Receiving>() && goes_on(*message_, iu) && services().port.config().rows == nullptr) {
    if (!place(iu.payload)) return process(mr::MemoryLost{false, needs_response()});
    place_data();
    FCVI_ASSERT_CONSISTENT(*this);
    return;
  }
  if (!fits(iu)) return process_breach(mr::FrameLost{mr::Loss::SequenceError});
  if (machine_.is<mr::Receiving>() && !place(iu.payload))
    return process(mr::MemoryLost{last_of_message(iu.frame), needs_response()});
  process(mr::FrameReceived{last_of_message(iu.frame), consumes_descriptor(), needs_response()});
}

// What next_frame() does for each of them where goes_on() holds, which looks at nothing in which they differ but the
// end of their data. tests/fcvi/frame_runs_test.cpp compares both.
std::size_t MessageReceiver::run_received(const IuFrame& first, const fc2::FrameRun& run) {
  const bool usual = !stopped() && services().port.in_order() && nothing_waits_ && services().takes_short_cuts();
  if (!usual || !machine_.is<mr::Receiving>() || first.header.msg_id != expected_ ||
      first.seq_cnt() != expected_seq_cnt_ || !goes_on(*message_, first))
    return 0;
  const std::uint64_t left = message_->length() - message_->bytes_received;  // more than a frame's
  const std::size_t frames =
      place_run(run, static_cast<std::size_t>(std::min<std::uint64_t>(run.frames, (left - 1) / run.data_bytes)));
  if (frames == 0) return 0;
  last_frame_at_ = services().now();
  expected_seq_cnt_ = static_cast<std::uint16_t>(expected_seq_cnt_ + frames);
  message_->bytes_received += frames * run.data_bytes;
  ProviderCounters& counters = services().counters;
  counters.data_frames_received += frames;
  counters.data_bytes_received += frames * run.data_bytes;
  counters.run_frames += frames;
  FCVI_ASSERT_CONSISTENT(*this);
  return frames;
}

/// How many of the first `frames` are in their place. Where some are not, single frames find out why.
std::size_t MessageReceiver::place_run(const fc2::FrameRun& run, std::size_t frames) {
  const vi::MemoryTable::Pieces pieces{run.data, run.data_bytes, run.stride_bytes, frames};
  if (message_->kind != Kind::Send) {
    const std::uint64_t address = message_->header.rmt_va + message_->bytes_received;  // 5.8.7
    return endpoint_.vi->write_remote_pieces(message_->header.rmt_va_handle, address, pieces);
  }
  return message_->receive.data.scatter_pieces(pieces);
}

bool MessageReceiver::last_of_message(const fc2::ReceivedFrame& frame) const {
  return frame.last_of_sequence &&
         (frame.header.f_ctl & (wire::f_ctl::last_sequence | wire::f_ctl::sequence_initiative)) != 0;
}

// FC-VI 5.2.1, 5.8.7: the relative offset goes on without a gap.
bool MessageReceiver::fits(const IuFrame& iu) const {
  return iu.offset() == static_cast<std::uint32_t>(message_->bytes_received) && belongs(*message_, iu);
}

// FC-VI 5.2.1, 5.8.4, 5.8.7, 6.2 to 6.6: what stands in each frame of a message is the same, and the end comes when,
// and only when, it brings FCVI_TOT_LEN bytes to their end.
bool MessageReceiver::belongs(const Message& message, const IuFrame& iu) const {
  const DeviceHeader& first = message.header;
  const std::uint64_t length = message.length();
  const std::uint64_t received = iu.end();
  constexpr auto flags = wire::fcvi::message_request_flag::all;  // reserved bits and fields are ignored (5.9.5)
  const bool same_target = message.kind == Kind::Send ||
                           (iu.header.rmt_va == first.rmt_va && iu.header.rmt_va_handle == first.rmt_va_handle);
  const bool same =
      iu.header.opcode == first.opcode && (iu.header.flags & flags) == (first.flags & flags) && same_target &&
      iu.ox_id() == message.ox_id &&
      (iu.header.parameter == first.parameter || !first.has(wire::fcvi::message_request_flag::imm_data)) &&
      iu.header.tot_len_or_connection_id == first.tot_len_or_connection_id;
  constexpr std::uint32_t ends =
      wire::f_ctl::last_sequence | wire::f_ctl::sequence_initiative;  // either: nothing comes behind it
  const std::uint32_t right_end =
      needs_response(message.kind == Kind::Read) ? wire::f_ctl::sequence_initiative : wire::f_ctl::last_sequence;
  const bool ends_right = !iu.frame.last_of_sequence ||
                          (received == length ? iu.frame.header.has(right_end) : (iu.frame.header.f_ctl & ends) == 0);
  return same && received <= length && ends_right && (received < length || iu.frame.last_of_sequence);
}

std::optional<mr::ReceiveError> MessageReceiver::claim() {
  vi::Vi& vi = *endpoint_.vi;
  const DeviceHeader& request = message_->header;
  const std::uint32_t length = request.tot_len_or_connection_id;
  if (message_->kind == Kind::Read) {
    const bool granted =
        vi.remote_memory(request.rmt_va_handle, request.rmt_va, length, vi::Access::RemoteRead) != nullptr;
    return granted ? std::nullopt : std::optional(ReceiveError::Protection);
  }
  if (consumes_descriptor())
    if (const auto refused = claim_receive()) return refused;
  if (message_->kind == Kind::Send) return std::nullopt;
  const bool granted =
      vi.remote_memory(request.rmt_va_handle, request.rmt_va, length, vi::Access::RemoteWrite) != nullptr;
  return granted ? std::nullopt : std::optional(ReceiveError::Protection);
}

std::optional<mr::ReceiveError> MessageReceiver::claim_receive() {
  const auto work = endpoint_.vi->claim_receive(message_->receive_bytes());
  if (!work) return ReceiveError::QueueEmpty;
  return use_receive(*work);
}

std::optional<mr::ReceiveError> MessageReceiver::use_receive(const vi::ReceiveWork& work) {
  message_->receive = work;
  message_->has_receive = true;
  return work.error_bits == 0 ? std::nullopt : std::optional(ReceiveError::TooSmall);
}

bool MessageReceiver::place(std::span<const std::uint8_t> payload) {
  placed_bytes_ = payload.size();
  if (message_->kind == Kind::Send) return message_->receive.data.scatter(payload);
  const std::uint64_t address = message_->header.rmt_va + message_->bytes_received;  // 5.8.7
  return endpoint_.vi->write_remote(message_->header.rmt_va_handle, address, payload);
}

// --- the machine -------------------------------------------------------------------------------------------------

template <class E>
void MessageReceiver::process(const E& event) {
  machine_.process(event, *this);
  if (!outbox_.empty()) settle();
  FCVI_ASSERT_CONSISTENT(*this);
}
template void MessageReceiver::process(const mr::FrameLost&);
template void MessageReceiver::process(const mr::MessageGap&);
template void MessageReceiver::process(const mr::FramesOvertaken&);
template void MessageReceiver::process(const mr::ClaimRefused&);
template void MessageReceiver::process(const mr::ReadRequested&);
template void MessageReceiver::process(const mr::WholeMessageReceived&);

/// FC-VI B.2.5 rules 5a, 6b: "this is a Protocol Error".
template <class E>
void MessageReceiver::process_breach(const E& event) {
  reason_ = Reason::protocol_error;
  process(event);
  reason_.reset();
}

void MessageReceiver::settle() {
  static_assert(fsm::most_pending<mr::Def, mr::FailConnection, mr::FailConnectionTransport,
                                  mr::FailConnectionProtection, mr::ReleaseHandle> <= decltype(outbox_)::capacity);
  outbox_.drain([this](Effect effect) { carry_out(effect); });
}

void MessageReceiver::carry_out(Effect effect) {
  switch (effect.kind) {
    case Effect::Kind::FailConnection:
      return endpoint_.listener.failed(std::exchange(reason_, std::nullopt).value_or(Reason::transport_error),
                                       effect.error);
    case Effect::Kind::ReleaseHandle: return endpoint_.listener.handle_released();
  }
}

/// Frames are discarded as long as the timer says; a message that is open between frames is kept; what is closed keeps
/// nothing.
bool MessageReceiver::is_consistent() const {
  const bool is_open = machine_.is_any_of<mr::Receiving, mr::Refusing>();
  return outbox_.empty() && is_discarding() <= timer_.pending() &&
         (!is_open || (message_ != nullptr && message_ == long_message_.get())) &&
         (kept_ == nullptr || (kept_->is_consistent() && (!is_closed() || kept_->share.bytes() == 0)));
}

/// What is taken of the pool is what is kept; the timer is the epoch's.
bool MessageReceiver::Kept::is_consistent() const {
  std::uint64_t bytes = early.bytes() + epoch.seen.heap_bytes();
  for (const auto& [id, open] : epoch.open) bytes += open.charged + open.arrivals.heap_bytes();
  return bytes == share.bytes() && (epoch.active() || !epoch_timer.pending());
}

void MessageReceiver::enable() {
  expected_ = services().config.first_msg_id;  // an acceptance that came to nothing may have been enabled before
  expected_seq_cnt_ = 0;
  process(mr::ReceptionEnabled{});
}
void MessageReceiver::disable() {
  give_up_waiting();
  process(mr::ReceptionDisabled{});
}
void MessageReceiver::give_up_waiting() {
  if (kept_ == nullptr) return;
  for (; !kept_->early.empty(); kept_->early.take_first())
    services().discard(Discard::NotReceiving);  // B.2.4 rule 1 a)
  end_epoch();
}
void MessageReceiver::connection_failed() {
  give_up_waiting();
  process(mr::ConnectionFailed{});
}
void MessageReceiver::disconnected() {
  if (machine_.is_any_of<mr::Herr, mr::HerrElapsed>()) process(mr::Disconnected{});
}
void MessageReceiver::port_logged_out() { process(mr::PortLoggedOut{}); }

bool MessageReceiver::abort_received(wire::OxId ox_id) {
  if (in_epoch()) return abort_in_epoch(ox_id);
  if (!is_next(ox_id)) return false;
  process(mr::FrameLost{mr::Loss::SequenceError});  // where something waited for it, the connection ends
  return true;
}

/// The message that is open here, or the next one, of which some frames wait.
bool MessageReceiver::is_next(wire::OxId ox_id) const {
  if (machine_.is_any_of<mr::Receiving, mr::Refusing>()) return message_->ox_id == ox_id;
  if (!waits_in_order()) return false;
  return kept_->early.first().header.msg_id == expected_ && kept_->early.first().received.header.ox_id == ox_id;
}

bool MessageReceiver::is_discarding() const { return machine_.is_any_of<mr::Herr, mr::HerrDisconnected>(); }

void MessageReceiver::timer_expired() {
  if (is_discarding()) return process(mr::DiscardExpired{});
  progress_timer_expired();
}

// FC-VI 8.4.1 note 1: the next sequence of an open message is waited for, but not for ever.
void MessageReceiver::progress_timer_expired() {
  if (!machine_.is_any_of<mr::Receiving, mr::Refusing>()) return;
  const runtime::TimeNs due = last_frame_at_ + services().port.r_a_tov();
  if (services().now() < due) return services().scheduler.schedule(timer_, due);
  process(mr::FrameLost{mr::Loss::Timeout});
}

void MessageReceiver::place_data() {
  if (in_epoch()) return;  // its frames were placed, and counted, as they came
  ++expected_seq_cnt_;
  message_->bytes_received += placed_bytes_;
  ProviderCounters& counters = services().counters;
  ++counters.data_frames_received;
  counters.data_bytes_received += placed_bytes_;
  if (frame_->last_of_sequence) ++counters.ius_received;
}

void MessageReceiver::complete_receive() {
  const DeviceHeader& request = message_->header;
  const bool immediate = request.has(wire::fcvi::message_request_flag::imm_data);
  endpoint_.vi->complete_receive(message_->receive, 0, op_code(), request.tot_len_or_connection_id,
                                 immediate ? std::optional(request.parameter) : std::nullopt);
}

void MessageReceiver::fail_receive(ReceiveError error) {
  if (endpoint_.vi == nullptr) return;  // memory ran out while the connection was stopped
  vi::Vi& vi = *endpoint_.vi;
  endpoint_.note_failure(error);
  const std::uint32_t found = message_->receive.error_bits;  // in a bad descriptor
  const bool breach = reason_ == Reason::protocol_error;
  if (message_->has_receive) {
    if (!breach) reason_ = reason_of(error, message_->kind == Kind::WriteImmediate);
    return vi.complete_receive(message_->receive, found != 0 ? found : error_bits_of(error), op_code(), 0,
                               std::nullopt);
  }
  const bool read = message_->kind == Kind::Read;
  const Told told = told_of(error, read, breach);
  if (!breach) reason_ = told.reason;
  vi.report(told.code, vi::ResourceCode::Vi, 0, read ? vi::status::op_rdma_read : op_code());
}

void MessageReceiver::respond(MessageStatus status) {
  fc2::Exchange* exchange =
      services().port.open_for_reply(reply_to_ != nullptr ? *reply_to_ : *frame_, services().replies);
  if (exchange == nullptr) return;  // counted; the originator's time-out tells it
  DeviceHeader header{.handle = endpoint_.peer_handle, .opcode = Opcode::send_resp, .msg_id = message_->header.msg_id};
  header.flags = status.to_flags();
  wire::RCtl r_ctl = wire::RCtl::command_status;
  if (message_->kind == Kind::Write || message_->kind == Kind::WriteImmediate) header.opcode = Opcode::write_resp;
  if (message_->kind == Kind::Read) {  // ruling 18: one frame, no payload
    header.opcode = Opcode::read_resp;
    header.rmt_va = message_->header.rmt_va;
    header.rmt_va_handle = message_->header.rmt_va_handle;
    header.tot_len_or_connection_id = message_->header.tot_len_or_connection_id;
    r_ctl = wire::RCtl::solicited_data;
  }
  std::array<std::uint8_t, 32> bytes;
  header.write(bytes);
  services().port.send(*exchange, r_ctl, std::span(bytes).first(header.size()), {}, {.last_of_exchange = true}, 0,
                       endpoint_.cs_ctl());
  ++services().counters.ius_sent;
}

/// FC-VI Table 6: PROT_ERR is of the RDMA target or source; what is wrong with a receive descriptor, its memory
/// included, is DESC_ERR.
void MessageReceiver::refuse_message(ReceiveError error) {
  const bool of_descriptor = message_->kind == Kind::Send || error != ReceiveError::Protection;
  respond({.resp_err = true, .desc_err = of_descriptor, .prot_err = !of_descriptor});
}

void MessageReceiver::conclude_refusal() {
  refuse_message(noted_);
  fail_connection(noted_);
}

void MessageReceiver::start_read_response() {
  // More requests than any window admits (7.3): the peer does not keep to the protocol.
  nothing_waits_ = false;
  if (endpoint_.listener.read_granted(reply_to_ != nullptr ? *reply_to_ : *frame_, message_->header)) return;
  reason_ = Reason::protocol_error;
  fail_connection(ReceiveError::Transport);
}

void MessageReceiver::expect_next_message() {
  if (message_->kind != Kind::Read) endpoint_.message_completed(message_->header.msg_id);
  ++services().counters.messages_received;
  if (in_epoch()) return skip_what_is_over();
  expected_ = wire::advance(expected_);
  expected_seq_cnt_ = 0;
}

void MessageReceiver::mark_message_errored() {
  if (in_epoch()) {
    remember_errored(message_->header.msg_id, message_->header.msg_id);
    return skip_what_is_over();
  }
  remember_errored(expected_, expected_);
  expected_ = wire::advance(expected_);
  expected_seq_cnt_ = 0;
}

void MessageReceiver::mark_messages_missing(bool with_received) {
  if (in_epoch()) return skip_what_is_over();  // give_up_missing() knows which
  // Nobody asks for Merr of them: what comes of them is discarded anyway (ruling 191).
  expected_ = with_received ? wire::advance(came_instead_) : came_instead_;
  expected_seq_cnt_ = 0;
}

bool MessageReceiver::is_errored(wire::MsgId id) const {
  if (errored_ == nullptr) return false;
  const runtime::TimeNs now = services().now();
  for (const Errored& range : *errored_)
    if (now < range.until && id.value - range.first.value <= range.last.value - range.first.value) return true;
  return false;
}

void MessageReceiver::remember_errored(wire::MsgId first, wire::MsgId last) {
  const runtime::TimeNs now = services().now(), until = now + services().port.r_a_tov();
  if (errored_ == nullptr) errored_ = std::make_unique<ErroredRanges>();
  for (Errored& range : *errored_) {
    if (range.until > now) continue;
    range = {first, last, until};
    return;
  }
  // No room: one of the ranges goes on to here. Messages between were received; frames of theirs that come again are
  // discarded with the rest.
  Errored& front = errored_->front();
  if (wire::serial_less(first, front.first)) front.first = first;
  if (wire::serial_less(front.last, last)) front.last = last;
  front.until = until;
}

void MessageReceiver::discard_frame() {
  if (frame_ == nullptr) return;  // a timer told it
  services().discard(Discard::NotReceiving);
  services().port.acknowledger().abort_sequence(*frame_);  // 8.4.2 h)
}
void MessageReceiver::start_discard_timer() { services().scheduler.schedule_after(timer_, services().port.r_a_tov()); }
void MessageReceiver::stop_discard_timer() { services().scheduler.cancel(timer_); }
bool MessageReceiver::reliable() const { return endpoint_.is_reliable(); }
void MessageReceiver::on_row(const fsm::Row& row) { services().fired(row); }
void MessageReceiver::unexpected(std::string_view, std::string_view, std::string_view) { services().unexpected(); }

}  // namespace fcvi
