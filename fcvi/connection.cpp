#include "fcvi/connection.hpp"

#include <algorithm>
#include <utility>

#include "fc2_fabric/node/remote_port.hpp"
#include "fcvi/core.hpp"
#include "fcvi/originated_setup.hpp"
#include "fcvi/peer_request.hpp"
#include "fcvi/received_setup.hpp"
#include "wire/fcvi/disconnect_resp.hpp"

namespace fcvi {
namespace dr = machines::disconnect_responder;
namespace ve = machines::vi_endpoint;
using machines::message_responder::ReceiveError;
using wire::fcvi::Reason;

namespace {
/// FC-VI 5.9.7.3.1, ruling 201. Table 12 has no code for the others.
std::optional<Reason> reason_of(vi::StopCause cause) {
  return cause == vi::StopCause::Descriptor ? std::optional(Reason::remote_descriptor_error) : std::nullopt;
}
}  // namespace

Connection::Connection(Core& core, vi::Vi& vi, wire::FcviHandle handle)
    : core_(core), vi_(&vi), handle_(handle), reliability_(vi.attributes().reliability), options_(core.options_of(vi)),
      sender_(*this), receiver_(*this) {
  vi.transport_context = this;
  responder_.process(dr::SetupOpened{}, *this);
}

Connection::~Connection() = default;

// --- set-up ------------------------------------------------------------------------------------------------------

void Connection::set_setup(OriginatedSetup* originated, ReceivedSetup* received) {
  originated_ = originated;
  received_ = received;
}

void Connection::detach_setup() {
  set_setup(nullptr, nullptr);
  set_peer_port({});  // its logout is not ours any more
}

void Connection::set_peer_port(wire::FcId port) {
  peer_port_ = port;
  peer_ = port == wire::FcId{} ? fc2::PortUse{} : fc2::PortUse(core_.port().remote_port(port));
}

void Connection::set_peer(wire::FcviHandle handle, const wire::fcvi::Attributes& attributes) {
  peer_handle_ = handle;
  // FC-VI 7.3: at most N + 1 messages are open on this VI; the smaller of both ends' N binds.
  const std::uint32_t depth = std::min(core_.config().pipeline_depth, attributes.qos.pipeline_depth);
  window_ = std::min<std::uint32_t>(depth, 4095) + 1;
}

bool Connection::class_2() { return options_.class_2 && core_.port().remote_port(peer_port_).supports_class_2(); }

void Connection::endpoint_retrying() {
  if (!std::exchange(retried_, true)) feed(ve::SetupRetried{});
}

void Connection::allow_send_completions() {
  clear_to_send_ = true;
  sender_.clear_to_send();
  receiver_.resp3_received();
}

void Connection::setup_released(const OriginatedSetup* originated, const ReceivedSetup* received) {
  if (originated_ == originated) originated_ = nullptr;
  if (received_ == received) received_ = nullptr;
  release_if_unused();
}

void Connection::release_if_unused() {
  if (vi_ != nullptr || originated_ != nullptr || received_ != nullptr || !receiver_.is_closed()) return;
  if (!std::exchange(retired_, true)) core_.retire(*this);
}

// --- the endpoint ------------------------------------------------------------------------------------------------

void Connection::follow() {
  const vi::State now = vi_->state();
  const bool receiving = vi_->can_receive();
  if (receiving && !receiving_) receiver_.enable();
  if (now == vi::State::Error)
    stop();
  else if (!receiving && receiving_)
    receiver_.disable();  // no connection came of what was received since RESP1 (C.5.5)
  receiving_ = receiving;
  if (now == vi::State::Connected) {  // it has become so: no event that is fed keeps a Connected VI Connected
    connected_once_ = true;
    ++core_.counters.connections_made;
    responder_.process(dr::ConnectionEstablished{}, *this);
  }
}

/// The endpoint is in Error: nothing flows any more (8.1), frames are discarded for R_A_TOV (8.4.2 f).
void Connection::stop() {
  if (std::exchange(stopped_, true)) return;
  receiving_ = false;
  stop_ending();
  sender_.connection_ended();
  if (read_responder_ != nullptr) read_responder_->clear();
  receiver_.connection_failed();
  // Where its own row took the endpoint to Error, the row's target says so already.
  if (!responder_.processing()) responder_.process(dr::EndpointErrored{}, *this);
  if (originated_ != nullptr) originated_->endpoint_errored();
  if (received_ != nullptr) received_->endpoint_errored();
}

bool Connection::answer_read(const fc2::ReceivedFrame& frame, const wire::fcvi::DeviceHeader& request) {
  if (read_responder_ == nullptr) read_responder_ = std::make_unique<ReadResponder>(*this);
  return read_responder_->add(frame, request);
}

bool Connection::abort_received(wire::OxId ox_id) {
  return receiver_.abort_received(ox_id) || (read_responder_ != nullptr && read_responder_->abort_received(ox_id));
}

void Connection::stopped_by_model(vi::StopCause cause) {
  stop_cause_ = cause;
  if (!connected_once_ && received_ == nullptr) return stop_now();  // nothing flows that could be in the midst
  core_.scheduler().schedule(stop_later_, core_.scheduler().now());
}

EndCause Connection::end_cause() const {
  switch (ended_) {
    case Ended::No: return {};
    case Ended::ByUs: return {"VipDisconnect was called here"};
    case Ended::NoReceive: return {"the peer sent a message for which no receive was posted here"};
    case Ended::TooLong:
      return {"the peer sent a message that was longer than its receive here, or the receive was not valid"};
    case Ended::Protection: return {"the peer's message met memory here that is not registered for it"};
    case Ended::Transport:
      return {"frames or answers of the peer did not come in time, or not as they should (transport error)"};
    case Ended::Descriptor: return {"a descriptor of this VI failed before"};
    case Ended::PeerLeft: return {"the peer disconnected", true};
    case Ended::PeerGone: return {"the peer's port left the fabric: its process ended, or its link", true};
    case Ended::LinkLost: return {"the link of this NIC to its fabric was lost"};
    case Ended::PeerTransport:
      return {"the peer ended the connection: it missed frames or answers of ours (Transport Error, 40h)"};
    case Ended::PeerProtection:
      return {
          "the peer ended the connection: an RDMA of ours named memory that it does not allow (RDMA Protection Error)"};
    case Ended::PeerDescriptor:
      return {
          "the peer ended the connection: it had no receive for a message of ours, or one that did not fit "
          "(Remote Descriptor Error, 42h)"};
    case Ended::PeerProtocol: return {"the peer ended the connection: another error of it or of the protocol"};
  }
  return {};
}

Connection::Ended Connection::ended_by(ReceiveError error) {
  switch (error) {
    case ReceiveError::QueueEmpty: return Ended::NoReceive;
    case ReceiveError::TooSmall: return Ended::TooLong;
    case ReceiveError::Protection: return Ended::Protection;
    case ReceiveError::Transport: break;
  }
  return Ended::Transport;
}

Connection::Ended Connection::ended_by(Reason reason) {
  if (reason == Reason::transport_error || reason == Reason::remote_rdma_transport_error) return Ended::PeerTransport;
  if (reason == Reason::remote_descriptor_error) return Ended::PeerDescriptor;
  const bool protection = reason == Reason::rdma_protection_error ||
                          reason == Reason::remote_rdma_write_protection_error ||
                          reason == Reason::remote_rdma_read_protection_error;
  return protection ? Ended::PeerProtection : Ended::PeerProtocol;
}

Connection::Ended Connection::ended_by_peer() const {
  if (incoming_ == nullptr) return core_.port().online() ? Ended::PeerGone : Ended::LinkLost;
  const wire::fcvi::DisconnectRqst& rqst = incoming_->rqst;
  return rqst.vi_app_discon || !rqst.status ? Ended::PeerLeft : ended_by(rqst.status->reason);
}

void Connection::stop_now() {
  if (stopped_) return;
  if (received_ == nullptr) withdraw_setup();
  note_end(Ended::Descriptor);
  stop();
  tell_peer(reason_of(stop_cause_));
}

Connection::Ended Connection::ended_here_by(Reason reason) const {
  const bool transport = reason == Reason::transport_error || reason == Reason::remote_rdma_transport_error;
  return transport ? Ended::Transport : peer_knows_ ? ended_by(reason) : Ended::Descriptor;
}

void Connection::note_failure(Reason reason) {
  if (is_reliable()) note_end(ended_here_by(reason));
}

void Connection::note_failure(ReceiveError cause) {
  if (is_reliable()) note_end(ended_by(cause));
}

void Connection::fail(Reason reason, ReceiveError cause) {
  note_end(ended_by(cause));
  fail(reason);
}

/// Where a descriptor told of it, the model has stopped the VI already.
void Connection::fail(Reason reason) {
  note_end(ended_here_by(reason));
  feed(ve::ConnectionLost{});
  tell_peer(reason);
}

void Connection::tell_peer(std::optional<Reason> reason) {
  if (connected_once_ || received_ != nullptr) ++core_.counters.connections_lost;
  disconnector_.set_reason(reason);
  notice_.set_reason(reason);
  if (connected_once_ && !peer_knows_) notice_.request();
}

/// Its call returns.
void Connection::withdraw_setup() {
  if (peer_request_ != nullptr) peer_request_->disconnect_requested();
  if (originated_ != nullptr) originated_->disconnect_requested();
}

void Connection::request_disconnect(vi::Operation& operation) {
  withdraw_setup();
  if (received_ != nullptr) received_->disconnect_requested();
  disconnects_.push_back(&operation);
  note_end(Ended::ByUs);
  const vi::EndpointOutcome outcome = feed(ve::DisconnectRequested{});
  if (outcome.disconnect_requested) return disconnector_.request();
  if (outcome.disconnect_completed) application_disconnected(true);
}

void Connection::disconnect_complete(Disconnector::By by, bool answered) {
  if (vi_ == nullptr)
    return abandoned_disconnected(by == Disconnector::By::Application ? disconnector_ : notice_, answered);
  if (by == Disconnector::By::Application) application_disconnected(answered);  // else VipDisconnect is still to come
}

/// FC-VI 8.4.2 f: no VI is left that could try again (8.6.3 a), and the handle must not serve before the peer has
/// answered.
void Connection::abandoned_disconnected(Disconnector& disconnector, bool answered) {
  if (!answered) return disconnector.request_later();
  handle_disconnected();
  release_if_unused();  // where the receiver was closed before: nobody else looks again
}

void Connection::application_disconnected(bool answered) {
  if (vi_->state() == vi::State::Error) {
    if (answered)
      feed(ve::DisconnectAnswered{});
    else
      feed(ve::DisconnectUnanswered{});
  }
  if (answered) unbind();
  complete_disconnects(answered ? vi::Return::Success : vi::Return::NotReachable);
}

void Connection::complete_disconnects(vi::Return result) {
  std::vector<vi::Operation*> waiting;
  waiting.swap(disconnects_);
  for (vi::Operation* operation : waiting) operation->done(result);
}

/// The VI is Idle again and may connect anew, with another handle; this one rests.
void Connection::unbind() {
  release_vi();
  responder_.process(dr::EndpointDisconnected{}, *this);
  if (received_ != nullptr) received_->connection_ended();
  handle_disconnected();
  release_if_unused();
}

void Connection::release_vi() {
  vi_->transport_context = nullptr;
  vi_ = nullptr;
  core_.scheduler().cancel(stop_later_);
}

/// The Disconnect was answered, or none is needed: R_A_TOV remains (8.4.2 f).
void Connection::handle_disconnected() {
  core_.end_setup_errors(handle_);
  receiver_.disconnected();
}

void Connection::abandon() {
  withdraw_setup();
  if (received_ != nullptr) received_->disconnect_requested();
  complete_disconnects(vi::Return::ErrorResource);
  if (vi_ != nullptr) release_vi();
  if (connected_once_)
    stop();
  else if (receiving_)
    receiver_.disable();
  if (received_ != nullptr) received_->connection_ended();
  if (disconnector_.is_under_way() || notice_.is_under_way()) return;
  if (stopped_) return notice_.request();
  handle_disconnected();
  release_if_unused();
}

void Connection::handle_released() {
  if (!responder_.is<dr::NoConnection>()) responder_.process(dr::HandleReleased{}, *this);  // a logout came first
  release_if_unused();
}

void Connection::port_logged_out() {
  if (originated_ != nullptr && originated_->port_logged_out()) return;  // the set-up logs in again, or is already
  if (received_ != nullptr) received_->port_logged_out();
  logged_out_ = true;
  if (is_ending()) end_now();
  responder_.process(dr::PortLoggedOut{}, *this);
  receiver_.port_logged_out();
  disconnector_.port_logged_out();
  notice_.port_logged_out();
}

// --- machines::disconnect_responder ------------------------------------------------------------------------------

void Connection::disconnect_rqst_received(fc2::Exchange& exchange, const wire::fcvi::DisconnectRqst& rqst) {
  if (vi_ != nullptr && !rqst.conn_setup_abort) note_report(rqst.last_msg_id, rqst.status);
  const Incoming incoming{exchange, rqst};
  incoming_ = &incoming;
  responder_.process(
      dr::RqstReceived{.setup_abort = rqst.conn_setup_abort, .connection_id_known = rqst.connection_id == setup_id_},
      *this);
  incoming_ = nullptr;
}

void Connection::disconnect_resp_received(const wire::fcvi::DisconnectResp& resp) {
  if (vi_ != nullptr && !resp.conn_setup_abort) note_report(resp.last_msg_id, resp.status);
}

/// The first cause stays: what answers our own Disconnect says no more than that it was accepted.
void Connection::note_report(wire::MsgId last_msg_id, const std::optional<wire::fcvi::ConnectionStatus>& status) {
  PeerReport& report = core_.report_of(*vi_);
  report.last_msg_id = last_msg_id;
  if (status && !report.reason) report.reason = status->reason;
}

void Connection::send_disconnect_resp(dr::ResponseReason reason) {
  const Reason code = reason == dr::ResponseReason::DisconnectAccept ? Reason::disconnect_accept
                      : reason == dr::ResponseReason::ProtocolError  ? Reason::protocol_error
                                                                     : Reason::connection_does_not_exist;
  wire::fcvi::DisconnectResp response;
  response.handle = peer_handle_;
  if (!incoming_->rqst.conn_setup_abort) response.last_msg_id = receiver_.last_completed();
  response.connection_id = incoming_->rqst.connection_id;
  response.conn_setup_abort = incoming_->rqst.conn_setup_abort;
  response.vi_app_discon = incoming_->rqst.vi_app_discon;
  response.status = {.reason = code};
  std::array<std::uint8_t, 32> bytes;
  response.write(bytes);
  core_.port().send(incoming_->exchange, wire::RCtl::solicited_control, bytes, {}, {.last_of_exchange = true});
  ++core_.counters.ius_sent;
}

void Connection::abort_setup() {
  if (received_ != nullptr)
    received_->disconnect_received();
  else if (originated_ != nullptr)
    originated_->disconnect_received();
}

/// An out-of-order fabric: answers that the peer sent before may be under way, R_A_TOV at most (Annex E: lock step).
void Connection::endpoint_lost() {
  note_end(ended_by_peer());  // while its request is at hand
  const wire::MsgId last = incoming_ != nullptr ? incoming_->rqst.last_msg_id : wire::MsgId{};
  if (core_.port().in_order() || !sender_.awaits_answers(last)) return end_now();
  peer_knows_ = true;
  if (ending_ == nullptr) ending_ = std::make_unique<Ending>(*this);
  ending_->up_to = last;
  core_.scheduler().schedule_after(ending_->timer, core_.port().r_a_tov());
  sender_.stop_sending();
}

void Connection::stop_ending() {
  if (ending_ != nullptr) core_.scheduler().cancel(ending_->timer);
}

void Connection::end_now() {
  ++core_.counters.connections_lost;
  feed(ve::ConnectionLost{});
}

void Connection::unexpected(std::string_view, std::string_view, std::string_view) { core_.unexpected(); }

}  // namespace fcvi
