#include "loopback/hub.hpp"

#include <algorithm>

#include "loopback/endpoint.hpp"

namespace loopback {

void Hub::remove_hosts(const std::vector<wire::IpAddress>& hosts) {
  for (const wire::IpAddress& host : hosts) hosts_.erase(hosts_.find(host));
}

bool Hub::is_consistent() const {
  const bool wait = std::all_of(peers_.begin(), peers_.end(), [&](const Endpoint* peer) {
    return peer->waits_for_peer() && std::count(peers_.begin(), peers_.end(), peer) == 1;
  });
  return wait && offers_.open_count() <= max_pending_requests;
}

Endpoint* Hub::find_peer(const Endpoint& endpoint) const {
  const auto found = std::find_if(peers_.begin(), peers_.end(), [&](const Endpoint* other) {
    return other != &endpoint && other->is_asked_for_by(endpoint) && endpoint.is_asked_for_by(*other);
  });
  return found == peers_.end() ? nullptr : *found;
}

}  // namespace loopback
