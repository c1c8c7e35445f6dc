// What befalls ports, links between switches and switches, as fc2_fabric/link/faults.hpp has it for frames. A new kind
// is a function here, and a row in fault_loader.cpp.
#pragma once
#include <cstddef>

#include "runtime/time.hpp"

namespace fc2 {
class Link;
class LinkEnd;
}  // namespace fc2

namespace sim {

/// `end` is the port's.
using LinkFunction = void(fc2::Link& link, fc2::LinkEnd& end);

/// What events act on. Ports, links between switches and switches are positions in the scenario's lists; the loader saw
/// to it that the topology has what an event asks for.
class PortControl {
 public:
  /// Else another part of the run has the port: what is to happen to it, happens there.
  [[nodiscard]] virtual bool is_here(std::size_t port) const = 0;
  /// Nothing happens to a port that is so already. A port that comes back has its taps and faults as before.
  virtual void set_plugged(std::size_t port, bool plugged) = 0;
  /// Nothing happens where the port is not plugged in: this and the following two.
  virtual void at_link(std::size_t port, LinkFunction& what) = 0;
  /// Of its loop, by this port.
  virtual void lip(std::size_t port) = 0;
  /// Into another port of the switch, or another place of the loop.
  virtual void replug(std::size_t port) = 0;
  /// Nothing happens where there is no such login.
  virtual void log_out(std::size_t port, std::size_t peer, bool implicit) = 0;
  virtual void set_isl(std::size_t isl, bool up) = 0;
  virtual void set_switch(std::size_t index, bool up) = 0;

 protected:
  ~PortControl() = default;
};

struct PortEvent;
/// `over`: what lasts is at its end.
using PortEventFunction = void(PortControl& control, const PortEvent& event, bool over);

struct PortEvent {
  PortEventFunction* apply = nullptr;
  bool lasts = false;              // it has an end, after `duration`; else it is over at once
  std::size_t port = 0, peer = 0;  // position of the port, link or switch; a logout: and of the peer
  runtime::TimeNs duration = 0;    // 0: for good
};

namespace port_event {
PortEventFunction link_down;   // unplugged: every login ends at once
PortEventFunction cut;         // no signal for a while: logins wait to be validated (FC-VI 7.7)
PortEventFunction nos;         // a link failure that is over at once
PortEventFunction ols;         // online to offline and back
PortEventFunction link_reset;  // LR
PortEventFunction lip;
PortEventFunction replug;  // another N_Port_ID
PortEventFunction log_out, implicit_log_out;
PortEventFunction isl_down, switch_down;
}  // namespace port_event

/// What happens to no port, but to a link between switches or a switch: all parts of a run have those.
[[nodiscard]] inline bool is_of_fabric(const PortEvent& event) {
  return event.apply == &port_event::isl_down || event.apply == &port_event::switch_down;
}

}  // namespace sim
