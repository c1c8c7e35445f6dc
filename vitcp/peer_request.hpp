// One VipConnectPeerRequest, from its post to its result (VI-TCP 4, ruling V-13; VI-DG 3.3.6, 6.7). It asks the peer
// with a set-up of its own, or answers the one that the peer asks with, or both.
#pragma once
#include "state_machines/outbox.hpp"
#include "state_machines/vitcp_peer.hpp"
#include "vitcp/active_setup.hpp"
#include "vitcp/incoming_setup.hpp"

namespace vitcp {
class PeerPool;

/// One of these comes, once, and nothing else of the request after it. It may be destroyed, not from within.
class PeerRequestOwner {
 public:
  /// Our own request made the connection.
  virtual void peer_established(Established established) = 0;
  /// That of the peer is to make it: its level is right.
  virtual void peer_accepted(IncomingSetup& theirs) = 0;
  virtual void peer_failed(vi::Return result) = 0;

 protected:
  ~PeerRequestOwner() = default;
};

class PeerRequest final : private ActiveSetupOwner, private machines::vitcp_peer::Context {
 public:
  /// All of these outlive it.
  PeerRequest(const Services& services, PeerRequestOwner& owner, PeerPool& pool, const vi::Vi& vi,
              const ActiveSetup::Request& request);

  /// The owner hears of the outcome later, not from within.
  void start();
  /// VipDisconnect, or the VI goes: the owner hears of it from within.
  void disconnect();
  /// The connection that our own request made is over.
  void connection_ended() { ours_->connection_ended(); }

  [[nodiscard]] const vi::NetAddress& local() const { return request_.local; }
  [[nodiscard]] const vi::NetAddress& remote() const { return request_.remote; }
  /// A peer's ConnectRequest with the right addresses may be for this one: it came to our address, and is not our own.
  [[nodiscard]] bool may_match(const IncomingSetup& theirs) const;
  /// It is, and is answered from within.
  void requested_by(IncomingSetup& theirs);
  [[nodiscard]] bool is_over() const { return machine_.is<machines::vitcp_peer::Over>(); }
  [[nodiscard]] bool is_consistent() const;

 private:
  using Requests = machines::vitcp_peer::Requests;
  using PeerFailure = machines::vitcp_peer::PeerFailure;
  /// What the machine's actions ask for, once it has come to rest.
  enum class Effect : std::uint8_t { Ask, WithdrawSetup, WithdrawRequest, Accept, Reject, AnswerNoMatch, Fail };

  template <class Event>
  void process(const Event& event);
  void settle();
  void carry_out(Effect effect);
  void tell_waiting();
  void time_expired();
  [[nodiscard]] Requests compare_requests(const IncomingSetup& theirs) const;

  // ActiveSetupOwner
  void request_sent() override;
  void request_ended() override;
  void setup_established(Established established) override;
  void setup_failed(ConnectFailure failure) override;
  // machines::vitcp_peer
  void start_timeout() override;
  void stop_timeout() override { services_.scheduler.cancel(timeout_); }
  void ask() override { outbox_.push(Effect::Ask); }
  void withdraw_setup() override { outbox_.push(Effect::WithdrawSetup); }
  void withdraw_request() override { outbox_.push(Effect::WithdrawRequest); }
  void accept_request() override { outbox_.push(Effect::Accept); }
  void reject_request() override { outbox_.push(Effect::Reject); }
  void answer_no_match() override { outbox_.push(Effect::AnswerNoMatch); }
  void fail_request(PeerFailure failure) override;
  void leave_pool() override;
  [[nodiscard]] bool attributes_match() const override;
  void on_row(const fsm::Row& row) override { fsm::tell(services_.row_listener, row); }
  void unexpected(std::string_view, std::string_view, std::string_view) override;

  const Services& services_;
  PeerRequestOwner& owner_;
  PeerPool& pool_;
  const vi::Vi& vi_;
  const ActiveSetup::Request request_;
  machines::vitcp_peer::Machine machine_;
  std::unique_ptr<ActiveSetup> ours_;  // from the first time that we ask
  IncomingSetup* theirs_ = nullptr;    // while it is answered
  PeerFailure failure_{};
  bool told_waiting_ = false;
  fsm::Outbox<Effect, 5> outbox_;
  runtime::Timer<PeerRequest, &PeerRequest::time_expired> timeout_{*this};
};

}  // namespace vitcp
