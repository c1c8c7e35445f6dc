// A Connection Setup that a peer originated (FC-VI 5.3.2, 8.5.3 d, C.4). It lives as long as the connection that came
// of it, to answer a late retry (C.4 rules 9, 10): so it keeps little of what it needed on its way, once it is over.
#pragma once
#include <memory>

#include "fcvi/endpoint_setup.hpp"
#include "fcvi/request_terms.hpp"
#include "fcvi/services.hpp"
#include "fcvi/setup_listeners.hpp"
#include "state_machines/connect_responder.hpp"
#include "state_machines/outbox.hpp"
#include "wire/fcvi/connect_rqst.hpp"
#include "wire/fcvi/reason.hpp"

namespace fcvi {
class ReceivedSetup final : public EndpointSetup,
                            private machines::connect_responder::Context,
                            private fc2::ExchangeUser {
 public:
  using Answer = machines::connect_responder::Answer;
  /// `number` is the owner's.
  ReceivedSetup(const Services& services, SetupOwner& owner, std::uint64_t number, fc2::Exchange& exchange,
                const wire::fcvi::ConnectRqst& request);
  ~ReceivedSetup() override;

  /// `waiting` gets the offer.
  void matched(vi::ConnectWaitOperation& waiting, const vi::ViAttributes& attributes);
  /// Peer to peer: `request` decides, now or later, by accept() or reject().
  void matched(SetupListener& request);
  void refuse(Answer answer);
  void retried(fc2::Exchange& exchange, const wire::fcvi::ConnectRqst& request);
  void accept(Connection& connection, vi::Operation& operation);
  /// `told`: whose attributes the answer shows.
  void reject(Answer answer, const vi::Vi* told = nullptr);
  // EndpointSetup
  [[nodiscard]] bool is_peers() const override { return true; }
  void disconnect_requested() override;
  void disconnect_received() override;
  void connection_ended() override;
  void endpoint_errored() override;
  bool port_logged_out() override;

  [[nodiscard]] bool is_peer_to_peer() const { return mode_ == wire::fcvi::ConnectMode::peer_to_peer; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] bool offered() const;
  /// Only waits to be destroyed.
  [[nodiscard]] bool is_over() const { return machine_.is<machines::connect_responder::Idle>(); }
  /// A retried request of the peer means this set-up (C.4 rules 8, 9), not one whose endpoint failed (rule 11).
  [[nodiscard]] bool awaits_retry() const;
  /// `request`, with our peer's handle, asks for the same as the first: mode, addresses and attributes (C.4 rules 8,
  /// 9).
  [[nodiscard]] bool is_retry(const wire::fcvi::ConnectRqst& request) const;
  /// That of the CONNECT_RQST, or of its last retry.
  [[nodiscard]] wire::ConnectionId connection_id() const { return connection_id_; }
  [[nodiscard]] wire::FcviHandle peer_handle() const { return peer_handle_; }
  /// The last CONNECT_RQST was a retry.
  [[nodiscard]] bool is_retried() const { return retry_; }
  /// The last CONNECT_RQST. Pre: the set-up is under way; the call that accepts it has not returned.
  [[nodiscard]] const wire::fcvi::ConnectRqst& request() const;
  [[nodiscard]] wire::FcId peer_port() const { return peer_port_; }
  [[nodiscard]] Connection* connection() { return connection_; }
  /// Nothing of it runs: what only its course needed is given back if it has made its connection.
  void rest();
  /// A VI was to get the connection, and is still there.
  [[nodiscard]] bool has_endpoint() const;
  [[nodiscard]] bool is_consistent() const;

 private:
  using AcceptOutcome = machines::connect_responder::AcceptOutcome;
  using Resp3 = machines::connect_responder::Resp3;
  /// What the machine's actions ask for, once it has come to rest.
  struct Effect {
    enum class Kind : std::uint8_t { Finish, Leave, Release };
    Kind kind;
    AcceptOutcome outcome;  // Finish
  };

  template <class E>
  void process(const E& event);
  void take(fc2::Exchange& exchange);
  void settle();
  void carry_out(Effect effect);
  void finish(AcceptOutcome outcome);
  void release_all();
  void t2_expired();
  void end_offer();
  // fc2::ExchangeUser
  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first,
                         std::span<const std::uint8_t> iu) override;
  void exchange_failed(fc2::Exchange& exchange, fc2::ExchangeFailure failure) override;
  // machines::connect_responder
  void offer_request() override;
  void withdraw_request() override;
  void send_resp1(Answer answer) override;
  void repeat_resp1() override { send_resp1(answer_); }
  void send_resp3(Resp3 result) override;
  void adopt_retry() override;
  void start_t2() override;
  void stop_t2() override;
  void abort_exchange() override;
  void set_cserr() override;
  void complete_accept(AcceptOutcome outcome) override { outbox_.push({Effect::Kind::Finish, outcome}); }
  void endpoint_accepting() override;
  void endpoint_connected() override;
  void endpoint_refused() override;
  void endpoint_lost() override;
  void release() override { outbox_.push({Effect::Kind::Release, {}}); }
  void count_stale() override;
  void leave_waiting_for_peer() override;
  [[nodiscard]] bool peer_to_peer() const override { return is_peer_to_peer(); }
  [[nodiscard]] bool answered() const override { return answered_; }
  void on_row(const fsm::Row& row) override;
  void unexpected(std::string_view, std::string_view, std::string_view) override;

  struct Retry {
    fc2::Exchange& exchange;
    const wire::fcvi::ConnectRqst& request;
  };
  struct Course;
  const Services& services_;
  SetupOwner& owner_;
  const std::uint64_t number_;
  Connection* connection_ = nullptr;
  std::unique_ptr<Course> course_;  // nullptr once the connection is there
  RequestTerms terms_;              // from then on
  const wire::FcId peer_port_;
  const wire::FcviHandle peer_handle_;
  wire::ConnectionId connection_id_;
  const wire::fcvi::ConnectMode mode_;
  bool retry_;
  bool answered_ = false;  // a RESP1 went: what the peer has heard, whatever the state is now
  Answer answer_ = Answer::Accept;
  std::optional<wire::fcvi::Reason> failure_;  // what the Disconnect of its endpoint will tell, if it fails now
  machines::connect_responder::Machine machine_;
  fsm::Outbox<Effect, 3> outbox_;
};

/// What it needs until the connection is there, and for another retry.
struct ReceivedSetup::Course {
  Course(ReceivedSetup& setup, const wire::fcvi::ConnectRqst& rqst) : request(rqst), t2(setup) {}
  fc2::Exchange* exchange = nullptr;
  wire::fcvi::ConnectRqst request;
  const Retry* retry = nullptr;        // for adopt_retry, valid in retried()
  vi::Operation* operation = nullptr;  // VipConnectAccept, until it returned
  SetupListener* peer = nullptr;       // peer to peer: who decides; valid until then, its operation hears of the end
  std::optional<wire::fcvi::Attributes> told;  // in a RESP1 that rejects
  vi::ConnectionToken offer;                   // while the application is to decide; 0: it is not
  runtime::Timer<ReceivedSetup, &ReceivedSetup::t2_expired> t2;
};

inline bool ReceivedSetup::offered() const { return course_ != nullptr && course_->offer.value != 0; }
inline const wire::fcvi::ConnectRqst& ReceivedSetup::request() const { return course_->request; }

}  // namespace fcvi
