// One FCVI_HANDLE of ours, from the first IU of its Connection Setup until R_A_TOV after its end (FC-VI 8.4.2 f).
// While a VI is bound to it, it is that VI's FC-VI endpoint; afterwards it only answers for the handle.
#pragma once
#include <memory>
#include <vector>

#include "fc2_fabric/node/remote_port.hpp"
#include "fcvi/disconnector.hpp"
#include "fcvi/message_receiver.hpp"
#include "fcvi/message_sender.hpp"
#include "fcvi/provider.hpp"
#include "fcvi/read_responder.hpp"
#include "state_machines/disconnect_responder.hpp"
#include "wire/fcvi/attributes.hpp"
#include "wire/fcvi/disconnect_resp.hpp"
#include "wire/fcvi/disconnect_rqst.hpp"

namespace fcvi {
class Core;
class OriginatedSetup;
class PeerRequest;
class ReceivedSetup;

class Connection final : private machines::disconnect_responder::Context {
 public:
  Connection(Core& core, vi::Vi& vi, wire::FcviHandle handle);
  ~Connection() override;

  [[nodiscard]] Core& core() { return core_; }
  [[nodiscard]] vi::Vi* vi() { return vi_; }
  [[nodiscard]] wire::FcviHandle handle() const { return handle_; }
  [[nodiscard]] wire::FcId peer_port() const { return peer_port_; }
  [[nodiscard]] wire::FcviHandle peer_handle() const { return peer_handle_; }
  [[nodiscard]] wire::ConnectionId setup_id() const { return setup_id_; }
  [[nodiscard]] vi::ReliabilityLevel reliability() const { return reliability_; }
  [[nodiscard]] bool is_reliable() const { return vi::is_reliable(reliability_); }
  [[nodiscard]] std::uint32_t window() const { return window_; }
  [[nodiscard]] const ConnectionOptions& options() const { return options_; }
  /// Messages that begin now go in class 2.
  [[nodiscard]] bool class_2();
  /// CS_CTL of every frame for a message (FC-VI 5.8.2).
  [[nodiscard]] std::uint8_t cs_ctl() const { return options_.preference ? wire::cs_ctl_preference : std::uint8_t{0}; }
  [[nodiscard]] bool clear_to_send() const { return clear_to_send_; }
  [[nodiscard]] bool was_connected() const { return connected_once_; }
  /// RESP2 went, RESP3 did not come yet.
  [[nodiscard]] bool awaits_resp3() const { return originated_ != nullptr && connected_once_ && !clear_to_send_; }
  /// RESP1 accepts, RESP2 did not come yet.
  [[nodiscard]] bool awaits_resp2() const { return !clear_to_send_ && received_ != nullptr; }
  [[nodiscard]] bool is_stopped() const { return stopped_; }
  /// The login that it had is over, and the peer's handle with it (7.7.1, 8.4.2 g).
  [[nodiscard]] bool is_logged_out() const { return logged_out_; }

  MessageSender& sender() { return sender_; }
  MessageReceiver& receiver() { return receiver_; }
  /// Of an RDMA Read that was granted.
  [[nodiscard]] bool answer_read(const fc2::ReceivedFrame& frame, const wire::fcvi::DeviceHeader& request);
  /// Read data is still to be sent.
  [[nodiscard]] bool answers_reads() const { return read_responder_ != nullptr && read_responder_->is_busy(); }
  /// ABTS of a message's exchange that the peer originated.
  bool abort_received(wire::OxId ox_id);

  // --- set-up --------------------------------------------------------------------------------------------------
  void set_setup(OriginatedSetup* originated, ReceivedSetup* received);
  /// Peer to peer: the request that this endpoint waits for, or nullptr.
  void set_peer_request(PeerRequest* request) { peer_request_ = request; }
  /// The set-up goes on without this endpoint, which still waits.
  void detach_setup();
  /// Once, however many ports of the address are tried.
  void endpoint_retrying();
  void set_peer_port(wire::FcId port);
  void set_setup_id(wire::ConnectionId id) { setup_id_ = id; }
  /// What RESP1 or CONNECT_RQST said of the other end; before the endpoint becomes Connected.
  void set_peer(wire::FcviHandle handle, const wire::fcvi::Attributes& attributes);
  /// What the Disconnect of a set-up that failed tells of it (D.1 rule 2 a), if anything.
  void set_setup_failure(std::optional<wire::fcvi::Reason> reason) { disconnector_.set_reason(reason); }
  /// FC-VI C.5.5: RESP3 came, or we sent it.
  void allow_send_completions();
  /// The set-up is over; without a connection the handle is free as soon as nothing uses it.
  void setup_released(const OriginatedSetup* originated, const ReceivedSetup* received);

  // --- the endpoint --------------------------------------------------------------------------------------------
  /// Feeds the VI's endpoint machine, then brings traffic and the handle's machines in step with its new state.
  template <class Event>
  vi::EndpointOutcome feed(const Event& event) {
    if (vi_ == nullptr) return {};
    const vi::EndpointOutcome outcome = vi_->endpoint_event(event);
    follow();
    return outcome;
  }
  /// The model took the VI to Error by itself (vi::Transport::stopped): the same, and the peer is told.
  void stopped_by_model(vi::StopCause cause);
  /// A connection failed here: VI to Error, if it is not there yet, and the peer is told why (FC-VI 8.4.2 e, 5.3.5,
  /// Table 12).
  void fail(wire::fcvi::Reason reason);
  /// The same, by what the receiver met.
  void fail(wire::fcvi::Reason reason, machines::message_responder::ReceiveError cause);
  /// A descriptor, or an asynchronous error, is about to tell of this: it ends the connection (VI-ARCH 2.5.2), and who
  /// asks in the signals that follow hears it as end_cause(). Unreliable Delivery goes on (2.5.1).
  void note_failure(wire::fcvi::Reason reason);
  void note_failure(machines::message_responder::ReceiveError cause);
  /// Valid while the VI is in Error, and in the signals of its way there.
  [[nodiscard]] EndCause end_cause() const;
  /// It refused a message, and tells why by itself: no DISCONNECT_RQST of ours crosses its own.
  void peer_failed_it() { peer_knows_ = true; }
  void request_disconnect(vi::Operation& operation);
  void disconnect_complete(Disconnector::By by, bool answered);
  void disconnect_rqst_received(fc2::Exchange& exchange, const wire::fcvi::DisconnectRqst& rqst);
  void disconnect_resp_received(const wire::fcvi::DisconnectResp& resp);
  /// The peer has disconnected; only answers to what was sent are waited for (ruling 128).
  [[nodiscard]] bool is_ending() const { return ending_ != nullptr && ending_->timer.pending(); }
  /// To an open message: what waits for all of them may go on.
  void answers_came() {
    if (is_ending() && !sender_.awaits_answers(ending_->up_to)) end_now();
  }
  void port_logged_out();
  /// The receiver's R_A_TOV is over, or a logout made it needless.
  void handle_released();
  void unbind();
  /// The VI goes away without a word (VipCloseNic) and is not touched any more: its calls return, the peer is told,
  /// until it answers, and the handle rests as long (8.4.2 f).
  void abandon();
  [[nodiscard]] std::string_view responder_state() const { return responder_.state_name(); }

 private:
  void follow();
  void stop();
  void tell_peer(std::optional<wire::fcvi::Reason> reason);
  void end_now();
  void stop_ending();
  void withdraw_setup();
  void note_report(wire::MsgId last_msg_id, const std::optional<wire::fcvi::ConnectionStatus>& status);
  void application_disconnected(bool answered);
  void abandoned_disconnected(Disconnector& disconnector, bool answered);
  void release_vi();
  void handle_disconnected();
  void complete_disconnects(vi::Return result);
  void release_if_unused();
  void stop_now();

  // machines::disconnect_responder
  void send_disconnect_resp(machines::disconnect_responder::ResponseReason reason) override;
  void abort_setup() override;
  void endpoint_lost() override;
  void unexpected(std::string_view, std::string_view, std::string_view) override;

  Core& core_;
  vi::Vi* vi_;
  const wire::FcviHandle handle_;
  const vi::ReliabilityLevel reliability_;
  const ConnectionOptions options_;
  machines::disconnect_responder::Machine responder_;  // a byte
  wire::FcId peer_port_{};
  wire::FcviHandle peer_handle_ = wire::FcviHandle::unassigned;
  wire::ConnectionId setup_id_ = wire::ConnectionId::unassigned;
  std::uint32_t window_ = 1;
  bool clear_to_send_ = false;
  bool receiving_ = false;
  bool stopped_ = false;
  bool logged_out_ = false;
  bool connected_once_ = false;
  bool retired_ = false;
  bool peer_knows_ = false;
  vi::StopCause stop_cause_{};  // of stop_later_
  bool retried_ = false;        // the endpoint is in Pending Connect Retry
  enum class Ended : std::uint8_t {
    No,
    ByUs,
    NoReceive,
    TooLong,
    Protection,
    Transport,
    Descriptor,
    PeerLeft,
    PeerGone,
    LinkLost,
    PeerTransport,
    PeerProtection,
    PeerDescriptor,
    PeerProtocol
  };
  static Ended ended_by(machines::message_responder::ReceiveError error);
  static Ended ended_by(wire::fcvi::Reason reason);
  [[nodiscard]] Ended ended_by_peer() const;
  [[nodiscard]] Ended ended_here_by(wire::fcvi::Reason reason) const;
  void note_end(Ended cause) {
    if (ended_ == Ended::No) ended_ = cause;
  }
  Ended ended_ = Ended::No;  // the first cause
  fc2::PortUse peer_;        // it stays known while we are here
  OriginatedSetup* originated_ = nullptr;
  ReceivedSetup* received_ = nullptr;
  PeerRequest* peer_request_ = nullptr;
  struct Incoming {
    fc2::Exchange& exchange;
    const wire::fcvi::DisconnectRqst& rqst;
  };
  const Incoming* incoming_ = nullptr;  // while its event is processed
  MessageSender sender_;
  MessageReceiver receiver_;
  std::unique_ptr<ReadResponder> read_responder_;  // from the first RDMA Read on
  Disconnector disconnector_{*this, Disconnector::By::Application};
  Disconnector notice_{*this, Disconnector::By::Provider};
  std::vector<vi::Operation*> disconnects_;  // VipDisconnect calls that wait
  runtime::Timer<Connection, &Connection::stop_now> stop_later_{*this};
  struct Ending {
    explicit Ending(Connection& own) : connection(own) {}
    void over() { connection.end_now(); }
    Connection& connection;
    wire::MsgId up_to{};  // what the peer completed
    runtime::Timer<Ending, &Ending::over> timer{*this};
  };
  std::unique_ptr<Ending> ending_;  // from the first need on: few connections have it
};

}  // namespace fcvi
