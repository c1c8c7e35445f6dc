#include "fc2_fabric/node/remote_ports.hpp"

#include "state_machines/consistency.hpp"

namespace fc2 {

RemotePort* RemotePorts::look_up(wire::FcId id) const {
  const auto found = by_id_.find(id.value);
  return found == by_id_.end() ? nullptr : last_found_ = found->second.get();
}

RemotePort& RemotePorts::at(wire::FcId id) {
  auto& port = by_id_[id.value];
  if (port == nullptr) {
    port = std::make_unique<RemotePort>(services_, owner_, id);
    others_.push_back(*port);
    if (port_.online()) port->link_up();
    if (by_id_.size() > port_.config().max_remote_ports) port_.scheduler().schedule(tidy_, port_.scheduler().now());
  }
  return *port;
}

bool RemotePorts::is_consistent() const { return others_.size() + logged_in_.size() == by_id_.size(); }

void RemotePorts::move(RemotePort& port, Queue& queue) {
  port.unlink();
  queue.push_back(port);
}

bool RemotePorts::has_room_for(wire::FcId id) const {
  return by_id_.size() < port_.config().max_remote_ports || find(id) != nullptr;
}

bool RemotePorts::make_room_for_login(wire::FcId id) {
  return has_room_for(id) || evict_one_of(others_) || evict_one_of(logged_in_);
}

bool RemotePorts::make_room_for_stranger(wire::FcId id) { return has_room_for(id) || evict_one_of(others_); }

void RemotePorts::tidy() {
  FCVI_ASSERT_CONSISTENT(*this);
  while (by_id_.size() > port_.config().max_remote_ports && (evict_one_of(others_) || evict_one_of(logged_in_))) {}
}

// A few looks for each new port, so that none is dear; who is in use goes to the end, and is not looked at again for
// long.
bool RemotePorts::evict_one_of(Queue& queue) {
  constexpr int looks = 16;
  for (int look = 0; look < looks && !queue.empty(); ++look) {
    RemotePort& oldest = queue.front();
    queue.splice(queue.end(), queue, queue.begin());
    if (!oldest.in_use()) oldest.implicit_logout();
    if (oldest.in_use()) continue;  // from the first, or by whoever heard that the login is gone
    last_found_ = nullptr;
    by_id_.erase(oldest.peer().value);
    ++port_.counters().ports_evicted;
    FCVI_ASSERT_CONSISTENT(*this);
    return true;
  }
  return false;
}

}  // namespace fc2
