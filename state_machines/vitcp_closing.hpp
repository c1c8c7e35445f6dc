// The end of a connection over TCP (VI-TCP 2.2.2.2.2, ruling V-17). There is no disconnect message: the end of the
// stream is the disconnect, and no reset may overtake octets that were reported sent. So whoever ends the connection
// writes what it still owes, shuts its side down, reads to the end of the other side, and only then lets the stream go.
//
// One object per connection, from vitcp_active or vitcp_passive connected() on. It may outlive its VI: then closed()
// tells nobody. Another object closes a stream that gets no more than an answer (vitcp_passive close_stream()); there
// leave_connected() and closed() tell nobody.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::vitcp_closing {

// --- events
// vi_endpoint request_disconnect(): VipDisconnect in Connected or Error. Or the VI goes away.
struct DisconnectRequested {};
struct ConnectionFailed {};  // an error of this end: vitcp_* fail_connection(), or vi::Transport::stopped()
struct OutputFinished {};    // the stream has taken all of what finish_output() owes
struct EndReceived {};       // the end of what the other side sends was read
struct StreamBroken {};      // StreamUser::closed(): reset, timed out
struct LingerExpired {};     // start_linger_timer()'s time is over

// --- effects
class Context : public fsm::Context {
 public:
  // ConnectionEnded to vitcp_active or vitcp_passive, to vitcp_sender, vitcp_receiver, vitcp_read_requester and
  // vitcp_read_responder.
  virtual void leave_connected() = 0;
  // No segment is begun any more. What is owed goes out: octets of completed messages, and where no begun segment lies
  // before it a due ACK, one with a Remote Error Code above all. The rest of a begun segment goes out only where it was
  // copied while its memory was still the transport's; else it is cut short, and so never ends. OutputFinished follows;
  // post it.
  virtual void finish_output() = 0;
  // What still arrives is read and dropped; EndReceived comes all the same.
  virtual void discard_input() = 0;
  virtual void start_linger_timer() = 0;  // bounds the close; expires as LingerExpired
  virtual void stop_linger_timer() = 0;
  virtual void shut_down() = 0;     // Stream::shut_down()
  virtual void drop_stream() = 0;   // destroy the stream
  virtual void reset_stream() = 0;  // Stream::reset(), and destroy it
  virtual void report_lost() = 0;   // vi_endpoint ConnectionLost: VIP_ERROR_CONN_LOST
  // The stream is gone: vi_endpoint DisconnectAnswered, if a VipDisconnect waits. The object may go with its VI.
  virtual void closed() = 0;
  virtual void count_stale() = 0;  // late or crossing: harmless, counted
};

// --- states
struct Open : fsm::State {};
struct Finishing : fsm::State {};  // we end it: what is owed is being written
struct Draining : fsm::State {};   // our side is shut down: the end of the other side is awaited
struct Answering : fsm::State {};  // the other side has ended: what is owed is being written
struct Closed : fsm::State {};     // no stream

// --- actions and guards
FSM_ACTION(LeaveConnected, context.leave_connected());
FSM_ACTION(FinishOutput, context.finish_output());
FSM_ACTION(DiscardInput, context.discard_input());
FSM_ACTION(StartLingerTimer, context.start_linger_timer());
FSM_ACTION(StopLingerTimer, context.stop_linger_timer());
FSM_ACTION(ShutDown, context.shut_down());
FSM_ACTION(DropStream, context.drop_stream());
FSM_ACTION(ResetStream, context.reset_stream());
FSM_ACTION(ReportLost, context.report_lost());
FSM_ACTION(TellClosed, context.closed());
FSM_ACTION(CountStale, context.count_stale());
using fsm::Do, fsm::none, fsm::On, fsm::to_string;
using Begin = Do<LeaveConnected, StartLingerTimer, DiscardInput, FinishOutput>;
using Close = Do<StopLingerTimer, DropStream, TellClosed>;
using GiveUp = Do<ResetStream, TellClosed>;

struct Def {
  static constexpr std::string_view name = "vitcp_closing";
  using Context = vitcp_closing::Context;
  using initial_state = Open;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                                                 source     event                target     action                                                          guard
  On<"VI-TCP 2.2.2.2.2, ruling V-17 stops sending",                         Open,      DisconnectRequested, Finishing, Begin,                                                          none>,
  On<"VI-TCP 3.6, 2.2.2.2.2, rulings V-17 V-19",                            Open,      ConnectionFailed,    Finishing, Begin,                                                          none>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17 the other side",                        Open,      EndReceived,         Answering, Do<LeaveConnected, StartLingerTimer, FinishOutput, ReportLost>, none>,
  On<"VI-TCP 2.2.2.2.2, VI-DG 3.8",                                         Open,      StreamBroken,        Closed,    Do<LeaveConnected, DropStream, ReportLost, TellClosed>,         none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 2.2.2.2.2, ruling V-17 shuts its side down",                   Finishing, OutputFinished,      Draining,  ShutDown,                                                       none>,
  On<"VI-TCP 2.2.2.2.2 both at about the same time",                        Finishing, EndReceived,         Answering, none,                                                           none>,
  On<"VI-TCP 2.2.2.2.2 nothing can arrive any more",                        Finishing, StreamBroken,        Closed,    Close,                                                          none>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17 bounded: the other side reads nothing", Finishing, LingerExpired,       Closed,    GiveUp,                                                         none>,
  On<"VI-DG 3.3.5 after an error: closed() answers",                        Finishing, DisconnectRequested, none,      none,                                                           none>,
  On<"VI-ARCH 5.4 several errors, one transition",                          Finishing, ConnectionFailed,    none,      CountStale,                                                     none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 2.2.2.2.2, ruling V-17 reads to the end, closes",              Draining,  EndReceived,         Closed,    Close,                                                          none>,
  On<"VI-TCP 2.2.2.2.2",                                                    Draining,  StreamBroken,        Closed,    Close,                                                          none>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17 bounded: the other side never ends",    Draining,  LingerExpired,       Closed,    Do<DropStream, TellClosed>,                                     none>,
  On<"VI-DG 3.3.5 after an error: closed() answers",                        Draining,  DisconnectRequested, none,      none,                                                           none>,
  On<"VI-ARCH 5.4 several errors, one transition",                          Draining,  ConnectionFailed,    none,      CountStale,                                                     none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-TCP 2.2.2.2.2, ruling V-17 no reset overtakes what was sent",      Answering, OutputFinished,      Closed,    Close,                                                          none>,
  On<"VI-TCP 2.2.2.2.2",                                                    Answering, StreamBroken,        Closed,    Close,                                                          none>,
  On<"VI-TCP 2.2.2.2.2, ruling V-17 bounded: the other side reads nothing", Answering, LingerExpired,       Closed,    GiveUp,                                                         none>,
  On<"VI-DG 3.3.5 after the loss: closed() answers",                        Answering, DisconnectRequested, none,      none,                                                           none>,
  On<"VI-ARCH 5.4 several errors, one transition",                          Answering, ConnectionFailed,    none,      CountStale,                                                     none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-DG 3.3.5 nobody is left to be told",                               Closed,    DisconnectRequested, none,      TellClosed,                                                     none>,
  On<"VI-ARCH 5.4 several errors, one transition",                          Closed,    ConnectionFailed,    none,      CountStale,                                                     none>,
  On<"impl: was posted before the stream broke",                            Closed,    OutputFinished,      none,      CountStale,                                                     none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::vitcp_closing
