// The messages that one end of a connection over TCP sends (VI-TCP 2.2.2.2.3, 3.2): their order, what they wait for,
// and when their descriptors complete.
//
// One object per connection. One message is under way at a time; its segments and those of Read Responses
// (vitcp_read_responder) alternate as the owner likes, NOPs too. While the machine may_begin(), the owner takes the
// next descriptor (vi::Vi::begin_send) and feeds MessagePosted. It keeps the data offset, and what waits for a response
// or an acknowledgement. With the first octet of a message that goes out the owner takes its Message Number (ruling
// V-4), and counts the receive descriptor of the peer that it will consume (V-6).
//
// Fed in Ended: ConnectionEnded alone.
#pragma once

#include "state_machines/vitcp_failure.hpp"

namespace machines::vitcp_sender {

using vitcp::Failure;

// How a descriptor completes.
enum class Completion : std::uint8_t {
  Success,
  LengthError,           // above the MTU that was agreed (ruling V-9)
  LocalProtectionError,  // its memory is gone
  RdmaProtectionError,   // the peer holds no RDMA Reads at all (ruling V-11)
};
// How much of a message went out before its memory was gone.
enum class Sent : std::uint8_t {
  Nothing,  // no octet: no Message Number was taken
  Some,     // whole segments; the next one can say Transmit Error
};

// --- events
struct ConnectionEstablished {};  // both ends agree (vitcp_active, vitcp_passive connected())
struct MessagePosted {            // the next descriptor of the send queue
  bool read = false;              // RDMA Read
  bool takes_receive = false;     // Send, or RDMA Write with Immediate Data
  bool too_long = false;          // above the agreed MTU
};
struct DescriptorsPosted {};  // the peer's Rx Descriptors Posted has grown; fed in AwaitDescriptor
struct ReadCompleted {};      // a response was complete (vitcp_read_requester); fed in AwaitWindow
struct SegmentSent {          // the stream has taken a segment of the message
  bool last = false;
  bool read = false;  // an RdmaReadRequest
};
struct MemoryLost {  // found as the next octets of the message were to be read; fed in Sending
  Sent sent = Sent::Some;
};
// Reliable Reception, from the header of a segment whose CRC is right. What repeats the last one is not fed.
struct MessagesAcknowledged {  // Message ACK names a message that waits, no VI Error Type
  bool all = false;            // it is the last one that waits
};
struct ErrorReported {};  // VI Error Type is set; Message ACK may name a message that was not sent (ruling V-30)
// Message ACK names another: one that was not sent to its end, or one before the last one named.
struct AckOutOfRange {};
struct ConnectionEnded {};  // vitcp_closing leave_connected()

// --- effects
class Context : public fsm::Context {
 public:
  // The next segment of the message is due: written when it is its turn and the stream has room. What of it the stream
  // does not take with its header is copied, so that it is whole in any case (ruling V-31). SegmentSent or MemoryLost
  // follows, not from within, and before anything else is read from the stream. The same for send_padding(): the octets
  // that the segment would have, as zeros, and Transmit Error (V-18).
  virtual void send_segment() = 0;
  virtual void send_padding() = 0;
  virtual void complete(Completion) = 0;  // of the message under way: vi::Vi::complete_send
  // Keeps what the message under way will complete with; complete_noted() is complete() with it.
  virtual void note_error(Completion) = 0;
  virtual void complete_noted() = 0;
  // The message waits for the peer's ACK (Reliable Reception), or for its response (RDMA Read).
  virtual void await_ack() = 0;
  virtual void await_response() = 0;
  // Complete with success all that wait, up to the message that Message ACK names; but RDMA Reads, which complete by
  // their response (ruling V-5).
  virtual void complete_acknowledged() = 0;
  // The same for those before it; then the named one, if it waits or is under way, by the bits of the Remote Error Code
  // (ruling V-19): RDMA protection error, remote descriptor error, transport error.
  virtual void complete_refused() = 0;
  // vi_endpoint ConnectionLost, where a completion did not end it already, and vitcp_closing ConnectionFailed. Post it:
  // ConnectionEnded comes back.
  virtual void fail_connection(Failure) = 0;
  [[nodiscard]] virtual bool reliable() const = 0;        // Reliable Delivery or Reliable Reception
  [[nodiscard]] virtual bool acknowledged() const = 0;    // Reliable Reception
  [[nodiscard]] virtual bool unacknowledged() const = 0;  // Reliable Reception: messages wait for their ACK
  // Descriptor flow control is not in effect, or the peer has posted more receives than were used.
  [[nodiscard]] virtual bool descriptor_available() const = 0;
  [[nodiscard]] virtual bool reads_allowed() const = 0;  // the peer's RDMA Read Window is not 0
  [[nodiscard]] virtual bool window_open() const = 0;    // fewer RDMA Reads wait for their response than it holds
};

// --- states
struct Closed : fsm::State {};           // not connected yet
struct Idle : fsm::State {};             // no message is under way
struct AwaitDescriptor : fsm::State {};  // the next one waits for the peer to post a receive
struct AwaitWindow : fsm::State {};      // the next one, an RDMA Read, waits for a response to an earlier one
struct Sending : fsm::State {};          // some segments are still to be sent
struct Padding : fsm::State {};          // the same, but its memory is gone
struct AwaitAcks : fsm::State {};        // the message has failed here; those before it wait for their ACK
struct Ended : fsm::State {};

// --- actions and guards
FSM_ACTION(SendSegment, context.send_segment());
FSM_ACTION(SendPadding, context.send_padding());
FSM_ACTION(CompleteSuccess, context.complete(Completion::Success));
FSM_ACTION(CompleteLengthError, context.complete(Completion::LengthError));
FSM_ACTION(CompleteLocalProtectionError, context.complete(Completion::LocalProtectionError));
FSM_ACTION(CompleteRdmaProtectionError, context.complete(Completion::RdmaProtectionError));
FSM_ACTION(NoteLengthError, context.note_error(Completion::LengthError));
FSM_ACTION(NoteLocalProtectionError, context.note_error(Completion::LocalProtectionError));
FSM_ACTION(NoteRdmaProtectionError, context.note_error(Completion::RdmaProtectionError));
FSM_ACTION(CompleteNoted, context.complete_noted());
FSM_ACTION(AwaitAck, context.await_ack());
FSM_ACTION(AwaitResponse, context.await_response());
FSM_ACTION(CompleteAcknowledged, context.complete_acknowledged());
FSM_ACTION(CompleteRefused, context.complete_refused());
FSM_ACTION(FailLocal, context.fail_connection(Failure::Local));
FSM_ACTION(FailProtocol, context.fail_connection(Failure::Protocol));
FSM_ACTION(FailRemote, context.fail_connection(Failure::Remote));
FSM_GUARD(TooLong, event.too_long);
FSM_GUARD(Read, event.read);
FSM_GUARD(TakesReceive, event.takes_receive);
FSM_GUARD(Last, event.last);
FSM_GUARD(AllAcknowledged, event.all);
FSM_GUARD(NothingSent, event.sent == Sent::Nothing);
FSM_GUARD(Reliable, context.reliable());
FSM_GUARD(Acknowledged, context.acknowledged());
FSM_GUARD(Unacknowledged, context.unacknowledged());
FSM_GUARD(DescriptorAvailable, context.descriptor_available());
FSM_GUARD(ReadsAllowed, context.reads_allowed());
FSM_GUARD(WindowOpen, context.window_open());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using FailsNow = All<Reliable, Not<Unacknowledged>>;
using FailsLater = All<Reliable, Unacknowledged>;
using ReadInVain = All<Not<TooLong>, Read, Not<ReadsAllowed>>;
using ReadWaits = All<Not<TooLong>, Read, ReadsAllowed, Not<WindowOpen>>;
using ReadGoes = All<Not<TooLong>, Read, ReadsAllowed, WindowOpen>;
using SendWaits = All<Not<TooLong>, Not<Read>, TakesReceive, Not<DescriptorAvailable>>;
using SendGoes = All<Not<TooLong>, Not<Read>, TakesReceive, DescriptorAvailable>;
using WriteGoes = All<Not<TooLong>, Not<Read>, Not<TakesReceive>>;
using FailProtection = Do<CompleteLocalProtectionError, FailLocal>;

struct Def {
  static constexpr std::string_view name = "vitcp_sender";
  using Context = vitcp_sender::Context;
  using initial_state = Closed;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                               source           event                  target           action                                              guard
  On<"VI-TCP 4.2, 4.3 Connected",                         Closed,          ConnectionEstablished, Idle,            none,                                               none>,
  On<"impl: the set-up was the end, too",                 Closed,          ConnectionEnded,       Ended,           none,                                               none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 2.2.1, ruling V-9, VI-ARCH 2.5.1",           Idle,            MessagePosted,         none,            CompleteLengthError,                                All<TooLong, Not<Reliable>>>,
  On<"VI-TCP 2.2.1, ruling V-9, VI-ARCH 2.5.2",           Idle,            MessagePosted,         Ended,           Do<CompleteLengthError, FailLocal>,                 All<TooLong, FailsNow>>,
  On<"VI-ARCH 6.3.1.1 in order, 2.5.3",                   Idle,            MessagePosted,         AwaitAcks,       NoteLengthError,                                    All<TooLong, FailsLater>>,
  On<"VI-TCP 2.2.2.2.6, ruling V-11, VI-ARCH 2.5.1",      Idle,            MessagePosted,         none,            CompleteRdmaProtectionError,                        All<ReadInVain, Not<Reliable>>>,
  On<"VI-TCP 2.2.2.2.6, ruling V-11, VI-ARCH 2.5.2",      Idle,            MessagePosted,         Ended,           Do<CompleteRdmaProtectionError, FailLocal>,         All<ReadInVain, FailsNow>>,
  On<"VI-ARCH 6.3.1.1 in order, 2.5.3",                   Idle,            MessagePosted,         AwaitAcks,       NoteRdmaProtectionError,                            All<ReadInVain, FailsLater>>,
  On<"VI-TCP 2.2.2.2.6, ruling V-11",                     Idle,            MessagePosted,         AwaitWindow,     none,                                               ReadWaits>,
  On<"VI-TCP 3.3 Descriptor Flow Control, 2.2.1",         Idle,            MessagePosted,         AwaitDescriptor, none,                                               SendWaits>,
  On<"VI-TCP 2.2.2.2.3 RDMA Read, 2.2.2.2.6",             Idle,            MessagePosted,         Sending,         SendSegment,                                        ReadGoes>,
  On<"VI-TCP 2.2.2.2.3 RDMA Write",                       Idle,            MessagePosted,         Sending,         SendSegment,                                        WriteGoes>,
  On<"VI-TCP 3.2 Message ACK",                            Idle,            MessagesAcknowledged,  none,            CompleteAcknowledged,                               none>,
  On<"VI-TCP 3.2 VI Error Type, ruling V-19",             Idle,            ErrorReported,         Ended,           Do<CompleteRefused, FailRemote>,                    none>,
  On<"VI-TCP 3.2 Message ACK, ruling V-5",                Idle,            AckOutOfRange,         Ended,           FailProtocol,                                       none>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17",                     Idle,            ConnectionEnded,       Ended,           none,                                               none>,
  On<"VI-TCP 2.2.2.2.3 Send, ruling V-6",                 Idle,            MessagePosted,         Sending,         SendSegment,                                        SendGoes>,  // last in the group: tried first
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 3.2 Rx Descriptors Posted, ruling V-6",      AwaitDescriptor, DescriptorsPosted,     Sending,         SendSegment,                                        none>,
  On<"VI-TCP 3.2 Message ACK",                            AwaitDescriptor, MessagesAcknowledged,  none,            CompleteAcknowledged,                               none>,
  On<"VI-TCP 3.2 VI Error Type, ruling V-19",             AwaitDescriptor, ErrorReported,         Ended,           Do<CompleteRefused, FailRemote>,                    none>,
  On<"VI-TCP 3.2 Message ACK, ruling V-5",                AwaitDescriptor, AckOutOfRange,         Ended,           FailProtocol,                                       none>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17",                     AwaitDescriptor, ConnectionEnded,       Ended,           none,                                               none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 2.2.2.2.6, ruling V-11",                     AwaitWindow,     ReadCompleted,         Sending,         SendSegment,                                        none>,
  On<"VI-TCP 3.2 Message ACK",                            AwaitWindow,     MessagesAcknowledged,  none,            CompleteAcknowledged,                               none>,
  On<"VI-TCP 3.2 VI Error Type, ruling V-19",             AwaitWindow,     ErrorReported,         Ended,           Do<CompleteRefused, FailRemote>,                    none>,
  On<"VI-TCP 3.2 Message ACK, ruling V-5",                AwaitWindow,     AckOutOfRange,         Ended,           FailProtocol,                                       none>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17",                     AwaitWindow,     ConnectionEnded,       Ended,           none,                                               none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 3.2 RDMA Reads complete by their response",  Sending,         SegmentSent,           Idle,            AwaitResponse,                                      All<Last, Read>>,
  On<"VI-TCP 3.2 Message ACK, VI-ARCH 2.5.3",             Sending,         SegmentSent,           Idle,            AwaitAck,                                           All<Last, Not<Read>, Acknowledged>>,
  On<"VI-ARCH 2.5.1, 2.5.2 sent",                         Sending,         SegmentSent,           Idle,            CompleteSuccess,                                    All<Last, Not<Read>, Not<Acknowledged>>>,
  On<"VI-ARCH 2.5.1 before the first octet",              Sending,         MemoryLost,            Idle,            CompleteLocalProtectionError,                       All<NothingSent, Not<Reliable>>>,
  On<"VI-ARCH 2.5.2 before the first octet",              Sending,         MemoryLost,            Ended,           FailProtection,                                     All<NothingSent, FailsNow>>,
  On<"VI-ARCH 6.3.1.1 in order, 2.5.3",                   Sending,         MemoryLost,            AwaitAcks,       NoteLocalProtectionError,                           All<NothingSent, FailsLater>>,
  On<"VI-TCP 2.2.2.2.5, 3.2 Transmit Error, ruling V-18", Sending,         MemoryLost,            Padding,         SendPadding,                                        Not<NothingSent>>,
  On<"VI-TCP 3.2 Message ACK",                            Sending,         MessagesAcknowledged,  none,            CompleteAcknowledged,                               none>,
  On<"VI-TCP 3.2 VI Error Type, ruling V-19",             Sending,         ErrorReported,         Ended,           Do<CompleteRefused, FailRemote>,                    none>,
  On<"VI-TCP 3.2 Message ACK, ruling V-5",                Sending,         AckOutOfRange,         Ended,           FailProtocol,                                       none>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17",                     Sending,         ConnectionEnded,       Ended,           none,                                               none>,
  On<"VI-TCP 2.2.2.2.3 next segment",                     Sending,         SegmentSent,           none,            SendSegment,                                        Not<Last>>,  // last in the group: tried first
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 2.2.2.2.5, ruling V-18",                     Padding,         SegmentSent,           none,            SendPadding,                                        Not<Last>>,
  On<"VI-TCP 3.2 Transmit Error, VI-ARCH 2.5.1",          Padding,         SegmentSent,           Idle,            CompleteLocalProtectionError,                       All<Last, Not<Reliable>>>,
  On<"VI-TCP 3.2 Transmit Error, VI-ARCH 2.5.2",          Padding,         SegmentSent,           Ended,           FailProtection,                                     All<Last, FailsNow>>,
  On<"VI-ARCH 6.3.1.1 in order, 2.5.3",                   Padding,         SegmentSent,           AwaitAcks,       NoteLocalProtectionError,                           All<Last, FailsLater>>,
  On<"VI-TCP 3.2 Message ACK",                            Padding,         MessagesAcknowledged,  none,            CompleteAcknowledged,                               none>,
  On<"VI-TCP 3.2 VI Error Type, ruling V-19",             Padding,         ErrorReported,         Ended,           Do<CompleteRefused, FailRemote>,                    none>,
  On<"VI-TCP 3.2 Message ACK, ruling V-5",                Padding,         AckOutOfRange,         Ended,           FailProtocol,                                       none>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17",                     Padding,         ConnectionEnded,       Ended,           none,                                               none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 3.2 Message ACK",                            AwaitAcks,       MessagesAcknowledged,  none,            CompleteAcknowledged,                               Not<AllAcknowledged>>,
  On<"VI-ARCH 6.3.1.1 in order, 2.5.3",                   AwaitAcks,       MessagesAcknowledged,  Ended,           Do<CompleteAcknowledged, CompleteNoted, FailLocal>, AllAcknowledged>,
  On<"VI-TCP 3.2 VI Error Type, ruling V-19",             AwaitAcks,       ErrorReported,         Ended,           Do<CompleteRefused, FailRemote>,                    none>,
  On<"VI-TCP 3.2 Message ACK, ruling V-5",                AwaitAcks,       AckOutOfRange,         Ended,           FailProtocol,                                       none>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17",                     AwaitAcks,       ConnectionEnded,       Ended,           none,                                               none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: our own failure comes back",                  Ended,           ConnectionEnded,       none,            none,                                               none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

// The owner may take the next descriptor of the send queue.
[[nodiscard]] inline bool may_begin(const Machine& machine) { return machine.is<Idle>(); }

}  // namespace machines::vitcp_sender
