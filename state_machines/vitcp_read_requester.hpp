// The Read Responses that arrive at one end of a connection over TCP (VI-TCP 2.2.2.2.3, 3.2, 3.6): one response at a
// time, between the segments of messages.
//
// One object per connection; begins as it does. One event per segment of RdmaReadResponse, once it is read to its end.
// The owner finds the RDMA Read by its Message Number, and keeps its data offset. A number that is none of an
// outstanding request, or not that of the open response, a Data Offset that is not due, octets beyond the request's
// length, a last segment before it without Transmit Error: vitcp_receiver ProtocolViolated, or SegmentCorrupt if the
// CRC is wrong; but at Unreliable Delivery a wrong CRC is that of the open response, or of the one that is due.
//
// Fed in Ended: ConnectionEnded alone.
#pragma once

#include "state_machines/vitcp_failure.hpp"

namespace machines::vitcp_read_requester {

using vitcp::Failure;

// Of several the first that holds, in this order.
enum class Verdict : std::uint8_t {
  CrcWrong,       // transport error
  TransmitError,  // the target refuses, or had not all the data (ruling V-18): RDMA protection error
  Protection,     // the memory of our descriptor is gone: protection error
  Good,
};

// --- events
struct ResponseReceived {  // the first segment of a response, or the next one of the open response
  Verdict verdict = Verdict::Good;
  bool last = false;
};
struct ConnectionEnded {};  // vitcp_closing leave_connected()

// --- effects
class Context : public fsm::Context {
 public:
  virtual void complete_read(Verdict) = 0;  // the RDMA Read's descriptor, in error unless Good
  // The request is answered to its end: one less is outstanding; vitcp_sender ReadCompleted, if it waits.
  virtual void release_window() = 0;
  // Reliable Reception: as in vitcp_receiver, bit 2. Message ACK names the message of the peer that is open, or the one
  // that is due (ruling V-30).
  virtual void report_error() = 0;
  // vi_endpoint ConnectionLost, where a completion did not end it already, and vitcp_closing ConnectionFailed. Post it:
  // ConnectionEnded comes back.
  virtual void fail_connection(Failure) = 0;
  [[nodiscard]] virtual bool reliable() const = 0;      // Reliable Delivery or Reliable Reception
  [[nodiscard]] virtual bool acknowledged() const = 0;  // Reliable Reception
};

// --- states
struct Awaiting : fsm::State {};    // no response is open
struct Receiving : fsm::State {};   // one is
struct Discarding : fsm::State {};  // the same, but its RDMA Read has failed, and the connection persists
struct Ended : fsm::State {};

// --- actions and guards
[[nodiscard]] constexpr Failure failure_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::CrcWrong: return Failure::Transport;
    case Verdict::TransmitError: return Failure::Remote;
    case Verdict::Protection: return Failure::Local;
    case Verdict::Good: break;
  }
  return Failure::Protocol;
}
FSM_ACTION(CompleteRead, context.complete_read(event.verdict));
FSM_ACTION(ReleaseWindow, context.release_window());
FSM_ACTION(ReportError, context.report_error());
FSM_ACTION(FailConnection, context.fail_connection(failure_of(event.verdict)));
FSM_GUARD(Good, event.verdict == Verdict::Good);
FSM_GUARD(CrcWrong, event.verdict == Verdict::CrcWrong);
FSM_GUARD(Last, event.last);
FSM_GUARD(Reliable, context.reliable());
FSM_GUARD(Acknowledged, context.acknowledged());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using Reports = All<CrcWrong, Acknowledged>;
using Failed = All<Reliable, Not<Good>, Not<Reports>>;
using FailedAndReports = All<Reliable, Not<Good>, Reports>;
using FailedUnreliably = All<Not<Reliable>, Not<Good>>;

struct Def {
  static constexpr std::string_view name = "vitcp_read_requester";
  using Context = vitcp_read_requester::Context;
  using initial_state = Awaiting;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                              source      event             target      action                                         guard
  On<"VI-TCP 3.2 completed by a valid response",         Awaiting,   ResponseReceived, none,       Do<CompleteRead, ReleaseWindow>,               All<Good, Last>>,
  On<"VI-TCP 3.2, 3.6, VI-ARCH 2.5.1",                   Awaiting,   ResponseReceived, none,       Do<CompleteRead, ReleaseWindow>,               All<FailedUnreliably, Last>>,
  On<"VI-TCP 3.2, 3.6, VI-ARCH 2.5.1",                   Awaiting,   ResponseReceived, Discarding, CompleteRead,                                  All<FailedUnreliably, Not<Last>>>,
  On<"VI-ARCH 2.5.2, VI-TCP 3.6, ruling V-18",           Awaiting,   ResponseReceived, Ended,      Do<CompleteRead, FailConnection>,              Failed>,
  On<"VI-ARCH 2.5.3, VI-TCP 3.6 ACK, rulings V-21 V-30", Awaiting,   ResponseReceived, Ended,      Do<ReportError, CompleteRead, FailConnection>, FailedAndReports>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17",                    Awaiting,   ConnectionEnded,  Ended,      none,                                          none>,
  On<"VI-TCP 2.2.2.2.3 may be interleaved",              Awaiting,   ResponseReceived, Receiving,  none,                                          All<Good, Not<Last>>>,
  // -------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 3.2 completed by a valid response",         Receiving,  ResponseReceived, Awaiting,   Do<CompleteRead, ReleaseWindow>,               All<Good, Last>>,
  On<"VI-TCP 3.2, 3.6, VI-ARCH 2.5.1",                   Receiving,  ResponseReceived, Awaiting,   Do<CompleteRead, ReleaseWindow>,               All<FailedUnreliably, Last>>,
  On<"VI-TCP 3.2, 3.6, VI-ARCH 2.5.1",                   Receiving,  ResponseReceived, Discarding, CompleteRead,                                  All<FailedUnreliably, Not<Last>>>,
  On<"VI-ARCH 2.5.2, VI-TCP 3.6, ruling V-18",           Receiving,  ResponseReceived, Ended,      Do<CompleteRead, FailConnection>,              Failed>,
  On<"VI-ARCH 2.5.3, VI-TCP 3.6 ACK, rulings V-21 V-30", Receiving,  ResponseReceived, Ended,      Do<ReportError, CompleteRead, FailConnection>, FailedAndReports>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17",                    Receiving,  ConnectionEnded,  Ended,      none,                                          none>,
  On<"VI-TCP 2.2.2.2.3 next segment",                    Receiving,  ResponseReceived, none,       none,                                          All<Good, Not<Last>>>,  // last in the group: tried first
  // -------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 3.2 the entire message, VI-ARCH 2.5.1",     Discarding, ResponseReceived, none,       none,                                          Not<Last>>,
  On<"VI-TCP 3.2 the entire message, 2.2.2.2.6",         Discarding, ResponseReceived, Awaiting,   ReleaseWindow,                                 Last>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17",                    Discarding, ConnectionEnded,  Ended,      none,                                          none>,
  // -------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: our own failure comes back",                 Ended,      ConnectionEnded,  none,       none,                                          none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

// The payload of a Read Response goes to memory; else it is read and dropped.
[[nodiscard]] inline bool places(const Machine& machine) { return machine.is_any_of<Awaiting, Receiving>(); }
// No response is open: the next one's first segment may come.
[[nodiscard]] inline bool between_responses(const Machine& machine) { return machine.is<Awaiting>(); }

}  // namespace machines::vitcp_read_requester
