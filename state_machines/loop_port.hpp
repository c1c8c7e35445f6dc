// A port of an arbitrated loop while the loop is initialized (FC-AL): the port with the lowest name becomes loop
// master; its LIFA, LIPA, LIHA and LISA go round, and each port claims an AL_PA in the first of them that it can.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::loop_port {

// --- events
struct LipReceived {
  bool again = false;  // the one that we saw, come round
};
enum class Name : std::uint8_t { Lower, Own, Higher };
struct LismReceived {
  Name name = Name::Higher;
};                        // the name in it, compared with ours
struct ClaimReceived {};  // LIFA, LIPA, LIHA or LISA; the master's own come back
struct ClsReceived {};    // the master ends the initialization; its own comes back

// --- effects
class Context : public fsm::Context {
 public:
  virtual void forward() = 0;     // the received signal, to the next port
  virtual void send_lism() = 0;   // with our name
  virtual void send_claim() = 0;  // the next of LIFA, LIPA, LIHA, LISA, with all that was claimed, and our own claim
  virtual void claim() = 0;       // in the received signal, unless we have an AL_PA
  virtual void send_cls() = 0;
  virtual void forget_claim() = 0;
  virtual void report_interrupted() = 0;    // FC-VI 7.7.3, 7.7.4
  virtual void report_participating() = 0;  // with an AL_PA
  [[nodiscard]] virtual bool claims_left() const = 0;
  [[nodiscard]] virtual bool has_al_pa() const = 0;
};

// --- states
struct NonParticipating : fsm::State {};  // no AL_PA: not initialized yet, or all 126 are taken
struct SelectingMaster : fsm::State {};
struct Master : fsm::State {};
struct Claiming : fsm::State {};
struct Monitoring : fsm::State {};  // participating

// --- actions and guards
FSM_ACTION(Interrupt, context.report_interrupted());
FSM_ACTION(BeginSelection, context.forget_claim(); context.forward(); context.send_lism());
FSM_ACTION(Forward, context.forward());
FSM_ACTION(SendClaim, context.send_claim());
FSM_ACTION(Claim, context.claim());
FSM_ACTION(SendCls, context.send_cls());
FSM_ACTION(Participate, context.report_participating());
FSM_GUARD(Again, event.again);
FSM_GUARD(Lower, event.name == Name::Lower);
FSM_GUARD(Own, event.name == Name::Own);
FSM_GUARD(Higher, event.name == Name::Higher);
FSM_GUARD(ClaimsLeft, context.claims_left());
FSM_GUARD(HasAlPa, context.has_al_pa());
using fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;

struct Def {
  static constexpr std::string_view name = "loop_port";
  using Context = loop_port::Context;
  using initial_state = NonParticipating;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                           source            event          target            action                         guard
  On<"FC-AL: LIP starts the initialization",          NonParticipating, LipReceived,   SelectingMaster,  BeginSelection,                Not<Again>>,
  On<"FC-AL: LIP came round",                         NonParticipating, LipReceived,   none,             none,                          Again>,
  // ---------------------------------------------------------------------------------------------------------------------------------
  On<"FC-AL: another LIP",                            SelectingMaster,  LipReceived,   none,             BeginSelection,                Not<Again>>,
  On<"FC-AL: LIP came round",                         SelectingMaster,  LipReceived,   none,             none,                          Again>,
  On<"FC-AL LISM: a lower name goes on",              SelectingMaster,  LismReceived,  none,             Forward,                       Lower>,
  On<"FC-AL LISM: ours is lower",                     SelectingMaster,  LismReceived,  none,             none,                          Higher>,
  On<"FC-AL LISM: the lowest name came round: LIFA",  SelectingMaster,  LismReceived,  Master,           SendClaim,                     Own>,
  On<"FC-AL LIFA",                                    SelectingMaster,  ClaimReceived, Claiming,         Do<Claim, Forward>,            none>,
  // ---------------------------------------------------------------------------------------------------------------------------------
  On<"FC-AL: another LIP",                            Master,           LipReceived,   SelectingMaster,  BeginSelection,                Not<Again>>,
  On<"FC-AL: LIP came round",                         Master,           LipReceived,   none,             none,                          Again>,
  On<"FC-AL: it is decided",                          Master,           LismReceived,  none,             none,                          none>,
  On<"FC-AL LIPA, LIHA, LISA",                        Master,           ClaimReceived, none,             SendClaim,                     ClaimsLeft>,
  On<"FC-AL CLS: all have claimed",                   Master,           ClaimReceived, none,             SendCls,                       Not<ClaimsLeft>>,
  On<"FC-AL monitoring",                              Master,           ClsReceived,   Monitoring,       Participate,                   HasAlPa>,
  On<"FC-AL: no AL_PA was left",                      Master,           ClsReceived,   NonParticipating, none,                          Not<HasAlPa>>,
  // ---------------------------------------------------------------------------------------------------------------------------------
  On<"FC-AL: another LIP",                            Claiming,         LipReceived,   SelectingMaster,  BeginSelection,                Not<Again>>,
  On<"FC-AL: LIP came round",                         Claiming,         LipReceived,   none,             none,                          Again>,
  On<"FC-AL: it is decided",                          Claiming,         LismReceived,  none,             none,                          none>,
  On<"FC-AL LIPA, LIHA, LISA",                        Claiming,         ClaimReceived, none,             Do<Claim, Forward>,            none>,
  On<"FC-AL CLS: monitoring",                         Claiming,         ClsReceived,   Monitoring,       Do<Forward, Participate>,      HasAlPa>,
  On<"FC-AL CLS: no AL_PA was left",                  Claiming,         ClsReceived,   NonParticipating, Forward,                       Not<HasAlPa>>,
  // ---------------------------------------------------------------------------------------------------------------------------------
  On<"FC-AL: LIP; FC-VI 7.7.3, 7.7.4",                Monitoring,       LipReceived,   SelectingMaster,  Do<Interrupt, BeginSelection>, Not<Again>>,
  On<"FC-AL: LIP came round",                         Monitoring,       LipReceived,   none,             none,                          Again>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::loop_port
