// Whether a port is still there and still the same after a state change notification (FC-VI 7.7.1, 7.7.5): the Name
// Server tells who has its address, then the port itself answers ADISC with the names of its login (7.7.3).
//
// One object per port that is being checked, until it is Valid or Gone; the owner acts on which.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::port_validation {

// --- events
struct Begun {};
enum class Named : std::uint8_t { Same, Other, Nobody };
struct NameAnswered {         // the Name Server's answer to GPN_ID
  Named named = Named::Same;  // the Port_Name of the login has the address; another one; none, or it does not say
};
struct AddressAnswered {  // the port's answer to ADISC
  bool same = false;      // LS_ACC with the three addresses of the login
};
struct AnswerOverdue {};  // of the question that was asked last
struct RequestFailed {};  // its Exchange ended otherwise
struct NoExchange {};     // none was free for it

// --- effects
class Context : public fsm::Context {
 public:
  virtual void begin_question() = 0;   // 2 x R_A_TOV from now for all tries of what is asked next
  virtual void ask_name_server() = 0;  // GPN_ID; counts one try
  virtual void ask_port() = 0;         // ADISC; the same
  // It is logged in, and the time for its answer is not over.
  [[nodiscard]] virtual bool may_ask_name_server() const = 0;
  [[nodiscard]] virtual bool time_left() const = 0;  // of the question
  // The login with the port is under way: it is enough that a port is there.
  [[nodiscard]] virtual bool awaits_login() const = 0;
  // Our own link was away when the check began, so that the login asks the port by ADISC itself. Who was away with us
  // and is not back yet is not gone (7.7.5).
  [[nodiscard]] virtual bool login_asks() const = 0;
};

// --- states
struct Unasked : fsm::State {};
struct AskingNameServer : fsm::State {};
struct AskingPort : fsm::State {};
struct Valid : fsm::State {};  // nothing speaks against it
struct Gone : fsm::State {};   // not there, or no longer the one that logged in

// --- actions and guards
FSM_ACTION(BeginQuestion, context.begin_question());
FSM_ACTION(AskNameServer, context.ask_name_server());
FSM_ACTION(AskPort, context.ask_port());
FSM_GUARD(MayAskNameServer, context.may_ask_name_server());
FSM_GUARD(TimeLeft, context.time_left());
FSM_GUARD(AwaitsLogin, context.awaits_login());
FSM_GUARD(LoginAsks, context.login_asks());
FSM_GUARD(LoginStands, !context.awaits_login() && !context.login_asks());
FSM_GUARD(NameIsSame, event.named == Named::Same);
FSM_GUARD(NameIsOther, event.named == Named::Other);
FSM_GUARD(SomebodyIsThere, event.named != Named::Nobody);
FSM_GUARD(Same, event.same);
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;

struct Def {
  static constexpr std::string_view name = "port_validation";
  using Context = port_validation::Context;
  using initial_state = Unasked;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                               source            event            target            action                            guard
  On<"FC-VI 7.7.5: the Name Server knows who is there",   Unasked,          Begun,           AskingNameServer, Do<BeginQuestion, AskNameServer>, MayAskNameServer>,
  On<"FC-VI 7.7.3: without one the port itself tells",    Unasked,          Begun,           AskingPort,       Do<BeginQuestion, AskPort>,       All<Not<MayAskNameServer>, LoginStands>>,
  On<"impl: the login asks it",                           Unasked,          Begun,           Valid,            none,                             All<Not<MayAskNameServer>, Not<LoginStands>>>,
  // --------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 7.7.1, 7.7.3: its own login may have ended",  AskingNameServer, NameAnswered,    AskingPort,       Do<BeginQuestion, AskPort>,       All<LoginStands, NameIsSame>>,
  On<"FC-VI 7.7.5: gone, or another port has its place",  AskingNameServer, NameAnswered,    Gone,             none,                             All<LoginStands, Not<NameIsSame>>>,
  On<"impl: its login tells who it is",                   AskingNameServer, NameAnswered,    Valid,            none,                             All<AwaitsLogin, SomebodyIsThere>>,
  On<"FC-VI 7.7.5: nobody will answer",                   AskingNameServer, NameAnswered,    Gone,             none,                             All<AwaitsLogin, Not<SomebodyIsThere>>>,
  On<"FC-VI 7.7.5: it may come back, and answers then",   AskingNameServer, NameAnswered,    Valid,            none,                             All<Not<AwaitsLogin>, LoginAsks, Not<NameIsOther>>>,
  On<"FC-VI 7.7.5: another port has its place",           AskingNameServer, NameAnswered,    Gone,             none,                             All<Not<AwaitsLogin>, LoginAsks, NameIsOther>>,
  On<"impl: class 3 may lose it",                         AskingNameServer, AnswerOverdue,   AskingNameServer, AskNameServer,                    MayAskNameServer>,
  On<"FC-VI 7.7.3: its silence says nothing of the port", AskingNameServer, AnswerOverdue,   AskingPort,       Do<BeginQuestion, AskPort>,       All<Not<MayAskNameServer>, LoginStands>>,
  On<"impl: the login asks it",                           AskingNameServer, AnswerOverdue,   Valid,            none,                             All<Not<MayAskNameServer>, Not<LoginStands>>>,
  On<"FC-VI 7.7.3: without one the port itself tells",    AskingNameServer, RequestFailed,   AskingPort,       Do<BeginQuestion, AskPort>,       LoginStands>,
  On<"impl: the login asks it",                           AskingNameServer, RequestFailed,   Valid,            none,                             Not<LoginStands>>,
  On<"impl: nothing is known",                            AskingNameServer, NoExchange,      Valid,            none,                             none>,
  // --------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 7.7.3: the three addresses are as before",    AskingPort,       AddressAnswered, Valid,            none,                             Same>,
  On<"FC-VI 7.7.3: they are not, or it rejects",          AskingPort,       AddressAnswered, Gone,             none,                             Not<Same>>,
  On<"impl: class 3 may lose it",                         AskingPort,       AnswerOverdue,   AskingPort,       AskPort,                          TimeLeft>,
  On<"FC-VI 7.7.1: a port that is silent is not there",   AskingPort,       AnswerOverdue,   Gone,             none,                             Not<TimeLeft>>,
  On<"FC-VI 7.7.1: it does not know our login",           AskingPort,       RequestFailed,   Gone,             none,                             none>,
  On<"impl: nothing is known",                            AskingPort,       NoExchange,      Valid,            none,                             none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::port_validation
