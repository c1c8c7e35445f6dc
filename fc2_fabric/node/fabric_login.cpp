#include "fc2_fabric/node/fabric_login.hpp"

#include <utility>

namespace fc2 {
using wire::els::Command;

wire::els::Login FabricLogin::own_parameters(Command command) const {
  return services_.owner.login_parameters(command);
}
Command FabricLogin::login_command() const { return port_.config().virtual_n_port ? Command::fdisc : Command::flogi; }
void FabricLogin::logged_in_now() {
  told_ = false;
  listener_.fabric_login_accepted(granted_, peer_parameters_);
}
void FabricLogin::login_failed_now() {
  using machines::port_login::LoginFailure;
  listener_.fabric_login_lost();
  if (failure_ == LoginFailure::Timeout || failure_ == LoginFailure::Rejected)
    port_.scheduler().schedule_after(again_, port_.r_a_tov());
  if (!std::exchange(told_, true)) listener_.fabric_login_failed();
}
void FabricLogin::try_again() {
  if (!logged_in()) log_in();
}
void FabricLogin::link_up() {
  told_ = false;
  LoginSession::link_up();
}
void FabricLogin::leave() {
  port_.scheduler().cancel(again_);
  told_ = true;
  link_down();
}
void FabricLogin::link_down_if_up() {
  port_.scheduler().cancel(again_);
  LoginSession::link_down_if_up();
}
void FabricLogin::log_out() {
  port_.scheduler().cancel(again_);
  LoginSession::log_out();
}
void FabricLogin::logged_out_now() { listener_.fabric_login_ended(); }

}  // namespace fc2
