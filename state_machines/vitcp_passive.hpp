// The passive side of a connection's set-up over TCP (VI-TCP 4.3): VipConnectWait, VipConnectAccept, VipConnectReject,
// and a peer that is asked (VI-TCP 4).
//
// One object per incoming TCP connection. Whoever listens at the port may be another process than the one that waits
// for the discriminator (ruling V-12): the object then moves with the stream, in Matching. From Connected on the stream
// is vitcp_closing's; this machine then hears ConnectionEnded only.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::vitcp_passive {

// What VipConnectAccept returns here. A request that was withdrawn is not found any more (VIP_TIMEOUT, ruling V-16).
enum class AcceptOutcome : std::uint8_t {
  Success,
  InvalidReliabilityLevel,  // VIP_INVALID_RELIABILITY_LEVEL: the request stays (ruling V-9)
};

// --- events
struct StreamAccepted {};   // incoming TCP connection
struct RequestReceived {};  // the first segment is a ConnectRequest of version 1, well formed, its CRC right
// The first segment is of another version, or a ConnectRequest with a CE header that cannot be: no level or several
// (ruling V-8), MTU 0 (V-9), a discriminator above 64 octets, an option's length (V-23).
struct RequestRefused {};
// The first segment is no other segment that a client may begin with: an unknown or another type, a Segment Length that
// cannot be; or its CRC is wrong: the client then asks again (ruling V-15).
struct RequestInvalid {};
struct RequestOverdue {};  // start_request_timer()'s time is over
struct PlaceNeeded {};     // too many streams are Incoming, and this one is to go
// match(): somebody waits for the Called Discriminator, at this address, with the same peer-to-peer bit (VI-TCP 3.3).
struct DiscriminatorMatched {};
// match(): nobody does, or there is no room for another request. Of a matched one: vitcp_peer answer_no_match().
struct NoMatchingDiscriminator {};
struct AcceptRequested {};  // VipConnectAccept of a VI that may be connected, or vitcp_peer accept_request()
struct RejectRequested {};  // VipConnectReject, or vitcp_peer reject_request()
struct SegmentReceived {};  // any segment, or a part of one, before the answer: data, a second ConnectRequest
struct StreamClosed {};     // TCP connection closes: its end was read, or it broke
struct ConnectionEnded {};  // vitcp_closing leave_connected(): Vip or TCP disconnect

// --- effects
class Context : public fsm::Context {
 public:
  virtual void start_request_timer() = 0;  // 10 s (ruling V-16); expires as RequestOverdue
  virtual void stop_request_timer() = 0;
  // Who waits for the Called Discriminator? DiscriminatorMatched or NoMatchingDiscriminator follows; post it.
  virtual void match() = 0;
  // Somebody does: VipConnectWait returns the request, or vitcp_peer gets PeerRequested, before anything else of this
  // stream is fed.
  virtual void offer() = 0;
  // The client is gone: VipConnectAccept and VipConnectReject find it no more. If it was not offered yet, whoever waits
  // for the discriminator waits on.
  virtual void withdraw_offer() = 0;
  // ConnectAccept: initial Message Number, Rx Descriptors Posted (ruling V-6), our level and enables, both
  // discriminators copied (V-10), the smaller MTU (V-9), our window, the CRC option only if it was asked for (VI-TCP
  // 3.6).
  virtual void send_connect_accept() = 0;
  virtual void send_connect_reject() = 0;
  virtual void send_connect_no_match() = 0;
  // The answer must arrive: give the stream to a vitcp_closing of its own, ConnectionFailed. Never in Connected.
  virtual void close_stream() = 0;
  // Destroy the stream: the client is owed nothing. Never in Connected.
  virtual void drop_stream() = 0;
  // In this order: the stream to vitcp_closing, ConnectionEstablished to vitcp_sender and vitcp_receiver, vi_endpoint
  // SetupSucceeded; of a peer's request ConnectOperation::connected().
  virtual void connected() = 0;
  // VipConnectAccept returns. Nothing to do for a peer's request.
  virtual void complete_accept(AcceptOutcome) = 0;
  virtual void complete_reject() = 0;  // VipConnectReject returns VIP_SUCCESS; nothing to do for a peer's request
  // The request's level is that of the VI that is to be connected (VI-TCP 3.3).
  [[nodiscard]] virtual bool levels_match() const = 0;
};

// --- states
struct Listening : fsm::State {};      // on the port of VI/TCP
struct Incoming : fsm::State {};       // the ConnectRequest is to come
struct Matching : fsm::State {};       // who waits for the discriminator?
struct PendingAccept : fsm::State {};  // the application, or vitcp_peer, decides
struct Connected : fsm::State {};
struct Disconnected : fsm::State {};  // over: the object may go

// --- actions and guards
FSM_ACTION(StartRequestTimer, context.start_request_timer());
FSM_ACTION(StopRequestTimer, context.stop_request_timer());
FSM_ACTION(Match, context.match());
FSM_ACTION(Offer, context.offer());
FSM_ACTION(WithdrawOffer, context.withdraw_offer());
FSM_ACTION(SendConnectAccept, context.send_connect_accept());
FSM_ACTION(SendConnectReject, context.send_connect_reject());
FSM_ACTION(SendConnectNoMatch, context.send_connect_no_match());
FSM_ACTION(CloseStream, context.close_stream());
FSM_ACTION(DropStream, context.drop_stream());
FSM_ACTION(Connect, context.connected());
FSM_ACTION(CompleteAccept, context.complete_accept(AcceptOutcome::Success));
FSM_ACTION(RefuseAccept, context.complete_accept(AcceptOutcome::InvalidReliabilityLevel));
FSM_ACTION(CompleteReject, context.complete_reject());
FSM_GUARD(LevelsMatch, context.levels_match());
using fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using Reject = Do<SendConnectReject, CloseStream>;
using AnswerNoMatch = Do<SendConnectNoMatch, CloseStream>;

struct Def {
  static constexpr std::string_view name = "vitcp_passive";
  using Context = vitcp_passive::Context;
  using initial_state = Listening;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                              source         event                    target         action                                          guard
  On<"VI-TCP 4.3 Accept TCP connection, 2.2.2.2.2",      Listening,     StreamAccepted,          Incoming,      StartRequestTimer,                              none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 4.3 incoming Connect Request",              Incoming,      RequestReceived,         Matching,      Do<StopRequestTimer, Match>,                    none>,
  On<"VI-TCP 3.3, rulings V-8 V-9 V-16 V-23",            Incoming,      RequestRefused,          Disconnected,  Do<StopRequestTimer, Reject>,                   none>,
  On<"VI-TCP 4.3, 3.6, rulings V-16 V-29",               Incoming,      RequestInvalid,          Disconnected,  Do<StopRequestTimer, DropStream>,               none>,
  On<"VI-TCP 4.3 Timeout, ruling V-16",                  Incoming,      RequestOverdue,          Disconnected,  DropStream,                                     none>,
  On<"impl: half-open connections are limited",          Incoming,      PlaceNeeded,             Disconnected,  Do<StopRequestTimer, DropStream>,               none>,
  On<"VI-TCP 4.3 TCP connection closes",                 Incoming,      StreamClosed,            Disconnected,  Do<StopRequestTimer, DropStream>,               none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 4.3 Discriminator match",                   Matching,      DiscriminatorMatched,    PendingAccept, Offer,                                          none>,
  On<"VI-TCP 4.3 No Matching Discriminator",             Matching,      NoMatchingDiscriminator, Disconnected,  AnswerNoMatch,                                  none>,
  On<"VI-TCP 4.2, ruling V-28",                          Matching,      SegmentReceived,         Disconnected,  Reject,                                         none>,
  On<"VI-TCP 2.2.2.2.2, ruling V-16",                    Matching,      StreamClosed,            Disconnected,  DropStream,                                     none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 4.3 VipConnectAccept - ConnectAccept",      PendingAccept, AcceptRequested,         Connected,     Do<SendConnectAccept, Connect, CompleteAccept>, LevelsMatch>,
  On<"VI-TCP 3.3 the level must match, ruling V-9",      PendingAccept, AcceptRequested,         none,          RefuseAccept,                                   Not<LevelsMatch>>,
  On<"VI-TCP 4.3 VipConnectReject",                      PendingAccept, RejectRequested,         Disconnected,  Do<Reject, CompleteReject>,                     none>,
  On<"VI-TCP 4, ruling V-13 the other request wins",     PendingAccept, NoMatchingDiscriminator, Disconnected,  AnswerNoMatch,                                  none>,
  On<"VI-TCP 4.2, ruling V-28",                          PendingAccept, SegmentReceived,         Disconnected,  Do<WithdrawOffer, Reject>,                      none>,
  On<"VI-TCP 2.2.2.2.2, ruling V-16 the client gave up", PendingAccept, StreamClosed,            Disconnected,  Do<WithdrawOffer, DropStream>,                  none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 4.3 Vip or TCP disconnect, ruling V-17",    Connected,     ConnectionEnded,         Disconnected,  none,                                           none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: was posted before the client was gone",      Disconnected,  DiscriminatorMatched,    none,          WithdrawOffer,                                  none>,
  On<"impl: was posted before the client was gone",      Disconnected,  NoMatchingDiscriminator, none,          none,                                           none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::vitcp_passive
