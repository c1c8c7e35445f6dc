// VI-DG 3.3: connections, client/server.
#include "vipl/call.hpp"
#include "vipl/conversions.hpp"
#include "vipl/device.hpp"

using vipl::Call;
using vipl::ConnectionObject;
using vipl::NicObject;
using vipl::Pending;
using vipl::to_api;
using vipl::ViObject;

namespace {

/// Waits until a request came; the NIC may be closed meanwhile.
VIP_RETURN wait_for_request(NicObject& nic, Pending<vi::ConnectWaitOperation>& request) {
  const auto keep = nic.shared_from_this();
  nic.add_waiter(request.point);
  const bool ready = nic.domain().wait_until(request.point, fc2::never,
                                             [&] { return request.result.has_value() || nic.closed(); });
  nic.remove_waiter(request.point);
  if (!ready || nic.closed()) {
    request.abandoned_by = &nic.device();
    if (request.result == vi::Return::Success) nic.domain().reject_later(nic.device(), request.token);
    return ready ? VIP_INVALID_PARAMETER : VIP_TIMEOUT;
  }
  return to_api(*request.result);
}

/// The request is over, one way or the other; after other errors it may be accepted again (VI-DG 3.3.2).
bool ends_request(VIP_RETURN result) {
  return result == VIP_SUCCESS || result == VIP_TIMEOUT || result == VIP_NOT_REACHABLE;
}

}  // namespace

VIP_RETURN VipConnectWait(VIP_NIC_HANDLE NicHandle, VIP_NET_ADDRESS* LocalAddr, VIP_ULONG Timeout,
                          VIP_NET_ADDRESS* RemoteAddr, VIP_VI_ATTRIBUTES* RemoteViAttribs,
                          VIP_CONN_HANDLE* ConnHandle) {
  Call call;
  NicObject* nic = call.find<NicObject>(NicHandle);
  if (nic == nullptr || LocalAddr == nullptr || RemoteAddr == nullptr || RemoteViAttribs == nullptr ||
      ConnHandle == nullptr)
    return VIP_INVALID_PARAMETER;
  const auto local = vipl::from_api(*LocalAddr);
  if (!local || local->host != nic->device().address()) return VIP_INVALID_PARAMETER;
  const auto request = Pending<vi::ConnectWaitOperation>::make(call.domain());
  nic->device().provider().connect_wait(*local, vipl::timeout_ns(Timeout), *request);
  if (const VIP_RETURN result = wait_for_request(*nic, *request); result != VIP_SUCCESS) return result;
  void* handle = nic->adopt(std::make_shared<ConnectionObject>(*nic, request->token));
  if (handle == nullptr) {
    call.domain().reject_later(nic->device(), request->token);
    return VIP_ERROR_RESOURCE;
  }
  to_api(request->remote_address, *RemoteAddr);
  *RemoteViAttribs = to_api(*nic, request->remote_attributes);
  *ConnHandle = handle;
  return VIP_SUCCESS;
}

VIP_RETURN VipConnectAccept(VIP_CONN_HANDLE ConnHandle, VIP_VI_HANDLE ViHandle) {
  Call call;
  ConnectionObject* connection = call.find<ConnectionObject>(ConnHandle);
  ViObject* vi = call.find<ViObject>(ViHandle);
  if (connection == nullptr || vi == nullptr || &connection->nic->device() != &vi->nic->device())
    return VIP_INVALID_PARAMETER;
  const auto keep = connection->shared_from_this();
  const auto operation = Pending<vi::Operation>::make(call.domain());
  connection->nic->device().provider().connect_accept(connection->token, *vi->model, *operation);
  const VIP_RETURN result = call.answer(*operation);
  if (ends_request(result) && !connection->closed) connection->nic->release(*connection);
  return result;
}

VIP_RETURN VipConnectReject(VIP_CONN_HANDLE ConnHandle) {
  Call call;
  ConnectionObject* connection = call.find<ConnectionObject>(ConnHandle);
  if (connection == nullptr) return VIP_INVALID_PARAMETER;
  const auto keep = connection->shared_from_this();
  const auto operation = Pending<vi::Operation>::make(call.domain());
  connection->nic->device().provider().connect_reject(connection->token, *operation);
  const VIP_RETURN result = call.answer(*operation);
  if (!connection->closed) connection->nic->release(*connection);
  return result;
}

VIP_RETURN VipConnectRequest(VIP_VI_HANDLE ViHandle, VIP_NET_ADDRESS* LocalAddr, VIP_NET_ADDRESS* RemoteAddr,
                             VIP_ULONG Timeout, VIP_VI_ATTRIBUTES* RemoteViAttribs) {
  Call call;
  ViObject* vi = call.find<ViObject>(ViHandle);
  if (vi == nullptr || LocalAddr == nullptr || RemoteAddr == nullptr || RemoteViAttribs == nullptr || Timeout == 0)
    return VIP_INVALID_PARAMETER;
  const auto local = vipl::from_api(*LocalAddr), remote = vipl::from_api(*RemoteAddr);
  if (!local || !remote || local->host != vi->nic->device().address()) return VIP_INVALID_PARAMETER;
  const auto nic = std::static_pointer_cast<NicObject>(vi->nic->shared_from_this());
  const auto operation = Pending<vi::ConnectOperation>::make(call.domain());
  nic->device().provider().connect_request(*vi->model, *local, *remote, vipl::timeout_ns(Timeout), *operation);
  const VIP_RETURN result = call.answer(*operation);
  if (result == VIP_SUCCESS) *RemoteViAttribs = to_api(*nic, operation->remote_attributes);
  return result;
}

VIP_RETURN VipDisconnect(VIP_VI_HANDLE ViHandle) {
  Call call;
  ViObject* vi = call.find<ViObject>(ViHandle);
  if (vi == nullptr) return VIP_INVALID_PARAMETER;
  const auto operation = Pending<vi::Operation>::make(call.domain());
  vi->nic->device().provider().disconnect(*vi->model, *operation);
  return call.answer(*operation);
}
