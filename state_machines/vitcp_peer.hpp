// One peer's request (VI-TCP 4, rulings V-13; VI-DG 3.3.6, 6.7): which end asks, and which request makes the
// connection.
//
// One object per VipConnectPeerRequest. It stands above vitcp_active (our own request) and vitcp_passive (the peer's),
// which complete the call where they make the connection. The end with the higher IP address asks, the other waits;
// with equal addresses (one host) both ask.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::vitcp_peer {

// Our IP address against the peer's, as unsigned numbers of 32 or 128 bits (VI-TCP 4).
enum class Addresses : std::uint8_t { OursHigher, OursLower, Equal };
// Our ConnectRequest against the peer's: Calling Discriminator (64 octets, padded), then Message Number (ruling V-13).
// Looked at only while ours is out.
enum class Requests : std::uint8_t { OursHigher, OursLower, Equal };
// What VipConnectPeerDone and VipConnectPeerWait return of what ends here; the rest is vitcp_active's.
enum class PeerFailure : std::uint8_t {
  Timeout,             // VIP_TIMEOUT
  AttributesConflict,  // VIP_INVALID_RELIABILITY_LEVEL (VI-DG 6.7)
  Withdrawn,           // VipDisconnect came first, or the VI goes away
};

// --- events
struct RequestPosted {  // VipConnectPeerRequest
  Addresses addresses = Addresses::OursHigher;
};
struct RequestSent {};   // vitcp_active send_connect_request(): ours is out
struct RequestEnded {};  // vitcp_active schedule_retry(): it is not any more
struct PeerRequested {   // vitcp_passive offer(): the peer's request is for us (both addresses and discriminators)
  Requests requests = Requests::OursHigher;
};
struct SetupSucceeded {};       // vitcp_active connected()
struct SetupFailed {};          // vitcp_active fail_request(): ConnectReject, Timeout, an answer that is none
struct TimeExpired {};          // start_timeout()'s time is over
struct DisconnectRequested {};  // VipDisconnect

// --- effects
class Context : public fsm::Context {
 public:
  // The consumer's Timeout, where we do not ask; may be infinite. Expires as TimeExpired. Where we ask it is
  // vitcp_active's.
  virtual void start_timeout() = 0;
  virtual void stop_timeout() = 0;
  virtual void ask() = 0;  // vitcp_active ConnectRequested
  // vitcp_active Superseded: it tells no more.
  virtual void withdraw_setup() = 0;
  virtual void
  withdraw_request() = 0;             // vitcp_active DisconnectRequested: it completes the call, SetupFailed comes back
  virtual void accept_request() = 0;  // vitcp_passive AcceptRequested: it connects the endpoint and completes the call
  virtual void reject_request() = 0;  // vitcp_passive RejectRequested
  virtual void answer_no_match() = 0;  // vitcp_passive NoMatchingDiscriminator
  // vi::end_request() and Operation::done().
  virtual void fail_request(PeerFailure) = 0;
  virtual void leave_pool() = 0;                            // no request of the peer finds this one any more
  [[nodiscard]] virtual bool attributes_match() const = 0;  // the level of the peer's request is ours (VI-TCP 3.3)
};

// --- states
struct Idle : fsm::State {};
struct Waiting : fsm::State {};     // the lower address: the peer asks
struct Asking : fsm::State {};      // the higher address: we ask
struct Contending : fsm::State {};  // equal addresses: both ask; ours is not out, or not any more
struct Requesting : fsm::State {};  // equal addresses: both ask; ours is out
struct Over : fsm::State {};        // out of the pool

// --- actions and guards
FSM_ACTION(StartTimeout, context.start_timeout());
FSM_ACTION(StopTimeout, context.stop_timeout());
FSM_ACTION(Ask, context.ask());
FSM_ACTION(WithdrawSetup, context.withdraw_setup());
FSM_ACTION(WithdrawRequest, context.withdraw_request());
FSM_ACTION(AcceptRequest, context.accept_request());
FSM_ACTION(RejectRequest, context.reject_request());
FSM_ACTION(AnswerNoMatch, context.answer_no_match());
FSM_ACTION(FailTimeout, context.fail_request(PeerFailure::Timeout));
FSM_ACTION(FailConflict, context.fail_request(PeerFailure::AttributesConflict));
FSM_ACTION(FailWithdrawn, context.fail_request(PeerFailure::Withdrawn));
FSM_ACTION(LeavePool, context.leave_pool());
FSM_GUARD(AddressHigher, event.addresses == Addresses::OursHigher);
FSM_GUARD(AddressLower, event.addresses == Addresses::OursLower);
FSM_GUARD(AddressesEqual, event.addresses == Addresses::Equal);
FSM_GUARD(RequestLower, event.requests == Requests::OursLower);
FSM_GUARD(AttributesMatch, context.attributes_match());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using Accept = Do<LeavePool, AcceptRequest>;
using Refuse = Do<LeavePool, RejectRequest, FailConflict>;

struct Def {
  static constexpr std::string_view name = "vitcp_peer";
  using Context = vitcp_peer::Context;
  using initial_state = Idle;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                                                 source      event                target      action                                     guard
  On<"VI-TCP 4 the higher address asks",                                    Idle,       RequestPosted,       Asking,     Ask,                                       AddressHigher>,
  On<"VI-TCP 4 one end using passive, ruling V-13",                         Idle,       RequestPosted,       Waiting,    StartTimeout,                              AddressLower>,
  On<"VI-TCP 4, ruling V-13 equal addresses: both ask",                     Idle,       RequestPosted,       Contending, Ask,                                       AddressesEqual>,
  // --------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 4",                                                            Waiting,    PeerRequested,       Over,       Do<StopTimeout, Accept>,                   AttributesMatch>,
  On<"VI-TCP 3.3 the level must match, VI-DG 6.7",                          Waiting,    PeerRequested,       Over,       Do<StopTimeout, Refuse>,                   Not<AttributesMatch>>,
  On<"VI-DG 3.3.6, 6.7 VIP_TIMEOUT",                                        Waiting,    TimeExpired,         Over,       Do<LeavePool, FailTimeout>,                none>,
  On<"VI-ARCH 5.2, VI-DG 3.3.5",                                            Waiting,    DisconnectRequested, Over,       Do<StopTimeout, LeavePool, FailWithdrawn>, none>,
  // --------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 4.2",                                                          Asking,     RequestSent,         none,       none,                                      none>,
  On<"VI-TCP 4 repeated attempts",                                          Asking,     RequestEnded,        none,       none,                                      none>,
  On<"VI-TCP 4, ruling V-32",                                               Asking,     PeerRequested,       none,       AnswerNoMatch,                             none>,
  On<"VI-TCP 4.2 ConnectAccept",                                            Asking,     SetupSucceeded,      Over,       LeavePool,                                 none>,
  On<"VI-TCP 4.2 ConnectReject, Timeout",                                   Asking,     SetupFailed,         Over,       LeavePool,                                 none>,
  On<"VI-ARCH 5.2, VI-DG 3.3.5",                                            Asking,     DisconnectRequested, Over,       Do<LeavePool, WithdrawRequest>,            none>,
  // --------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 4.2",                                                          Contending, RequestSent,         Requesting, none,                                      none>,
  On<"VI-TCP 4 repeated attempts",                                          Contending, RequestEnded,        none,       none,                                      none>,
  On<"VI-TCP 4, ruling V-13 the only request",                              Contending, PeerRequested,       Over,       Do<WithdrawSetup, Accept>,                 AttributesMatch>,
  On<"VI-TCP 3.3 the level must match, VI-DG 6.7",                          Contending, PeerRequested,       Over,       Do<WithdrawSetup, Refuse>,                 Not<AttributesMatch>>,
  On<"VI-TCP 4.2 Timeout",                                                  Contending, SetupFailed,         Over,       LeavePool,                                 none>,
  On<"VI-ARCH 5.2, VI-DG 3.3.5",                                            Contending, DisconnectRequested, Over,       Do<LeavePool, WithdrawRequest>,            none>,
  // --------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 4 repeated attempts, ruling V-13",                             Requesting, RequestEnded,        Contending, none,                                      none>,
  On<"VI-TCP 4, ruling V-13 the higher request wins",                       Requesting, PeerRequested,       Over,       Do<WithdrawSetup, Accept>,                 All<RequestLower, AttributesMatch>>,
  On<"VI-TCP 3.3 the level must match, VI-DG 6.7",                          Requesting, PeerRequested,       Over,       Do<WithdrawSetup, Refuse>,                 All<RequestLower, Not<AttributesMatch>>>,
  On<"VI-TCP 4, ruling V-13 the lower gets ConnectNoMatch, equal ones too", Requesting, PeerRequested,       none,       AnswerNoMatch,                             Not<RequestLower>>,
  On<"VI-TCP 4.2 ConnectAccept",                                            Requesting, SetupSucceeded,      Over,       LeavePool,                                 none>,
  On<"VI-TCP 4.2 ConnectReject, Timeout",                                   Requesting, SetupFailed,         Over,       LeavePool,                                 none>,
  On<"VI-ARCH 5.2, VI-DG 3.3.5",                                            Requesting, DisconnectRequested, Over,       Do<LeavePool, WithdrawRequest>,            none>,
  // --------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-ARCH 5.2 our own withdrawal comes back",                           Over,       SetupFailed,         none,       none,                                      none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::vitcp_peer
