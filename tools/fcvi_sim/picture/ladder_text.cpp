// The words of a ladder diagram: from frames to short texts.
#include <algorithm>
#include <utility>

#include "tools/fcvi_sim/picture/ladder.hpp"
#include "settings/units.hpp"
#include "wire/header_fields.hpp"
#include "wire/messages.hpp"
#include "wire/text.hpp"

namespace sim {
using namespace settings;
namespace {
namespace fcvi = wire::fcvi;
namespace els = wire::els;

class Fields {
 public:
  Fields& add(std::string_view text) {
    line_.append(line_.empty() ? "" : ", ").append(text);
    return *this;
  }
  Fields& add_if(bool condition, std::string_view text) { return condition ? add(text) : *this; }
  [[nodiscard]] std::string take() { return std::move(line_); }

 private:
  std::string line_;
};

std::string id_text(wire::ConnectionId id) {
  return id == wire::ConnectionId::unassigned ? "id unassigned" : "id " + to_string(id);
}

/// Without a status RESP1 accepts; RESP2 and RESP3 confirm that, or where they name no endpoint that nothing came of
/// it (FC-VI 5.3.3).
std::string meaning(const fcvi::ConnectResp1& resp) {
  return resp.status ? std::string(to_string(resp.status->reason)) : "accepted";
}
std::string meaning(const auto& resp) {
  if (resp.status) return std::string(to_string(resp.status->reason));
  return resp.handle == wire::FcviHandle::unassigned ? "no connection" : "acknowledged";
}

std::string hex32(std::uint32_t value) { return wire::text::hex_h(value, 8); }

template <class Message>
std::string setup_answer(const Message& message) {
  return Fields().add(id_text(message.connection_id)).add(meaning(message)).add_if(message.retry, "RETRY").take();
}

std::string connect_rqst(const fcvi::ConnectRqst& rqst) {
  const auto& discriminator = rqst.payload.remote_address.discriminator;
  std::size_t length = 0;
  while (length < 24 && discriminator[length] != 0) ++length;
  return Fields()
      .add(id_text(rqst.connection_id))
      .add(to_string(rqst.payload.local_attributes.reliability_level))
      .add(wire::text::quoted(wire::Bytes(discriminator).first(length)))
      .add_if(rqst.retry, "RETRY")
      .take();
}

std::string disconnect_rqst(const fcvi::DeviceHeader& header) {
  namespace flag = fcvi::disconnect_flag;
  return Fields()
      .add_if(header.has(flag::conn_setup_abort), "aborts a set-up")
      .add_if(header.has(flag::vi_app_discon), "by the application")
      .add_if(header.has(flag::conn_sts), to_string(fcvi::ConnectionStatus::from_parameter(header.parameter).reason))
      .take();
}

/// Its other flags are those of the request.
std::string disconnect_resp(const fcvi::DeviceHeader& header) {
  const auto status = fcvi::ConnectionStatus::from_parameter(header.parameter);
  return header.has(fcvi::disconnect_flag::conn_sts) ? std::string(to_string(status.reason)) : "";
}

std::string message_rqst(const fcvi::DeviceHeader& header) {
  namespace flag = fcvi::message_request_flag;
  Fields fields;
  fields.add("msg " + std::to_string(header.msg_id.value));
  if (header.opcode != fcvi::Opcode::send_rqst) fields.add("at " + wire::text::hex(header.rmt_va, 12) + "h");
  if (header.opcode != fcvi::Opcode::read_rqst && header.has(flag::imm_data))
    fields.add("imm " + hex32(header.parameter));
  if (header.opcode == fcvi::Opcode::read_rqst) fields.add("for " + format_bytes(header.tot_len_or_connection_id));
  return fields.take();
}

std::string message_resp(const fcvi::DeviceHeader& header) {
  const auto status = fcvi::MessageStatus::from_flags(header.flags);
  return Fields().add("msg " + std::to_string(header.msg_id.value)).add_if(!status.ok(), to_string(status)).take();
}

std::string fcvi_fields(std::size_t header_size, wire::Bytes data_field) {
  const auto header = fcvi::DeviceHeader::parse(header_size, data_field);
  if (!header) return "malformed";
  switch (header->opcode) {
    case fcvi::Opcode::connect_rqst:
      if (const auto rqst = fcvi::ConnectRqst::parse(header_size, data_field)) return connect_rqst(*rqst);
      return "";
    case fcvi::Opcode::connect_resp1:
      if (const auto resp = fcvi::ConnectResp1::parse(header_size, data_field)) return setup_answer(*resp);
      return "";
    case fcvi::Opcode::connect_resp2: return setup_answer(fcvi::ConnectResp2::from(*header));
    case fcvi::Opcode::connect_resp3: return setup_answer(fcvi::ConnectResp3::from(*header));
    case fcvi::Opcode::disconnect_rqst: return disconnect_rqst(*header);
    case fcvi::Opcode::disconnect_resp: return disconnect_resp(*header);
    case fcvi::Opcode::send_rqst:
    case fcvi::Opcode::write_rqst:
    case fcvi::Opcode::read_rqst: return message_rqst(*header);
    case fcvi::Opcode::send_resp:
    case fcvi::Opcode::write_resp:
    case fcvi::Opcode::read_resp: return message_resp(*header);
  }
  return "";
}

template <class Message>
std::string farp_fields(wire::Bytes payload) {
  const auto farp = Message::parse(payload);
  return farp ? to_string(farp->responding_ip) + " asked by " + to_string(farp->requesting_ip) : "malformed";
}

std::string els_fields(wire::Bytes payload) {
  if (payload.empty()) return "malformed";
  switch (els::command_of(payload)) {
    case els::Command::flogi:
    case els::Command::plogi:
      if (const auto login = els::Login::parse(payload)) return "Port_Name " + to_string(login->port_name);
      return "malformed";
    case els::Command::farp_req: return farp_fields<els::FarpRequest>(payload);
    case els::Command::farp_reply: return farp_fields<els::FarpReply>(payload);
    case els::Command::ls_rjt:
      if (const auto reject = els::LsRjt::parse(payload)) return std::string(to_string(reject->reason));
      return "malformed";
    default: return "";  // every other command: its name says enough
  }
}

template <class Message>
std::string address_of(wire::Bytes payload) {
  const auto message = Message::parse(payload);
  return message ? to_string(message->ip_address) : "malformed";
}

std::string ct_fields(wire::Bytes payload) {
  const auto header = wire::ct::CtHeader::parse(payload);
  if (!header) return "malformed";
  if (header->command == wire::ct::Command::ripp_id) return address_of<wire::ct::RippId>(payload);
  if (header->command == wire::ct::Command::gid_ipp) return address_of<wire::ct::GidIpp>(payload);
  return "";
}

RowKind fcvi_kind(wire::Bytes data_field) {
  const auto* row = fcvi::has_opcode(data_field) ? fcvi::find_iu(fcvi::opcode_of(data_field)) : nullptr;
  if (row == nullptr) return RowKind::Other;
  switch (row->category) {
    case fcvi::Category::message_request: return RowKind::Data;
    case fcvi::Category::message_response:
      return row->opcode == fcvi::Opcode::read_resp ? RowKind::Data : RowKind::Response;
    case fcvi::Category::connect_request:
    case fcvi::Category::connect_response: break;
  }
  const bool end = row->opcode == fcvi::Opcode::disconnect_rqst || row->opcode == fcvi::Opcode::disconnect_resp;
  return end ? RowKind::Teardown : RowKind::Setup;
}

}  // namespace

std::string_view to_string(RowKind kind) {
  switch (kind) {
    case RowKind::Login: return "login";
    case RowKind::Naming: return "address resolution";
    case RowKind::Setup: return "connection setup";
    case RowKind::Data: return "message data";
    case RowKind::Response: return "response";
    case RowKind::Teardown: return "disconnect, logout";
    case RowKind::Abort: return "abort, reject";
    case RowKind::Acknowledge: return "acknowledgement";
    case RowKind::Other: return "other";
  }
  return "?";
}

RowKind kind_of(const wire::FcHeader& header, wire::Bytes data_field) {
  if (header.r_ctl == wire::RCtl::ack_1 || header.r_ctl == wire::RCtl::ack_0) return RowKind::Acknowledge;
  const unsigned routing = static_cast<unsigned>(header.r_ctl) >> 4;
  if (routing == 0x8 || routing == 0xC) return RowKind::Abort;
  if (header.type == wire::Type::fc_vi) return fcvi_kind(data_field);
  if (header.type == wire::Type::ct) return RowKind::Naming;
  if (header.type != wire::Type::els || data_field.empty()) return RowKind::Other;
  const auto command = els::command_of(data_field);
  if (command == els::Command::logo) return RowKind::Teardown;
  if (command == els::Command::ls_rjt) return RowKind::Abort;
  const bool farp = command == els::Command::farp_req || command == els::Command::farp_reply;
  return farp ? RowKind::Naming : RowKind::Login;
}

std::string amount_text(const LadderRow& row) {
  std::string text;
  if (row.frames > 1) text = "×" + format_count(row.frames) + " frames";
  if (row.bytes > 0 && (row.row_kind == RowKind::Data || row.frames > 1))
    text.append(text.empty() ? "" : ", ").append(format_bytes(row.bytes));
  return text;
}

std::string note_text(const LadderRow& row) {
  if (row.lost_frames == 0 || row.frames < 2) return row.note;
  return format_count(row.lost_frames) + " of them " + row.note;
}

std::string gap_text(const LadderRow& row) {
  std::string text = "… ";
  bool first = true;
  for (const auto& [name, count] : row.hidden) {
    text.append(first ? "" : ", ").append(format_count(count)).append(" more ").append(name);
    first = false;
  }
  return text.append(" · ")
      .append(format_count(row.frames))
      .append(" frames, ")
      .append(format_bytes(row.bytes))
      .append(row.note.empty() ? "" : " · ")
      .append(row.note)
      .append(" …");
}

std::string RowTimes::text(runtime::TimeNs at) {
  const std::string text = format_duration(at - start_);
  const bool same = text == std::exchange(last_text_, text);
  const runtime::TimeNs later = at - std::exchange(last_at_, at);
  relative_ = same && (later > 0 || relative_);
  return relative_ ? "+" + format_duration(later) : text;
}

std::string short_fields(const wire::FcHeader& header, wire::Bytes data_field) {
  if (header.type == wire::Type::fc_vi) return fcvi_fields(header.device_header_size(), data_field);
  if (header.type == wire::Type::els) return els_fields(data_field);
  if (header.type == wire::Type::ct) return ct_fields(data_field);
  return "";
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace sim
