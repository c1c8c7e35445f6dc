// Maps a host address (IP) to its N_Port_IDs (FC-VI 7.4 to 7.7): by the Name Server, else by FARP.
//
// One object per IP address in the cache. The owner keeps the list of N_Port_IDs and of the listeners.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::address_resolution {

// --- events
struct ResolveRequested {};  // a Connection Setup needs the address
struct NameServerAccepted {
  std::uint32_t count = 0;  // N_Port_IDs in the GID_IPP accept
};
struct NameServerRejected {};  // CT reject of GID_IPP
struct NameServerTimeout {};   // no CT answer; the owner aborted that Exchange
struct FarpReplyReceived {};   // FARP-REPLY for this IP address
struct FarpTimeout {};         // no FARP-REPLY
struct Invalidated {};         // LIP, NOS/OLS, RSCN, logout: the mapping may be wrong (FC-VI 7.7)

// --- effects
class Context : public fsm::Context {
 public:
  virtual void query_name_server() = 0;  // GID_IPP (FC-VI 7.6); counts one try
  virtual void broadcast_farp() = 0;     // FARP-REQ, FC-VI 7.5 items 1 to 10; counts one try
  // CT time-out: 2 x R_A_TOV for the last try, less for earlier ones. Expires as NameServerTimeout; replaces
  // the other timer.
  virtual void start_query_timer() = 0;
  // The owner's choice, expires as FarpTimeout; replaces the other timer.
  virtual void start_farp_timer() = 0;
  virtual void stop_timer() = 0;        // either of the two
  virtual void reset_retries() = 0;     // a new way of asking begins
  virtual void store_addresses() = 0;   // the list of the GID_IPP accept (FC-VI 7.6)
  virtual void add_address() = 0;       // the Responding N_Port_ID of the FARP-REPLY
  virtual void forget_addresses() = 0;  // FC-VI 7.7.1: not valid any more
  virtual void forget_query() = 0;      // the answer to GID_IPP is no longer awaited: abort, never feed it
  virtual void report_resolved() = 0;   // to all listeners
  virtual void report_failed() = 0;     // to all listeners: VIP_NOT_REACHABLE
  virtual void count_stale() = 0;       // a reply that is not awaited
  [[nodiscard]] virtual bool name_server_available() const = 0;  // logged in with FFFFFCh
  [[nodiscard]] virtual bool retries_left() const = 0;           // for the current way of asking
};

// --- states
struct Unresolved : fsm::State {};
struct QueryingNameServer : fsm::State {};
struct AwaitFarpReply : fsm::State {};
struct Resolved : fsm::State {};
struct Failed : fsm::State {};

// --- actions and guards
FSM_ACTION(QueryNameServer, context.query_name_server(); context.start_query_timer());
FSM_ACTION(BroadcastFarp, context.broadcast_farp(); context.start_farp_timer());
FSM_ACTION(StopTimer, context.stop_timer());
FSM_ACTION(ResetRetries, context.reset_retries());
FSM_ACTION(StoreAddresses, context.store_addresses());
FSM_ACTION(AddAddress, context.add_address());
FSM_ACTION(ForgetAddresses, context.forget_addresses());
FSM_ACTION(ForgetQuery, context.forget_query());
FSM_ACTION(ReportResolved, context.report_resolved());
FSM_ACTION(ReportFailed, context.report_failed());
FSM_ACTION(CountStale, context.count_stale());
FSM_GUARD(HasAddresses, event.count != 0);
FSM_GUARD(NameServerAvailable, context.name_server_available());
FSM_GUARD(RetriesLeft, context.retries_left());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;

struct Def {
  static constexpr std::string_view name = "address_resolution";
  using Context = address_resolution::Context;
  using initial_state = Unresolved;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                            source              event               target              action                                          guard
  On<"FC-VI 7.4, 7.6 Name Server in lieu of FARP",      Unresolved,         ResolveRequested,   QueryingNameServer, Do<ResetRetries, QueryNameServer>,              NameServerAvailable>,
  On<"FC-VI 7.4, 7.5 FARP",                             Unresolved,         ResolveRequested,   AwaitFarpReply,     Do<ResetRetries, BroadcastFarp>,                Not<NameServerAvailable>>,
  On<"impl: an old reply may be invalid, FC-VI 7.7.1",  Unresolved,         FarpReplyReceived,  none,               CountStale,                                     none>,
  On<"FC-VI 7.7.1 nothing to invalidate",               Unresolved,         Invalidated,        none,               none,                                           none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: several users, one query",                  QueryingNameServer, ResolveRequested,   none,               none,                                           none>,
  On<"FC-VI 7.6",                                       QueryingNameServer, NameServerAccepted, Resolved,           Do<StopTimer, StoreAddresses, ReportResolved>,  HasAddresses>,
  On<"FC-VI 7.4 unknown there: all ports support FARP", QueryingNameServer, NameServerAccepted, AwaitFarpReply,     Do<ResetRetries, BroadcastFarp>,                Not<HasAddresses>>,
  On<"FC-VI 7.4 unknown there: all ports support FARP", QueryingNameServer, NameServerRejected, AwaitFarpReply,     Do<ResetRetries, BroadcastFarp>,                none>,
  On<"FC-GS: CT time-out, retry",                       QueryingNameServer, NameServerTimeout,  QueryingNameServer, QueryNameServer,                                RetriesLeft>,
  On<"FC-VI 7.4 no answer there: FARP",                 QueryingNameServer, NameServerTimeout,  AwaitFarpReply,     Do<ResetRetries, BroadcastFarp>,                Not<RetriesLeft>>,
  On<"impl: reply to an earlier broadcast",             QueryingNameServer, FarpReplyReceived,  none,               CountStale,                                     none>,
  On<"FC-VI 7.7.1 ask again",                           QueryingNameServer, Invalidated,        QueryingNameServer, Do<ForgetQuery, ResetRetries, QueryNameServer>, NameServerAvailable>,
  On<"FC-VI 7.7.1 ask again, without the Name Server",  QueryingNameServer, Invalidated,        AwaitFarpReply,     Do<ForgetQuery, ResetRetries, BroadcastFarp>,   Not<NameServerAvailable>>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: several users, one broadcast",              AwaitFarpReply,     ResolveRequested,   none,               none,                                           none>,
  On<"FC-VI 7.5 items 14 to 23",                        AwaitFarpReply,     FarpReplyReceived,  Resolved,           Do<StopTimer, AddAddress, ReportResolved>,      none>,
  On<"impl: a broadcast may be lost, retry",            AwaitFarpReply,     FarpTimeout,        AwaitFarpReply,     BroadcastFarp,                                  RetriesLeft>,
  On<"FC-VI 7.5 nobody has that address",               AwaitFarpReply,     FarpTimeout,        Failed,             ReportFailed,                                   Not<RetriesLeft>>,
  On<"FC-VI 7.7.1 ask again, with the Name Server",     AwaitFarpReply,     Invalidated,        QueryingNameServer, Do<ResetRetries, QueryNameServer>,              NameServerAvailable>,
  On<"FC-VI 7.7.1 ask again",                           AwaitFarpReply,     Invalidated,        AwaitFarpReply,     Do<ResetRetries, BroadcastFarp>,                Not<NameServerAvailable>>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 7.7.1 the mapping is valid",                Resolved,           ResolveRequested,   none,               ReportResolved,                                 none>,
  On<"FC-VI 7.6 several ports, one address",            Resolved,           FarpReplyReceived,  none,               AddAddress,                                     none>,
  On<"FC-VI 7.7.1",                                     Resolved,           Invalidated,        Unresolved,         ForgetAddresses,                                none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 7.4, 7.6 try again",                        Failed,             ResolveRequested,   QueryingNameServer, Do<ResetRetries, QueryNameServer>,              NameServerAvailable>,
  On<"FC-VI 7.4, 7.5 try again",                        Failed,             ResolveRequested,   AwaitFarpReply,     Do<ResetRetries, BroadcastFarp>,                Not<NameServerAvailable>>,
  On<"impl: late, but valid",                           Failed,             FarpReplyReceived,  Resolved,           AddAddress,                                     none>,
  On<"FC-VI 7.7.1",                                     Failed,             Invalidated,        Unresolved,         none,                                           none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::address_resolution
