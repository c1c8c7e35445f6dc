// One FCVI_HANDLE of ours, from the first IU of its Connection Setup until R_A_TOV after its end (FC-VI 8.4.2 f).
// While a VI is bound to it, it is that VI's FC-VI endpoint; afterwards it only answers for the handle.
#pragma once
#include <forward_list>
#include <memory>
#include <type_traits>

#include "fc2_fabric/node/remote_port.hpp"
#include "fcvi/disconnector.hpp"
#include "fcvi/endpoint_setup.hpp"
#include "fcvi/message_receiver.hpp"
#include "fcvi/message_sender.hpp"
#include "fcvi/read_responder.hpp"
#include "state_machines/disconnect_responder.hpp"
#include "wire/fcvi/attributes.hpp"
#include "wire/fcvi/disconnect_rqst.hpp"

namespace fcvi {
class Connection;

/// Who owns all connections of a port.
class ConnectionOwner {
 public:
  /// Nothing needs it any more; bury_soon() destroys it, and its handle may be used again.
  virtual void retire(Connection& connection) = 0;

 protected:
  ~ConnectionOwner() = default;
};

class Connection final : private EndpointListener, private machines::disconnect_responder::Context {
 public:
  Connection(const Services& services, vi::Vi& vi, wire::FcviHandle handle, const ConnectionOptions& options);
  ~Connection() override;

  [[nodiscard]] vi::Vi* vi() { return endpoint_.vi; }
  [[nodiscard]] const vi::Vi* vi() const { return endpoint_.vi; }
  [[nodiscard]] wire::FcviHandle handle() const { return endpoint_.handle; }
  [[nodiscard]] wire::FcId peer_port() const { return endpoint_.peer_port; }
  [[nodiscard]] wire::ConnectionId setup_id() const { return endpoint_.setup_id; }
  [[nodiscard]] bool is_reliable() const { return endpoint_.is_reliable(); }
  [[nodiscard]] const ConnectionOptions& options() const { return endpoint_.options; }
  [[nodiscard]] bool is_stopped() const { return endpoint_.stopped; }

  MessageSender& sender() { return sender_; }
  MessageReceiver& receiver() { return receiver_; }
  /// ABTS of a message's exchange that the peer originated.
  bool abort_received(wire::OxId ox_id);

  // --- set-up --------------------------------------------------------------------------------------------------
  /// `setup` acts for this endpoint.
  void attach_setup(EndpointSetup& setup);
  /// Peer to peer: the request that this endpoint waits for, or nullptr.
  void set_peer_request(EndpointRequest* request) { peer_request_ = request; }
  /// The set-up goes on without this endpoint, which still waits.
  void detach_setup();
  /// FC-VI 8.2 b) c): Pending Connect Retry, from the one retry on, however many ports of the address are tried.
  void endpoint_retrying();
  [[nodiscard]] bool is_retrying() const { return retried_; }
  /// FC-VI C.5.5: the peer may send from our RESP1 on. The endpoint is Pending Connect.
  void receive_early();
  /// The peer's set-up, which RESP1 accepted, is withdrawn; the endpoint waits on (5.3.3).
  void withdraw_early_reception();
  void set_peer_port(wire::FcId port);
  void set_setup_id(wire::ConnectionId id) { endpoint_.setup_id = id; }
  /// What RESP1 or CONNECT_RQST said of the other end; before the endpoint becomes Connected.
  void set_peer(wire::FcviHandle handle, const wire::fcvi::Attributes& attributes);
  /// What the Disconnect of a set-up that failed tells of it (D.1 rule 2 a), if anything.
  void set_setup_failure(std::optional<wire::fcvi::Reason> reason) { reason_told_ = reason; }
  /// FC-VI C.5.5: RESP3 came, or we sent it.
  void allow_send_completions();
  /// The set-up is over; without a connection the handle is free as soon as nothing uses it.
  void setup_released(const EndpointSetup& setup);

  // --- the endpoint --------------------------------------------------------------------------------------------
  /// Feeds the VI's endpoint machine, then brings traffic and the handle's machines in step with its new state. An
  /// event that ends an attempt to connect withdraws what came early.
  template <class Event>
  vi::EndpointOutcome feed(const Event& event) {
    if (vi() == nullptr) return {};
    if constexpr (ends_attempt<Event>) vi()->withdraw_early_reception();
    const vi::EndpointOutcome outcome = vi()->endpoint_event(event);
    follow();
    return outcome;
  }
  /// The model took the VI to Error by itself (vi::Transport::stopped): the same, and the peer is told.
  void stopped_by_model(vi::StopCause cause);
  /// Valid while the VI is in Error, and in the signals of its way there.
  [[nodiscard]] EndCause end_cause() const { return endpoint_.end.told(); }
  void request_disconnect(vi::Operation& operation);
  void disconnect_rqst_received(fc2::Exchange& exchange, const wire::fcvi::DisconnectRqst& rqst);
  void port_logged_out();
  void unbind();
  /// The VI goes away without a word (VipCloseNic) and is not touched any more: its calls return, the peer is told,
  /// until it answers, and the handle rests as long (8.4.2 f).
  void abandon();
  [[nodiscard]] bool is_consistent() const;
  /// Its parts as well: whenever no function of any runs.
  [[nodiscard]] bool is_consistent_throughout() const;

 private:
  /// Pending Connect, it leads to Idle.
  template <class Event>
  static constexpr bool ends_attempt = std::is_same_v<Event, machines::vi_endpoint::SetupRefused> ||
                                       std::is_same_v<Event, machines::vi_endpoint::ConnectTimedOut> ||
                                       std::is_same_v<Event, machines::vi_endpoint::DisconnectRequested>;

  template <class E>
  void process(const E& event);
  void follow();
  void stop();
  void tell_peer(std::optional<wire::fcvi::Reason> reason);
  void end_now();
  void stop_ending();
  void withdraw_setup();
  void note_report(wire::MsgId last_msg_id, const std::optional<wire::fcvi::ConnectionStatus>& status);
  void application_disconnected(bool answered);
  [[nodiscard]] Disconnector& made(std::unique_ptr<Disconnector>& disconnector, DisconnectBy by);
  [[nodiscard]] bool is_disconnecting() const;
  void tell_logout(Disconnector* disconnector, DisconnectBy by);
  void abandoned_disconnected(Disconnector& disconnector, bool answered);
  void release_vi();
  void end_abandoned();
  void handle_disconnected();
  void complete_disconnects(vi::Return result);
  [[nodiscard]] bool is_unused() const;
  void release_if_unused();
  void stop_now();
  [[nodiscard]] bool has_peers_setup() const { return setup_ != nullptr && setup_->is_peers(); }
  [[nodiscard]] Ended ended_by_peer() const;
  [[nodiscard]] const Services& services() const { return endpoint_.services; }

  // EndpointListener
  void failed(wire::fcvi::Reason reason) override;
  void failed(wire::fcvi::Reason reason, machines::message_responder::ReceiveError cause) override;
  void answers_came() override;
  [[nodiscard]] bool read_granted(const fc2::ReceivedFrame& frame, const wire::fcvi::DeviceHeader& request) override;
  [[nodiscard]] bool answers_reads() const override { return read_responder_ != nullptr && read_responder_->is_busy(); }
  void reads_answered() override { receiver_.reads_answered(); }
  void handle_released() override;
  [[nodiscard]] std::optional<wire::fcvi::Reason> reason_told(DisconnectBy by) const override {
    return by == DisconnectBy::Application ? reason_told_ : reason_noticed_;
  }
  void disconnect_complete(DisconnectBy by, bool answered) override;
  void disconnect_resp_received(const wire::fcvi::DisconnectResp& resp) override;
  // machines::disconnect_responder
  void send_disconnect_resp(machines::disconnect_responder::ResponseReason reason) override;
  void abort_setup() override;
  void endpoint_lost() override;
  void on_row(const fsm::Row& row) override;
  void unexpected(std::string_view, std::string_view, std::string_view) override;

  Endpoint endpoint_;
  machines::disconnect_responder::Machine responder_;  // a byte
  bool retired_ = false;                               // the owner was told, and buries it soon
  bool retried_ = false;        // Pending Connect is Pending Connect Retry, also for the set-ups that follow
  vi::StopCause stop_cause_{};  // of stop_later_
  std::optional<wire::fcvi::Reason> reason_told_, reason_noticed_;  // by disconnector_, by notice_
  fc2::PortUse peer_;                                               // it stays known while we are here
  EndpointSetup* setup_ = nullptr;
  EndpointRequest* peer_request_ = nullptr;
  struct Incoming {
    fc2::Exchange& exchange;
    const wire::fcvi::DisconnectRqst& rqst;
  };
  const Incoming* incoming_ = nullptr;  // while its event is processed
  MessageSender sender_;
  MessageReceiver receiver_;
  std::unique_ptr<ReadResponder> read_responder_;        // from the first RDMA Read on
  std::unique_ptr<Disconnector> disconnector_, notice_;  // of the application, our own: from the first need on
  std::forward_list<vi::Operation*> disconnects_;        // VipDisconnect calls that wait
  runtime::Timer<Connection, &Connection::stop_now> stop_later_{*this};
  /// Answers to what was sent, after the peer's DISCONNECT_RQST.
  struct Ending {
    explicit Ending(Connection& own) : connection(own) {}
    void over();
    Connection& connection;
    wire::MsgId up_to{};  // what the peer completed
    runtime::Timer<Ending, &Ending::over> timer{*this};
  };
  std::unique_ptr<Ending> ending_;  // from the first need on: few connections have it
};

}  // namespace fcvi
