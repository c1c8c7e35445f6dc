// The Read Responses that one end of a connection over TCP sends (VI-TCP 2.2.2.2.3, 2.2.2.2.6, 3.2): one at a time, in
// the order of the requests, between the segments of messages.
//
// One object per connection; begins as it does. vitcp_receiver accept_read() fills a queue of the
// owner's that is no longer than our RDMA Read Window. While the machine may_begin(), the owner takes the oldest
// request, looks whether its memory may be read (enables, handle, tag, range), and feeds ReadGranted or ReadRefused.
//
// Fed in Ended: ConnectionEnded alone.
#pragma once

#include "state_machines/vitcp_failure.hpp"

namespace machines::vitcp_read_responder {

using vitcp::Failure;

// --- events
struct ReadGranted {};
struct ReadRefused {};
struct SegmentSent {  // the stream has taken a segment of the response
  bool last = false;
};
struct SourceLost {};       // found as the next segment of the response was to be written; fed in Responding
struct ConnectionEnded {};  // vitcp_closing leave_connected()

// --- effects
class Context : public fsm::Context {
 public:
  // The next segment of the response is due: written when it is its turn and the stream has room. SegmentSent or
  // SourceLost follows; post it.
  virtual void send_segment() = 0;
  // The same, with zeros and Transmit Error, to the response's length; but if nothing of it went out, a single segment
  // without payload (ruling V-18).
  virtual void send_padding() = 0;
  virtual void finish_response() = 0;  // one less is to be answered: its memory is held no longer
  // VIP_ERROR_RDMAR_PROT (VI-DG 3.8.1). Before finish_response().
  virtual void report_refusal() = 0;
  // vi_endpoint ConnectionLost, where a completion did not end it already, and vitcp_closing ConnectionFailed. Post it:
  // ConnectionEnded comes back.
  virtual void fail_connection(Failure) = 0;
  [[nodiscard]] virtual bool reliable() const = 0;  // Reliable Delivery or Reliable Reception
};

// --- states
struct Idle : fsm::State {};        // no response is under way
struct Responding : fsm::State {};  // some segments are still to be sent
struct Padding : fsm::State {};     // the same, but the request is refused, or its memory is gone
struct Ended : fsm::State {};

// --- actions and guards
FSM_ACTION(SendSegment, context.send_segment());
FSM_ACTION(SendPadding, context.send_padding());
FSM_ACTION(FinishResponse, context.finish_response());
FSM_ACTION(ReportRefusal, context.report_refusal());
FSM_ACTION(FailLocal, context.fail_connection(Failure::Local));
FSM_GUARD(Last, event.last);
FSM_GUARD(Reliable, context.reliable());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using Refuse = Do<ReportRefusal, FinishResponse>;

struct Def {
  static constexpr std::string_view name = "vitcp_read_responder";
  using Context = vitcp_read_responder::Context;
  using initial_state = Idle;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                                  source      event            target      action                 guard
  On<"VI-TCP 2.2.2.2.3, 3.2",                                Idle,       ReadGranted,     Responding, SendSegment,           none>,
  On<"VI-TCP 3.2, ruling V-18 a single segment, no payload", Idle,       ReadRefused,     Padding,    SendPadding,           none>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17",                        Idle,       ConnectionEnded, Ended,      none,                  none>,
  // --------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 2.2.2.2.6 held no longer",                      Responding, SegmentSent,     Idle,       FinishResponse,        Last>,
  On<"VI-TCP 2.2.2.2.5, 3.2 Transmit Error, ruling V-18",    Responding, SourceLost,      Padding,    SendPadding,           none>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17",                        Responding, ConnectionEnded, Ended,      none,                  none>,
  On<"VI-TCP 2.2.2.2.3 next segment",                        Responding, SegmentSent,     none,       SendSegment,           Not<Last>>,  // last in the group: tried first
  // --------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 2.2.2.2.5, ruling V-18",                        Padding,    SegmentSent,     none,       SendPadding,           Not<Last>>,
  On<"VI-TCP 3.2 Transmit Error, VI-ARCH 2.5.1",             Padding,    SegmentSent,     Idle,       Refuse,                All<Last, Not<Reliable>>>,
  On<"VI-TCP 3.2 Transmit Error, VI-ARCH 2.5.2, V-19",       Padding,    SegmentSent,     Ended,      Do<Refuse, FailLocal>, All<Last, Reliable>>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17",                        Padding,    ConnectionEnded, Ended,      none,                  none>,
  // --------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: our own failure comes back",                     Ended,      ConnectionEnded, none,       none,                  none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

// The owner may take the oldest request that waits.
[[nodiscard]] inline bool may_begin(const Machine& machine) { return machine.is<Idle>(); }

}  // namespace machines::vitcp_read_responder
