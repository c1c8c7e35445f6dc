// One Sequence at its recipient (FC-FS, FC-VI 5.5, 8.4.1 b-d): assembles frames, detects gaps.
//
// The owner compares SEQ_ID and SEQ_CNT of each frame before it calls; the machine never sees a number. One object per
// Exchange: when a Sequence ends the next one uses it (Sequences of an Exchange do not overlap, FC-VI 5.2.1).
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::sequence {

enum class SequenceError : std::uint8_t {
  MissingFrame,  // in-order fabric: a frame came that was not the next one
  Timeout,       // E_D_TOV without a frame (in order), or R_A_TOV with a hole (out of order)
};

// --- events
// A data frame of this Exchange.
struct FrameReceived {
  bool first = false;  // SOFi: opens a Sequence
  bool last = false;   // EOFt or End_Sequence: closes it
  // The next frame: SEQ_ID and SEQ_CNT as expected, or the first one where one is expected.
  bool in_order = true;
  // With this frame every frame of the Sequence has arrived (equals `last` on in-order fabrics).
  bool complete = false;
};
struct Timeout {};          // the sequence timer expired
struct IuRefused {};        // what was delivered of it makes an IU that is too long, or for which there is no room
struct ExchangeAborted {};  // ABTS sent or received, or the port logged out

// --- effects
class Context : public fsm::Context {
 public:
  // Hand the frame up; note its time, from which the sequence timer counts (the timer need not be touched per frame).
  virtual void deliver() = 0;
  // The Sequence is whole: the IU is complete (FC-VI 5.5: one IU is one Sequence).
  virtual void report_sequence() = 0;
  // The Sequence is lost: class 2 answers with Abort Sequence Condition 01b (FC-VI 8.4.2 h), the user takes its rules.
  virtual void report_sequence_error(SequenceError) = 0;
  // E_D_TOV after the latest frame (FC-FS).
  virtual void start_sequence_timer() = 0;
  // R_A_TOV from now: frames that were overtaken must come within it (FC-VI 8.4.1 d, B.2.5 rule 6e).
  virtual void start_missing_frame_timer() = 0;
  virtual void stop_timer() = 0;  // either of the two
  // A frame that no longer matters: drop and count it.
  virtual void discard_frame() = 0;
  // The fabric may reorder frames of one Sequence (FLOGI accept without sequential delivery, FC-VI 8.1).
  [[nodiscard]] virtual bool out_of_order_fabric() const = 0;
};

// --- states
struct Idle : fsm::State {};          // no Sequence yet
struct Receiving : fsm::State {};     // all frames so far came in order
struct Reassembling : fsm::State {};  // out-of-order fabric: later frames are here, earlier ones are not
struct Complete : fsm::State {};      // the last Sequence was whole; the next may open
struct Errored : fsm::State {};       // the rest of the Exchange is discarded until it is aborted

// --- actions and guards
FSM_ACTION(Deliver, context.deliver());
FSM_ACTION(ReportSequence, context.report_sequence());
FSM_ACTION(ReportMissingFrame, context.report_sequence_error(SequenceError::MissingFrame));
FSM_ACTION(ReportTimeout, context.report_sequence_error(SequenceError::Timeout));
FSM_ACTION(StartSequenceTimer, context.start_sequence_timer());
FSM_ACTION(StartMissingFrameTimer, context.start_missing_frame_timer());
FSM_ACTION(StopTimer, context.stop_timer());
FSM_ACTION(DiscardFrame, context.discard_frame());
FSM_GUARD(First, event.first);
FSM_GUARD(Last, event.last);
FSM_GUARD(InOrder, event.in_order);
FSM_GUARD(Whole, event.complete);
FSM_GUARD(OutOfOrderFabric, context.out_of_order_fabric());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;

struct Def {
  static constexpr std::string_view name = "sequence";
  using Context = sequence::Context;
  using initial_state = Idle;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                                source        event            target        action                                           guard
  On<"FC-FS: one-frame Sequence",                           Idle,         FrameReceived,   Complete,     Do<Deliver, ReportSequence>,                     All<InOrder, First, Last>>,
  On<"FC-FS: first frame",                                  Idle,         FrameReceived,   Receiving,    Do<Deliver, StartSequenceTimer>,                 All<InOrder, First, Not<Last>>>,
  On<"FC-VI 8.4.1 d) frames overtook the first",            Idle,         FrameReceived,   Reassembling, Do<Deliver, StartMissingFrameTimer>,             All<Not<All<InOrder, First>>, OutOfOrderFabric>>,
  On<"FC-VI 8.4.1 c) first frame lost",                     Idle,         FrameReceived,   Errored,      Do<DiscardFrame, ReportMissingFrame>,            All<Not<All<InOrder, First>>, Not<OutOfOrderFabric>>>,
  On<"impl: nothing was received",                          Idle,         ExchangeAborted, none,         none,                                            none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-FS: last frame",                                   Receiving,    FrameReceived,   Complete,     Do<Deliver, StopTimer, ReportSequence>,          All<InOrder, Last>>,
  On<"FC-VI 8.4.1 d), B.2.5 rule 6e",                       Receiving,    FrameReceived,   Reassembling, Do<Deliver, StartMissingFrameTimer>,             All<Not<InOrder>, OutOfOrderFabric>>,
  On<"FC-VI 8.4.1 c) frame lost",                           Receiving,    FrameReceived,   Errored,      Do<StopTimer, DiscardFrame, ReportMissingFrame>, All<Not<InOrder>, Not<OutOfOrderFabric>>>,
  On<"FC-FS: E_D_TOV between frames",                       Receiving,    Timeout,         Errored,      ReportTimeout,                                   none>,
  On<"impl: no room for more of the IU",                    Receiving,    IuRefused,       Errored,      StopTimer,                                       none>,
  On<"FC-FS: Abort Exchange",                               Receiving,    ExchangeAborted, Idle,         StopTimer,                                       none>,
  On<"FC-FS: next frame",                                   Receiving,    FrameReceived,   none,         Deliver,                                         All<InOrder, Not<Last>>>,  // last in the group: tried first
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI B.2.5 rule 5b, the last hole filled",           Reassembling, FrameReceived,   Complete,     Do<Deliver, StopTimer, ReportSequence>,          Whole>,
  On<"FC-VI B.2.5 rule 5b",                                 Reassembling, FrameReceived,   none,         Deliver,                                         Not<Whole>>,
  On<"FC-VI B.2.5 rule 7",                                  Reassembling, Timeout,         Errored,      ReportTimeout,                                   none>,
  On<"impl: no room for more of the IU",                    Reassembling, IuRefused,       Errored,      StopTimer,                                       none>,
  On<"FC-FS: Abort Exchange",                               Reassembling, ExchangeAborted, Idle,         StopTimer,                                       none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 5.5 next one-frame Sequence",                   Complete,     FrameReceived,   Complete,     Do<Deliver, ReportSequence>,                     All<InOrder, First, Last>>,
  On<"FC-VI 5.5 next Sequence",                             Complete,     FrameReceived,   Receiving,    Do<Deliver, StartSequenceTimer>,                 All<InOrder, First, Not<Last>>>,
  On<"FC-VI 8.4.1 d) frames overtook the first",            Complete,     FrameReceived,   Reassembling, Do<Deliver, StartMissingFrameTimer>,             All<Not<All<InOrder, First>>, OutOfOrderFabric>>,
  On<"FC-VI 8.4.1 c) first frame lost",                     Complete,     FrameReceived,   Errored,      Do<DiscardFrame, ReportMissingFrame>,            All<Not<All<InOrder, First>>, Not<OutOfOrderFabric>>>,
  On<"impl: no room for the end of the IU",                 Complete,     IuRefused,       Errored,      none,                                            none>,
  On<"FC-FS: Abort Exchange",                               Complete,     ExchangeAborted, Idle,         none,                                            none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-FS: Abort, discard until the Exchange is aborted", Errored,      FrameReceived,   none,         DiscardFrame,                                    none>,
  On<"FC-FS: Abort Exchange",                               Errored,      ExchangeAborted, Idle,         none,                                            none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::sequence
