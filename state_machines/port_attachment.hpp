// How an N_Port is attached to its link: whether it has an N_Port_ID, from whom, and what becomes of it and of all
// logins when the link goes and comes back (FC-VI 7.7.1 to 7.7.5; FC-LS FLOGI, FAN).
//
// One object per N_Port. An interruption (NOS, OLS, LIP) keeps the logins for R_A_TOV, until the addresses have proved
// to be the same or not; the login with each port, and with the fabric, is a machine of its own (port_login). What the
// effects ask for happens when the machine has come to rest: the parts of the port call back.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::port_attachment {

// --- events
struct LinkUp {};             // frames pass; whoever is there answers FLOGI
struct LinkUpWithoutFabric {  // the address is known otherwise: AL_PA of a private loop, VN_Port_ID of VN2VN
  bool same_address = false;  // as before the interruption
};
struct LinkUpOnPublicLoop {
  bool may_be_confirmed = false;  // the AL_PA is as before, and the fabric may still know our login (no L_bit)
};
struct LinkInterrupted {};  // NOS, OLS, LIP; not LR (7.7.1)
struct LinkDown {};         // for good
struct FabricAccepted {     // LS_ACC of an F_Port to FLOGI
  bool same = false;        // N_Port_ID and both names are as before (7.7.5)
};
enum class Name : std::uint8_t { Higher, Lower, Equal };
struct NPortAccepted {       // LS_ACC of an N_Port to FLOGI: there is no fabric (7.7.2)
  Name ours = Name::Higher;  // compared with the other's
};
struct FabricLoginLost {};  // FLOGI was rejected, or never answered
struct FabricLoggedOut {};  // the login with the fabric ended
struct FlogiReceived {};    // another N_Port's, and was accepted
struct AddressAssigned {};  // another N_Port's PLOGI, while no address is ours
struct FanReceived {
  bool same = false;  // both names are as before (7.7.4)
};
struct FanOverdue {};        // E_D_TOV
struct AddressOverdue {};    // 2 x R_A_TOV after an N_Port answered FLOGI, without its PLOGI
struct InterruptionOver {};  // R_A_TOV

// --- effects
class Context : public fsm::Context {
 public:
  virtual void log_in_to_fabric() = 0;    // FLOGI, whatever was before
  virtual void leave_fabric() = 0;        // there is none: it is not asked for any more, our own parameters count
  virtual void use_own_parameters() = 0;  // time-outs, order and classes, which a fabric would tell
  virtual void use_fixed_address() = 0;   // online
  // Online with the address that came with the event. Logins that an interruption suspended: go on ...
  virtual void go_online_same() = 0;
  virtual void go_online_asking() = 0;   // ... when ADISC has validated each
  virtual void go_online_changed() = 0;  // ... not: all mappings are invalid, LOGO to each port
  virtual void log_in_to_other() = 0;    // PLOGI, which assigns the other N_Port's address
  virtual void renew_other() = 0;        // implicit logout of the other N_Port; PLOGI, if that is ours to send
  virtual void go_offline() = 0;         // every login ends, if the port was online
  virtual void suspend() = 0;            // no FC-VI IU may go, frames wait; R_A_TOV from now
  virtual void end_interruption() = 0;   // every suspended login ends
  virtual void drop_link() = 0;          // nothing can be sent any more
  virtual void forget_topology() = 0;
  virtual void confirm_fabric_login() = 0;  // FAN did
  virtual void start_fan_timer() = 0;       // E_D_TOV
  virtual void stop_fan_timer() = 0;
  virtual void start_address_timer() = 0;  // 2 x R_A_TOV, from now
  virtual void stop_address_timer() = 0;
  virtual void report_login_failed() = 0;
  [[nodiscard]] virtual bool has_fixed_address() const = 0;
  // Who lost its link with ours may come back later than we do: a FCF went silent, for instance.
  [[nodiscard]] virtual bool others_may_have_moved() const = 0;
};

// --- states
struct Offline : fsm::State {};          // no link, nothing to keep
struct LoggingIn : fsm::State {};        // a link, no address: FLOGI is out, or comes again, or the user logged out
struct AwaitingAddress : fsm::State {};  // ... and there is another N_Port: its PLOGI, too, would tell it
struct PointToPoint : fsm::State {};     // online without a fabric, an N_Port at the far end (7.7.2)
struct WithoutFabric : fsm::State {};    // online on a private loop (7.7.3), or in a VN2VN network
struct Attached : fsm::State {};         // online with a fabric, on a link of its own (7.7.5) or a public loop (7.7.4)
struct Fixed : fsm::State {};            // online: a fabric's own port, with a well-known address
// The logins are suspended:
struct Interrupted : fsm::State {};         // no link
struct AwaitingFan : fsm::State {};         // a public loop, our AL_PA is the same
struct LoggingInAgain : fsm::State {};      // FLOGI tells whether all is as before
struct LoggingInAnew : fsm::State {};       // FLOGI, and something has changed already
struct AwaitingNewAddress : fsm::State {};  // there is another N_Port now, whose PLOGI would tell it

// --- actions and guards
FSM_ACTION(LogIn, context.log_in_to_fabric());
FSM_ACTION(LeaveFabric, context.leave_fabric());
FSM_ACTION(UseOwnParameters, context.use_own_parameters());
FSM_ACTION(UseFixedAddress, context.use_fixed_address());
FSM_ACTION(GoOnlineSame, context.go_online_same());
FSM_ACTION(GoOnlineAsking, context.go_online_asking());
FSM_ACTION(GoOnlineChanged, context.go_online_changed());
FSM_ACTION(LogInToOther, context.log_in_to_other());
FSM_ACTION(RenewOther, context.renew_other());
FSM_ACTION(GoOffline, context.go_offline());
FSM_ACTION(Suspend, context.suspend());
FSM_ACTION(EndInterruption, context.end_interruption());
FSM_ACTION(DropLink, context.drop_link());
FSM_ACTION(ForgetTopology, context.forget_topology());
FSM_ACTION(ConfirmFabricLogin, context.confirm_fabric_login());
FSM_ACTION(StartFanTimer, context.start_fan_timer());
FSM_ACTION(StopFanTimer, context.stop_fan_timer());
FSM_ACTION(StartAddressTimer, context.start_address_timer());
FSM_ACTION(StopAddressTimer, context.stop_address_timer());
FSM_ACTION(ReportLoginFailed, context.report_login_failed());
FSM_GUARD(Same, event.same);
FSM_GUARD(SameAddress, event.same_address);
FSM_GUARD(MayBeConfirmed, event.may_be_confirmed);
FSM_GUARD(OursIsHigher, event.ours == Name::Higher);
FSM_GUARD(OursIsLower, event.ours == Name::Lower);
FSM_GUARD(OursIsEqual, event.ours == Name::Equal);
FSM_GUARD(HasFixedAddress, context.has_fixed_address());
FSM_GUARD(OthersMayHaveMoved, context.others_may_have_moved());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;

struct Def {
  static constexpr std::string_view name = "port_attachment";
  using Context = port_attachment::Context;
  using initial_state = Offline;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                                         source              event                target              action                                                               guard
  On<"FC-FS: a well-known address needs no login",                  Offline,            LinkUp,              Fixed,              UseFixedAddress,                                                     HasFixedAddress>,
  On<"FC-VI 7.7.5, FC-LS FLOGI",                                    Offline,            LinkUp,              LoggingIn,          LogIn,                                                               Not<HasFixedAddress>>,
  On<"FC-VI 7.7.3: a loop, or VN2VN",                               Offline,            LinkUpWithoutFabric, WithoutFabric,      Do<UseOwnParameters, GoOnlineChanged>,                               none>,
  On<"FC-VI 7.7.4, FC-LS FLOGI",                                    Offline,            LinkUpOnPublicLoop,  LoggingIn,          LogIn,                                                               none>,
  On<"impl: there is none",                                         Offline,            LinkInterrupted,     none,               none,                                                                none>,
  On<"impl: there is none",                                         Offline,            LinkDown,            none,               none,                                                                none>,
  On<"impl: late, of no link",                                      Offline,            FlogiReceived,       none,               none,                                                                none>,
  On<"impl: it ended with the link",                                Offline,            FabricLoginLost,     none,               none,                                                                none>,
  On<"impl: it ended with the link",                                Offline,            FabricLoggedOut,     none,               none,                                                                none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-LS FLOGI accepted by an F_Port",                           LoggingIn,          FabricAccepted,      Attached,           GoOnlineChanged,                                                     none>,
  On<"FC-LS: the higher name assigns both addresses",               LoggingIn,          NPortAccepted,       PointToPoint,       Do<LeaveFabric, GoOnlineChanged, LogInToOther>,                      OursIsHigher>,
  On<"FC-LS: the other's PLOGI assigns ours",                       LoggingIn,          NPortAccepted,       AwaitingAddress,    Do<LeaveFabric, StartAddressTimer>,                                  OursIsLower>,
  On<"impl: our own name: a loopback plug, or a mistake",           LoggingIn,          NPortAccepted,       AwaitingAddress,    Do<LeaveFabric, ReportLoginFailed>,                                  OursIsEqual>,
  On<"FC-LS: another N_Port's; there is no fabric",                 LoggingIn,          FlogiReceived,       AwaitingAddress,    none,                                                                none>,
  On<"impl: asked again",                                           LoggingIn,          FabricLoginLost,     none,               none,                                                                none>,
  On<"impl: the former login, before FLOGI",                        LoggingIn,          FabricLoggedOut,     none,               none,                                                                none>,
  On<"FC-VI 7.7.2: nothing is to be kept",                          LoggingIn,          LinkInterrupted,     Offline,            Do<DropLink, GoOffline, ForgetTopology>,                             none>,
  On<"FC-VI 7.7.1",                                                 LoggingIn,          LinkDown,            Offline,            Do<DropLink, GoOffline, ForgetTopology>,                             none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: there is a fabric after all",                           AwaitingAddress,    FabricAccepted,      Attached,           GoOnlineChanged,                                                     none>,
  On<"FC-LS: the higher name assigns both addresses",               AwaitingAddress,    NPortAccepted,       PointToPoint,       Do<LeaveFabric, GoOnlineChanged, LogInToOther>,                      OursIsHigher>,
  On<"FC-LS: the other's PLOGI assigns ours",                       AwaitingAddress,    NPortAccepted,       AwaitingAddress,    Do<LeaveFabric, StartAddressTimer>,                                  OursIsLower>,
  On<"impl: our own name: a loopback plug, or a mistake",           AwaitingAddress,    NPortAccepted,       AwaitingAddress,    Do<LeaveFabric, ReportLoginFailed>,                                  OursIsEqual>,
  On<"FC-LS: known",                                                AwaitingAddress,    FlogiReceived,       none,               none,                                                                none>,
  On<"FC-LS: PLOGI tells the address",                              AwaitingAddress,    AddressAssigned,     PointToPoint,       Do<StopAddressTimer, LeaveFabric, GoOnlineChanged>,                  none>,
  On<"impl: no PLOGI came, FLOGI asks who is there",                AwaitingAddress,    AddressOverdue,      none,               Do<ForgetTopology, LogIn>,                                           none>,
  On<"impl: asked again",                                           AwaitingAddress,    FabricLoginLost,     none,               none,                                                                none>,
  On<"impl: the former login, before FLOGI",                        AwaitingAddress,    FabricLoggedOut,     none,               none,                                                                none>,
  On<"FC-VI 7.7.2: nothing is to be kept",                          AwaitingAddress,    LinkInterrupted,     Offline,            Do<StopAddressTimer, DropLink, GoOffline, ForgetTopology>,           none>,
  On<"FC-VI 7.7.1",                                                 AwaitingAddress,    LinkDown,            Offline,            Do<StopAddressTimer, DropLink, GoOffline, ForgetTopology>,           none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-LS: the other has forgotten its login",                    PointToPoint,       FlogiReceived,       none,               RenewOther,                                                          none>,
  On<"impl: FLOGI is not waited for any more",                      PointToPoint,       FabricLoginLost,     none,               none,                                                                none>,
  On<"impl: FLOGI was answered by an N_Port",                       PointToPoint,       FabricLoggedOut,     none,               none,                                                                none>,
  On<"FC-VI 7.7.2 implicit logout",                                 PointToPoint,       LinkInterrupted,     Offline,            Do<DropLink, GoOffline, ForgetTopology>,                             none>,
  On<"FC-VI 7.7.1",                                                 PointToPoint,       LinkDown,            Offline,            Do<DropLink, GoOffline, ForgetTopology>,                             none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-BB-6: FIP keeps the link",                                 WithoutFabric,      FlogiReceived,       none,               none,                                                                none>,
  On<"impl: of a loop that lost its FL_Port",                       WithoutFabric,      FabricLoggedOut,     none,               none,                                                                none>,
  On<"FC-VI 7.7.3 LIP",                                             WithoutFabric,      LinkInterrupted,     Interrupted,        Suspend,                                                             none>,
  On<"FC-VI 7.7.1",                                                 WithoutFabric,      LinkDown,            Offline,            Do<DropLink, GoOffline, ForgetTopology>,                             none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 7.7.1, FC-LS LOGO of the fabric",                       Attached,           FabricLoggedOut,     LoggingIn,          GoOffline,                                                           none>,
  On<"FC-VI 7.7.4 LIP, 7.7.5 NOS, OLS",                             Attached,           LinkInterrupted,     Interrupted,        Suspend,                                                             none>,
  On<"FC-VI 7.7.1",                                                 Attached,           LinkDown,            Offline,            Do<DropLink, GoOffline, ForgetTopology>,                             none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 7.7.1: a fabric's own port keeps nothing",              Fixed,              LinkInterrupted,     Offline,            Do<DropLink, GoOffline, ForgetTopology>,                             none>,
  On<"FC-VI 7.7.1",                                                 Fixed,              LinkDown,            Offline,            Do<DropLink, GoOffline, ForgetTopology>,                             none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 7.7.5: FLOGI, then compare",                            Interrupted,        LinkUp,              LoggingInAgain,     LogIn,                                                               none>,
  On<"FC-VI 7.7.3 validation by ADISC",                             Interrupted,        LinkUpWithoutFabric, WithoutFabric,      Do<UseOwnParameters, GoOnlineAsking>,                                SameAddress>,
  On<"FC-VI 7.7.3 our own address changed",                         Interrupted,        LinkUpWithoutFabric, WithoutFabric,      Do<UseOwnParameters, GoOnlineChanged>,                               Not<SameAddress>>,
  On<"FC-VI 7.7.4 wait for FAN",                                    Interrupted,        LinkUpOnPublicLoop,  AwaitingFan,        StartFanTimer,                                                       MayBeConfirmed>,
  On<"FC-VI 7.7.4 changed: FLOGI",                                  Interrupted,        LinkUpOnPublicLoop,  LoggingInAnew,      LogIn,                                                               Not<MayBeConfirmed>>,
  On<"impl: known",                                                 Interrupted,        LinkInterrupted,     none,               none,                                                                none>,
  On<"impl: nobody waits for it",                                   Interrupted,        LinkDown,            Offline,            EndInterruption,                                                     none>,
  On<"impl: late, of no link",                                      Interrupted,        FlogiReceived,       none,               none,                                                                none>,
  On<"impl: the link may come back once more",                      Interrupted,        FabricLoginLost,     none,               none,                                                                none>,
  On<"FC-VI 7.7.5: what the fabric knows ends at once",             Interrupted,        FabricLoggedOut,     none,               none,                                                                none>,
  On<"impl: R_A_TOV, no Exchange can go on",                        Interrupted,        InterruptionOver,    Offline,            EndInterruption,                                                     none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 7.7.4 the same: all Exchanges resume",                  AwaitingFan,        FanReceived,         Attached,           Do<StopFanTimer, ConfirmFabricLogin, GoOnlineSame>,                  Same>,
  On<"FC-VI 7.7.4 changed: FLOGI",                                  AwaitingFan,        FanReceived,         LoggingInAnew,      Do<StopFanTimer, LogIn>,                                             Not<Same>>,
  On<"FC-VI 7.7.4: no FAN within E_D_TOV",                          AwaitingFan,        FanOverdue,          LoggingInAnew,      LogIn,                                                               none>,
  On<"impl: a loop with a fabric",                                  AwaitingFan,        FlogiReceived,       none,               none,                                                                none>,
  On<"impl: FAN tells",                                             AwaitingFan,        FabricLoggedOut,     none,               none,                                                                none>,
  On<"impl: R_A_TOV, FAN would confirm an address that is no more", AwaitingFan,        InterruptionOver,    LoggingIn,          Do<EndInterruption, StopFanTimer, LogIn>,                            none>,
  On<"FC-VI 7.7.1: once more",                                      AwaitingFan,        LinkInterrupted,     Interrupted,        Do<StopFanTimer, DropLink>,                                          none>,
  On<"FC-VI 7.7.1",                                                 AwaitingFan,        LinkDown,            Offline,            Do<StopFanTimer, DropLink, EndInterruption, ForgetTopology>,         none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 7.7.5 the same: all Exchanges resume",                  LoggingInAgain,     FabricAccepted,      Attached,           GoOnlineSame,                                                        All<Same, Not<OthersMayHaveMoved>>>,
  On<"impl: others may have lost their links too",                  LoggingInAgain,     FabricAccepted,      Attached,           GoOnlineAsking,                                                      All<Same, OthersMayHaveMoved>>,
  On<"FC-VI 7.7.5 changed: mappings are invalid",                   LoggingInAgain,     FabricAccepted,      Attached,           GoOnlineChanged,                                                     Not<Same>>,
  On<"FC-LS: the higher name assigns both addresses",               LoggingInAgain,     NPortAccepted,       PointToPoint,       Do<LeaveFabric, GoOnlineChanged, LogInToOther>,                      OursIsHigher>,
  On<"FC-LS: the other's PLOGI assigns ours",                       LoggingInAgain,     NPortAccepted,       AwaitingNewAddress, Do<LeaveFabric, StartAddressTimer>,                                  OursIsLower>,
  On<"impl: our own name: a loopback plug, or a mistake",           LoggingInAgain,     NPortAccepted,       AwaitingNewAddress, Do<LeaveFabric, ReportLoginFailed>,                                  OursIsEqual>,
  On<"FC-LS: another N_Port's; there is no fabric",                 LoggingInAgain,     FlogiReceived,       AwaitingNewAddress, none,                                                                none>,
  On<"FC-VI 7.7.5: no fabric accepts us",                           LoggingInAgain,     FabricLoginLost,     LoggingIn,          EndInterruption,                                                     none>,
  On<"impl: the former login, before FLOGI",                        LoggingInAgain,     FabricLoggedOut,     none,               none,                                                                none>,
  On<"impl: R_A_TOV, no Exchange can go on",                        LoggingInAgain,     InterruptionOver,    LoggingIn,          EndInterruption,                                                     none>,
  On<"FC-VI 7.7.1: once more",                                      LoggingInAgain,     LinkInterrupted,     Interrupted,        DropLink,                                                            none>,
  On<"FC-VI 7.7.1",                                                 LoggingInAgain,     LinkDown,            Offline,            Do<DropLink, EndInterruption, ForgetTopology>,                       none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 7.7.4 changed: mappings are invalid",                   LoggingInAnew,      FabricAccepted,      Attached,           GoOnlineChanged,                                                     none>,
  On<"FC-LS: the higher name assigns both addresses",               LoggingInAnew,      NPortAccepted,       PointToPoint,       Do<LeaveFabric, GoOnlineChanged, LogInToOther>,                      OursIsHigher>,
  On<"FC-LS: the other's PLOGI assigns ours",                       LoggingInAnew,      NPortAccepted,       AwaitingNewAddress, Do<LeaveFabric, StartAddressTimer>,                                  OursIsLower>,
  On<"impl: our own name: a loopback plug, or a mistake",           LoggingInAnew,      NPortAccepted,       AwaitingNewAddress, Do<LeaveFabric, ReportLoginFailed>,                                  OursIsEqual>,
  On<"FC-LS: another N_Port's; there is no fabric",                 LoggingInAnew,      FlogiReceived,       AwaitingNewAddress, none,                                                                none>,
  On<"FC-VI 7.7.5: no fabric accepts us",                           LoggingInAnew,      FabricLoginLost,     LoggingIn,          EndInterruption,                                                     none>,
  On<"impl: the former login, before FLOGI",                        LoggingInAnew,      FabricLoggedOut,     none,               none,                                                                none>,
  On<"impl: R_A_TOV, no Exchange can go on",                        LoggingInAnew,      InterruptionOver,    LoggingIn,          EndInterruption,                                                     none>,
  On<"FC-VI 7.7.1: once more",                                      LoggingInAnew,      LinkInterrupted,     Interrupted,        DropLink,                                                            none>,
  On<"FC-VI 7.7.1",                                                 LoggingInAnew,      LinkDown,            Offline,            Do<DropLink, EndInterruption, ForgetTopology>,                       none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 7.7.5 the same, whoever sent a FLOGI",                  AwaitingNewAddress, FabricAccepted,      Attached,           GoOnlineSame,                                                        All<Same, Not<OthersMayHaveMoved>>>,
  On<"impl: others may have lost their links too",                  AwaitingNewAddress, FabricAccepted,      Attached,           GoOnlineAsking,                                                      All<Same, OthersMayHaveMoved>>,
  On<"FC-VI 7.7.5 changed: mappings are invalid",                   AwaitingNewAddress, FabricAccepted,      Attached,           GoOnlineChanged,                                                     Not<Same>>,
  On<"FC-LS: the higher name assigns both addresses",               AwaitingNewAddress, NPortAccepted,       PointToPoint,       Do<LeaveFabric, GoOnlineChanged, LogInToOther>,                      OursIsHigher>,
  On<"FC-LS: the other's PLOGI assigns ours",                       AwaitingNewAddress, NPortAccepted,       AwaitingNewAddress, Do<LeaveFabric, StartAddressTimer>,                                  OursIsLower>,
  On<"impl: our own name: a loopback plug, or a mistake",           AwaitingNewAddress, NPortAccepted,       AwaitingNewAddress, Do<LeaveFabric, ReportLoginFailed>,                                  OursIsEqual>,
  On<"FC-LS: known",                                                AwaitingNewAddress, FlogiReceived,       none,               none,                                                                none>,
  On<"FC-LS: PLOGI tells the address; FC-VI 7.7.2",                 AwaitingNewAddress, AddressAssigned,     PointToPoint,       Do<StopAddressTimer, LeaveFabric, EndInterruption, GoOnlineChanged>, none>,
  On<"impl: no PLOGI came, FLOGI asks who is there",                AwaitingNewAddress, AddressOverdue,      none,               Do<ForgetTopology, LogIn>,                                           none>,
  On<"FC-VI 7.7.5: no fabric accepts us",                           AwaitingNewAddress, FabricLoginLost,     AwaitingAddress,    EndInterruption,                                                     none>,
  On<"impl: the former login, before FLOGI",                        AwaitingNewAddress, FabricLoggedOut,     none,               none,                                                                none>,
  On<"impl: R_A_TOV, no Exchange can go on",                        AwaitingNewAddress, InterruptionOver,    AwaitingAddress,    EndInterruption,                                                     none>,
  On<"FC-VI 7.7.1: once more",                                      AwaitingNewAddress, LinkInterrupted,     Interrupted,        Do<StopAddressTimer, DropLink>,                                      none>,
  On<"FC-VI 7.7.1",                                                 AwaitingNewAddress, LinkDown,            Offline,            Do<StopAddressTimer, DropLink, EndInterruption, ForgetTopology>,     none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::port_attachment
