#include "fcvi/connection.hpp"

#include <algorithm>
#include <utility>

#include "fc2_fabric/node/remote_port.hpp"
#include "state_machines/consistency.hpp"
#include "wire/fcvi/disconnect_resp.hpp"

namespace fcvi {
namespace dr = machines::disconnect_responder;
namespace ve = machines::vi_endpoint;
using machines::message_responder::ReceiveError;
using wire::fcvi::Reason;

template <class E>
void Connection::process(const E& event) {
  responder_.process(event, *this);
  FCVI_ASSERT_CONSISTENT(*this);
}

namespace {
/// FC-VI 5.9.7.3.1, ruling 201. Table 12 has no code for the others.
std::optional<Reason> reason_of(vi::StopCause cause) {
  return cause == vi::StopCause::Descriptor ? std::optional(Reason::remote_descriptor_error) : std::nullopt;
}
}  // namespace

Connection::Connection(const Services& services, vi::Vi& vi, wire::FcviHandle handle, const ConnectionOptions& options)
    : endpoint_(services, *this, vi, handle, options), sender_(endpoint_), receiver_(endpoint_) {
  vi.transport_context = this;
  process(dr::SetupOpened{});
}

Connection::~Connection() = default;

/// What the parts are told goes with what there is; nothing flows in Error; what is retired serves nobody.
bool Connection::is_consistent() const {
  const bool tells = endpoint_.is_ending == (ending_ != nullptr && ending_->timer.pending());
  const bool bound = vi() == nullptr || vi()->transport_context == this;
  const bool flows = !endpoint_.stopped || (!receiver_.is_enabled() && !endpoint_.is_ending && !answers_reads());
  const bool knows_peer = !endpoint_.was_connected() || endpoint_.peer_handle != wire::FcviHandle::unassigned;
  return tells && bound && flows && knows_peer && (!retired_ || is_unused());
}

bool Connection::is_consistent_throughout() const {
  const auto agrees = [](const auto& part) { return part == nullptr || part->is_consistent(); };
  return is_consistent() && sender_.is_consistent() && receiver_.is_consistent() && agrees(disconnector_) &&
         agrees(notice_) && agrees(read_responder_);
}

// --- set-up ------------------------------------------------------------------------------------------------------

void Connection::attach_setup(EndpointSetup& setup) { setup_ = &setup; }

void Connection::detach_setup() {
  setup_ = nullptr;
  set_peer_port({});  // its logout is not ours any more
}

void Connection::set_peer_port(wire::FcId port) {
  endpoint_.peer_port = port;
  peer_ = port == wire::FcId{} ? fc2::PortUse{} : fc2::PortUse(services().port.remote_port(port));
}

void Connection::set_peer(wire::FcviHandle handle, const wire::fcvi::Attributes& attributes) {
  endpoint_.peer_handle = handle;
  // FC-VI 7.3: at most N + 1 messages are open on this VI; the smaller of both ends' N binds.
  const std::uint32_t depth = std::min(services().config.pipeline_depth, attributes.qos.pipeline_depth);
  endpoint_.window = std::min<std::uint32_t>(depth, 4095) + 1;
}

void Connection::endpoint_retrying() { retried_ = true; }

void Connection::receive_early() {
  if (vi() == nullptr) return;
  vi()->receive_early();
  follow();
}

void Connection::withdraw_early_reception() {
  if (vi() == nullptr) return;
  vi()->withdraw_early_reception();
  follow();
}

void Connection::allow_send_completions() {
  endpoint_.reached = Endpoint::Reached::ClearToSend;
  sender_.clear_to_send();
  receiver_.resp3_received();
}

void Connection::setup_released(const EndpointSetup& setup) {
  if (setup_ == &setup) setup_ = nullptr;
  release_if_unused();
  FCVI_ASSERT_CONSISTENT(*this);
}

bool Connection::is_unused() const { return vi() == nullptr && setup_ == nullptr && receiver_.is_closed(); }

void Connection::release_if_unused() {
  if (is_unused() && !std::exchange(retired_, true)) services().connection_owner.retire(*this);
}

// --- the endpoint ------------------------------------------------------------------------------------------------

void Connection::follow() {
  const vi::State now = vi()->state();
  const bool receiving = vi()->can_receive();
  if (receiving && receiver_.is_closed()) receiver_.enable();
  if (now == vi::State::Error)
    stop();
  else if (!receiving && receiver_.is_enabled())
    receiver_.disable();              // no connection came of what was received since RESP1 (C.5.5)
  if (now == vi::State::Connected) {  // it has become so: no event that is fed keeps a Connected VI Connected
    endpoint_.reached = Endpoint::Reached::Connected;
    ++services().counters.connections_made;
    process(dr::ConnectionEstablished{});
  }
  FCVI_ASSERT_CONSISTENT(*this);
}

/// The endpoint is in Error: nothing flows any more (8.1), frames are discarded for R_A_TOV (8.4.2 f).
void Connection::stop() {
  if (std::exchange(endpoint_.stopped, true)) return;
  stop_ending();
  sender_.connection_ended();
  if (read_responder_ != nullptr) read_responder_->clear();
  receiver_.connection_failed();
  // Where its own row took the endpoint to Error, the row's target says so already.
  if (!responder_.processing()) process(dr::EndpointErrored{});
  if (setup_ != nullptr) setup_->endpoint_errored();
}

bool Connection::read_granted(const fc2::ReceivedFrame& frame, const wire::fcvi::DeviceHeader& request) {
  if (read_responder_ == nullptr) read_responder_ = std::make_unique<ReadResponder>(endpoint_);
  return read_responder_->add(frame, request);
}

bool Connection::abort_received(wire::OxId ox_id) {
  return receiver_.abort_received(ox_id) || (read_responder_ != nullptr && read_responder_->abort_received(ox_id));
}

void Connection::stopped_by_model(vi::StopCause cause) {
  stop_cause_ = cause;
  if (!endpoint_.was_connected() && !has_peers_setup()) return stop_now();  // nothing flows that could be in the midst
  services().scheduler.schedule(stop_later_, services().now());
}

Ended Connection::ended_by_peer() const {
  if (incoming_ == nullptr) return services().port.online() ? Ended::PeerGone : Ended::LinkLost;
  const wire::fcvi::DisconnectRqst& rqst = incoming_->rqst;
  return rqst.vi_app_discon || !rqst.status ? Ended::PeerLeft : ended_by(rqst.status->reason);
}

void Connection::stop_now() {
  if (endpoint_.stopped) return;
  if (!has_peers_setup()) withdraw_setup();
  endpoint_.end.note(Ended::Descriptor);
  stop();
  tell_peer(reason_of(stop_cause_));
  FCVI_ASSERT_CONSISTENT(*this);
}

void Connection::failed(Reason reason, ReceiveError cause) {
  endpoint_.end.note(ended_by(cause));
  failed(reason);
}

/// Where a descriptor told of it, the model has stopped the VI already.
void Connection::failed(Reason reason) {
  endpoint_.end.note_here(reason);
  feed(ve::ConnectionLost{});
  tell_peer(reason);
}

void Connection::tell_peer(std::optional<Reason> reason) {
  if (endpoint_.was_connected() || has_peers_setup()) ++services().counters.connections_lost;
  reason_told_ = reason_noticed_ = reason;
  if (endpoint_.was_connected() && !endpoint_.end.peer_knows) made(notice_, DisconnectBy::Provider).request();
}

/// Its call returns.
void Connection::withdraw_setup() {
  if (peer_request_ != nullptr) peer_request_->disconnect_requested();
  if (setup_ != nullptr) setup_->disconnect_requested();
}

Disconnector& Connection::made(std::unique_ptr<Disconnector>& disconnector, DisconnectBy by) {
  if (disconnector == nullptr) disconnector = std::make_unique<Disconnector>(endpoint_, by);
  return *disconnector;
}

bool Connection::is_disconnecting() const {
  const auto is_under_way = [](const auto& part) { return part != nullptr && part->is_under_way(); };
  return is_under_way(disconnector_) || is_under_way(notice_);
}

/// Where there is no memory for these two, nothing has happened.
void Connection::request_disconnect(vi::Operation& operation) {
  std::forward_list<vi::Operation*> caller{&operation};
  Disconnector& disconnector = made(disconnector_, DisconnectBy::Application);
  withdraw_setup();
  disconnects_.splice_after(disconnects_.before_begin(), caller);
  endpoint_.end.note(Ended::ByUs);
  const vi::EndpointOutcome outcome = feed(ve::DisconnectRequested{});
  if (outcome.disconnect_requested) return disconnector.request();
  if (outcome.disconnect_completed) application_disconnected(true);
}

void Connection::disconnect_complete(DisconnectBy by, bool answered) {
  if (vi() == nullptr)
    return abandoned_disconnected(by == DisconnectBy::Application ? *disconnector_ : *notice_, answered);
  if (by == DisconnectBy::Application) application_disconnected(answered);  // else VipDisconnect is still to come
}

/// FC-VI 8.4.2 f: no VI is left that could try again (8.6.3 a), and the handle must not serve before the peer has
/// answered.
void Connection::abandoned_disconnected(Disconnector& disconnector, bool answered) {
  if (!answered) return disconnector.request_later();
  handle_disconnected();
  release_if_unused();  // where the receiver was closed before: nobody else looks again
}

void Connection::application_disconnected(bool answered) {
  if (vi()->state() == vi::State::Error) {
    if (answered)
      feed(ve::DisconnectAnswered{});
    else
      feed(ve::DisconnectUnanswered{});
  }
  if (answered) unbind();
  complete_disconnects(answered ? vi::Return::Success : vi::Return::NotReachable);
}

void Connection::complete_disconnects(vi::Return result) {
  std::forward_list<vi::Operation*> waiting;
  waiting.swap(disconnects_);
  waiting.reverse();  // first come, first told
  for (vi::Operation* operation : waiting) operation->done(result);
}

/// The VI is Idle again and may connect anew, with another handle; this one rests.
void Connection::unbind() {
  release_vi();
  process(dr::EndpointDisconnected{});
  if (setup_ != nullptr) setup_->connection_ended();
  handle_disconnected();
  release_if_unused();
  FCVI_ASSERT_CONSISTENT(*this);
}

void Connection::release_vi() {
  vi()->transport_context = nullptr;
  endpoint_.vi = nullptr;
  services().scheduler.cancel(stop_later_);
}

/// The Disconnect was answered, or none is needed: R_A_TOV remains (8.4.2 f).
void Connection::handle_disconnected() {
  services().connection_ids.disconnected(endpoint_.handle);
  receiver_.disconnected();
}

void Connection::abandon() {
  withdraw_setup();
  complete_disconnects(vi::Return::ErrorResource);
  if (vi() != nullptr) release_vi();
  if (endpoint_.was_connected())
    stop();
  else if (receiver_.is_enabled())
    receiver_.disable();
  if (setup_ != nullptr) setup_->connection_ended();
  if (!is_disconnecting()) end_abandoned();
  FCVI_ASSERT_CONSISTENT(*this);
}

/// No Disconnect is under way that would end it.
void Connection::end_abandoned() {
  if (endpoint_.stopped) return made(notice_, DisconnectBy::Provider).request();
  handle_disconnected();
  release_if_unused();
}

void Connection::handle_released() {
  if (!responder_.is<dr::NoConnection>()) process(dr::HandleReleased{});  // a logout came first
  release_if_unused();
  FCVI_ASSERT_CONSISTENT(*this);
}

/// One that was never asked is as new.
void Connection::tell_logout(Disconnector* disconnector, DisconnectBy by) {
  if (disconnector != nullptr) return disconnector->port_logged_out();
  Disconnector(endpoint_, by).port_logged_out();
}

void Connection::port_logged_out() {
  if (setup_ != nullptr && setup_->port_logged_out()) return;  // the set-up logs in again, or is already
  endpoint_.logged_out = true;
  if (endpoint_.is_ending) end_now();
  process(dr::PortLoggedOut{});
  receiver_.port_logged_out();
  tell_logout(disconnector_.get(), DisconnectBy::Application);
  tell_logout(notice_.get(), DisconnectBy::Provider);
  FCVI_ASSERT_CONSISTENT(*this);
}

// --- machines::disconnect_responder ------------------------------------------------------------------------------

void Connection::disconnect_rqst_received(fc2::Exchange& exchange, const wire::fcvi::DisconnectRqst& rqst) {
  if (vi() != nullptr && !rqst.conn_setup_abort) note_report(rqst.last_msg_id, rqst.status);
  const Incoming incoming{exchange, rqst};
  incoming_ = &incoming;
  process(dr::RqstReceived{.setup_abort = rqst.conn_setup_abort,
                           .connection_id_known = rqst.connection_id == endpoint_.setup_id});
  incoming_ = nullptr;
}

void Connection::disconnect_resp_received(const wire::fcvi::DisconnectResp& resp) {
  if (vi() != nullptr && !resp.conn_setup_abort) note_report(resp.last_msg_id, resp.status);
}

/// The first cause stays: what answers our own Disconnect says no more than that it was accepted.
void Connection::note_report(wire::MsgId last_msg_id, const std::optional<wire::fcvi::ConnectionStatus>& status) {
  PeerReport& report = services().peer_reports[vi()];
  report.last_msg_id = last_msg_id;
  if (status && !report.reason) report.reason = status->reason;
}

void Connection::send_disconnect_resp(dr::ResponseReason reason) {
  const Reason code = reason == dr::ResponseReason::DisconnectAccept ? Reason::disconnect_accept
                      : reason == dr::ResponseReason::ProtocolError  ? Reason::protocol_error
                                                                     : Reason::connection_does_not_exist;
  wire::fcvi::DisconnectResp response;
  response.handle = endpoint_.peer_handle;
  if (!incoming_->rqst.conn_setup_abort) response.last_msg_id = endpoint_.last_completed.value_or(wire::MsgId{});
  response.connection_id = incoming_->rqst.connection_id;
  response.conn_setup_abort = incoming_->rqst.conn_setup_abort;
  response.vi_app_discon = incoming_->rqst.vi_app_discon;
  response.status = {.reason = code};
  std::array<std::uint8_t, 32> bytes;
  response.write(bytes);
  services().port.send(incoming_->exchange, wire::RCtl::solicited_control, bytes, {}, {.last_of_exchange = true});
  ++services().counters.ius_sent;
}

void Connection::abort_setup() {
  if (setup_ != nullptr) setup_->disconnect_received();
}

/// An out-of-order fabric: answers that the peer sent before may be under way, R_A_TOV at most (Annex E: lock step). In
/// class 2 they may wait for end-to-end credit, which this request of class 3 does not need.
void Connection::endpoint_lost() {
  endpoint_.end.note(ended_by_peer());  // while its request is at hand
  const wire::MsgId last = incoming_ != nullptr ? incoming_->rqst.last_msg_id : wire::MsgId{};
  const bool overtakes = !services().port.in_order() || endpoint_.class_2();
  if (!overtakes || !sender_.awaits_answers(last)) return end_now();
  endpoint_.end.peer_knows = true;
  if (ending_ == nullptr) ending_ = std::make_unique<Ending>(*this);
  ending_->up_to = last;
  services().scheduler.schedule_after(ending_->timer, services().port.r_a_tov());
  endpoint_.is_ending = true;
  sender_.stop_sending();
}

void Connection::stop_ending() {
  if (ending_ != nullptr) services().scheduler.cancel(ending_->timer);
  endpoint_.is_ending = false;
}

void Connection::Ending::over() {
  connection.endpoint_.is_ending = false;
  connection.end_now();
}

void Connection::answers_came() {
  if (!sender_.awaits_answers(ending_->up_to)) end_now();
}

void Connection::end_now() {
  ++services().counters.connections_lost;
  feed(ve::ConnectionLost{});
}

void Connection::on_row(const fsm::Row& row) { services().fired(row); }
void Connection::unexpected(std::string_view, std::string_view, std::string_view) { services().unexpected(); }

}  // namespace fcvi
