// The messages that arrive at one end of a connection over TCP (VI-TCP 2.2.2.2.3, 3.2, 3.6): Send, RdmaWrite,
// RdmaReadRequest, NOP. Read Responses, which may stand between their segments, are vitcp_read_requester's.
//
// One object per connection. One event per segment, once it is read to its end; but a header that breaks a rule may be
// fed at once where segments have no CRC. For each segment the owner
// 1. parses the header. ProtocolViolated: it cannot be parsed; a connection segment; a Message Number other than the
//    one that is due (ruling V-4; of a NOP: the last one); another type or Data Offset than the open message has; a
//    Read Response without a request, or beyond its length. But if such a segment has a CRC, and that is wrong:
//    SegmentCorrupt or, if the type is Send or RdmaWrite, SegmentReceived of whatever is due. In Resuming it looks for
//    the next message instead (ruling V-21);
// 2. on the first segment of a message waits while holds() says so; claims what it needs (receive descriptor, memory).
//    If places() says so it puts the payload there, and notes if that fails;
// 3. checks the CRC, if there is one, and feeds SegmentReceived, ReadRequested or SegmentCorrupt;
// 4. feeds vitcp_sender what Message ACK, Rx Descriptors Posted and Remote Error Code say, if the CRC was right.
// The Message Number that is due, the Data Offset and what was claimed stay with the owner.
//
// Fed in Ended: ConnectionEnded alone.
#pragma once

#include "state_machines/vitcp_failure.hpp"

namespace machines::vitcp_receiver {

using vitcp::Failure;

// What is to be said of a segment of Send or RdmaWrite; of several the first that holds, in this order.
enum class Verdict : std::uint8_t {
  CrcWrong,       // transport error
  TransmitError,  // the sender had not all the data: transport error
  QueueEmpty,     // no receive descriptor posted
  TooSmall,       // the receive descriptor is too short for the message, or bad
  Protection,     // memory of the receive descriptor, or of the RDMA target
  Good,
};

// --- events
struct ConnectionEstablished {};  // both ends agree (vitcp_active, vitcp_passive connected())
struct SegmentReceived {          // of Send or RdmaWrite: the first one of the message that is due, or the next one
  Verdict verdict = Verdict::Good;
  bool last = false;
};
struct ReadRequested {};  // RdmaReadRequest, whole, its CRC right, its number due
// Reliable Reception, fed in Answering: the responses to all RDMA Reads were given to the stream, and no memory is read
// for them any more.
struct ReadsAnswered {};
struct SegmentCorrupt {   // the CRC of a segment is wrong, and it does not count as SegmentReceived
  bool plausible = true;  // its header could be that of a segment: version, type, length
};
// Fed in Resuming: the first segment of a message, from the one that is due on; it is the one that is due now.
struct MessageFound {};
// Fed in Resuming: a later segment of a message that nobody was told of; it is the one that is due now.
struct MessageLost {};
struct ProtocolViolated {};  // see 1.; the owner counts by reason
struct ConnectionEnded {};   // vitcp_closing leave_connected()

// --- effects
class Context : public fsm::Context {
 public:
  // The message is there: the claimed receive descriptor, if it has one, completes with success, length and immediate
  // data.
  virtual void complete_receive() = 0;
  // The claimed receive descriptor, if it has one, completes in error; else the error is reported (VI-DG 3.8.1).
  virtual void fail_receive(Verdict) = 0;
  // Reliable Reception: the message is the last one received without error. Whatever goes out next says so; if nothing
  // does, a NOP. Not before its data and completion are written (VI-TCP 3.2): post it.
  virtual void acknowledge() = 0;
  // Reliable Reception: Message ACK names the message in error, which is the one that is open or due (ruling V-30), and
  // Remote Error Code says why (V-19): CrcWrong, TransmitError bit 2; QueueEmpty, TooSmall bit 1; Protection bit 0, for
  // a Send bit 1. A NOP says it, and nothing goes out behind it. Comes before what flushes the queues: the rest of a
  // begun segment is copied now.
  virtual void report_error(Verdict) = 0;
  virtual void accept_read() = 0;          // one more for vitcp_read_responder: ReadGranted or ReadRefused in its turn
  virtual void expect_next_message() = 0;  // the number that is due is one more; Data Offset 0
  virtual void drop_segment() = 0;         // counted
  // vi_endpoint ConnectionLost, where a completion did not end it already, and vitcp_closing ConnectionFailed. Post it:
  // ConnectionEnded comes back.
  virtual void fail_connection(Failure) = 0;
  [[nodiscard]] virtual bool reliable() const = 0;      // Reliable Delivery or Reliable Reception
  [[nodiscard]] virtual bool acknowledged() const = 0;  // Reliable Reception
  [[nodiscard]] virtual bool window_open() const = 0;   // fewer RDMA Reads are to be answered than our window says
};

// --- states
struct Closed : fsm::State {};      // not connected yet
struct Expecting : fsm::State {};   // no message is open
struct Answering : fsm::State {};   // Reliable Reception: the same, but RDMA Reads are to be answered first
struct Receiving : fsm::State {};   // one is
struct Discarding : fsm::State {};  // the same, but it has failed, and the connection persists
struct Resuming : fsm::State {};    // a segment was damaged, and the connection persists: which message comes next?
struct Ended : fsm::State {};

// --- actions and guards
[[nodiscard]] constexpr Failure failure_of(Verdict verdict) {
  return verdict == Verdict::CrcWrong || verdict == Verdict::TransmitError ? Failure::Transport : Failure::Local;
}
FSM_ACTION(CompleteReceive, context.complete_receive());
FSM_ACTION(FailReceive, context.fail_receive(event.verdict));
FSM_ACTION(FailReceiveCrc, context.fail_receive(Verdict::CrcWrong));
FSM_ACTION(Acknowledge, context.acknowledge());
FSM_ACTION(ReportError, context.report_error(event.verdict));
FSM_ACTION(ReportCrc, context.report_error(Verdict::CrcWrong));
FSM_ACTION(AcceptRead, context.accept_read());
FSM_ACTION(ExpectNextMessage, context.expect_next_message());
FSM_ACTION(DropSegment, context.drop_segment());
FSM_ACTION(FailByVerdict, context.fail_connection(failure_of(event.verdict)));
FSM_ACTION(FailTransport, context.fail_connection(Failure::Transport));
FSM_ACTION(FailProtocol, context.fail_connection(Failure::Protocol));
FSM_GUARD(Good, event.verdict == Verdict::Good);
FSM_GUARD(Last, event.last);
FSM_GUARD(Damaged, event.verdict == Verdict::CrcWrong);
FSM_GUARD(Plausible, event.plausible);
FSM_GUARD(Reliable, context.reliable());
FSM_GUARD(Acknowledged, context.acknowledged());
FSM_GUARD(WindowOpen, context.window_open());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using Delivery = All<Reliable, Not<Acknowledged>>;  // Reliable Delivery
using Reception = All<Reliable, Acknowledged>;      // Reliable Reception
using Unreliable = Not<Reliable>;
using Dropped = All<Not<Good>, Not<Damaged>, Unreliable>;  // the segment's end is where it says

struct Def {
  static constexpr std::string_view name = "vitcp_receiver";
  using Context = vitcp_receiver::Context;
  using initial_state = Closed;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                                    source      event                  target      action                                               guard
  On<"VI-TCP 4.2, 4.3 Connected",                              Closed,     ConnectionEstablished, Expecting,  none,                                                none>,
  On<"impl: the set-up was the end, too",                      Closed,     ConnectionEnded,       Ended,      none,                                                none>,
  // --------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 2.2.2.2.6, ruling V-11",                          Expecting,  ReadRequested,         none,       Do<AcceptRead, ExpectNextMessage>,                   All<WindowOpen, Not<Acknowledged>>>,
  On<"VI-ARCH 6.3.1.1, VI-TCP 2.2.2.2.6, ruling V-11",         Expecting,  ReadRequested,         Answering,  Do<AcceptRead, ExpectNextMessage>,                   All<WindowOpen, Acknowledged>>,
  On<"VI-TCP 2.2.2.2.6 must be limited, ruling V-11",          Expecting,  ReadRequested,         Ended,      FailProtocol,                                        Not<WindowOpen>>,
  On<"VI-TCP 3.6, ruling V-21 what comes next is looked at",   Expecting,  SegmentCorrupt,        Resuming,   DropSegment,                                         Unreliable>,
  On<"VI-TCP 3.6 closed at once, ruling V-21",                 Expecting,  SegmentCorrupt,        Ended,      FailTransport,                                       Delivery>,
  On<"VI-TCP 3.6 ACK and closed at once, rulings V-21 V-30",   Expecting,  SegmentCorrupt,        Ended,      Do<ReportCrc, FailTransport>,                        Reception>,
  On<"VI-TCP 3.2 Message Number, ruling V-4",                  Expecting,  ProtocolViolated,      Ended,      FailProtocol,                                        none>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17",                          Expecting,  ConnectionEnded,       Ended,      none,                                                none>,
  On<"VI-TCP 3.6 delivered with transport error, ruling V-21", Expecting,  SegmentReceived,       Resuming,   FailReceive,                                         All<Damaged, Unreliable>>,
  On<"VI-ARCH 2.5.1 dropped, the connection persists",         Expecting,  SegmentReceived,       none,       Do<FailReceive, ExpectNextMessage>,                  All<Dropped, Last>>,
  On<"VI-ARCH 2.5.1 dropped, the connection persists",         Expecting,  SegmentReceived,       Discarding, FailReceive,                                         All<Dropped, Not<Last>>>,
  On<"VI-ARCH 2.5.2, VI-TCP 3.6, ruling V-19",                 Expecting,  SegmentReceived,       Ended,      Do<FailReceive, FailByVerdict>,                      All<Not<Good>, Delivery>>,
  On<"VI-ARCH 2.5.3, VI-TCP 3.2, 3.6, ruling V-19",            Expecting,  SegmentReceived,       Ended,      Do<ReportError, FailReceive, FailByVerdict>,         All<Not<Good>, Reception>>,
  On<"VI-TCP 2.2.2.2.3 more segments follow",                  Expecting,  SegmentReceived,       Receiving,  none,                                                All<Good, Not<Last>>>,
  On<"VI-TCP 3.2 Message ACK, VI-ARCH 2.5.3",                  Expecting,  SegmentReceived,       none,       Do<CompleteReceive, Acknowledge, ExpectNextMessage>, All<Good, Last, Acknowledged>>,
  On<"VI-TCP 2.2.2.2.3",                                       Expecting,  SegmentReceived,       none,       Do<CompleteReceive, ExpectNextMessage>,              All<Good, Last, Not<Acknowledged>>>,  // last in the group: tried first
  // --------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 2.2.2.2.6, ruling V-11",                          Answering,  ReadRequested,         none,       Do<AcceptRead, ExpectNextMessage>,                   WindowOpen>,
  On<"VI-TCP 2.2.2.2.6 must be limited, ruling V-11",          Answering,  ReadRequested,         Ended,      FailProtocol,                                        Not<WindowOpen>>,
  On<"VI-ARCH 6.3.1.1 the next message may begin",             Answering,  ReadsAnswered,         Expecting,  none,                                                none>,
  On<"VI-TCP 3.6 ACK and closed at once, rulings V-21 V-30",   Answering,  SegmentCorrupt,        Ended,      Do<ReportCrc, FailTransport>,                        none>,
  On<"VI-TCP 3.2 Message Number, ruling V-4",                  Answering,  ProtocolViolated,      Ended,      FailProtocol,                                        none>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17",                          Answering,  ConnectionEnded,       Ended,      none,                                                none>,
  // --------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 3.6, ruling V-21 it may be one of its segments",  Receiving,  SegmentCorrupt,        Resuming,   Do<FailReceiveCrc, DropSegment>,                     Unreliable>,
  On<"VI-TCP 3.6 closed at once, ruling V-21",                 Receiving,  SegmentCorrupt,        Ended,      Do<FailReceiveCrc, FailTransport>,                   Delivery>,
  On<"VI-TCP 3.6 ACK and closed at once, rulings V-21 V-30",   Receiving,  SegmentCorrupt,        Ended,      Do<ReportCrc, FailReceiveCrc, FailTransport>,        Reception>,
  On<"VI-TCP 2.2.2.2.3 one message at a time",                 Receiving,  ProtocolViolated,      Ended,      FailProtocol,                                        none>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17",                          Receiving,  ConnectionEnded,       Ended,      none,                                                none>,
  On<"VI-TCP 3.6 delivered with transport error, ruling V-21", Receiving,  SegmentReceived,       Resuming,   FailReceive,                                         All<Damaged, Unreliable>>,
  On<"VI-ARCH 2.5.1 dropped, the connection persists",         Receiving,  SegmentReceived,       Expecting,  Do<FailReceive, ExpectNextMessage>,                  All<Dropped, Last>>,
  On<"VI-ARCH 2.5.1 dropped, the connection persists",         Receiving,  SegmentReceived,       Discarding, FailReceive,                                         All<Dropped, Not<Last>>>,
  On<"VI-ARCH 2.5.2, VI-TCP 3.6, ruling V-19",                 Receiving,  SegmentReceived,       Ended,      Do<FailReceive, FailByVerdict>,                      All<Not<Good>, Delivery>>,
  On<"VI-ARCH 2.5.3, VI-TCP 3.2, 3.6, ruling V-19",            Receiving,  SegmentReceived,       Ended,      Do<ReportError, FailReceive, FailByVerdict>,         All<Not<Good>, Reception>>,
  On<"VI-TCP 3.2 Message ACK, VI-ARCH 2.5.3",                  Receiving,  SegmentReceived,       Expecting,  Do<CompleteReceive, Acknowledge, ExpectNextMessage>, All<Good, Last, Acknowledged>>,
  On<"VI-TCP 2.2.2.2.3",                                       Receiving,  SegmentReceived,       Expecting,  Do<CompleteReceive, ExpectNextMessage>,              All<Good, Last, Not<Acknowledged>>>,
  On<"VI-TCP 2.2.2.2.3 next segment",                          Receiving,  SegmentReceived,       none,       none,                                                All<Good, Not<Last>>>,  // last in the group: tried first
  // --------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-ARCH 2.5.1, VI-TCP 3.2 Transmit Error",               Discarding, SegmentReceived,       none,       none,                                                Not<Last>>,
  On<"VI-ARCH 2.5.1, VI-TCP 3.2 Transmit Error",               Discarding, SegmentReceived,       Expecting,  ExpectNextMessage,                                   Last>,
  On<"VI-TCP 3.6, ruling V-21 what comes next is looked at",   Discarding, SegmentCorrupt,        Resuming,   DropSegment,                                         none>,
  On<"VI-TCP 2.2.2.2.3 one message at a time",                 Discarding, ProtocolViolated,      Ended,      FailProtocol,                                        none>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17",                          Discarding, ConnectionEnded,       Ended,      none,                                                none>,
  // --------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 3.6 the connection may continue, ruling V-21",    Resuming,   MessageFound,          Expecting,  none,                                                none>,
  On<"VI-TCP 3.6 delivered with transport error, ruling V-21", Resuming,   MessageLost,           none,       FailReceiveCrc,                                      none>,
  On<"VI-TCP 3.6, ruling V-21 its header is plausible",        Resuming,   SegmentCorrupt,        none,       DropSegment,                                         Plausible>,
  On<"VI-TCP 3.6, ruling V-21 the length was what was hit",    Resuming,   SegmentCorrupt,        Ended,      FailTransport,                                       Not<Plausible>>,
  On<"VI-TCP 3.2 Message Number, ruling V-4",                  Resuming,   ProtocolViolated,      Ended,      FailProtocol,                                        none>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17",                          Resuming,   ConnectionEnded,       Ended,      none,                                                none>,
  // --------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: our own failure comes back",                       Ended,      ConnectionEnded,       none,       none,                                                none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

// The payload of a segment of Send or RdmaWrite goes to memory; else it is read and dropped.
[[nodiscard]] inline bool places(const Machine& machine) { return machine.is_any_of<Expecting, Receiving>(); }
// No message is open: the next segment but for NOPs and Read Responses must be the first of one.
[[nodiscard]] inline bool between_messages(const Machine& machine) { return machine.is_any_of<Expecting, Answering>(); }
// A Send or RDMA Write must not begin: nothing behind its header is looked at until ReadsAnswered.
[[nodiscard]] inline bool holds(const Machine& machine) { return machine.is<Answering>(); }
// The next message is looked for.
[[nodiscard]] inline bool resumes(const Machine& machine) { return machine.is<Resuming>(); }

}  // namespace machines::vitcp_receiver
