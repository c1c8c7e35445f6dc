#include "fcvi/connections.hpp"

#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>

namespace fcvi {

Connections::Connections(const Services& services, const ProviderConfig& config)
    : services_(services), handles_(config.first_handle, config.max_endpoints) {}

Connection* Connections::open(vi::Vi& vi) {
  assert(vi.transport_context == nullptr);  // who is Idle has no connection
  services_.peer_reports.erase(&vi);
  const auto handle = handles_.reserve();
  if (!handle) return nullptr;
  handles_.occupy(*handle, std::make_unique<Connection>(services_, vi, *handle, options_of(vi)));
  return handles_.find(*handle);
}

ConnectionOptions Connections::options_of(const vi::Vi& vi) const {
  const auto own = options_.find(&vi);
  return own != options_.end() ? own->second : ConnectionOptions{services_.config.preference, services_.config.class_2};
}

void Connections::forget(const vi::Vi& vi) {
  options_.erase(&vi);
  services_.peer_reports.erase(&vi);
}

/// Connections may be opened meanwhile.
void Connections::port_logged_out(wire::FcId peer) {
  for (std::size_t slot = 0; slot < handles_.slots().size(); ++slot) {
    Connection* connection = handles_.slots()[slot].connection.get();
    if (connection != nullptr && connection->peer_port() == peer) connection->port_logged_out();
  }
}

void Connections::retire(Connection& connection) {
  retired_.push_back(connection.handle());
  services_.bury_soon();
}

bool Connections::is_consistent() const {
  return std::all_of(handles_.slots().begin(), handles_.slots().end(), [](const HandleTable::Slot& slot) {
    return slot.connection == nullptr || slot.connection->is_consistent_throughout();
  });
}

void Connections::bury() {
  for (const wire::FcviHandle handle : std::exchange(retired_, {})) handles_.vacate(handle);
}

}  // namespace fcvi
