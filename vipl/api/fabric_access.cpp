#include "vipl/api/fabric_access.hpp"

#include "vipl/devices/device.hpp"

namespace vipl {
namespace {

struct Listing final : farp::DirectoryListener {
  Listing(Runtime& its_runtime, const Device& its_device) : runtime(its_runtime), device(its_device) {}
  void directory_listed(std::span<const farp::DirectoryEntry> list) override {
    ports.emplace(list.begin(), list.end());
    end();
  }
  void directory_failed(farp::DirectoryFailure) override {
    interrupted = !device.ready();
    end();
  }
  void end() {
    ended = true;
    runtime.notify_all(point);
  }

  Runtime& runtime;
  const Device& device;
  EventCount point;
  std::optional<std::vector<farp::DirectoryEntry>> ports;
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
  device.directory().list(listing);
  const bool open = wait_on(nic, listing.point, runtime::never, [&] { return listing.ended; });
  device.directory().forget(listing);
  return open;
}

}  // namespace

bool wait_for_fabric(NicObject& nic, runtime::TimeNs deadline) {
  Device& device = nic.device();
  return wait_on(nic, device.ready_point(), deadline, [&] { return device.ready(); });
}

std::optional<std::vector<farp::DirectoryEntry>> list_ports(Call& call, NicObject& nic) {
  Runtime& runtime = call.domain().runtime();
  const runtime::TimeNs deadline = runtime.now() + nic.device().configuration().timeouts.open;
  for (;;) {
    Listing listing(runtime, nic.device());
    if (!wait_for_fabric(nic, deadline) || !list_once(nic, listing)) return std::nullopt;
    if (!listing.interrupted || runtime.now() >= deadline) return std::move(listing.ports);
  }
}

std::optional<std::vector<farp::DirectoryEntry>> NicFabricAccess::ports() {
  Call call;
  NicObject* nic = call.find<NicObject>(nic_);
  return nic == nullptr ? std::nullopt : list_ports(call, *nic);
}

bool NicFabricAccess::rest(runtime::TimeNs duration) {
  Call call;
  NicObject* nic = call.find<NicObject>(nic_);
  if (nic == nullptr) return false;
  EventCount point;
  return wait_on(*nic, point, call.domain().runtime().now() + duration, [] { return false; });
}

}  // namespace vipl
