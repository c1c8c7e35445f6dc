// The tracker: messages and their answers.
#include "tools/fcvi_sim/capture/tracker.hpp"
#include "wire/text.hpp"

namespace sim::capture {
namespace {
namespace fcvi = wire::fcvi;
using fcvi::Opcode;
using fcvi::ReliabilityLevel;
using violations::Violation;

constexpr std::size_t messages_kept = 4096;  // of each endpoint

bool is_read(Opcode opcode) { return opcode == Opcode::read_rqst; }

/// FC-VI Table 1: what answers a request.
Opcode answer_to(Opcode request) {
  if (request == Opcode::send_rqst) return Opcode::send_resp;
  return request == Opcode::write_rqst ? Opcode::write_resp : Opcode::read_resp;
}

std::string device_header_of(const IuFrame& iu) {
  const wire::Bytes bytes = iu.raw.subspan(wire::FcHeader::size());
  return {bytes.begin(), bytes.end()};
}

void compare(const Message& message, const IuFrame& iu, Record& record) {
  const fcvi::DeviceHeader &was = message.fields, &is = iu.fields;
  if (iu.last_word() != message.total)
    record.note(Violation::message_changed,
                "FCVI_TOT_LEN " + std::to_string(iu.last_word()) + ", was " + std::to_string(message.total));
  else if (is.rmt_va != was.rmt_va)
    record.note(Violation::message_changed, "FCVI_RMT_VA");
  else if (is.rmt_va_handle != was.rmt_va_handle)
    record.note(Violation::message_changed, "FCVI_RMT_VA_HANDLE");
  else if (is.flags != was.flags || is.parameter != was.parameter)
    record.note(Violation::message_changed, "Immediate Data");
}

void learn_level(Connection& connection, const IuFrame& iu) {
  if (connection.level || !iu.ends_sequence() || is_read(iu.opcode())) return;
  if (iu.gives_initiative() && !iu.last_sequence())
    connection.level = ReliabilityLevel::reliable_reception;
  else if (iu.last_sequence())
    connection.without_response = true;
}

/// FC-VI 5.8.4: a request that is not answered ends its Exchange; one that is answered passes the initiative.
void end_of_request(const Message& message, const IuFrame& iu, Record& record) {
  Connection& connection = *message.to->connection;
  learn_level(connection, iu);
  if (!iu.ends_sequence() || !iu.carries_data() || !connection.level) return;
  const bool owes_response = connection.level == ReliabilityLevel::reliable_reception;
  if (owes_response && iu.last_sequence())
    record.note(Violation::wrong_f_ctl, "Last_Sequence, but a response is owed");
  else if (!owes_response && iu.gives_initiative() && !iu.last_sequence())
    record.note(Violation::wrong_f_ctl, "Sequence Initiative is transferred, but there is no response");
}

void preference(const IuFrame& iu, const Endpoint* from, Record& record) {
  if (from == nullptr || !from->attributes) return;
  const bool wanted = from->attributes->qos.pref == fcvi::Qos::preference;
  if (((iu.header.cs_ctl & wire::cs_ctl_preference) != 0) != wanted)
    record.note(Violation::wrong_preference, wanted ? "PREF is not set" : "PREF is set");
}

/// The receiver does not take it.
void not_taken(const Message& message, Record& record) {
  if (!message.to->attributes) return;
  const fcvi::Attributes& attributes = *message.to->attributes;
  if (is_read(message.opcode) && !attributes.rdma_read_enabled)
    record.note(Violation::not_allowed, "the receiver does not take RDMA Reads");
  else if (message.opcode == Opcode::write_rqst && !attributes.rdma_write_enabled)
    record.note(Violation::not_allowed, "the receiver does not take RDMA Writes");
  else if (message.total > attributes.max_transfer_size)
    record.note(Violation::too_large, std::to_string(message.total) + " bytes, FCVI_MAX_TRANS_SIZE is " +
                                          std::to_string(attributes.max_transfer_size));
}

bool is_complete(const Message& message) {
  for (const auto& flow : message.flows)
    if (flow && (flow->complete || flow->headless)) return true;
  return false;
}

void judge_read_answer(const Message& message, const IuFrame& iu, Record& record) {
  if (iu.fields.rmt_va != message.fields.rmt_va)
    record.note(Violation::wrong_answer, "FCVI_RMT_VA");
  else if (iu.fields.rmt_va_handle != message.fields.rmt_va_handle)
    record.note(Violation::wrong_answer, "FCVI_RMT_VA_HANDLE");
  else if (iu.last_word() != message.total)
    record.note(Violation::wrong_answer,
                "FCVI_TOT_LEN " + std::to_string(iu.last_word()) + ", asked for " + std::to_string(message.total));
  if (iu.resp_err() && iu.payload != 0)
    record.note(Violation::wrong_payload_length, std::to_string(iu.payload) + " bytes in an error");
}

void judge_response(const Message& message, const IuFrame& iu, Record& record) {
  const auto& level = message.to->connection->level;
  const bool read = is_read(message.opcode);
  if (iu.fields.msg_id.value != message.id)
    record.note(Violation::wrong_answer, "FCVI_MSG_ID " + std::to_string(iu.fields.msg_id.value) +
                                             ", the request's is " + std::to_string(message.id));
  else if (!read && level && *level != ReliabilityLevel::reliable_reception)
    record.note(Violation::unexpected_response, std::string(to_string(*level)));
  else if (message.answered != 0 && !read)
    record.note(Violation::repeated_answer, "in frame " + std::to_string(message.answered));
  else if (!iu.resp_err() && !is_complete(message))
    record.note(Violation::early_response, "message " + std::to_string(message.id) + " is not complete");
  if (read) judge_read_answer(message, iu, record);
}

void answer(Message& message, const Record& record) {
  if (message.answered != 0) return;
  message.answered = record.number;
  Endpoint& to = *message.to;
  if (to.connection->level == ReliabilityLevel::reliable_reception && to.open > 0) --to.open;
}

}  // namespace

// --- requests

void Tracker::allowed(const Message& message, const IuFrame& iu, Record& record) const {
  Endpoint& to = *message.to;
  const Connection& connection = *to.connection;
  if (connection.level == ReliabilityLevel::unreliable_delivery && is_read(iu.opcode()))
    record.note(Violation::not_allowed, "an RDMA Read at unreliable_delivery");
  else
    not_taken(message, record);
  if (to.peer != nullptr && to.peer->closed != 0 && in_order_)
    record.note(Violation::after_disconnect, "it was in frame " + std::to_string(to.peer->closed));
  // Every message is answered at Reliable Reception: so many may be open.
  if (connection.level != ReliabilityLevel::reliable_reception) return;
  ++to.open;
  if (connection.window && to.open > *connection.window)
    record.note(Violation::window,
                std::to_string(to.open) + " open, the window is " + std::to_string(*connection.window));
}

Tracker::MessagePtr Tracker::new_message(const IuFrame& iu, Endpoint* to, const Record& record) {
  auto message = std::make_shared<Message>();
  message->index = ++message_count_;
  message->id = iu.fields.msg_id.value;
  message->opcode = iu.opcode();
  message->iu = iu.iu;
  message->to = to;
  message->number = record.number;
  message->time = record.time;
  message->total = iu.last_word();
  message->fields = iu.fields;
  message->header = device_header_of(iu);
  message->begun = iu.header.seq_cnt.value == 0 && iu.header.parameter == 0;
  to->messages[message->id] = message;
  if (to->messages.size() > messages_kept) to->messages.erase(to->messages.begin());
  return message;
}

Endpoint* Tracker::receiver_of(const IuFrame& iu, Record& record) {
  const std::uint32_t handle = iu.fields.handle.value;
  if (iu.fields.handle == wire::FcviHandle::unassigned) {
    record.note(Violation::wrong_handle, "FFFFFFFFh is not assigned");
    return nullptr;
  }
  if (Endpoint* to = endpoint(iu.header.d_id.value, handle); to != nullptr) {
    if (to->peer == nullptr || to->peer->port == iu.header.s_id.value) return to;
    record.note(Violation::unknown_handle,
                to_string(iu.fields.handle) + " is of a connection with " + to_string(wire::FcId{to->peer->port}));
    return nullptr;
  }
  if (!is_whole(iu.header)) return implied_endpoint(iu.header.d_id.value, handle);
  record.note(Violation::unknown_handle, to_string(iu.fields.handle));
  return nullptr;
}

void Tracker::continue_request(const MessagePtr& message, const IuFrame& iu, Record& record, View view) {
  record.message = message;
  preference(iu, message->to->peer, record);
  end_of_request(*message, iu, record);
  record.own_notes = record.notes.size();
  record.has_own_notes = true;
  request_in_view(*message, iu, view, record);
  record.open = message->to->open;
}

void Tracker::message_request(const IuFrame& iu, Record& record, View view) {
  Endpoint* to = receiver_of(iu, record);
  ExchangePtr& exchange = exchange_of(iu.header);
  if (to == nullptr) {
    exchange = new_exchange(iu, record);
    exchange->unknown = true;
    return;
  }
  MessagePtr message = exchange ? exchange->message : nullptr;
  if (!message || message->id != iu.fields.msg_id.value || message->to != to || message->opcode != iu.opcode()) {
    message = new_message(iu, to, record);
    exchange = new_exchange(iu, record);
    exchange->message = message;
    exchange->words = "msg " + std::to_string(message->id);
    allowed(*message, iu, record);
  } else {
    compare(*message, iu, record);
  }
  record.exchange = exchange;
  continue_request(message, iu, record, view);
}

// --- answers

void Tracker::response_without_request(const IuFrame& iu, Record& record, const ExchangePtr& exchange) {
  const MessagePtr message = exchange ? exchange->message : nullptr;
  if (message)
    record.note(Violation::no_request, std::string(message->iu->name) + " is answered by " +
                                           std::string(to_string(answer_to(message->opcode))));
  else if (is_whole(iu.header))
    record.note(Violation::no_request);
  else if (endpoint(iu.header.d_id.value, iu.fields.handle.value) == nullptr && !(exchange && exchange->unknown))
    record.connection = implied_endpoint(iu.header.d_id.value, iu.fields.handle.value)->connection;
}

void Tracker::message_response(const IuFrame& iu, Record& record, View view) {
  const ExchangePtr exchange = exchange_of(iu.header);
  const MessagePtr message = exchange ? exchange->message : nullptr;
  if (!message || answer_to(message->opcode) != iu.opcode()) return response_without_request(iu, record, exchange);
  Endpoint& to = *message->to;  // of the request, which is who answers
  record.message = message;
  record.answers = true;
  record.exchange = exchange;
  record.request = exchange->number;
  record.request_time = exchange->time;
  if (to.peer == nullptr)
    learn_peer(&to, iu.header.d_id.value, iu.fields.handle.value, record);
  else if (to.peer->handle != iu.fields.handle.value)
    record.note(Violation::wrong_handle,
                to_string(iu.fields.handle) + ", the originator's is " + to_string(wire::FcviHandle{to.peer->handle}));
  if (!is_read(message->opcode) && !to.connection->level) to.connection->level = ReliabilityLevel::reliable_reception;
  preference(iu, &to, record);
  judge_response(*message, iu, record);
  answer(*message, record);
  record.own_notes = record.notes.size();
  record.has_own_notes = true;
  if (!iu.carries_data()) return;
  if (message->answer_header.empty() && record.notes.empty()) {
    message->answer_iu = iu.iu;
    message->answer_header = device_header_of(iu);
  }
  response_in_view(*message, iu, view, record);
}

// --- nearly all frames of a long message have the Device_Header of its first one: what was found in that holds for
// them

Tracker::MessagePtr Tracker::continued(IuFrame& iu) {
  const ExchangePtr exchange = exchange_of(iu.header);
  const MessagePtr message = exchange ? exchange->message : nullptr;
  if (!message) return nullptr;
  const std::string& header = iu.responder() ? message->answer_header : message->header;
  const fcvi::IuInfo* info = iu.responder() ? message->answer_iu : message->iu;
  if (header.empty() || info == nullptr || info->payload != fcvi::Payload::message_data) return nullptr;
  if (iu.header.r_ctl != info->r_ctl || iu.data.size() < info->device_header_size) return nullptr;
  if (device_header_of(iu) != header) return nullptr;
  read_device_header(iu);
  return iu.has_header ? message : nullptr;
}

void Tracker::continue_message(const MessagePtr& message, const IuFrame& iu, Record& record, View view) {
  check::f_ctl(iu, record);
  record.exchange = exchange_of(iu.header);
  if (!iu.responder()) return continue_request(message, iu, record, view);
  record.message = message;
  record.answers = true;
  record.request = message->number;
  record.request_time = message->time;
  preference(iu, message->to, record);
  record.own_notes = record.notes.size();
  record.has_own_notes = true;
  response_in_view(*message, iu, view, record);
}

}  // namespace sim::capture
