// The RDMA Read Requests that one end of an RDMAP Stream holds (the Inbound RDMA Read Request Queue, at most IRD of
// them), and the RDMA Read Responses that it sends, one at a time, in the order of the requests (RFC 5040 5.2, 5.5,
// 7.2; RFC 6581 4.1).
//
// One object per RDMAP Stream. A request is fed once DDP has delivered it (RFC 5040 5.5 rules 12, 17), and its checks
// (7.2) are made then: RequestInvalid with the error captured: layer 0, type 1, its code, with the request's header.
// Memory is looked at again for each segment; SourceLost. Of a request with a size of zero nothing is checked but DDP's
// header, opcode and version (5.2.1): a response without payload; that is RFC 6581's RTR indication, too.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::rdmap_read_responder {

// --- events
struct RequestDelivered {};
struct RequestInvalid {};
struct SegmentSent {  // DDP has a segment of the response
  bool last = false;
};
// Fed in Responding: as the next segment is due its memory may not be read any more; captured with the request's header
// as it stands now (RFC 5040 4.8).
struct SourceLost {};
struct StreamEnded {};  // rdmap_stream flush(), refuse_operations()

// --- effects
class Context : public fsm::Context {
 public:
  // The request is the last one of the queue. While others wait it is not looked at.
  virtual void enqueue() = 0;
  // The first segment of the response to the oldest request is due. SegmentSent or SourceLost follows; post it.
  virtual void begin_response() = 0;
  virtual void send_segment() = 0;     // the next one, when it is its turn and DDP has room. The same follows
  virtual void finish_response() = 0;  // the oldest request leaves the queue; its memory is held no longer
  // Captures layer 1 (DDP), type 2, code 2: QN 1 has no buffer for the request's MSN.
  virtual void capture_no_buffer() = 0;
  virtual void fail_stream() = 0;                        // rdmap_stream ErrorFound. Post it: StreamEnded comes back
  virtual void clear_queue() = 0;                        // all requests leave the queue, unanswered
  virtual void count_stale() = 0;                        // late: harmless, counted
  [[nodiscard]] virtual bool has_place() const = 0;      // fewer than IRD requests are in the queue
  [[nodiscard]] virtual bool another_waits() const = 0;  // behind the oldest one
};

// --- states
struct Idle : fsm::State {};        // the queue is empty
struct Responding : fsm::State {};  // the oldest request is being answered
struct Failed : fsm::State {};      // rdmap_stream sends the Terminate Message
struct Ended : fsm::State {};

// --- actions and guards
FSM_ACTION(Enqueue, context.enqueue());
FSM_ACTION(BeginResponse, context.begin_response());
FSM_ACTION(SendSegment, context.send_segment());
FSM_ACTION(FinishResponse, context.finish_response());
FSM_ACTION(CaptureNoBuffer, context.capture_no_buffer());
FSM_ACTION(FailStream, context.fail_stream());
FSM_ACTION(ClearQueue, context.clear_queue());
FSM_ACTION(CountStale, context.count_stale());
FSM_GUARD(Last, event.last);
FSM_GUARD(HasPlace, context.has_place());
FSM_GUARD(AnotherWaits, context.another_waits());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using Overrun = Do<CaptureNoBuffer, FailStream>;

struct Def {
  static constexpr std::string_view name = "rdmap_read_responder";
  using Context = rdmap_read_responder::Context;
  using initial_state = Idle;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                                        source      event             target      action                             guard
  On<"RFC 5040 5.2.1, 5.5 rules 12, 17",                           Idle,       RequestDelivered, Responding, Do<Enqueue, BeginResponse>,        HasPlace>,
  On<"RFC 5040 6.1 IRD, RFC 5041 7.1 item 2, ruling M-8",          Idle,       RequestDelivered, Failed,     Overrun,                           Not<HasPlace>>,
  On<"RFC 5040 7.2 items 1 to 4, 7.1 rule 3",                      Idle,       RequestInvalid,   Failed,     FailStream,                        none>,
  On<"RFC 5040 6.2.1",                                             Idle,       StreamEnded,      Ended,      none,                              none>,
  // -------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5040 5.2.1 processed in the order they were sent",       Responding, RequestDelivered, none,       Enqueue,                           HasPlace>,
  On<"RFC 5040 6.1 IRD, RFC 5041 7.1 item 2, ruling M-8",          Responding, RequestDelivered, Failed,     Overrun,                           Not<HasPlace>>,
  On<"RFC 5040 7.2 items 1 to 4, 7.1 rule 3 earliest opportunity", Responding, RequestInvalid,   Failed,     FailStream,                        none>,
  On<"RFC 5040 4.8 Terminated RDMA Header, 7.1",                   Responding, SourceLost,       Failed,     FailStream,                        none>,
  On<"RFC 5040 6.2.1",                                             Responding, StreamEnded,      Ended,      ClearQueue,                        none>,
  On<"RFC 5040 5.5 rule 20 in the order of the requests",          Responding, SegmentSent,      none,       Do<FinishResponse, BeginResponse>, All<Last, AnotherWaits>>,
  On<"RFC 5040 5.2.2",                                             Responding, SegmentSent,      Idle,       FinishResponse,                    All<Last, Not<AnotherWaits>>>,
  On<"RFC 5040 5.2.2 one message, RFC 5041 5.3",                   Responding, SegmentSent,      none,       SendSegment,                       Not<Last>>,  // last in the group: tried first
  // -------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5040 7.1 rule 4, RFC 5041 7.1 silently drop",            Failed,     RequestDelivered, none,       CountStale,                        none>,
  On<"RFC 5040 7.1 rule 4, RFC 5041 7.1 silently drop",            Failed,     RequestInvalid,   none,       CountStale,                        none>,
  On<"RFC 5040 5.4 the Terminate Message is next",                 Failed,     SegmentSent,      none,       none,                              none>,
  On<"RFC 5040 6.2.1",                                             Failed,     StreamEnded,      Ended,      ClearQueue,                        none>,
  // -------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: was posted before the stream ended",                   Ended,      SegmentSent,      none,       CountStale,                        none>,
  On<"impl: was posted before the stream ended",                   Ended,      SourceLost,       none,       CountStale,                        none>,
  On<"impl: a graceful termination, then the end of the stream",   Ended,      StreamEnded,      none,       none,                              none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::rdmap_read_responder
