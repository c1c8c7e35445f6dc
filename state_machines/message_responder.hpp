// The Messages that arrive at one endpoint (FC-VI 5.2.5 responder stream, 8.4, B.2.4, B.2.5 rules 1 to 7).
//
// In-order fabric: one Message is open at a time. One object per local FCVI_HANDLE. For each frame the owner
// 1. asks expects_frames(): else rule 1 is in effect, and it feeds FrameRefused;
// 2. compares FCVI_MSG_ID with Mexp: MessageGap, StaleMessage, or the expected Message;
// 3. compares SEQ_CNT with SCexp: FrameLost, or the expected frame;
// 4. on a first frame claims what the Message needs (receive Descriptor, memory), and feeds MessageStarted,
//    WholeMessageReceived, ReadRequested or ClaimRefused; else FrameReceived.
// The numbers Mexp and SCexp stay with the owner. The epochs of out-of-order fabrics (rules 4c, 5b, 6e) are
// the owner's too: many Messages may be open then, and it places their frames by itself. It feeds
// FramesOvertaken when an epoch begins; within it, for one Message each and in their order at the reliable
// levels, WholeMessageReceived, ReadRequested or ClaimRefused with the last frame, and FrameLost or MessageGap
// for what is missing (rule 7).
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::message_responder {

// Why a Message fails at this end.
enum class ReceiveError : std::uint8_t {
  QueueEmpty,  // no receive Descriptor posted (Remote Descriptor Error)
  TooSmall,    // the receive Descriptor is too short (ruling 19: Length 0)
  Protection,  // memory of the Descriptor, or of the RDMA target or source
  Transport,   // frames are missing
};
// FC-VI B.2.5: the kind of loss for the expected Message.
enum class Loss : std::uint8_t {
  FrameGap,       // SCrcv != SCexp (rules 6c, 6d, ruling 15)
  SequenceError,  // rules 6a, 6b
  Timeout,        // R_A_TOV for missing frames (rules 7a, 7b)
};

// --- events
struct ReceptionEnabled {};  // the endpoint receives, Connected or before (FC-VI C.5.5)
// The setup made no connection: the endpoint receives no longer.
struct ReceptionDisabled {};
struct FrameRefused {};  // any frame while expects_frames() is false
// First frame of the expected Message, claim granted, more frames follow.
struct MessageStarted {};
struct WholeMessageReceived {       // the same, and it is also the last frame
  bool consumes_descriptor = true;  // Send, or RDMA Write with Immediate Data
  bool needs_response = false;      // Reliable Reception
};
struct FrameReceived {  // the next frame of the open Message
  bool last = false;
  bool consumes_descriptor = true;
  bool needs_response = false;
};
struct ReadRequested {};  // FCVI_READ_RQST, source memory granted
struct ClaimRefused {     // first frame of the expected Message, without the descriptor or memory that it needs
  ReceiveError error = ReceiveError::QueueEmpty;
  bool last = true;             // the initiative is ours: a response may go
  bool needs_response = false;  // Reliable Reception, or RDMA Read
};
// Memory of the open Message was deregistered between two frames (that of a refused Message is not checked).
struct MemoryLost {
  bool last = false;  // found with the last frame: the initiative is ours
  bool needs_response = false;
};
struct MessageGap {  // Mrcv > Mexp
  // SCrcv = 0: afterwards the owner feeds the frame again, as one of the expected Message.
  bool first_frame = false;
};
struct StaleMessage {    // Mrcv < Mexp
  bool errored = false;  // Merr is set for it
};
struct FrameLost {
  Loss loss = Loss::FrameGap;
  // Frames of it came before, and its Descriptor or target is known (rule 3a). An open Message says so itself.
  bool begun = false;
};
// Out-of-order fabric: a frame arrived before an earlier one (rules 4c, 6e).
struct FramesOvertaken {};
struct ConnectionFailed {};  // the endpoint went to Error: vi_endpoint disable_traffic()
struct Disconnected {};      // our Disconnect was answered
struct DiscardExpired {};    // R_A_TOV since Herr
// Implicit or explicit; feed it after the endpoint has learned of it (ConnectionFailed comes first).
struct PortLoggedOut {};

// --- effects
class Context : public fsm::Context {
 public:
  virtual void place_data() = 0;        // copy the frame to where the claim says, SCexp := SCrcv + 1
  virtual void complete_receive() = 0;  // the claimed receive Descriptor: success, length, immediate data
  // Complete the claimed receive Descriptor, if there is one, in error (rule 3a); else log (rule 3b).
  virtual void fail_receive(ReceiveError) = 0;
  virtual void send_response() = 0;  // FCVI_SEND_RESP or FCVI_WRITE_RESP: success
  // FCVI_SEND_RESP, FCVI_WRITE_RESP or FCVI_READ_RESP with RESP_ERR and the cause (5.9.4.3, ruling 18).
  virtual void refuse_message(ReceiveError) = 0;
  // The response must wait for the last frame (VI-ARCH 2.5.3): keep the cause. The endpoint stays as it is until then.
  virtual void note_refusal(ReceiveError) = 0;
  virtual void fail_refused() = 0;         // fail_receive() with the kept cause
  virtual void conclude_refusal() = 0;     // refuse_message(), then fail_connection(), with the kept cause
  virtual void start_read_response() = 0;  // FCVI_READ_RESP IUs from the granted memory
  virtual void expect_next_message() = 0;  // Mexp := Mexp + 1, SCexp := 0
  // Merr for the expected Message for R_A_TOV (rule 2), Mexp := Mexp + 1, SCexp := 0 (rules 6a, 6c).
  virtual void mark_message_errored() = 0;
  // Rule 4a: Merr for Mexp <= M < Mrcv, and for Mrcv if `with_received`; Mexp := Mrcv, or Mrcv + 1; SCexp := 0.
  virtual void mark_messages_missing(bool with_received) = 0;
  // Drop and count the frame; class 2: ACK with Abort Sequence Condition 01b (rules 1a, 2a; 8.4.2 h).
  virtual void discard_frame() = 0;
  // Endpoint to Error, tell the application (8.4.2 e); this machine sets Herr by itself. Post it: the
  // endpoint's disable_traffic() comes back as ConnectionFailed.
  virtual void fail_connection(ReceiveError) = 0;
  virtual void start_discard_timer() = 0;  // R_A_TOV (8.4.2 f); expires as DiscardExpired
  virtual void stop_discard_timer() = 0;
  virtual void release_handle() = 0;                // the FCVI_HANDLE may be used again (8.4.2 f g)
  [[nodiscard]] virtual bool reliable() const = 0;  // Reliable Delivery or Reliable Reception
};

// --- states
struct Closed : fsm::State {};            // not connected
struct Expecting : fsm::State {};         // the first frame of Message Mexp comes next
struct Receiving : fsm::State {};         // Message Mexp is open
struct Refusing : fsm::State {};          // Message Mexp is refused; its last frame gives us the initiative to say so
struct Herr : fsm::State {};              // all frames are discarded: neither R_A_TOV nor the Disconnect is over
struct HerrElapsed : fsm::State {};       // ... R_A_TOV is over, the Disconnect is not
struct HerrDisconnected : fsm::State {};  // ... the Disconnect is over, R_A_TOV is not

// --- actions and guards
FSM_ACTION(PlaceData, context.place_data());
FSM_ACTION(CompleteReceive, context.complete_receive());
FSM_ACTION(SendResponse, context.send_response());
FSM_ACTION(StartReadResponse, context.start_read_response());
FSM_ACTION(ExpectNextMessage, context.expect_next_message());
FSM_ACTION(FailReceive, context.fail_receive(event.error));
FSM_ACTION(FailTransport, context.fail_receive(ReceiveError::Transport));
FSM_ACTION(FailProtection, context.fail_receive(ReceiveError::Protection));
FSM_ACTION(RefuseMessage, context.refuse_message(event.error));
FSM_ACTION(RefuseProtection, context.refuse_message(ReceiveError::Protection));
FSM_ACTION(FailRefused, context.fail_refused());
FSM_ACTION(NoteRefusal, context.note_refusal(event.error));
FSM_ACTION(NoteProtection, context.note_refusal(ReceiveError::Protection));
FSM_ACTION(ConcludeRefusal, context.conclude_refusal());
FSM_ACTION(MarkMessageErrored, context.mark_message_errored());
FSM_ACTION(MarkMissing, context.mark_messages_missing(false));
FSM_ACTION(MarkMissingWithReceived, context.mark_messages_missing(true));
FSM_ACTION(DiscardFrame, context.discard_frame());
FSM_ACTION(FailConnection, context.fail_connection(event.error));
FSM_ACTION(FailConnectionTransport, context.fail_connection(ReceiveError::Transport));
FSM_ACTION(FailConnectionProtection, context.fail_connection(ReceiveError::Protection));
FSM_ACTION(StartDiscardTimer, context.start_discard_timer());
FSM_ACTION(StopDiscardTimer, context.stop_discard_timer());
FSM_ACTION(ReleaseHandle, context.release_handle());
FSM_GUARD(Last, event.last);
FSM_GUARD(ConsumesDescriptor, event.consumes_descriptor);
FSM_GUARD(NeedsResponse, event.needs_response);
FSM_GUARD(FirstFrame, event.first_frame);
FSM_GUARD(MessageErrored, event.errored);
FSM_GUARD(Begun, event.begun);
FSM_GUARD(Reliable, context.reliable());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using Deliver = Do<PlaceData, CompleteReceive, ExpectNextMessage>;
using DeliverAndRespond = Do<PlaceData, CompleteReceive, SendResponse, ExpectNextMessage>;
using Place = Do<PlaceData, ExpectNextMessage>;
using PlaceAndRespond = Do<PlaceData, SendResponse, ExpectNextMessage>;
using SendLike = All<ConsumesDescriptor, Not<NeedsResponse>>;
using SendLikeResponds = All<ConsumesDescriptor, NeedsResponse>;
using WriteLike = All<Not<ConsumesDescriptor>, Not<NeedsResponse>>;
using WriteLikeResponds = All<Not<ConsumesDescriptor>, NeedsResponse>;
using EnterHerr = Do<DiscardFrame, StartDiscardTimer, FailConnectionTransport>;

struct Def {
  static constexpr std::string_view name = "message_responder";
  using Context = message_responder::Context;
  using initial_state = Closed;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                           source            event                 target            action                                                                           guard
  On<"FC-VI C.5.5",                                    Closed,           ReceptionEnabled,     Expecting,        none,                                                                            none>,
  On<"FC-VI C.5.5 not enabled",                        Closed,           FrameRefused,         none,             DiscardFrame,                                                                    none>,
  On<"FC-VI 8.4.2 g) nothing left",                    Closed,           PortLoggedOut,        none,             none,                                                                            none>,
  On<"VI-ARCH 5.2 never enabled",                      Closed,           ReceptionDisabled,    none,             none,                                                                            none>,
  On<"FC-VI 8.4.2 f) the setup failed",                Closed,           ConnectionFailed,     Herr,             StartDiscardTimer,                                                               none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 8.2 b) no connection came",                Expecting,        ReceptionDisabled,    Closed,           none,                                                                            none>,
  On<"FC-VI 5.2.4",                                    Expecting,        ReadRequested,        none,             Do<StartReadResponse, ExpectNextMessage>,                                        none>,
  On<"VI-ARCH 2.5.1 dropped, the connection persists", Expecting,        ClaimRefused,         none,             Do<FailReceive, MarkMessageErrored, DiscardFrame>,                               Not<Reliable>>,
  On<"VI-ARCH 2.5.2, FC-VI 8.4.2 e)",                  Expecting,        ClaimRefused,         Herr,             Do<FailReceive, DiscardFrame, StartDiscardTimer, FailConnection>,                All<Reliable, Not<NeedsResponse>>>,
  On<"VI-ARCH 2.5.3, FC-VI 5.9.4.3, 8.4.2 e)",         Expecting,        ClaimRefused,         Herr,             Do<FailReceive, RefuseMessage, DiscardFrame, StartDiscardTimer, FailConnection>, All<Reliable, NeedsResponse, Last>>,
  On<"impl: the response waits for the initiative",    Expecting,        ClaimRefused,         Refusing,         Do<NoteRefusal, DiscardFrame>,                                                   All<Reliable, NeedsResponse, Not<Last>>>,
  On<"FC-VI B.2.5 rule 4a c)",                         Expecting,        MessageGap,           none,             MarkMissing,                                                                     All<Not<Reliable>, FirstFrame>>,
  On<"FC-VI B.2.5 rule 4a b)",                         Expecting,        MessageGap,           none,             Do<MarkMissingWithReceived, DiscardFrame>,                                       All<Not<Reliable>, Not<FirstFrame>>>,
  On<"FC-VI B.2.5 rule 4b",                            Expecting,        MessageGap,           Herr,             EnterHerr,                                                                       Reliable>,
  On<"FC-VI B.2.4 rule 2 a)",                          Expecting,        StaleMessage,         none,             DiscardFrame,                                                                    MessageErrored>,
  On<"VI-ARCH 2.5.1, ruling 191",                      Expecting,        StaleMessage,         none,             DiscardFrame,                                                                    All<Not<MessageErrored>, Not<Reliable>>>,
  On<"FC-VI B.2.5 rule 5a",                            Expecting,        StaleMessage,         Herr,             EnterHerr,                                                                       All<Not<MessageErrored>, Reliable>>,
  On<"FC-VI B.2.5 rules 6a 6c 7a, ruling 15",          Expecting,        FrameLost,            none,             Do<MarkMessageErrored, DiscardFrame>,                                            All<Not<Reliable>, Not<Begun>>>,
  On<"FC-VI B.2.4 rule 3a, B.2.5 rules 6a 7a",         Expecting,        FrameLost,            none,             Do<FailTransport, MarkMessageErrored, DiscardFrame>,                             All<Not<Reliable>, Begun>>,
  On<"FC-VI B.2.5 rules 6b 6d 7b",                     Expecting,        FrameLost,            Herr,             EnterHerr,                                                                       All<Reliable, Not<Begun>>>,
  On<"FC-VI B.2.5 rules 6b 7b, of an open Message",    Expecting,        FrameLost,            Herr,             Do<FailTransport, EnterHerr>,                                                    All<Reliable, Begun>>,
  On<"FC-VI 8.4.2 f), B.2.4 rule 1",                   Expecting,        ConnectionFailed,     Herr,             StartDiscardTimer,                                                               none>,
  On<"FC-VI 8.4.2 g), B.2.4 rule 1 c)",                Expecting,        PortLoggedOut,        Closed,           ReleaseHandle,                                                                   none>,
  On<"FC-VI 5.2.3 RDMA Write, response",               Expecting,        WholeMessageReceived, none,             PlaceAndRespond,                                                                 WriteLikeResponds>,
  On<"FC-VI 5.2.3 RDMA Write",                         Expecting,        WholeMessageReceived, none,             Place,                                                                           WriteLike>,
  On<"FC-VI 5.2.2 Send, response",                     Expecting,        WholeMessageReceived, none,             DeliverAndRespond,                                                               SendLikeResponds>,
  On<"FC-VI 5.2.2 Send, one frame",                    Expecting,        WholeMessageReceived, none,             Deliver,                                                                         SendLike>,  // last in the group: tried first
  On<"FC-VI 5.2.2, 5.2.3 first frame",                 Expecting,        MessageStarted,       Receiving,        PlaceData,                                                                       none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 8.2 b) no connection came",                Receiving,        ReceptionDisabled,    Closed,           none,                                                                            none>,  // the claimed Descriptor stays posted (VI-ARCH 5.2)
  On<"VI-ARCH 2.5.1, FC-VI B.2.4 rule 3",              Receiving,        MemoryLost,           Expecting,        Do<FailProtection, MarkMessageErrored, DiscardFrame>,                            Not<Reliable>>,
  On<"VI-ARCH 2.5.2, FC-VI 8.4.2 e)",                  Receiving,        MemoryLost,           Herr,             Do<FailProtection, DiscardFrame, StartDiscardTimer, FailConnectionProtection>,   All<Reliable, Not<NeedsResponse>>>,
  On<"VI-ARCH 2.5.3, FC-VI 5.9.4.3, 8.4.2 e)",         Receiving,        MemoryLost,           Herr,             Do<FailProtection, RefuseProtection, DiscardFrame, StartDiscardTimer, FailConnectionProtection>, All<Reliable, NeedsResponse, Last>>,
  On<"impl: the response waits for the initiative",    Receiving,        MemoryLost,           Refusing,         Do<NoteProtection, DiscardFrame>,                                                All<Reliable, NeedsResponse, Not<Last>>>,
  On<"FC-VI B.2.4 rule 3a, B.2.5 rule 4a c)",          Receiving,        MessageGap,           Expecting,        Do<FailTransport, MarkMissing>,                                                  All<Not<Reliable>, FirstFrame>>,
  On<"FC-VI B.2.4 rule 3a, B.2.5 rule 4a b)",          Receiving,        MessageGap,           Expecting,        Do<FailTransport, MarkMissingWithReceived, DiscardFrame>,                        All<Not<Reliable>, Not<FirstFrame>>>,
  On<"FC-VI B.2.5 rule 4b",                            Receiving,        MessageGap,           Herr,             Do<FailTransport, EnterHerr>,                                                    Reliable>,
  On<"FC-VI B.2.4 rule 2 a)",                          Receiving,        StaleMessage,         none,             DiscardFrame,                                                                    MessageErrored>,
  On<"VI-ARCH 2.5.1, ruling 191",                      Receiving,        StaleMessage,         none,             DiscardFrame,                                                                    All<Not<MessageErrored>, Not<Reliable>>>,
  On<"FC-VI B.2.5 rule 5a",                            Receiving,        StaleMessage,         Herr,             Do<FailTransport, EnterHerr>,                                                    All<Not<MessageErrored>, Reliable>>,
  On<"FC-VI B.2.4 rule 3a, B.2.5 rules 6a 6c 7a",      Receiving,        FrameLost,            Expecting,        Do<FailTransport, MarkMessageErrored, DiscardFrame>,                             Not<Reliable>>,
  On<"FC-VI B.2.5 rules 6b 6d 7b",                     Receiving,        FrameLost,            Herr,             Do<FailTransport, EnterHerr>,                                                    Reliable>,
  On<"FC-VI 8.4.2 f), B.2.4 rule 1",                   Receiving,        ConnectionFailed,     Herr,             StartDiscardTimer,                                                               none>,
  On<"FC-VI 8.4.2 g), B.2.4 rule 1 c)",                Receiving,        PortLoggedOut,        Closed,           Do<FailTransport, ReleaseHandle>,                                                none>,
  On<"FC-VI B.2.5 rules 4c 6e",                        Receiving,        FramesOvertaken,      Expecting,        none,                                                                            none>,
  On<"FC-VI 5.2.3 RDMA Write, response",               Receiving,        FrameReceived,        Expecting,        PlaceAndRespond,                                                                 All<Last, WriteLikeResponds>>,
  On<"FC-VI 5.2.3 RDMA Write",                         Receiving,        FrameReceived,        Expecting,        Place,                                                                           All<Last, WriteLike>>,
  On<"FC-VI 5.2.2 Send, response",                     Receiving,        FrameReceived,        Expecting,        DeliverAndRespond,                                                               All<Last, SendLikeResponds>>,
  On<"FC-VI 5.2.2 Send",                               Receiving,        FrameReceived,        Expecting,        Deliver,                                                                         All<Last, SendLike>>,
  On<"FC-VI 5.2.2, 5.2.3 next frame",                  Receiving,        FrameReceived,        none,             PlaceData,                                                                       Not<Last>>,  // last in the group: tried first
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 8.2 b) no connection came",                Refusing,         ReceptionDisabled,    Closed,           none,                                                                            none>,
  On<"FC-VI B.2.5 rules 4c 6e",                        Refusing,         FramesOvertaken,      Expecting,        none,                                                                            none>,
  On<"impl: the response waits for the initiative",    Refusing,         FrameReceived,        none,             DiscardFrame,                                                                    Not<Last>>,
  On<"VI-ARCH 2.5.3, FC-VI 5.9.4.3, 8.4.2 e)",         Refusing,         FrameReceived,        Herr,             Do<FailRefused, ConcludeRefusal, DiscardFrame, StartDiscardTimer>,               Last>,
  On<"FC-VI B.2.5 rules 4b 5a 6b 6d 7b",               Refusing,         MessageGap,           Herr,             Do<FailRefused, EnterHerr>,                                                      none>,
  On<"FC-VI B.2.5 rules 4b 5a 6b 6d 7b",               Refusing,         StaleMessage,         Herr,             Do<FailRefused, EnterHerr>,                                                      none>,
  On<"FC-VI B.2.5 rules 4b 5a 6b 6d 7b",               Refusing,         FrameLost,            Herr,             Do<FailRefused, EnterHerr>,                                                      none>,
  On<"FC-VI 8.4.2 f), B.2.4 rule 1",                   Refusing,         ConnectionFailed,     Herr,             StartDiscardTimer,                                                               none>,
  On<"FC-VI 8.4.2 g), B.2.4 rule 1 c)",                Refusing,         PortLoggedOut,        Closed,           Do<FailRefused, ReleaseHandle>,                                                  none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 8.4.2 f), B.2.4 rule 1 a)",                Herr,             FrameRefused,         none,             DiscardFrame,                                                                    none>,
  On<"FC-VI B.2.4 rule 1, the cause came from here",   Herr,             ConnectionFailed,     none,             none,                                                                            none>,
  On<"FC-VI B.2.4: Herr stays until the Disconnect",   Herr,             DiscardExpired,       HerrElapsed,      none,                                                                            none>,
  On<"FC-VI B.2.4 rule 1 b) R_A_TOV is not over",      Herr,             Disconnected,         HerrDisconnected, none,                                                                            none>,
  On<"FC-VI 8.4.2 g), B.2.4 rule 1 c)",                Herr,             PortLoggedOut,        Closed,           Do<StopDiscardTimer, ReleaseHandle>,                                             none>,
  On<"FC-VI B.2.4 rule 1 a)",                          HerrElapsed,      FrameRefused,         none,             DiscardFrame,                                                                    none>,
  On<"FC-VI 8.4.2 f), B.2.4 rule 1 b)",                HerrElapsed,      Disconnected,         Closed,           ReleaseHandle,                                                                   none>,
  On<"FC-VI 8.4.2 g), B.2.4 rule 1 c)",                HerrElapsed,      PortLoggedOut,        Closed,           ReleaseHandle,                                                                   none>,
  On<"FC-VI 8.4.2 f), B.2.4 rule 1 a)",                HerrDisconnected, FrameRefused,         none,             DiscardFrame,                                                                    none>,
  On<"FC-VI 8.4.2 f), B.2.4 rule 1 b)",                HerrDisconnected, DiscardExpired,       Closed,           ReleaseHandle,                                                                   none>,
  On<"FC-VI 8.4.2 g), B.2.4 rule 1 c)",                HerrDisconnected, PortLoggedOut,        Closed,           Do<StopDiscardTimer, ReleaseHandle>,                                             none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

// Rule 1 is not in effect: frames of this handle are looked at.
[[nodiscard]] inline bool expects_frames(const Machine& machine) {
  return machine.is_any_of<Expecting, Receiving, Refusing>();
}

}  // namespace machines::message_responder
