// The adaption indication of IFT (draft-williams-iwarp-ift-01 4, cited as IFT 4), at either end: node A sends phase 0,
// node B answers it by phase 1.
//
// One object per TCP connection. The ULP agreed to use RDDP before, or the port says so (IFT 4). From enter_rddp_mode()
// on the stream is ddp_stream's; this machine then hears ConnectionEnded only. Of an indication that is valid by itself
// (magic number, BC version, CRC) the owner feeds the phase, and with it the Verdict.
#pragma once

#include "state_machines/iwarp_startup.hpp"

namespace machines::ift_adaption {

using iwarp::Failure;

// Whether this end can live with the flags of an indication; of several the first that holds, in this order.
enum class Verdict : std::uint8_t {
  ModesDisagree,    // R is not that of this end
  CrcUnacceptable,  // HC, PC, IH or IP, as configured
  Agreed,           // any SP, SM, RM, marker interval (rulings I-11, I-12)
};

// --- events
struct ConnectRequested {};   // of the ULP of node A: RDDP at once on a new TCP connection
struct AdaptionRequested {};  // of the ULP of node A: on a TCP connection that it has used, and agreed to upgrade
// Node B: TCP connection accepted on a port that is agreed to be used for RDDP; or the ULP agreed to upgrade.
struct AdaptionAwaited {};
struct StreamEstablished {};  // TCP connection established
struct StreamFailed {};       // no TCP connection
struct Phase0Received {
  Verdict verdict = Verdict::Agreed;
};
struct Phase1Received {
  Verdict verdict = Verdict::Agreed;
};
struct IndicationInvalid {};  // magic number, BC version above 1, CRC; an end within the 64 octets
struct AcceptRequested {};    // of the ULP of node B; if it agreed before, from offer() at once: post it
struct RejectRequested {};    // of the ULP of node B
// Fed while node B's ULP decides: octets behind phase 0. Node A does not know B's VTag yet (ruling I-13).
struct OctetsReceived {};
struct StreamClosed {};     // TCP connection closed before the first octet of the indication, or it broke
struct TimeExpired {};      // start_timer()'s time is over
struct PlaceNeeded {};      // node B: too many start-ups are half open, and this one is to go
struct Withdrawn {};        // the ULP of node A gives the connection up
struct ConnectionEnded {};  // rdmap_stream closed(), or in DDP mode ddp_stream stream_gone()

// --- effects
class Context : public fsm::Context {
 public:
  // Node A: for the whole of it. Node B: for the indication; 10 s (ruling I-15). Expires as TimeExpired.
  virtual void start_timer() = 0;
  virtual void stop_timer() = 0;
  // Streams::connect. StreamEstablished or StreamFailed follows, not from within.
  virtual void open_stream() = 0;
  // 64 octets: version and BC version 1, this end's flags and VTag, SM, RM and marker interval 0, CRC.
  virtual void send_phase_0() = 0;
  virtual void send_phase_1() = 0;
  // Node B's ULP gets the request, which has no private data (ruling I-14). It answers by AcceptRequested or
  // RejectRequested, not from within.
  virtual void offer() = 0;
  virtual void withdraw_offer() = 0;  // the request is gone: the ULP finds it no more
  // Destroy the stream. Not after enter_rddp_mode().
  virtual void drop_stream() = 0;
  // HC, PC, IH, IP, SP and VTags as told hold; StreamEnabled to ddp_stream, which has the stream now, and, in RDMA
  // mode, to rdmap_stream. Node B may send its first PDU behind phase 1 (ruling I-13).
  virtual void enter_rddp_mode() = 0;
  virtual void connected() = 0;  // the ULP may use the stream
  // The ULP, if one asked or accepted, gets no stream; counted by reason.
  virtual void fail_adaption(Failure) = 0;
  [[nodiscard]] virtual bool has_room() const = 0;  // for one more request that node B's ULP is to decide
};

// --- states
struct Idle : fsm::State {};
struct Connecting : fsm::State {};     // node A: TCP is being set up
struct AwaitPhase1 : fsm::State {};    // node A: phase 0 sent
struct AwaitPhase0 : fsm::State {};    // node B
struct AwaitDecision : fsm::State {};  // node B: the ULP decides
struct RddpMode : fsm::State {};
struct Closed : fsm::State {};

// --- actions and guards
FSM_ACTION(StartTimer, context.start_timer());
FSM_ACTION(StopTimer, context.stop_timer());
FSM_ACTION(OpenStream, context.open_stream());
FSM_ACTION(SendPhase0, context.send_phase_0());
FSM_ACTION(SendPhase1, context.send_phase_1());
FSM_ACTION(Offer, context.offer());
FSM_ACTION(WithdrawOffer, context.withdraw_offer());
FSM_ACTION(DropStream, context.drop_stream());
FSM_ACTION(EnterRddpMode, context.enter_rddp_mode());
FSM_ACTION(TellConnected, context.connected());
FSM_ACTION(FailNotReachable, context.fail_adaption(Failure::NotReachable));
FSM_ACTION(FailTimedOut, context.fail_adaption(Failure::TimedOut));
FSM_ACTION(FailPeerClosed, context.fail_adaption(Failure::PeerClosed));
FSM_ACTION(FailNotAdmitted, context.fail_adaption(Failure::NotAdmitted));
FSM_ACTION(FailInvalid, context.fail_adaption(Failure::Invalid));
FSM_ACTION(FailCrossing, context.fail_adaption(Failure::Crossing));
FSM_ACTION(FailNotAgreed, context.fail_adaption(Failure::NotAgreed));
FSM_ACTION(FailWithdrawn, context.fail_adaption(Failure::Withdrawn));
FSM_GUARD(Agreed, event.verdict == Verdict::Agreed);
FSM_GUARD(Disagrees, event.verdict == Verdict::ModesDisagree);
FSM_GUARD(CrcRefused, event.verdict == Verdict::CrcUnacceptable);
FSM_GUARD(HasRoom, context.has_room());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using End = Do<StopTimer, DropStream>;

struct Def {
  static constexpr std::string_view name = "ift_adaption";
  using Context = ift_adaption::Context;
  using initial_state = Idle;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                           source         event              target         action                                         guard
  On<"IFT 4 at connection set-up",                    Idle,          ConnectRequested,  Connecting,    Do<StartTimer, OpenStream>,                    none>,
  On<"IFT 4 upgrade, 4.2 PH node A, ruling I-15",     Idle,          AdaptionRequested, AwaitPhase1,   Do<StartTimer, SendPhase0>,                    none>,
  On<"IFT 4, 4.2 PH node B, ruling I-15",             Idle,          AdaptionAwaited,   AwaitPhase0,   StartTimer,                                    none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"IFT 4.2 PH phase 0, ruling I-3",                Connecting,    StreamEstablished, AwaitPhase1,   SendPhase0,                                    none>,
  On<"impl: no TCP connection",                       Connecting,    StreamFailed,      Closed,        Do<End, FailNotReachable>,                     none>,
  On<"impl: the time for the whole, ruling I-15",     Connecting,    TimeExpired,       Closed,        Do<DropStream, FailTimedOut>,                  none>,
  On<"impl: nobody wants it any more",                Connecting,    Withdrawn,         Closed,        Do<End, FailWithdrawn>,                        none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"IFT 4.2 PH phase 1, ruling I-13",               AwaitPhase1,   Phase1Received,    RddpMode,      Do<StopTimer, EnterRddpMode, TellConnected>,   Agreed>,
  On<"IFT 4.2 R closed in error, ruling I-15",        AwaitPhase1,   Phase1Received,    Closed,        Do<End, FailNotAgreed>,                        Disagrees>,
  On<"IFT 4.2 HC, PC, IH, IP, ruling I-15",           AwaitPhase1,   Phase1Received,    Closed,        Do<End, FailNotAgreed>,                        CrcRefused>,
  On<"IFT 4.2 PH, ruling I-3 crossing",               AwaitPhase1,   Phase0Received,    Closed,        Do<End, FailCrossing>,                         none>,
  On<"IFT 4.2 BcVersion, CRC, ruling I-15",           AwaitPhase1,   IndicationInvalid, Closed,        Do<End, FailInvalid>,                          none>,
  On<"impl: node B is gone, or refuses, ruling I-15", AwaitPhase1,   StreamClosed,      Closed,        Do<End, FailPeerClosed>,                       none>,
  On<"impl: a half-open start-up is timed, I-15",     AwaitPhase1,   TimeExpired,       Closed,        Do<DropStream, FailTimedOut>,                  none>,
  On<"impl: nobody wants it any more",                AwaitPhase1,   Withdrawn,         Closed,        Do<End, FailWithdrawn>,                        none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"IFT 4.2 PH phase 0",                            AwaitPhase0,   Phase0Received,    AwaitDecision, Do<StopTimer, Offer>,                          All<Agreed, HasRoom>>,
  On<"impl: requests that wait are limited",          AwaitPhase0,   Phase0Received,    Closed,        Do<End, FailNotAdmitted>,                      All<Agreed, Not<HasRoom>>>,
  On<"IFT 4.2 R closed in error, ruling I-15",        AwaitPhase0,   Phase0Received,    Closed,        Do<End, FailNotAgreed>,                        Disagrees>,
  On<"IFT 4.2 HC, PC, IH, IP, ruling I-15",           AwaitPhase0,   Phase0Received,    Closed,        Do<End, FailNotAgreed>,                        CrcRefused>,
  On<"IFT 4.2 PH out of turn, ruling I-15",           AwaitPhase0,   Phase1Received,    Closed,        Do<End, FailInvalid>,                          none>,
  On<"IFT 4.2 BcVersion, CRC, ruling I-15",           AwaitPhase0,   IndicationInvalid, Closed,        Do<End, FailInvalid>,                          none>,
  On<"impl: node A is gone, ruling I-15",             AwaitPhase0,   StreamClosed,      Closed,        Do<End, FailPeerClosed>,                       none>,
  On<"impl: a half-open start-up is timed, I-15",     AwaitPhase0,   TimeExpired,       Closed,        Do<DropStream, FailTimedOut>,                  none>,
  On<"impl: half-open start-ups are limited",         AwaitPhase0,   PlaceNeeded,       Closed,        Do<End, FailNotAdmitted>,                      none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"IFT 4.2 PH phase 1, ruling I-13",               AwaitDecision, AcceptRequested,   RddpMode,      Do<SendPhase1, EnterRddpMode, TellConnected>,  none>,
  On<"IFT 4 no agreement, ruling I-14",               AwaitDecision, RejectRequested,   Closed,        DropStream,                                    none>,
  On<"IFT 4.2 Sender's VTag, ruling I-13",            AwaitDecision, OctetsReceived,    Closed,        Do<WithdrawOffer, DropStream, FailInvalid>,    none>,
  On<"impl: node A is gone, ruling I-15",             AwaitDecision, StreamClosed,      Closed,        Do<WithdrawOffer, DropStream, FailPeerClosed>, none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: ddp_stream has ended",                    RddpMode,      ConnectionEnded,   Closed,        none,                                          none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::ift_adaption
