// A port's listener that writes down what it hears, a letter each, and the bytes of messages.
#pragma once
#include <string>
#include <vector>

#include "fc2_fabric/node/n_port.hpp"

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

template <class Message>
std::vector<std::uint8_t> bytes_of(const Message& message) {
  std::vector<std::uint8_t> bytes(message.size());
  message.write(bytes);
  return bytes;
}

}  // namespace support
