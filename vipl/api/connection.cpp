// VI-DG 3.3.1 to 3.3.5: connections, client/server.
#include <algorithm>

#include "vipl/api/call.hpp"
#include "vipl/api/conversions.hpp"
#include "vipl/devices/device.hpp"
#include "vipl/api/fabric_access.hpp"

using vipl::api;
using vipl::Call;
using vipl::ConnectionObject;
using vipl::NicObject;
using vipl::Pending;
using vipl::to_api;
using vipl::ViObject;

namespace {

/// Waits until a request came; the NIC may be closed meanwhile.
VIP_RETURN wait_for_request(NicObject& nic, Pending<vi::ConnectWaitOperation>& request) {
  vipl::Domain& domain = nic.domain();
  nic.add_waiter(request.point);
  const bool ready = domain.engine().spin_until(request.point, runtime::never,
                                                [&] { return request.result.has_value() || nic.closed(); });
  nic.remove_waiter(request.point);
  if (ready && !nic.closed()) return to_api(*request.result);
  if (!request.result) {
    nic.device().transport().withdraw(request);
    domain.let_go(request);
  } else if (request.result == vi::Return::Success) {
    domain.reject_later(nic.device(), request.token);
  }
  return ready ? VIP_INVALID_PARAMETER : VIP_TIMEOUT;
}

VIP_RETURN wait(VIP_NIC_HANDLE nic_handle, const VIP_NET_ADDRESS* local_address, VIP_ULONG timeout_ms,
                VIP_NET_ADDRESS* remote_address, VIP_VI_ATTRIBUTES* remote_attributes, VIP_CONN_HANDLE* connection) {
  Call call;
  const auto object = std::make_shared<ConnectionObject>();
  NicObject* found = call.find<NicObject>(nic_handle);
  if (found == nullptr || local_address == nullptr || remote_address == nullptr || remote_attributes == nullptr ||
      connection == nullptr)
    return VIP_INVALID_PARAMETER;
  const auto nic = found->shared_from_this();
  const auto local = vipl::from_api(*nic, *local_address);
  if (!local) return VIP_INVALID_PARAMETER;
  const auto request = Pending<vi::ConnectWaitOperation>::make(call.domain());
  nic->device().transport().connect_wait(*local, vipl::timeout_ns(timeout_ms), *request);
  if (const VIP_RETURN result = wait_for_request(*nic, *request); result != VIP_SUCCESS) return result;
  object->token = request->token;
  void* handle = nic->adopt(object);
  if (handle == nullptr) {
    call.domain().reject_later(nic->device(), request->token);
    return VIP_ERROR_RESOURCE;
  }
  to_api(request->remote_address, *remote_address);
  *remote_attributes = to_api(*nic, request->remote_attributes);
  *connection = handle;
  return VIP_SUCCESS;
}

/// The request is over, one way or the other; after other errors it may be accepted again (VI-DG 3.3.2).
bool ends_request(VIP_RETURN result) {
  return result == VIP_SUCCESS || result == VIP_TIMEOUT || result == VIP_NOT_REACHABLE;
}

VIP_RETURN accept(VIP_CONN_HANDLE connection_handle, VIP_VI_HANDLE vi_handle) {
  Call call;
  ConnectionObject* connection = call.find<ConnectionObject>(connection_handle);
  ViObject* vi = call.find<ViObject>(vi_handle);
  if (connection == nullptr || vi == nullptr || &connection->nic->device() != &vi->nic->device())
    return VIP_INVALID_PARAMETER;
  const auto keep = connection->nic->owned(*connection);
  const auto operation = Pending<vi::Operation>::make(call.domain());
  connection->nic->device().transport().connect_accept(connection->token, *vi->model, *operation);
  const VIP_RETURN result = call.answer(*operation);
  if (ends_request(result) && !connection->closed) connection->nic->release(*connection);
  return result;
}

VIP_RETURN reject(VIP_CONN_HANDLE handle) {
  Call call;
  ConnectionObject* connection = call.find<ConnectionObject>(handle);
  if (connection == nullptr) return VIP_INVALID_PARAMETER;
  const auto keep = connection->nic->owned(*connection);
  const auto operation = Pending<vi::Operation>::make(call.domain());
  connection->nic->device().transport().connect_reject(connection->token, *operation);
  const VIP_RETURN result = call.answer(*operation);
  if (!connection->closed) connection->nic->release(*connection);
  return result;
}

/// Nobody waits for a fabric with an address that is not the NIC's; the transport judges it as well.
bool is_own(NicObject& nic, const vi::NetAddress& local) {
  const auto& addresses = nic.device().addresses();
  return std::find(addresses.begin(), addresses.end(), local.host) != addresses.end();
}

/// A fabric that is lost is waited for as VipOpenNic would, within the call's time, and not by a VI that could not
/// connect anyway. False: NIC or VI are gone.
bool await_fabric(Call& call, VIP_VI_HANDLE handle, NicObject& nic, runtime::TimeNs deadline) {
  const vipl::Device& device = nic.device();
  if (device.ready() || call.find<ViObject>(handle)->model->state() != vi::State::Idle) return true;
  const runtime::TimeNs patience = call.domain().runtime().now() + device.configuration().open_timeout;
  return wait_for_fabric(nic, std::min(deadline, patience)) && call.find<ViObject>(handle) != nullptr;
}

VIP_RETURN request(VIP_VI_HANDLE handle, const VIP_NET_ADDRESS* local_address, const VIP_NET_ADDRESS* remote_address,
                   VIP_ULONG timeout_ms, VIP_VI_ATTRIBUTES* remote_attributes) {
  Call call;
  ViObject* vi = call.find<ViObject>(handle);
  if (vi == nullptr || local_address == nullptr || remote_address == nullptr || remote_attributes == nullptr ||
      timeout_ms == 0)
    return VIP_INVALID_PARAMETER;
  const auto nic = vi->nic->shared_from_this();
  const auto local = vipl::from_api(*nic, *local_address), remote = vipl::from_api(*nic, *remote_address);
  if (!local || !remote || !is_own(*nic, *local)) return VIP_INVALID_PARAMETER;
  const vipl::Runtime& runtime = call.domain().runtime();
  const runtime::TimeNs deadline = vipl::deadline(runtime, timeout_ms);
  if (!await_fabric(call, handle, *nic, deadline)) return VIP_INVALID_PARAMETER;
  const runtime::TimeNs left =
      deadline == runtime::never ? runtime::never : std::max<runtime::TimeNs>(deadline - runtime.now(), 1);
  const auto operation = Pending<vi::ConnectOperation>::make(call.domain());
  nic->device().transport().connect_request(*vi->model, *local, *remote, left, *operation);
  const VIP_RETURN result = call.answer(*operation);
  if (result == VIP_SUCCESS) *remote_attributes = to_api(*nic, operation->remote_attributes);
  return result;
}

VIP_RETURN disconnect(VIP_VI_HANDLE handle) {
  Call call;
  ViObject* vi = call.find<ViObject>(handle);
  if (vi == nullptr) return VIP_INVALID_PARAMETER;
  const auto operation = Pending<vi::Operation>::make(call.domain());
  vi->peer_request.reset();  // who waits for it gets its answer
  vi->nic->device().transport().disconnect(*vi->model, *operation);
  return call.answer(*operation);
}

}  // namespace

VIP_RETURN VipConnectWait(VIP_NIC_HANDLE NicHandle, VIP_NET_ADDRESS* LocalAddr, VIP_ULONG Timeout,
                          VIP_NET_ADDRESS* RemoteAddr, VIP_VI_ATTRIBUTES* RemoteViAttribs,
                          VIP_CONN_HANDLE* ConnHandle) {
  return api([=] { return wait(NicHandle, LocalAddr, Timeout, RemoteAddr, RemoteViAttribs, ConnHandle); });
}
VIP_RETURN VipConnectAccept(VIP_CONN_HANDLE ConnHandle, VIP_VI_HANDLE ViHandle) {
  return api([=] { return accept(ConnHandle, ViHandle); });
}
VIP_RETURN VipConnectReject(VIP_CONN_HANDLE ConnHandle) {
  return api([=] { return reject(ConnHandle); });
}
VIP_RETURN VipConnectRequest(VIP_VI_HANDLE ViHandle, VIP_NET_ADDRESS* LocalAddr, VIP_NET_ADDRESS* RemoteAddr,
                             VIP_ULONG Timeout, VIP_VI_ATTRIBUTES* RemoteViAttribs) {
  return api([=] { return request(ViHandle, LocalAddr, RemoteAddr, Timeout, RemoteViAttribs); });
}
VIP_RETURN VipDisconnect(VIP_VI_HANDLE ViHandle) {
  return api([=] { return disconnect(ViHandle); });
}
