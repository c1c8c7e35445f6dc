// A VN2VN node claims an N_Port_ID on an Ethernet without fabric (FC-BB-6 FIP; timed as Linux does). It gets the events
// of the N_Port_ID that it probes, claims or owns; its owner handles neighbours with other addresses.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::fip_vn2vn {

// --- events
struct LinkUp {};  // the Ethernet's carrier. Alternates with LinkDown
struct LinkDown {};
struct Timeout {};  // of the timer that the state started
// Another node probes for our N_Port_ID; `ours_wins`: our Port_Name is the higher one.
struct ProbeHeard {
  bool ours_wins = false;
};
struct ProbeAnswered {};  // Probe Reply: another node has it
struct ClaimHeard {
  bool ours_wins = false;
};  // Claim Notification or Beacon with our N_Port_ID

// --- effects
class Context : public fsm::Context {
 public:
  virtual void choose_first_id() = 0;    // the configured one, or the latest that was ours
  virtual void choose_another_id() = 0;  // counts a collision
  virtual void send_probe() = 0;         // Probe Request, to All-VN2VN
  virtual void send_probe_reply() = 0;   // to the node that probed
  virtual void send_claim() = 0;         // Claim Notification, to All-VN2VN
  virtual void send_beacon() = 0;
  virtual void start_probe_timer() = 0;   // one timer: 100 ms
  virtual void start_claim_timer() = 0;   // 400 ms
  virtual void start_beacon_timer() = 0;  // 8 s and a little
  virtual void start_rest_timer() = 0;    // 10 s
  virtual void stop_timer() = 0;
  virtual void take_link_up() = 0;  // the N_Port is online with this address
  virtual void take_link_down() = 0;
  virtual void interrupt_link() = 0;  // down, but the address may prove to be the same again (FC-VI 7.7.5)
  // Another choice would exceed the limit of collisions in the last 10 s.
  [[nodiscard]] virtual bool too_many_collisions() const = 0;
};

// --- states
struct Offline : fsm::State {};
struct FirstProbe : fsm::State {};
struct SecondProbe : fsm::State {};
struct Claiming : fsm::State {};  // claimed; objections may come
struct Claimed : fsm::State {};   // ours; beacons go out
struct Resting : fsm::State {};   // too many collisions

// --- actions and guards
FSM_ACTION(ChooseFirst, context.choose_first_id());
FSM_ACTION(ChooseAnother, context.choose_another_id());
FSM_ACTION(Probe, context.send_probe());
FSM_ACTION(ReplyToProbe, context.send_probe_reply());
FSM_ACTION(Claim, context.send_claim());
FSM_ACTION(Beacon, context.send_beacon(); context.start_beacon_timer());
FSM_ACTION(AwaitSecondProbe, context.start_probe_timer());
FSM_ACTION(AwaitObjections, context.start_claim_timer());
FSM_ACTION(Rest, context.start_rest_timer());
FSM_ACTION(StopTimer, context.stop_timer());
FSM_ACTION(TakeLinkUp, context.take_link_up());
FSM_ACTION(TakeLinkDown, context.take_link_down());
FSM_ACTION(InterruptLink, context.interrupt_link());
FSM_GUARD(OursWins, event.ours_wins);
FSM_GUARD(TooManyCollisions, context.too_many_collisions());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On;
using Restart = Do<StopTimer, ChooseAnother, Probe, AwaitSecondProbe>;
using GiveUp = Do<StopTimer, Rest>;
using Yields = All<Not<OursWins>, Not<TooManyCollisions>>;
using Exhausted = All<Not<OursWins>, TooManyCollisions>;

struct Def {
  static constexpr std::string_view name = "fip_vn2vn";
  using Context = fip_vn2vn::Context;
  using initial_state = Offline;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                              source       event          target       action                                     guard
  On<"FC-BB-6 VN2VN: two probes",                         Offline,     LinkUp,        FirstProbe,  Do<ChooseFirst, Probe, AwaitSecondProbe>,  none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-BB-6 VN2VN: two probes",                         FirstProbe,  Timeout,       SecondProbe, Do<Probe, AwaitObjections>,                none>,
  On<"FC-BB-6 VN2VN: both probe, the higher name wins",   FirstProbe,  ProbeHeard,    none,        ReplyToProbe,                              OursWins>,
  On<"FC-BB-6 VN2VN: both probe, the higher name wins",   FirstProbe,  ProbeHeard,    FirstProbe,  Restart,                                   Yields>,
  On<"impl: as Linux, ten in ten seconds",                FirstProbe,  ProbeHeard,    Resting,     GiveUp,                                    Exhausted>,
  On<"FC-BB-6 VN2VN: Probe Reply",                        FirstProbe,  ProbeAnswered, FirstProbe,  Restart,                                   Not<TooManyCollisions>>,
  On<"impl: as Linux, ten in ten seconds",                FirstProbe,  ProbeAnswered, Resting,     GiveUp,                                    TooManyCollisions>,
  On<"FC-BB-6 VN2VN: claimed by another",                 FirstProbe,  ClaimHeard,    FirstProbe,  Restart,                                   Not<TooManyCollisions>>,
  On<"impl: as Linux, ten in ten seconds",                FirstProbe,  ClaimHeard,    Resting,     GiveUp,                                    TooManyCollisions>,
  On<"impl: no Ethernet",                                 FirstProbe,  LinkDown,      Offline,     StopTimer,                                 none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-BB-6 VN2VN: nobody objects, claim",              SecondProbe, Timeout,       Claiming,    Do<Claim, AwaitObjections>,                none>,
  On<"FC-BB-6 VN2VN: both probe, the higher name wins",   SecondProbe, ProbeHeard,    none,        ReplyToProbe,                              OursWins>,
  On<"FC-BB-6 VN2VN: both probe, the higher name wins",   SecondProbe, ProbeHeard,    FirstProbe,  Restart,                                   Yields>,
  On<"impl: as Linux, ten in ten seconds",                SecondProbe, ProbeHeard,    Resting,     GiveUp,                                    Exhausted>,
  On<"FC-BB-6 VN2VN: Probe Reply",                        SecondProbe, ProbeAnswered, FirstProbe,  Restart,                                   Not<TooManyCollisions>>,
  On<"impl: as Linux, ten in ten seconds",                SecondProbe, ProbeAnswered, Resting,     GiveUp,                                    TooManyCollisions>,
  On<"FC-BB-6 VN2VN: claimed by another",                 SecondProbe, ClaimHeard,    FirstProbe,  Restart,                                   Not<TooManyCollisions>>,
  On<"impl: as Linux, ten in ten seconds",                SecondProbe, ClaimHeard,    Resting,     GiveUp,                                    TooManyCollisions>,
  On<"impl: no Ethernet",                                 SecondProbe, LinkDown,      Offline,     StopTimer,                                 none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-BB-6 VN2VN: nobody objects, it is ours",         Claiming,    Timeout,       Claimed,     Do<TakeLinkUp, Beacon>,                    none>,
  On<"FC-BB-6 VN2VN: Probe Reply by who claimed",         Claiming,    ProbeHeard,    none,        ReplyToProbe,                              none>,
  On<"FC-BB-6 VN2VN: Probe Reply",                        Claiming,    ProbeAnswered, FirstProbe,  Restart,                                   Not<TooManyCollisions>>,
  On<"impl: as Linux, ten in ten seconds",                Claiming,    ProbeAnswered, Resting,     GiveUp,                                    TooManyCollisions>,
  On<"FC-BB-6 VN2VN: both claim, the higher name wins",   Claiming,    ClaimHeard,    none,        Claim,                                     OursWins>,
  On<"FC-BB-6 VN2VN: both claim, the higher name wins",   Claiming,    ClaimHeard,    FirstProbe,  Restart,                                   Yields>,
  On<"impl: as Linux, ten in ten seconds",                Claiming,    ClaimHeard,    Resting,     GiveUp,                                    Exhausted>,
  On<"impl: no Ethernet",                                 Claiming,    LinkDown,      Offline,     StopTimer,                                 none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-BB-6 VN2VN: beacons",                            Claimed,     Timeout,       Claimed,     Beacon,                                    none>,
  On<"FC-BB-6 VN2VN: Probe Reply by who claimed",         Claimed,     ProbeHeard,    none,        ReplyToProbe,                              none>,
  On<"FC-BB-6 VN2VN: names decide between two owners",    Claimed,     ProbeAnswered, none,        Claim,                                     none>,
  On<"FC-BB-6 VN2VN: both claim, the higher name wins",   Claimed,     ClaimHeard,    none,        Claim,                                     OursWins>,
  On<"FC-BB-6 VN2VN: both claim, the higher name wins",   Claimed,     ClaimHeard,    FirstProbe,  Do<TakeLinkDown, Restart>,                 Yields>,
  On<"impl: as Linux, ten in ten seconds",                Claimed,     ClaimHeard,    Resting,     Do<TakeLinkDown, GiveUp>,                  Exhausted>,
  On<"FC-VI 7.7.5: as NOS",                               Claimed,     LinkDown,      Offline,     Do<StopTimer, InterruptLink>,              none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: as Linux, again after ten seconds",           Resting,     Timeout,       FirstProbe,  Do<ChooseAnother, Probe, AwaitSecondProbe>, none>,
  On<"impl: no claim of ours",                            Resting,     ProbeHeard,    none,        none,                                      none>,
  On<"impl: no claim of ours",                            Resting,     ProbeAnswered, none,        none,                                      none>,
  On<"impl: no claim of ours",                            Resting,     ClaimHeard,    none,        none,                                      none>,
  On<"impl: no Ethernet",                                 Resting,     LinkDown,      Offline,     StopTimer,                                 none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::fip_vn2vn
