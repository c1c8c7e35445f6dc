// A Connection Setup that we originate (FC-VI 5.3.2, 8.5, C.3): resolve, log in, CONNECT_RQST, RESP1, RESP2, RESP3.
#pragma once
#include "fcvi/endpoint_setup.hpp"
#include "fcvi/port_walk.hpp"
#include "fcvi/services.hpp"
#include "fcvi/setup_listeners.hpp"
#include "state_machines/connect_originator.hpp"
#include "state_machines/outbox.hpp"
#include "wire/fcvi/connect_resp1.hpp"

namespace fcvi {
class OriginatedSetup final : public EndpointSetup,
                              private machines::connect_originator::Context,
                              private fc2::ExchangeUser {
 public:
  /// `number` is the owner's. `peer`: whose set-up this is; nullptr for VipConnectRequest.
  OriginatedSetup(const Services& services, SetupOwner& owner, std::uint64_t number, Connection& connection,
                  const vi::NetAddress& local, const vi::NetAddress& remote, runtime::TimeNs deadline,
                  vi::ConnectOperation& operation, SetupListener* peer);
  ~OriginatedSetup() override;

  /// T1 runs from here on (VI-DG 3.3.4: the call's own time covers everything).
  void start();
  /// The same call at the next port of the address, where `walk` of the set-up before left off.
  void go_on(PortWalk walk);
  void resolved(std::span<const wire::FcId> n_port_ids);
  void not_resolved();
  void port_logged_in(wire::FcId port);
  void port_login_failed(wire::FcId port);
  [[nodiscard]] bool waits_for(const wire::IpAddress& address) const;
  [[nodiscard]] bool waits_for(wire::FcId port) const { return is_logging_in() && target() == port; }

  [[nodiscard]] bool is_resolving() const { return is_searching() && !walk_.is_asking(); }
  [[nodiscard]] wire::FcId target() const { return walk_.current(); }

  /// Peer to peer: goes on without the endpoint, and ends its exchange in order.
  void withdraw();
  // EndpointSetup
  [[nodiscard]] bool is_peers() const override { return false; }
  void disconnect_requested() override;
  void disconnect_received() override;
  void endpoint_errored() override;
  bool port_logged_out() override;
  void connection_ended() override {}  // it was over before
  /// Goes on without a connection, which would pass a logout on.
  [[nodiscard]] bool stands_alone_with(wire::FcId port) const { return connection_ == nullptr && target() == port; }

  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] bool is_consistent() const;

 private:
  using Resp2 = machines::connect_originator::Resp2;
  using ConnectOutcome = machines::connect_originator::ConnectOutcome;
  /// What the machine's actions ask for, once it has come to rest.
  struct Effect {
    enum class Kind : std::uint8_t { Finish, MoveOn, Leave, RenewLogin, AbortFinished, Release };
    Kind kind;
    ConnectOutcome outcome;  // Finish
    friend bool operator==(const Effect&, const Effect&) = default;
  };

  template <class E>
  void process(const E& event);
  void settle();
  void carry_out(Effect effect);
  /// No exchange is open: not yet, or not any more.
  [[nodiscard]] bool is_at_rest() const {
    namespace co = machines::connect_originator;
    return machine_.is_any_of<co::Idle, co::AwaitRetryLogin>();
  }
  /// Before the CONNECT_RQST: resolves the address, or logs in.
  [[nodiscard]] bool is_searching() const { return is_at_rest() && connection_ != nullptr; }
  [[nodiscard]] bool is_logging_in() const { return is_searching() && walk_.is_asking(); }
  void release_all();
  void retire();
  void nobody_waits_there();
  void try_next_port();
  void log_in();
  void login_is_late();
  void move_on();
  void leave();
  void detach();
  void log_in_again();
  void ask_address_anew();
  void begin_setup();
  void give_up(vi::Return result);
  void end(vi::Return result);
  void finish(vi::Return result);
  void t1_expired();
  void t3_expired();
  void resp1_received(const wire::fcvi::ConnectResp1& resp1);
  [[nodiscard]] bool agrees_with(const vi::ViAttributes& theirs) const;
  void peer_asked(const wire::fcvi::ConnectResp1& resp1, machines::connect_originator::Verdict verdict,
                  const std::optional<vi::ViAttributes>& attributes);
  void resp3_received(fc2::Exchange& exchange, const wire::fcvi::DeviceHeader& header);
  [[nodiscard]] bool asked_parameters_anew(fc2::RemotePort& remote);
  [[nodiscard]] bool target_logged_in() const;

  // fc2::ExchangeUser
  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first,
                         std::span<const std::uint8_t> iu) override;
  void exchange_failed(fc2::Exchange& exchange, fc2::ExchangeFailure failure) override;
  void abort_finished() override;
  // machines::connect_originator
  void send_connect_rqst(bool retry) override;
  void send_resp2(Resp2 answer) override;
  void start_t1() override {}  // runs since start()
  void stop_t1() override;
  void start_t3() override;
  void stop_t3() override;
  void abort_exchange() override;
  void quarantine_connection_id() override;
  void allow_send_completions() override;
  void complete_request(ConnectOutcome outcome) override;
  void leave_waiting_for_peer() override { outbox_.push({Effect::Kind::Leave, {}}); }
  void endpoint_connected() override;
  void endpoint_refused() override;
  void endpoint_timed_out() override;
  void endpoint_retrying() override;
  void endpoint_failed() override;
  void endpoint_lost() override;
  void renew_login() override { outbox_.push({Effect::Kind::RenewLogin, {}}); }
  void release() override { outbox_.push({Effect::Kind::Release, {}}); }
  void count_stale() override;
  [[nodiscard]] bool login_renewable() const override;
  [[nodiscard]] bool peer_to_peer() const override { return peer_ != nullptr; }
  void on_row(const fsm::Row& row) override;
  void unexpected(std::string_view, std::string_view, std::string_view) override;

  const Services& services_;
  SetupOwner& owner_;
  const std::uint64_t number_;
  Connection* connection_;  // nullptr once the call goes on without this set-up, or this is over
  vi::NetAddress local_, remote_;
  runtime::TimeNs deadline_;
  vi::ConnectOperation* operation_;  // until the call returned
  SetupListener* peer_;              // whose set-up this is; nullptr for VipConnectRequest, and after it is over
  machines::connect_originator::Machine machine_;
  PortWalk walk_;
  fc2::Exchange* exchange_ = nullptr;
  wire::ConnectionId connection_id_ = wire::ConnectionId::unassigned;
  bool retry_ = false;  // of connection_id_: once withdrawn, the machine does not tell the two tries apart
  wire::FcviHandle peer_handle_ = wire::FcviHandle::unassigned;
  wire::fcvi::Attributes peer_attributes_{};
  vi::Return refusal_ = vi::Return::Reject;    // what a Connect Reject in the last RESP1 means
  std::optional<wire::fcvi::Reason> failure_;  // what its Disconnect will tell, if it fails now
  fsm::Outbox<Effect, 4> outbox_;
  runtime::Timer<OriginatedSetup, &OriginatedSetup::t1_expired> t1_{*this};
  runtime::Timer<OriginatedSetup, &OriginatedSetup::t3_expired> t3_{*this};
  runtime::Timer<OriginatedSetup, &OriginatedSetup::login_is_late> login_patience_{*this};
};

}  // namespace fcvi
