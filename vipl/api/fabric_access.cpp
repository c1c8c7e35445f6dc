#include "vipl/api/fabric_access.hpp"

#include "vipl/configuration/node_identity.hpp"
#include "vipl/devices/device.hpp"

namespace vipl {
namespace {

struct Listing final : NodeListener {
  Listing(Runtime& its_runtime, const Device& its_device, const std::string& its_name)
      : runtime(its_runtime), device(its_device), named(its_name) {}
  void nodes_listed(std::vector<NodeEntry> list) override {
    nodes = std::move(list);
    end();
  }
  void listing_failed() override {
    interrupted = !device.ready();
    end();
  }
  [[nodiscard]] bool wants_addresses_of(const std::string& node_name) const override {
    return named.empty() || (!node_name.empty() && match(named, node_name) != NameMatch::None);
  }
  void end() {
    ended = true;
    runtime.notify_all(point);
  }

  Runtime& runtime;
  const Device& device;
  const std::string& named;
  EventCount point;
  std::optional<std::vector<NodeEntry>> nodes;
  bool ended = false;
  bool interrupted = false;  // it failed because the fabric was lost, and not by its answer
};

/// Until `ready()`, the deadline, or the end of the NIC. False: the NIC was closed.
template <class Ready>
bool wait_on(NicObject& nic, EventCount& point, runtime::TimeNs deadline, Ready ready) {
  const auto keep = nic.shared_from_this();
  nic.add_waiter(point);
  nic.domain().engine().wait_until(point, deadline, [&] { return nic.closed() || ready(); });
  nic.remove_waiter(point);
  return !nic.closed();
}

/// False: the NIC was closed.
bool list_once(NicObject& nic, Listing& listing) {
  Device& device = nic.device();
  device.list_nodes(listing);
  const bool open = wait_on(nic, listing.point, runtime::never, [&] { return listing.ended; });
  device.forget(listing);
  return open;
}

}  // namespace

bool wait_for_fabric(NicObject& nic, runtime::TimeNs deadline) {
  Device& device = nic.device();
  return wait_on(nic, device.ready_point(), deadline, [&] { return device.ready(); });
}

std::optional<std::vector<NodeEntry>> list_nodes(Call& call, NicObject& nic, const std::string& named) {
  Runtime& runtime = call.domain().runtime();
  const runtime::TimeNs deadline = runtime.now() + nic.device().configuration().open_timeout;
  for (;;) {
    Listing listing(runtime, nic.device(), named);
    if (!wait_for_fabric(nic, deadline) || !list_once(nic, listing)) return std::nullopt;
    if (!listing.interrupted || runtime.now() >= deadline) return std::move(listing.nodes);
  }
}

std::optional<std::vector<NodeEntry>> NicFabricAccess::nodes(const std::string& named) {
  Call call;
  NicObject* nic = call.find<NicObject>(nic_);
  return nic == nullptr ? std::nullopt : list_nodes(call, *nic, named);
}

bool NicFabricAccess::rest(runtime::TimeNs duration) {
  Call call;
  NicObject* nic = call.find<NicObject>(nic_);
  if (nic == nullptr) return false;
  EventCount point;
  return wait_on(*nic, point, call.domain().runtime().now() + duration, [] { return false; });
}

}  // namespace vipl
