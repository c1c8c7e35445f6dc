// The active side of a connection's set-up over TCP (VI-TCP 4.2): VipConnectRequest, and a peer that asks (VI-TCP 4).
//
// One object per request. From Connected on the stream is vitcp_closing's; this machine then hears ConnectionEnded
// only.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::vitcp_active {

// What the call returns that made no connection.
enum class ConnectFailure : std::uint8_t {
  NoMatch,       // ConnectNoMatch: VIP_NO_MATCH
  Reject,        // ConnectReject: VIP_REJECT
  Timeout,       // VIP_TIMEOUT
  NotReachable,  // no TCP connection, or an answer that is none: VIP_NOT_REACHABLE
  NoResources,   // this host has no file or port left for one: VIP_ERROR_RESOURCE; the owner tells it from NotReachable
  Withdrawn,     // VipDisconnect came first, or the VI goes away
  // ConnectReject of a peer: VIP_INVALID_RELIABILITY_LEVEL (VI-DG 3.3.7 knows no VIP_REJECT)
  AttributesConflict,
};

// --- events
struct ConnectRequested {};   // VipConnectRequest, or vitcp_peer ask()
struct StreamEstablished {};  // TCP connection established
struct StreamFailed {};       // TCP set-up fail
// A ConnectAccept of the same level and peer-to-peer bit, its MTU at most ours, its CRC option only if we asked for it
// (rulings V-9, V-10; VI-TCP 3.6).
struct AcceptReceived {};
struct RejectReceived {};
struct NoMatchReceived {};
// Any other segment, a ConnectAccept that may not be, a wrong CRC.
struct AnswerInvalid {};
struct StreamClosed {};         // TCP closes: its end was read, or it broke
struct RetryDue {};             // schedule_retry()'s time is over
struct TimeExpired {};          // the consumer's Timeout
struct DisconnectRequested {};  // VipDisconnect on the VI, which is still Pending Connect
struct Superseded {};           // vitcp_peer withdraw_setup(): the peer's request makes the connection
struct ConnectionEnded {};      // vitcp_closing leave_connected(): Vip or TCP disconnect

// --- effects
class Context : public fsm::Context {
 public:
  // The consumer's Timeout, for the whole of the request; may be infinite. Expires as TimeExpired.
  virtual void start_timeout() = 0;
  virtual void stop_timeout() = 0;
  // Streams::connect to the peer's host and port. StreamEstablished or StreamFailed follows, not from within.
  virtual void open_stream() = 0;
  // ConnectRequest with an initial Message Number that is drawn anew each time (ruling V-13), Rx Descriptors Posted
  // (V-6), our level, enables, flow control, MTU, window, options. For vitcp_peer this is RequestSent.
  virtual void send_connect_request() = 0;
  // Destroy the stream, set up or not: the peer is owed nothing. Never in Connected.
  virtual void drop_stream() = 0;
  // RetryDue after an interval that grows from try to try, up to a limit (ruling V-15). For vitcp_peer this is
  // RequestEnded.
  virtual void schedule_retry() = 0;
  virtual void cancel_retry() = 0;
  // The agreed MTU and options hold, the first number of the peer and its descriptors are known. In this order: the
  // stream to vitcp_closing, ConnectionEstablished to vitcp_sender and vitcp_receiver, vi_endpoint SetupSucceeded,
  // ConnectOperation::connected(). For vitcp_peer this is SetupSucceeded.
  virtual void connected() = 0;
  // vi::end_request() and Operation::done(). For vitcp_peer this is SetupFailed.
  virtual void fail_request(ConnectFailure) = 0;
  [[nodiscard]] virtual bool peer_to_peer() const = 0;  // VipConnectPeerRequest
};

// --- states
struct Disconnected : fsm::State {};
struct Connecting : fsm::State {};     // TCP is being set up
struct PendingAccept : fsm::State {};  // ConnectRequest sent
struct AwaitRetry : fsm::State {};     // no stream: TCP closed, or no peer waits yet
struct Reconnecting : fsm::State {};   // TCP is being set up again
struct Connected : fsm::State {};

// --- actions and guards
FSM_ACTION(StartTimeout, context.start_timeout());
FSM_ACTION(StopTimeout, context.stop_timeout());
FSM_ACTION(OpenStream, context.open_stream());
FSM_ACTION(SendConnectRequest, context.send_connect_request());
FSM_ACTION(DropStream, context.drop_stream());
FSM_ACTION(ScheduleRetry, context.schedule_retry());
FSM_ACTION(CancelRetry, context.cancel_retry());
FSM_ACTION(Connect, context.connected());
FSM_ACTION(FailNoMatch, context.fail_request(ConnectFailure::NoMatch));
FSM_ACTION(FailReject, context.fail_request(ConnectFailure::Reject));
FSM_ACTION(FailConflict, context.fail_request(ConnectFailure::AttributesConflict));
FSM_ACTION(FailTimeout, context.fail_request(ConnectFailure::Timeout));
FSM_ACTION(FailNotReachable, context.fail_request(ConnectFailure::NotReachable));
FSM_ACTION(FailWithdrawn, context.fail_request(ConnectFailure::Withdrawn));
FSM_GUARD(PeerToPeer, context.peer_to_peer());
using fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using End = Do<StopTimeout, DropStream>;
using Retry = Do<DropStream, ScheduleRetry>;

struct Def {
  static constexpr std::string_view name = "vitcp_active";
  using Context = vitcp_active::Context;
  using initial_state = Disconnected;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                           source         event                target         action                                       guard
  On<"VI-TCP 4.2, 2.2.2.2.2",                         Disconnected,  ConnectRequested,    Connecting,    Do<StartTimeout, OpenStream>,                none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 4.2",                                    Connecting,    StreamEstablished,   PendingAccept, SendConnectRequest,                          none>,
  On<"VI-TCP 4.2 TCP setup fail, ruling V-27",        Connecting,    StreamFailed,        Disconnected,  Do<End, FailNotReachable>,                   Not<PeerToPeer>>,
  On<"VI-TCP 4 repeated attempts, ruling V-13",       Connecting,    StreamFailed,        AwaitRetry,    Retry,                                       PeerToPeer>,
  On<"VI-TCP 4.2 Timeout, ruling V-15",               Connecting,    TimeExpired,         Disconnected,  Do<DropStream, FailTimeout>,                 none>,
  On<"VI-ARCH 5.2, VI-DG 3.3.5",                      Connecting,    DisconnectRequested, Disconnected,  Do<End, FailWithdrawn>,                      none>,
  On<"VI-TCP 4, ruling V-13",                         Connecting,    Superseded,          Disconnected,  End,                                         none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 4.2 ConnectAccept",                      PendingAccept, AcceptReceived,      Connected,     Do<StopTimeout, Connect>,                    none>,
  On<"VI-TCP 4.2 ConnectReject",                      PendingAccept, RejectReceived,      Disconnected,  Do<End, FailReject>,                         Not<PeerToPeer>>,
  On<"VI-TCP 4.2 ConnectReject, 3.3, VI-DG 3.3.7",    PendingAccept, RejectReceived,      Disconnected,  Do<End, FailConflict>,                       PeerToPeer>,
  On<"VI-TCP 4.2 ConnectNoMatch",                     PendingAccept, NoMatchReceived,     Disconnected,  Do<End, FailNoMatch>,                        Not<PeerToPeer>>,
  On<"VI-TCP 4 repeated attempts, ruling V-13",       PendingAccept, NoMatchReceived,     AwaitRetry,    Retry,                                       PeerToPeer>,
  On<"VI-TCP 3.3, 3.6, rulings V-9 V-10 V-28",        PendingAccept, AnswerInvalid,       Disconnected,  Do<End, FailNotReachable>,                   none>,
  On<"VI-TCP 4.2 Reestablish, ruling V-15",           PendingAccept, StreamClosed,        AwaitRetry,    Retry,                                       none>,
  On<"VI-TCP 4.2 Timeout",                            PendingAccept, TimeExpired,         Disconnected,  Do<DropStream, FailTimeout>,                 none>,
  On<"VI-ARCH 5.2, VI-DG 3.3.5",                      PendingAccept, DisconnectRequested, Disconnected,  Do<End, FailWithdrawn>,                      none>,
  On<"VI-TCP 4, ruling V-13",                         PendingAccept, Superseded,          Disconnected,  End,                                         none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 4.2 Reestablish, ruling V-15",           AwaitRetry,    RetryDue,            Reconnecting,  OpenStream,                                  none>,
  On<"VI-TCP 4.2 Timeout, ruling V-15",               AwaitRetry,    TimeExpired,         Disconnected,  Do<CancelRetry, FailTimeout>,                none>,
  On<"VI-ARCH 5.2, VI-DG 3.3.5",                      AwaitRetry,    DisconnectRequested, Disconnected,  Do<StopTimeout, CancelRetry, FailWithdrawn>, none>,
  On<"VI-TCP 4, ruling V-13",                         AwaitRetry,    Superseded,          Disconnected,  Do<StopTimeout, CancelRetry>,                none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 4.2",                                    Reconnecting,  StreamEstablished,   PendingAccept, SendConnectRequest,                          none>,
  On<"VI-TCP 4.2 Reestablish, ruling V-15",           Reconnecting,  StreamFailed,        AwaitRetry,    Retry,                                       none>,
  On<"VI-TCP 4.2 Timeout, ruling V-15",               Reconnecting,  TimeExpired,         Disconnected,  Do<DropStream, FailTimeout>,                 none>,
  On<"VI-ARCH 5.2, VI-DG 3.3.5",                      Reconnecting,  DisconnectRequested, Disconnected,  Do<End, FailWithdrawn>,                      none>,
  On<"VI-TCP 4, ruling V-13",                         Reconnecting,  Superseded,          Disconnected,  End,                                         none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 4.2 Vip or TCP disconnect, ruling V-17", Connected,     ConnectionEnded,     Disconnected,  none,                                        none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::vitcp_active
