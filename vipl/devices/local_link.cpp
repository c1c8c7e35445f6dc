#include "vipl/devices/local_link.hpp"

#include <chrono>

namespace vipl {
namespace {
constexpr auto longest_goodbye = std::chrono::seconds(5);  // only where the service or a running process does not read
}

void LocalLink::attach(fc2::NPort& port) {
  fc2::drivers::LinkListener& listener = *this;
  link_.emplace(port, *engine_.runtime().io(), engine_, options_, &listener);
}

/// The end of the socket is seen at once; what was sent before has to be in it.
void LocalLink::say_goodbye() {
  if (link_) link_->drain(longest_goodbye);
}

void LocalLink::link_changed(fc2::drivers::LinkState state, const std::string&) {
  if (state != fc2::drivers::LinkState::Up) engine_.runtime().notify_all(changes_);
}

}  // namespace vipl
