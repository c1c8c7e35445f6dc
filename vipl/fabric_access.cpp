#include "vipl/fabric_access.hpp"

#include "vipl/device.hpp"

namespace vipl {
namespace {

struct Listing final : farp::DirectoryListener {
  explicit Listing(Runtime& its_runtime) : runtime(its_runtime) {}
  void directory_listed(std::span<const farp::DirectoryEntry> list) override {
    ports.emplace(list.begin(), list.end());
    end();
  }
  void directory_failed(farp::DirectoryFailure) override { end(); }
  void end() {
    ended = true;
    runtime.notify_all(point);
  }

  Runtime& runtime;
  EventCount point;
  std::optional<std::vector<farp::DirectoryEntry>> ports;
  bool ended = false;
};

/// Until `ready()`, the deadline, or the end of the NIC. False: the NIC was closed.
template <class Ready>
bool wait_on(NicObject& nic, EventCount& point, fc2::TimeNs deadline, Ready ready) {
  const auto keep = nic.shared_from_this();
  nic.add_waiter(point);
  nic.domain().engine().wait_until(point, deadline, [&] { return nic.closed() || ready(); });
  nic.remove_waiter(point);
  return !nic.closed();
}

}  // namespace

std::optional<std::vector<farp::DirectoryEntry>> list_ports(Call& call, NicObject& nic) {
  Listing listing(call.domain().runtime());
  Device& device = nic.device();
  device.directory().list(listing);
  const bool open = wait_on(nic, listing.point, fc2::never, [&] { return listing.ended; });
  device.directory().forget(listing);
  return open ? std::move(listing.ports) : std::nullopt;
}

std::optional<std::vector<farp::DirectoryEntry>> NicFabricAccess::ports() {
  Call call;
  NicObject* nic = call.find<NicObject>(nic_);
  return nic == nullptr ? std::nullopt : list_ports(call, *nic);
}

bool NicFabricAccess::rest(fc2::TimeNs duration) {
  Call call;
  NicObject* nic = call.find<NicObject>(nic_);
  if (nic == nullptr) return false;
  EventCount point;
  return wait_on(*nic, point, call.domain().runtime().now() + duration, [] { return false; });
}

}  // namespace vipl
