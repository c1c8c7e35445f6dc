#include "vipl/devices/own_port.hpp"

namespace vipl {
namespace {

std::string advice_about(streams::Reason reason) {
  if (reason == streams::Reason::address_in_use)
    return "; another process has the port. Have that stopped, give this NIC another port, or let all processes of "
           "this user share it (listen: shared)";
  if (reason == streams::Reason::no_such_address) return "; no interface of this host has that address";
  if (reason == streams::Reason::not_permitted)
    return "; ports below 1024 are denied to this user: give this NIC another port";
  return {};
}

}  // namespace

OwnPort::OwnPort(streams::Streams& streams, const std::vector<streams::Address>& addresses, TcpPortUser& user)
    : user_(user) {
  for (const streams::Address& address : addresses) {
    auto listener = streams.listen(address, *this);
    if (!listener) {
      listeners_.clear();
      failure_ = "cannot listen at " + to_string(address) + ": " + std::string(to_string(listener.error())) +
                 advice_about(listener.error());
      return;
    }
    listeners_.push_back(std::move(*listener));
  }
}

}  // namespace vipl
