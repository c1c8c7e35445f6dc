// One VI Message at its originator (FC-VI 5.2, 8.4, B.2.6, Annex E, C.5.5): from the send Descriptor to its completion.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::message_originator {

// The result of the Descriptor (VI-DG 5.2 status bits).
enum class Completion : std::uint8_t {
  Success,
  Flushed,                // Descriptor Flushed
  TransportError,         // VIP_STATUS_TRANSPORT_ERROR
  LocalProtectionError,   // the memory of our own Descriptor
  RdmaProtectionError,    // PROT_ERR of the Message Response (Table 6)
  RemoteDescriptorError,  // DESC_ERR of the Message Response (Table 6)
};

// --- events
// Transmission begins; more than one frame. A Message of one frame starts with LastFrameSent.
struct SendStarted {};
// The last frame of the last Message Request IU left.
struct LastFrameSent {
  bool read = false;  // RDMA Read: data comes back (FC-VI 5.2.4)
  // Reliable Reception: Sequence Initiative was transferred (FC-VI 5.2.2, 5.2.3).
  bool needs_response = false;
};
// FCVI_SEND_RESP or FCVI_WRITE_RESP.
struct ResponseReceived {
  Completion status = Completion::Success;  // from RESP_ERR, TRANS_ERR, PROT_ERR, DESC_ERR (FC-VI 5.9.4.3)
};
// A frame of FCVI_READ_RESP, the next one in order.
struct ReadDataReceived {
  bool last = false;                        // Last_Sequence: the Message is whole
  Completion status = Completion::Success;  // not Success: one frame without payload (ruling 18)
};
// RESP3 came, and it is this Message's turn: its completion may be delivered (FC-VI C.5.1, Annexes E and F).
struct ClearToSend {};
struct ResponseTimeout {};  // FCVI_ULP_TIMEOUT (B.2.6.2 rule 9)
struct ExchangeError {};    // rules 8a to 8e, a gap in the read data, or the peer's ABTS
// Memory of the Descriptor was deregistered while its data was sent or received.
struct LocalProtectionError {};
struct ConnectionEnded {};  // the endpoint left Connected: error, disconnect, logout

// --- effects
class Context : public fsm::Context {
 public:
  virtual void start_response_timer() = 0;  // FCVI_ULP_TIMEOUT = R_A_TOV (FC-VI 8.3)
  virtual void stop_response_timer() = 0;
  virtual void place_read_data() = 0;     // copy the frame into the Descriptor's memory
  virtual void complete(Completion) = 0;  // the Descriptor; the owner keeps the order (Annex E)
  virtual void abort_exchange() = 0;      // ABTS
  // Endpoint to Error, set Herr (8.4.2 e); not for Unreliable Delivery. Post it: it feeds ConnectionEnded
  // to all Messages.
  virtual void fail_connection() = 0;
  virtual void set_merr() = 0;                      // Unreliable Delivery: the Message is errored (B.2.6.1)
  virtual void count_stale() = 0;                   // late, duplicate or crossing: harmless, counted
  [[nodiscard]] virtual bool reliable() const = 0;  // Reliable Delivery or Reliable Reception
  // RESP3 came, or we are the responder of the setup (C.5.5); and no earlier Message that this one must not
  // overtake is incomplete (VI-ARCH 2.5.3, 6.3.1.1, Annex E).
  [[nodiscard]] virtual bool may_complete() const = 0;
  // VI-DG 5.2 bit 6 is valid on this Descriptor: an RDMA Read, or any at Reliable Reception.
  [[nodiscard]] virtual bool reports_transport_errors() const = 0;
};

// --- states
struct Queued : fsm::State {};  // posted, no frame sent
struct Sending : fsm::State {};
struct AwaitResponse : fsm::State {};  // Reliable Reception
struct AwaitReadData : fsm::State {};
struct AwaitClearToSend : fsm::State {};  // done, but RESP3 (C.5.5) or its turn (Annex E) is still to come
struct Completed : fsm::State {};         // the Descriptor is complete, well or in error

// --- actions and guards
FSM_ACTION(StartResponseTimer, context.start_response_timer());
FSM_ACTION(StopResponseTimer, context.stop_response_timer());
FSM_ACTION(PlaceReadData, context.place_read_data());
FSM_ACTION(CompleteSuccess, context.complete(Completion::Success));
FSM_ACTION(CompleteFlushed, context.complete(Completion::Flushed));
FSM_ACTION(CompleteTransportError, context.complete(Completion::TransportError));
FSM_ACTION(CompleteLocalProtectionError, context.complete(Completion::LocalProtectionError));
FSM_ACTION(CompleteAsAnswered, context.complete(event.status));
FSM_ACTION(AbortExchange, context.abort_exchange());
FSM_ACTION(FailConnection, context.fail_connection());
FSM_ACTION(SetMerr, context.set_merr());
FSM_ACTION(CountStale, context.count_stale());
FSM_GUARD(Read, event.read);
FSM_GUARD(NeedsResponse, event.needs_response);
FSM_GUARD(Last, event.last);
FSM_GUARD(Succeeded, event.status == Completion::Success);
FSM_GUARD(Reliable, context.reliable());
FSM_GUARD(MayComplete, context.may_complete());
FSM_GUARD(ReportsTransportErrors, context.reports_transport_errors());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using OneWay = All<Not<Read>, Not<NeedsResponse>>;
using TwoWay = All<Not<Read>, NeedsResponse>;
// The order matters: the Descriptor that had the error completes with it before the connection's end flushes the rest.
using Fail = Do<AbortExchange, CompleteTransportError, FailConnection>;

struct Def {
  static constexpr std::string_view name = "message_originator";
  using Context = message_originator::Context;
  using initial_state = Queued;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                             source            event                 target            action                                                                              guard
  On<"FC-VI 5.2.2, 5.2.3",                               Queued,           SendStarted,          Sending,          none,                                                                               none>,
  On<"FC-VI 5.2.4 one frame",                            Queued,           LastFrameSent,        AwaitReadData,    StartResponseTimer,                                                                 Read>,
  On<"FC-VI 5.2.2, 5.2.3 one frame, response",           Queued,           LastFrameSent,        AwaitResponse,    StartResponseTimer,                                                                 TwoWay>,
  On<"FC-VI C.5.1, C.5.5 one frame, no RESP3 yet",       Queued,           LastFrameSent,        AwaitClearToSend, none,                                                                               All<OneWay, Not<MayComplete>>>,
  On<"FC-VI 5.2.2, 5.2.3 one frame, VI-ARCH 2.5.2",      Queued,           LastFrameSent,        Completed,        CompleteSuccess,                                                                    All<OneWay, MayComplete>>,
  On<"VI-ARCH 2.5.2 local error before the first frame", Queued,           LocalProtectionError, Completed,        Do<CompleteLocalProtectionError, FailConnection>,                                   Reliable>,
  On<"VI-ARCH 2.5.1 the connection persists",            Queued,           LocalProtectionError, Completed,        CompleteLocalProtectionError,                                                       Not<Reliable>>,
  On<"FC-VI C.5.5 nothing to complete yet",              Queued,           ClearToSend,          none,             none,                                                                               none>,
  On<"VI-ARCH 5.4, VI-DG 3.3.5",                         Queued,           ConnectionEnded,      Completed,        CompleteFlushed,                                                                    none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 5.2.4",                                      Sending,          LastFrameSent,        AwaitReadData,    StartResponseTimer,                                                                 Read>,
  On<"FC-VI 5.2.2, 5.2.3 response",                      Sending,          LastFrameSent,        AwaitResponse,    StartResponseTimer,                                                                 TwoWay>,
  On<"FC-VI C.5.1, C.5.5 no RESP3 yet",                  Sending,          LastFrameSent,        AwaitClearToSend, none,                                                                               All<OneWay, Not<MayComplete>>>,
  On<"FC-VI 5.2.2, 5.2.3, VI-ARCH 2.5.2",                Sending,          LastFrameSent,        Completed,        CompleteSuccess,                                                                    All<OneWay, MayComplete>>,
  On<"VI-ARCH 2.5.2, FC-VI 8.4.2 e)",                    Sending,          LocalProtectionError, Completed,        Do<AbortExchange, CompleteLocalProtectionError, FailConnection>,                    Reliable>,
  On<"VI-ARCH 2.5.1 the connection persists",            Sending,          LocalProtectionError, Completed,        Do<AbortExchange, CompleteLocalProtectionError>,                                    Not<Reliable>>,
  On<"FC-VI B.2.6.1 rules 8a 8c 8d 8e, c)",              Sending,          ExchangeError,        Completed,        Fail,                                                                               All<Reliable, ReportsTransportErrors>>,
  On<"FC-VI B.2.6.1 rules 8a 8c 8d 8e, c): flushed",     Sending,          ExchangeError,        Completed,        Do<AbortExchange, FailConnection>,                                                  All<Reliable, Not<ReportsTransportErrors>>>,
  On<"FC-VI B.2.6.1 rules 8a 8c 8d 8e, b), VI-ARCH 2.5.1", Sending,                 ExchangeError,        Completed,        Do<AbortExchange, SetMerr, CompleteSuccess>,                                        All<Not<Reliable>, MayComplete>>,
  On<"FC-VI B.2.6.1 rules 8a 8c 8d 8e, b), C.5.5",       Sending,          ExchangeError,        AwaitClearToSend, Do<AbortExchange, SetMerr>,                                                         All<Not<Reliable>, Not<MayComplete>>>,
  On<"impl: the initiative is still ours",               Sending,          ResponseReceived,     none,             CountStale,                                                                         none>,
  On<"FC-VI C.5.5 nothing to complete yet",              Sending,          ClearToSend,          none,             none,                                                                               none>,
  On<"VI-ARCH 5.4, VI-DG 3.3.5",                         Sending,          ConnectionEnded,      Completed,        Do<AbortExchange, CompleteFlushed>,                                                 none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 5.2.2, 5.2.3, VI-ARCH 2.5.3",                AwaitResponse,    ResponseReceived,     Completed,        Do<StopResponseTimer, CompleteSuccess>,                                             All<Succeeded, MayComplete>>,
  On<"FC-VI C.5.10.1 responses may come before RESP3",   AwaitResponse,    ResponseReceived,     AwaitClearToSend, StopResponseTimer,                                                                  All<Succeeded, Not<MayComplete>>>,
  On<"FC-VI 5.9.4.3, 8.4.2 e), VI-ARCH 2.5.3",           AwaitResponse,    ResponseReceived,     Completed,        Do<StopResponseTimer, CompleteAsAnswered, FailConnection>,                          Not<Succeeded>>,
  On<"FC-VI 8.4.1 a), 8.4.2 a) e), B.2.6.2 rule 9",      AwaitResponse,    ResponseTimeout,      Completed,        Fail,                                                                               none>,
  On<"FC-VI B.2.6.1 rules 8a 8c 8d 8e, c)",              AwaitResponse,    ExchangeError,        Completed,        Do<StopResponseTimer, Fail>,                                                        none>,
  On<"FC-VI C.5.5 the response is still to come",        AwaitResponse,    ClearToSend,          none,             none,                                                                               none>,
  On<"VI-ARCH 5.4, VI-DG 3.3.5",                         AwaitResponse,    ConnectionEnded,      Completed,        Do<StopResponseTimer, AbortExchange, CompleteFlushed>,                              none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 5.2.4, VI-ARCH 2.5.2",                       AwaitReadData,    ReadDataReceived,     Completed,        Do<PlaceReadData, StopResponseTimer, CompleteSuccess>,                              All<Succeeded, Last, MayComplete>>,
  On<"FC-VI 5.2.4, C.5.10.1 no RESP3 yet",               AwaitReadData,    ReadDataReceived,     AwaitClearToSend, Do<PlaceReadData, StopResponseTimer>,                                               All<Succeeded, Last, Not<MayComplete>>>,
  On<"FC-VI 5.9.4.3, 8.4.2 e), ruling 18",               AwaitReadData,    ReadDataReceived,     Completed,        Do<StopResponseTimer, CompleteAsAnswered, FailConnection>,                          Not<Succeeded>>,
  On<"FC-VI 8.4.1 a), 8.4.2 a) e), B.2.6.2 rule 9",      AwaitReadData,    ResponseTimeout,      Completed,        Fail,                                                                               none>,
  On<"FC-VI 8.4.1 c), 8.4.2 e), B.2.6.1 rules 8c 8d",    AwaitReadData,    ExchangeError,        Completed,        Do<StopResponseTimer, Fail>,                                                        none>,
  On<"VI-ARCH 2.5.2 the target went away",               AwaitReadData,    LocalProtectionError, Completed,        Do<StopResponseTimer, AbortExchange, CompleteLocalProtectionError, FailConnection>, none>,
  On<"FC-VI C.5.5 the data is still to come",            AwaitReadData,    ClearToSend,          none,             none,                                                                               none>,
  On<"VI-ARCH 5.4, VI-DG 3.3.5",                         AwaitReadData,    ConnectionEnded,      Completed,        Do<StopResponseTimer, AbortExchange, CompleteFlushed>,                              none>,
  On<"FC-VI 5.2.4 next frame",                           AwaitReadData,    ReadDataReceived,     none,             PlaceReadData,                                                                      All<Succeeded, Not<Last>>>,  // last in the group: tried first
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI C.5.1, C.5.5",                               AwaitClearToSend, ClearToSend,          Completed,        CompleteSuccess,                                                                    none>,
  On<"impl: a duplicate",                                AwaitClearToSend, ResponseReceived,     none,             CountStale,                                                                         none>,
  On<"impl: a duplicate",                                AwaitClearToSend, ReadDataReceived,     none,             CountStale,                                                                         none>,
  On<"impl: the Message was delivered, or RESP3 tells",  AwaitClearToSend, ExchangeError,        none,             CountStale,                                                                         none>,
  On<"FC-VI C.3 rule 5 d), VI-ARCH 5.4",                 AwaitClearToSend, ConnectionEnded,      Completed,        CompleteFlushed,                                                                    none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: a duplicate, or after the abort",            Completed,        ResponseReceived,     none,             CountStale,                                                                         none>,
  On<"impl: a duplicate, or after the abort",            Completed,        ReadDataReceived,     none,             CountStale,                                                                         none>,
  On<"VI-ARCH 2.5.2 after a success: asynchronous",      Completed,        ExchangeError,        none,             CountStale,                                                                         none>,
  On<"impl: was queued before the abort",                Completed,        LastFrameSent,        none,             CountStale,                                                                         none>,
  On<"FC-VI C.5.5 complete already",                     Completed,        ClearToSend,          none,             none,                                                                               none>,
  On<"VI-ARCH 5.4 complete already",                     Completed,        ConnectionEnded,      none,             none,                                                                               none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::message_originator
