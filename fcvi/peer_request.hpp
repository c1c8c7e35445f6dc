// One VipConnectPeerRequest, from its post to its result (VI-DG 3.3.6, FC-VI 5.3.3, 5.3.4). It asks the peer's ports
// with set-ups of our own, and takes part in the set-ups that the peer originates.
#pragma once
#include "fcvi/endpoint_setup.hpp"
#include "fcvi/services.hpp"
#include "fcvi/setup_listeners.hpp"
#include "state_machines/outbox.hpp"
#include "wire/fcvi/connect_rqst.hpp"

namespace fcvi {
class PeerRequest;

/// Who owns all requests of a port.
class PeerRequestOwner {
 public:
  /// It is over; the next burial destroys it.
  virtual void retire(const PeerRequest& request) = 0;

 protected:
  ~PeerRequestOwner() = default;
};

class PeerRequest final : public EndpointRequest,
                          public SetupListener,
                          private machines::peer_arbitration::Context,
                          private vi::ConnectOperation {
 public:
  PeerRequest(const Services& services, SetupOwner& owner, PeerRequestOwner& pool, Connection& connection,
              const vi::NetAddress& local, const vi::NetAddress& remote, vi::ConnectOperation& operation);
  ~PeerRequest() override;

  void start(runtime::TimeNs deadline);
  [[nodiscard]] const vi::NetAddress& remote() const { return remote_; }
  /// A CONNECT_RQST of `source` with the right addresses may be for this request: it is free, and not its own
  /// (loopback).
  [[nodiscard]] bool may_match(const wire::fcvi::ConnectRqst& request, wire::FcId source) const;
  void disconnect_requested() override;
  void link_lost();
  /// The fabric is there again: ask now, if no set-up is under way.
  void search_again();
  [[nodiscard]] bool is_over() const { return machine_.is<machines::peer_arbitration::Over>(); }

  [[nodiscard]] bool is_consistent() const;
  /// To the set-up of that number, which the peer's request superseded, from `port`.
  void superseded_resp1_received(std::uint64_t setup, machines::peer_arbitration::Resp1 resp1, wire::FcId port);

  // SetupListener
  void set_up_by(OriginatedSetup& setup) override { ours_ = &setup; }
  void request_sent() override;
  void resp1_received(machines::peer_arbitration::Resp1 resp1) override;
  void nobody_waits() override;
  void search_ended() override;
  void matched(ReceivedSetup& theirs) override;
  void request_withdrawn() override;
  void acceptance_refused() override;

 private:
  using Answer = machines::peer_arbitration::Answer;
  using PeerOutcome = machines::peer_arbitration::PeerOutcome;
  using PortNames = machines::peer_arbitration::PortNames;
  /// VipConnectAccept's part, for the peer's set-up.
  struct Acceptance final : vi::Operation {
    explicit Acceptance(PeerRequest& request) : owner(request) {}
    void done(vi::Return result) override { owner.acceptance_done(result); }
    PeerRequest& owner;
  };

  /// What the machine's actions ask for, once it has come to rest.
  struct Effect {
    enum class Kind : std::uint8_t { Search, Conclude };
    Kind kind;
    PeerOutcome outcome;  // Conclude
  };

  template <class E>
  void process(const E& event);
  void settle();
  void carry_out(Effect effect);
  void conclude(PeerOutcome outcome);
  void ask_all_ports();
  void time_expired();
  void search_due();
  void acceptance_done(vi::Return result);
  [[nodiscard]] bool holds_same_port() const;
  [[nodiscard]] PortNames compare_port_names() const;
  [[nodiscard]] vi::Return conflict() const;
  /// vi::ConnectOperation: our set-up is done.
  void done(vi::Return result) override;

  // machines::peer_arbitration
  void withdraw_setup() override;
  void accept_request() override;
  void answer_request(Answer answer) override;
  void withdraw_acceptance() override;
  void search() override { outbox_.push({Effect::Kind::Search, {}}); }
  void schedule_search() override;
  void endpoint_timed_out() override;
  void endpoint_refused() override;
  void endpoint_failed() override;
  void endpoint_erred() override;
  void complete_request(PeerOutcome outcome) override { outbox_.push({Effect::Kind::Conclude, outcome}); }
  [[nodiscard]] bool attributes_match() const override;
  void on_row(const fsm::Row& row) override;
  void unexpected(std::string_view, std::string_view, std::string_view) override;

  const Services& services_;
  SetupOwner& owner_;
  PeerRequestOwner& pool_;
  Connection& connection_;
  const vi::NetAddress local_, remote_;
  vi::ConnectOperation& operation_;  // the consumer's
  machines::peer_arbitration::Machine machine_;
  OriginatedSetup* ours_ = nullptr;  // while it acts for the endpoint, and we are not Over
  std::uint64_t superseded_ = 0;     // the number of our set-up that was withdrawn last
  ReceivedSetup* theirs_ = nullptr;  // the peer's, valid from its match to its answer; then while it is accepted
  vi::Return conflict_ = vi::Return::Success;
  bool mapping_is_old_ = false;  // the ports that were asked last came from the resolver's memory
  bool again_at_once_ = false;   // the next search is because of that: what the resolver says then is new
  fsm::Outbox<Effect, 2> outbox_;
  Acceptance acceptance_{*this};
  runtime::Timer<PeerRequest, &PeerRequest::time_expired> t1_{*this};
  runtime::Timer<PeerRequest, &PeerRequest::search_due> next_search_{*this};
};

}  // namespace fcvi
