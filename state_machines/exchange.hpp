// One Exchange at its originator or its responder (FC-FS; FC-VI 5.2.1, 5.4, 8.4.2): who holds the Sequence
// Initiative, when it ends, and how it is aborted. First-level recovery is ABTS, second-level recovery the
// logout of the port.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::exchange {

enum class AbortCause : std::uint8_t {
  Acknowledged,   // the peer answered our ABTS with BA_ACC
  Rejected,       // ... with BA_RJT: it does not know the Exchange
  Unanswered,     // neither ABTS was answered within R_A_TOV
  AbortedByPeer,  // the peer sent ABTS
  PortLoggedOut,  // an implicit or explicit logout ended the Exchange
};

// --- events
struct Originated {};  // we allocated the OX_ID; nothing was sent yet
// A Sequence of the peer begins (multi-frame; a whole one-frame Sequence needs only the next event).
struct FirstFrameReceived {};
// A whole Sequence arrived. In Closed: a new Exchange of the peer whose first Sequence is one frame.
struct SequenceReceived {
  bool transfers_initiative = false;  // F_CTL Sequence Initiative
  bool last_of_exchange = false;      // F_CTL Last_Sequence; wins over transfers_initiative
};
// The last frame of our Sequence left (class 2: and all its ACKs came, FC-VI 5.5).
struct SequenceSent {
  bool transfers_initiative = false;
  bool last_of_exchange = false;
};
// A user aborts: response timeout, Sequence error, ACK with Abort Sequence 01b (8.4.2 a, b).
struct AbortRequested {};
struct AbtsReceived {};       // the peer aborts
struct BaAccReceived {};      // answer to our ABTS
struct BaRjtReceived {};      // answer to our ABTS
struct AbortTimeout {};       // R_A_TOV without an answer to ABTS
struct RrqReceived {};        // the peer releases its Recovery_Qualifier
struct QuarantineExpired {};  // R_A_TOV: no frame of the aborted Exchange can arrive any more
struct PortLoggedOut {};      // logout of the peer's port, either side, implicit or explicit

// --- effects
class Context : public fsm::Context {
 public:
  virtual void send_abts() = 0;    // P_ABTS: abort the Exchange (FC-VI 8.4.2 a)
  virtual void send_ba_acc() = 0;  // also for an Exchange that we never saw (FC-VI C.5.7.1, FC-FS 23.6.1.1)
  // Reinstate Recovery Qualifier, by the originator of the ABTS (FC-LS); may be empty.
  virtual void send_rrq() = 0;
  virtual void start_abort_timer() = 0;  // R_A_TOV
  virtual void stop_abort_timer() = 0;
  virtual void start_quarantine_timer() = 0;  // R_A_TOV
  virtual void stop_quarantine_timer() = 0;
  // Tell the user, once per Exchange, that it was aborted; later frames of it are discarded here.
  virtual void report_aborted(AbortCause) = 0;
  // Second-level recovery: log the port out (FC-FS; ends all FC-VI Connections with it, FC-VI 7.7.1).
  virtual void request_port_logout() = 0;
  // The Exchange is over, its id may be used again at once (FC-VI 5.4). Do not destroy the machine in this call.
  virtual void release() = 0;
  virtual void discard_frame() = 0;  // a frame of an Exchange that is being aborted: drop and count
  virtual void count_stale() = 0;    // late, duplicate or crossing: harmless, counted
  // An unanswered ABTS logs the port out (FC-VI C.3 rule 2 b: "may perform second level error recovery").
  [[nodiscard]] virtual bool logs_out_silent_port() const = 0;
};

// --- states
struct Closed : fsm::State {};             // before the first frame, after the last
struct OpenInitiative : fsm::State {};     // we hold the Sequence Initiative
struct OpenWaiting : fsm::State {};        // the peer holds it
struct Aborting : fsm::State {};           // first ABTS sent
struct Recovering : fsm::State {};         // ABTS repeated, last try
struct Quarantined : fsm::State {};        // aborted by us: the id rests for R_A_TOV
struct QuarantinedByPeer : fsm::State {};  // aborted by the peer: the id rests until its RRQ, at most R_A_TOV

// --- actions and guards
FSM_ACTION(SendAbts, context.send_abts(); context.start_abort_timer());
FSM_ACTION(SendBaAcc, context.send_ba_acc());
FSM_ACTION(SendRrq, context.send_rrq());
FSM_ACTION(StopAbortTimer, context.stop_abort_timer());
FSM_ACTION(StartQuarantine, context.start_quarantine_timer());
FSM_ACTION(StopQuarantine, context.stop_quarantine_timer());
FSM_ACTION(ReportAcknowledged, context.report_aborted(AbortCause::Acknowledged));
FSM_ACTION(ReportRejected, context.report_aborted(AbortCause::Rejected));
FSM_ACTION(ReportUnanswered, context.report_aborted(AbortCause::Unanswered));
FSM_ACTION(ReportAbortedByPeer, context.report_aborted(AbortCause::AbortedByPeer));
FSM_ACTION(ReportPortLoggedOut, context.report_aborted(AbortCause::PortLoggedOut));
FSM_ACTION(RequestPortLogout, context.request_port_logout());
FSM_ACTION(Release, context.release());
FSM_ACTION(DiscardFrame, context.discard_frame());
FSM_ACTION(CountStale, context.count_stale());
FSM_GUARD(LastOfExchange, event.last_of_exchange);
FSM_GUARD(TransfersInitiative, event.transfers_initiative);
FSM_GUARD(LogsOutSilentPort, context.logs_out_silent_port());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using KeepsInitiative = All<Not<TransfersInitiative>, Not<LastOfExchange>>;
using PassesInitiative = All<TransfersInitiative, Not<LastOfExchange>>;

struct Def {
  static constexpr std::string_view name = "exchange";
  using Context = exchange::Context;
  using initial_state = Closed;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                           source             event               target             action                                                   guard
  On<"FC-VI 5.2.1, 5.4",                               Closed,            Originated,         OpenInitiative,    none,                                                    none>,
  On<"FC-FS: the peer's first Sequence begins",        Closed,            FirstFrameReceived, OpenWaiting,       none,                                                    none>,
  On<"FC-VI 5.2.1 one-frame request, more follow",     Closed,            SequenceReceived,   OpenWaiting,       none,                                                    KeepsInitiative>,
  On<"FC-VI 5.2.1 one-frame request, asks a response", Closed,            SequenceReceived,   OpenInitiative,    none,                                                    PassesInitiative>,
  On<"FC-VI 5.2.1 one-frame Exchange",                 Closed,            SequenceReceived,   Closed,            Release,                                                 LastOfExchange>,
  On<"FC-VI C.5.7.1, FC-FS 23.6.1.1 new Exchange",     Closed,            AbtsReceived,       none,              SendBaAcc,                                               none>,
  On<"impl: answer after the quarantine",              Closed,            BaAccReceived,      none,              CountStale,                                              none>,
  On<"impl: answer after the quarantine",              Closed,            BaRjtReceived,      none,              CountStale,                                              none>,
  On<"impl: the quarantine ended before",              Closed,            RrqReceived,        none,              CountStale,                                              none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-FS: Sequence within our initiative",          OpenInitiative,    SequenceSent,       none,              none,                                                    KeepsInitiative>,
  On<"FC-VI 5.2.1 a response is required",             OpenInitiative,    SequenceSent,       OpenWaiting,       none,                                                    PassesInitiative>,
  On<"FC-VI 5.2.1, 5.4 last Sequence",                 OpenInitiative,    SequenceSent,       Closed,            Release,                                                 LastOfExchange>,
  On<"impl: the initiative is ours, a duplicate",      OpenInitiative,    FirstFrameReceived, none,              DiscardFrame,                                            none>,
  On<"impl: the initiative is ours, a duplicate",      OpenInitiative,    SequenceReceived,   none,              DiscardFrame,                                            none>,
  On<"FC-VI 8.4.2 a) b)",                              OpenInitiative,    AbortRequested,     Aborting,          SendAbts,                                                none>,
  On<"FC-FS: ABTS received",                           OpenInitiative,    AbtsReceived,       QuarantinedByPeer, Do<SendBaAcc, StartQuarantine, ReportAbortedByPeer>,     none>,
  On<"impl: nothing was aborted",                      OpenInitiative,    BaAccReceived,      none,              CountStale,                                              none>,
  On<"impl: nothing was aborted",                      OpenInitiative,    BaRjtReceived,      none,              CountStale,                                              none>,
  On<"FC-VI 7.7.1, 8.4.2 g)",                          OpenInitiative,    PortLoggedOut,      Closed,            Do<ReportPortLoggedOut, Release>,                        none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-FS: the peer's next Sequence begins",         OpenWaiting,       FirstFrameReceived, none,              none,                                                    none>,
  On<"FC-FS: Sequence within the peer's initiative",   OpenWaiting,       SequenceReceived,   none,              none,                                                    KeepsInitiative>,
  On<"FC-VI 5.2.1 our turn",                           OpenWaiting,       SequenceReceived,   OpenInitiative,    none,                                                    PassesInitiative>,
  On<"FC-VI 5.2.1, 5.4 last Sequence",                 OpenWaiting,       SequenceReceived,   Closed,            Release,                                                 LastOfExchange>,
  On<"FC-VI 8.4.2 a) b), 8.5.3 a), 8.6.3 a)",          OpenWaiting,       AbortRequested,     Aborting,          SendAbts,                                                none>,
  On<"FC-FS: ABTS received",                           OpenWaiting,       AbtsReceived,       QuarantinedByPeer, Do<SendBaAcc, StartQuarantine, ReportAbortedByPeer>,     none>,
  On<"impl: nothing was aborted",                      OpenWaiting,       BaAccReceived,      none,              CountStale,                                              none>,
  On<"impl: nothing was aborted",                      OpenWaiting,       BaRjtReceived,      none,              CountStale,                                              none>,
  On<"FC-VI 7.7.1, 8.4.2 g)",                          OpenWaiting,       PortLoggedOut,      Closed,            Do<ReportPortLoggedOut, Release>,                        none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-FS: Recovery_Qualifier",                      Aborting,          BaAccReceived,      Quarantined,       Do<StopAbortTimer, StartQuarantine, ReportAcknowledged>, none>,
  On<"FC-FS: the peer has no such Exchange",           Aborting,          BaRjtReceived,      Quarantined,       Do<StopAbortTimer, StartQuarantine, ReportRejected>,     none>,
  On<"FC-VI C.3 rule 2 b) second level",               Aborting,          AbortTimeout,       Recovering,        SendAbts,                                                none>,
  On<"FC-FS: ABTS of both cross",                      Aborting,          AbtsReceived,       none,              SendBaAcc,                                               none>,
  On<"FC-VI 8.5.3 a) discard",                         Aborting,          FirstFrameReceived, none,              DiscardFrame,                                            none>,
  On<"FC-VI 8.5.3 a) discard",                         Aborting,          SequenceReceived,   none,              DiscardFrame,                                            none>,
  On<"impl: was queued before the ABTS",               Aborting,          SequenceSent,       none,              CountStale,                                              none>,
  On<"impl: two reasons, one abort",                   Aborting,          AbortRequested,     none,              CountStale,                                              none>,
  On<"FC-VI 7.7.1, 8.4.2 g)",                          Aborting,          PortLoggedOut,      Closed,            Do<StopAbortTimer, ReportPortLoggedOut, Release>,        none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-FS: Recovery_Qualifier",                      Recovering,        BaAccReceived,      Quarantined,       Do<StopAbortTimer, StartQuarantine, ReportAcknowledged>, none>,
  On<"FC-FS: the peer has no such Exchange",           Recovering,        BaRjtReceived,      Quarantined,       Do<StopAbortTimer, StartQuarantine, ReportRejected>,     none>,
  On<"FC-VI C.3 rule 2 b), FC-FS: explicit logout",    Recovering,        AbortTimeout,       Closed,            Do<RequestPortLogout, ReportUnanswered, Release>,        LogsOutSilentPort>,
  On<"impl: no logout wanted, the id rests",           Recovering,        AbortTimeout,       Quarantined,       Do<StartQuarantine, ReportUnanswered>,                   Not<LogsOutSilentPort>>,
  On<"FC-FS: ABTS of both cross",                      Recovering,        AbtsReceived,       none,              SendBaAcc,                                               none>,
  On<"FC-VI 8.5.3 a) discard",                         Recovering,        FirstFrameReceived, none,              DiscardFrame,                                            none>,
  On<"FC-VI 8.5.3 a) discard",                         Recovering,        SequenceReceived,   none,              DiscardFrame,                                            none>,
  On<"impl: two reasons, one abort",                   Recovering,        AbortRequested,     none,              CountStale,                                              none>,
  On<"FC-VI 7.7.1, 8.4.2 g)",                          Recovering,        PortLoggedOut,      Closed,            Do<StopAbortTimer, ReportPortLoggedOut, Release>,        none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-LS: RRQ after R_A_TOV",                       Quarantined,       QuarantineExpired,  Closed,            Do<SendRrq, Release>,                                    none>,
  On<"FC-FS: ABTS of both cross",                      Quarantined,       AbtsReceived,       none,              SendBaAcc,                                               none>,
  On<"FC-VI 8.5.3 a) discard",                         Quarantined,       FirstFrameReceived, none,              DiscardFrame,                                            none>,
  On<"FC-VI 8.5.3 a) discard",                         Quarantined,       SequenceReceived,   none,              DiscardFrame,                                            none>,
  On<"impl: the answer to the other of two ABTS",      Quarantined,       BaAccReceived,      none,              CountStale,                                              none>,
  On<"impl: the answer to the other of two ABTS",      Quarantined,       BaRjtReceived,      none,              CountStale,                                              none>,
  On<"FC-VI 8.4.2 g)",                                 Quarantined,       PortLoggedOut,      Closed,            Do<StopQuarantine, Release>,                             none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-LS: RRQ received",                            QuarantinedByPeer, RrqReceived,        Closed,            Do<StopQuarantine, Release>,                             none>,
  On<"impl: R_A_TOV bounds the wait for RRQ",          QuarantinedByPeer, QuarantineExpired,  Closed,            Release,                                                 none>,
  On<"FC-FS: ABTS repeated",                           QuarantinedByPeer, AbtsReceived,       none,              SendBaAcc,                                               none>,
  On<"FC-VI 8.4.2 f) discard",                         QuarantinedByPeer, FirstFrameReceived, none,              DiscardFrame,                                            none>,
  On<"FC-VI 8.4.2 f) discard",                         QuarantinedByPeer, SequenceReceived,   none,              DiscardFrame,                                            none>,
  On<"FC-VI 8.4.2 g)",                                 QuarantinedByPeer, PortLoggedOut,      Closed,            Do<StopQuarantine, Release>,                             none>,
  On<"impl: the peer was faster",                      QuarantinedByPeer, AbortRequested,     none,              CountStale,                                              none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::exchange
