// A port's listener that writes down what it hears, a letter each.
#pragma once
#include <string>

#include "fc2_fabric/node/n_port.hpp"
#include "tests/support/made_frame.hpp"

namespace support {

/// F and f: online, fabric login failed. I, x, O: a remote port logged in, did not, logged out.
struct LoginListener final : fc2::PortListener {
  void fabric_logged_in() override { events += "F"; }
  void fabric_login_failed() override { events += "f"; }
  void remote_port_logged_in(fc2::RemotePort&) override { events += "I"; }
  void remote_port_login_failed(fc2::RemotePort&) override { events += "x"; }
  void remote_port_logged_out(fc2::RemotePort&) override { events += "O"; }
  std::string events;
};

}  // namespace support
