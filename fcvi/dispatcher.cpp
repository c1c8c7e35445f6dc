#include "fcvi/dispatcher.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "fc2_fabric/node/class_2.hpp"
#include "fc2_fabric/node/remote_port.hpp"
#include "fcvi/fc4.hpp"
#include "wire/fcvi/disconnect_resp.hpp"

namespace fcvi {
using wire::fcvi::Category;
using wire::fcvi::DeviceHeader;
using wire::fcvi::Opcode;

Dispatcher::Dispatcher(const Services& services, Connections& connections, SetupBook& setups)
    : services_(services), connections_(connections), setups_(setups) {}

void Dispatcher::begin() {
  services_.port.set_data_user(fc4, *this);
  services_.port.add_listener(*this);
}

void Dispatcher::end() {
  services_.port.remove_listener(*this);
  services_.port.remove_user(fc4.type);
}

// --- frames ------------------------------------------------------------------------------------------------------

bool Dispatcher::repeats_header(const fc2::ReceivedFrame& frame) const {
  return has_header_bytes_ && frame.header.device_header_size() == header_bytes_.size() &&
         frame.data_field.size() >= header_bytes_.size() &&
         std::memcmp(frame.data_field.data(), header_bytes_.data(), header_bytes_.size()) == 0;
}

bool Dispatcher::take_header(const fc2::ReceivedFrame& frame) {
  has_header_bytes_ = false;
  // Once: the sender may still be able to change it.
  const std::size_t told = frame.header.device_header_size();
  std::array<std::uint8_t, 64> longer;
  std::span<std::uint8_t> bytes = header_bytes_;  // nearly always
  if (told != bytes.size()) [[unlikely]]
    bytes = longer;
  bytes = bytes.first(std::min({told, frame.data_field.size(), bytes.size()}));
  std::copy_n(frame.data_field.begin(), bytes.size(), bytes.begin());
  const auto header = DeviceHeader::parse(told, bytes);
  if (!header) return false;
  header_ = *header;
  iu_ = wire::fcvi::find_iu(header_.opcode);
  has_header_bytes_ = header_.size() == header_bytes_.size() && bytes.data() == header_bytes_.data();
  return true;
}

void Dispatcher::data_frame_received(const fc2::ReceivedFrame& frame) {
  // The first frame of a message has another MSG_ID than that before.
  if ((frame.first_of_sequence || !repeats_header(frame)) && !take_header(frame))
    return discard_frame(frame, fc2::Discard::BadPayload);
  const wire::fcvi::IuInfo& iu = *iu_;
  const DeviceHeader* const header = &header_;
  if (iu.r_ctl != frame.header.r_ctl) return discard_frame(frame, fc2::Discard::BadHeader);
  Connection* connection = connections_.find(header->handle);
  if (connection == nullptr || connection->peer_port() != frame.header.s_id) {
    services_.port.acknowledger().abort_sequence(frame);  // as while it had Herr (B.2.4 rule 1 a)
    return stray_frame(frame.header.s_id);
  }
  // FQMID: the Exchange Context tells answers to us from requests of the peer (5.2.5).
  const bool answer = frame.header.has(wire::f_ctl::exchange_responder);
  if (answer != (iu.category == Category::message_response)) return discard_frame(frame, fc2::Discard::BadHeader);
  const IuFrame part{frame, *header, frame.data_field.subspan(header->size())};
  if (answer)
    connection->sender().response_received(part);
  else
    connection->receiver().request_received(part);
}

/// Of a message whose first frame was the last that came.
std::size_t Dispatcher::data_run_received(const fc2::ReceivedFrame& first, const fc2::FrameRun& run) {
  if (!repeats_header(first) || iu_->r_ctl != first.header.r_ctl) return 0;
  Connection* const connection = connections_.find(header_.handle);
  if (connection == nullptr || connection->peer_port() != first.header.s_id) return 0;
  if (first.header.has(wire::f_ctl::exchange_responder) || iu_->category == Category::message_response) return 0;
  return connection->receiver().run_received({first, header_, first.data_field.subspan(header_.size())}, run);
}

/// What data_frame_received() looks at is looked at here where it is a whole Send.
bool Dispatcher::whole_frame_received(const fc2::Frame& frame) {
  const auto send = wire::fcvi::WholeSend::read(frame.content());
  if (!send) return false;
  Connection* const connection = connections_.find(send->handle);
  if (connection == nullptr || connection->peer_port() != send->s_id) return false;
  return connection->receiver().whole_send_received(
      *send, frame.content().subspan(wire::fcvi::WholeSend::header_bytes, send->length_bytes));
}

/// It is missing in the message that its originator sends (8.4.1 c, d): 8.4.2 h. A plain ACK of the last one would tell
/// the originator that all arrived (5.5).
void Dispatcher::discard_frame(const fc2::ReceivedFrame& frame, fc2::Discard reason) {
  services_.discard(reason);
  if (!frame.header.has(wire::f_ctl::exchange_responder)) services_.port.acknowledger().abort_sequence(frame);
}

void Dispatcher::stray_frame(wire::FcId source) {
  services_.discard(Discard::UnknownHandle);
  if (source != services_.port.n_port_id())
    services_.port.deny(source);  // there is no login with oneself (FC-VI 7.7.2)
}

bool Dispatcher::abort_received(wire::FcId source, wire::OxId ox_id) {
  const auto receiver = services_.message_exchanges.find(source, ox_id);
  Connection* connection = receiver ? connections_.find(*receiver) : nullptr;
  return connection != nullptr && connection->peer_port() == source && connection->abort_received(ox_id);
}

/// Of those that only reply: an RDMA Read's data may still be sent.
void Dispatcher::exchange_failed(fc2::Exchange& exchange, fc2::ExchangeFailure failure) {
  if (auto* responder = static_cast<ReadResponder*>(exchange.context)) responder->exchange_failed(failure);
}

// --- IUs ---------------------------------------------------------------------------------------------------------

void Dispatcher::sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first,
                                   std::span<const std::uint8_t> iu) {
  const auto header = DeviceHeader::parse(first.device_header_size(), iu);
  const bool rqst = header && (header->opcode == Opcode::connect_rqst || header->opcode == Opcode::disconnect_rqst);
  if (!rqst || first.r_ctl != wire::RCtl::unsolicited_control || !exchange.has_initiative()) {
    services_.discard(header ? fc2::Discard::UnexpectedIu : fc2::Discard::BadPayload);
    return services_.port.release(exchange);
  }
  ++services_.counters.ius_received;
  if (header->opcode == Opcode::connect_rqst)
    setups_.connect_rqst_received(exchange, *header, iu.subspan(header->size()));
  else
    disconnect_rqst_received(exchange, wire::fcvi::DisconnectRqst::from(*header));
}

Connection* Dispatcher::find_disconnected(wire::FcId peer, const wire::fcvi::DisconnectRqst& request) {
  Connection* connection = connections_.find(request.handle);
  if (connection != nullptr && connection->peer_port() != peer) connection = nullptr;
  // An aborted setup by its id: the peer does not know our handle (6.12.2), or tells its own (C.5.7.2). Each end
  // numbers the set-ups that it originates: our handle with the id of its own set-up names no other, though the peer's
  // may have that id too.
  const bool named = connection != nullptr && connection->setup_id() == request.connection_id;
  ReceivedSetup* setup = request.conn_setup_abort ? setups_.find(peer, request.connection_id) : nullptr;
  if (setup != nullptr && !(named && setup->connection() != connection))
    return setup->has_endpoint() ? setup->connection() : nullptr;
  return connection;
}

void Dispatcher::disconnect_rqst_received(fc2::Exchange& exchange, const wire::fcvi::DisconnectRqst& request) {
  if (Connection* connection = find_disconnected(exchange.peer(), request))
    return connection->disconnect_rqst_received(exchange, request);
  wire::fcvi::DisconnectResp response;  // D.1 rule 3; the id as received: 5.9.10, 6.13.2 and C.5.7.2 say so
  response.conn_setup_abort = request.conn_setup_abort;
  response.vi_app_discon = request.vi_app_discon;
  response.connection_id = request.connection_id;
  response.status = {.reason = wire::fcvi::Reason::connection_does_not_exist};
  ReceivedSetup* setup = request.conn_setup_abort ? setups_.find(exchange.peer(), request.connection_id) : nullptr;
  if (setup != nullptr) {  // offered, refused or withdrawn, no VI (5.9.4.6)
    response.status = {.reason = wire::fcvi::Reason::disconnect_accept};
    setup->disconnect_received();
  }
  std::array<std::uint8_t, 32> bytes;
  response.write(bytes);
  services_.port.send(exchange, wire::RCtl::solicited_control, bytes, {}, {.last_of_exchange = true});
  ++services_.counters.ius_sent;
}

// --- logins ------------------------------------------------------------------------------------------------------

void Dispatcher::fabric_logged_in() { setups_.fabric_logged_in(); }
void Dispatcher::remote_port_logged_in(fc2::RemotePort& port) { setups_.port_logged_in(port.peer()); }
void Dispatcher::remote_port_login_failed(fc2::RemotePort& port) { setups_.port_login_failed(port.peer()); }

void Dispatcher::remote_port_logged_out(fc2::RemotePort& port) {
  const wire::FcId peer = port.peer();
  services_.connection_ids.logged_out(peer);
  services_.message_exchanges.logged_out(peer);
  connections_.port_logged_out(peer);
  setups_.port_logged_out(peer);
}

}  // namespace fcvi
