// CONNECT_RQST and CONNECT_RESP1, 2, 3: from and to the Device_Header.
#include "wire/fcvi/connect_resp1.hpp"
#include "wire/fcvi/connect_resp2.hpp"
#include "wire/fcvi/connect_resp3.hpp"
#include "wire/fcvi/connect_rqst.hpp"

namespace wire::fcvi {
namespace {

template <class Iu>
Result<Iu> parse_with_payload(std::size_t df_size, Bytes data_field) {
  const auto header = DeviceHeader::parse(df_size, data_field);
  if (!header) return header.error();
  if (header->opcode != Iu::opcode) return ParseError{ParseCode::unexpected_opcode, "opcode"};
  return Iu::from(*header, data_field.subspan(Iu::device_header_bytes));
}

std::optional<ConnectionStatus> status_of(const DeviceHeader& header) {
  if (!header.has(connect_response_flag::conn_sts)) return std::nullopt;
  return ConnectionStatus::from_parameter(header.parameter);
}

std::uint8_t response_flags(bool retry, bool conn_info, bool conn_sts) {
  return static_cast<std::uint8_t>((retry ? connect_response_flag::retry : 0) |
                                   (conn_info ? connect_response_flag::conn_info : 0) |
                                   (conn_sts ? connect_response_flag::conn_sts : 0));
}

DeviceHeader response_header(Opcode opcode, FcviHandle handle, ConnectionId connection_id, std::uint8_t flags,
                             const std::optional<ConnectionStatus>& status) {
  return {handle, opcode, flags, MsgId{0}, status ? status->to_parameter() : 0, 0, {}, connection_id.value};
}

void append_common(std::string& line, ConnectionId connection_id, bool retry,
                   const std::optional<ConnectionStatus>& status) {
  text::append(line, "conn", to_string(connection_id));
  text::append_flag(line, retry, "retry");
  if (status)
    text::append(line, "status", "{" + status->to_string() + "}");
  else
    line += " accept";
}

void append_payload(std::string& line, const ConnectPayload& payload) {
  text::append(line, "handle", to_string(payload.handle));
  text::append(line, "local", payload.local_address.to_string());
  text::append(line, "remote", payload.remote_address.to_string());
  text::append(line, "reliability", codec::text_of(payload.local_attributes.reliability_level, 8));
  text::append(line, "max_transfer_size", std::to_string(payload.local_attributes.max_transfer_size));
  text::append_flag(line, payload.connect_info.has_value(), "connect_info");
}

template <class Response>
Response short_response(const DeviceHeader& header) {
  assert(header.opcode == Response::opcode);
  return {header.handle, ConnectionId{header.tot_len_or_connection_id}, header.has(connect_response_flag::retry),
          status_of(header)};
}

template <class Response>
std::string short_text(const Response& response) {
  std::string line(Response::name);
  append_common(line, response.connection_id, response.retry, response.status);
  text::append(line, "handle", to_string(response.handle));
  return line;
}

}  // namespace

Result<ConnectRqst> ConnectRqst::parse(std::size_t df_size, Bytes data_field) {
  return parse_with_payload<ConnectRqst>(df_size, data_field);
}

Result<ConnectRqst> ConnectRqst::from(const DeviceHeader& header, Bytes payload) {
  assert(header.opcode == opcode);
  auto parsed = ConnectPayload::parse(payload, header.has(connect_request_flag::conn_info));
  if (!parsed) return parsed.error();
  return ConnectRqst{ConnectionId{header.tot_len_or_connection_id}, header.has(connect_request_flag::retry),
                     static_cast<ConnectMode>(header.flags & connect_request_flag::mode_mask), *parsed};
}

DeviceHeader ConnectRqst::to_device_header() const {
  const auto flags = static_cast<std::uint8_t>((retry ? connect_request_flag::retry : 0) |
                                               (payload.connect_info ? connect_request_flag::conn_info : 0) |
                                               (static_cast<std::uint8_t>(mode) & connect_request_flag::mode_mask));
  return {FcviHandle::unassigned, opcode, flags, MsgId{0}, 0, 0, {}, connection_id.value};
}

void ConnectRqst::write(MutableBytes to) const {
  to_device_header().write(to);
  payload.write(to.subspan(device_header_bytes));
}

std::string ConnectRqst::to_string() const {
  std::string line(name);
  text::append(line, "conn", wire::to_string(connection_id));
  text::append_flag(line, retry, "retry");
  text::append(line, "mode", codec::text_of(mode, 3));
  append_payload(line, payload);
  return line;
}

Result<ConnectResp1> ConnectResp1::parse(std::size_t df_size, Bytes data_field) {
  return parse_with_payload<ConnectResp1>(df_size, data_field);
}

Result<ConnectResp1> ConnectResp1::from(const DeviceHeader& header, Bytes payload) {
  assert(header.opcode == opcode);
  auto parsed = ConnectPayload::parse(payload, header.has(connect_response_flag::conn_info));
  if (!parsed) return parsed.error();
  return ConnectResp1{ConnectionId{header.tot_len_or_connection_id}, header.has(connect_response_flag::retry),
                      status_of(header), *parsed};
}

DeviceHeader ConnectResp1::to_device_header() const {
  return response_header(opcode, FcviHandle::unassigned, connection_id,
                         response_flags(retry, payload.connect_info.has_value(), status.has_value()), status);
}

void ConnectResp1::write(MutableBytes to) const {
  to_device_header().write(to);
  payload.write(to.subspan(device_header_bytes));
}

std::string ConnectResp1::to_string() const {
  std::string line(name);
  append_common(line, connection_id, retry, status);
  append_payload(line, payload);
  return line;
}

ConnectResp2 ConnectResp2::from(const DeviceHeader& header) { return short_response<ConnectResp2>(header); }
DeviceHeader ConnectResp2::to_device_header() const {
  return response_header(opcode, handle, connection_id, response_flags(retry, false, status.has_value()), status);
}
std::string ConnectResp2::to_string() const { return short_text(*this); }

ConnectResp3 ConnectResp3::from(const DeviceHeader& header) { return short_response<ConnectResp3>(header); }
DeviceHeader ConnectResp3::to_device_header() const {
  return response_header(opcode, handle, connection_id, response_flags(retry, false, status.has_value()), status);
}
std::string ConnectResp3::to_string() const { return short_text(*this); }

}  // namespace wire::fcvi
