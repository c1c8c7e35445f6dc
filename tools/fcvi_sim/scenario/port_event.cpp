#include "tools/fcvi_sim/scenario/port_event.hpp"

#include "fc2_fabric/link/link.hpp"

namespace sim::port_event {
namespace {

void cut_link(fc2::Link& link, fc2::LinkEnd&) { link.cut(); }
void mend_link(fc2::Link& link, fc2::LinkEnd&) { link.mend(); }
void fail_end(fc2::Link&, fc2::LinkEnd& end) { end.fail(); }
void take_end_offline(fc2::Link&, fc2::LinkEnd& end) { end.go_offline(); }
void reset_end(fc2::Link&, fc2::LinkEnd& end) { end.reset(); }

}  // namespace

void link_down(PortControl& control, const PortEvent& event, bool over) { control.set_plugged(event.port, over); }
void cut(PortControl& control, const PortEvent& event, bool over) {
  control.at_link(event.port, over ? mend_link : cut_link);
}
void nos(PortControl& control, const PortEvent& event, bool) { control.at_link(event.port, fail_end); }
void ols(PortControl& control, const PortEvent& event, bool) { control.at_link(event.port, take_end_offline); }
void link_reset(PortControl& control, const PortEvent& event, bool) { control.at_link(event.port, reset_end); }
void lip(PortControl& control, const PortEvent& event, bool) { control.lip(event.port); }
void replug(PortControl& control, const PortEvent& event, bool) { control.replug(event.port); }
void log_out(PortControl& control, const PortEvent& event, bool) { control.log_out(event.port, event.peer, false); }
void implicit_log_out(PortControl& control, const PortEvent& event, bool) {
  control.log_out(event.port, event.peer, true);
}
void isl_down(PortControl& control, const PortEvent& event, bool over) { control.set_isl(event.port, over); }
void switch_down(PortControl& control, const PortEvent& event, bool over) { control.set_switch(event.port, over); }

}  // namespace sim::port_event
