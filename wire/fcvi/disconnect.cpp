// DISCONNECT_RQST and DISCONNECT_RESP: from and to the Device_Header. Both have the same fields.
#include "wire/fcvi/disconnect_resp.hpp"
#include "wire/fcvi/disconnect_rqst.hpp"

namespace wire::fcvi {
namespace {

template <class Iu>
Iu from_header(const DeviceHeader& header) {
  assert(header.opcode == Iu::opcode);
  Iu iu{header.handle,
        header.msg_id,
        ConnectionId{header.tot_len_or_connection_id},
        header.has(disconnect_flag::conn_setup_abort),
        header.has(disconnect_flag::vi_app_discon),
        std::nullopt};
  if (header.has(disconnect_flag::conn_sts)) iu.status = ConnectionStatus::from_parameter(header.parameter);
  return iu;
}

template <class Iu>
DeviceHeader to_header(const Iu& iu) {
  const auto flags = static_cast<std::uint8_t>((iu.conn_setup_abort ? disconnect_flag::conn_setup_abort : 0) |
                                               (iu.vi_app_discon ? disconnect_flag::vi_app_discon : 0) |
                                               (iu.status ? disconnect_flag::conn_sts : 0));
  return {iu.handle,
          Iu::opcode,
          flags,
          iu.last_msg_id,
          iu.status ? iu.status->to_parameter() : 0,
          0,
          {},
          iu.connection_id.value};
}

template <class Iu>
std::string text_of_disconnect(const Iu& iu) {
  std::string line(Iu::name);
  text::append(line, "handle", to_string(iu.handle));
  text::append(line, "conn", to_string(iu.connection_id));
  text::append(line, "last_msg_id", to_string(iu.last_msg_id));
  text::append_flag(line, iu.conn_setup_abort, "conn_setup_abort");
  text::append_flag(line, iu.vi_app_discon, "vi_app_discon");
  if (iu.status) text::append(line, "status", "{" + iu.status->to_string() + "}");
  return line;
}

}  // namespace

DisconnectRqst DisconnectRqst::from(const DeviceHeader& header) { return from_header<DisconnectRqst>(header); }
DeviceHeader DisconnectRqst::to_device_header() const { return to_header(*this); }
std::string DisconnectRqst::to_string() const { return text_of_disconnect(*this); }

DisconnectResp DisconnectResp::from(const DeviceHeader& header) { return from_header<DisconnectResp>(header); }
DeviceHeader DisconnectResp::to_device_header() const { return to_header(*this); }
std::string DisconnectResp::to_string() const { return text_of_disconnect(*this); }

}  // namespace wire::fcvi
