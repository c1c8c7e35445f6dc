// VI-DG 3.3.6 to 3.3.8: connections, peer to peer.
#include "vipl/api/call.hpp"
#include "vipl/api/conversions.hpp"
#include "vipl/devices/device.hpp"

using vipl::api;
using vipl::Call;
using vipl::Pending;
using vipl::to_api;
using vipl::ViObject;

namespace {

VIP_RETURN request(VIP_VI_HANDLE handle, const VIP_NET_ADDRESS* local_address, const VIP_NET_ADDRESS* remote_address,
                   VIP_ULONG timeout_ms) {
  Call call;
  ViObject* vi = call.find<ViObject>(handle);
  if (vi == nullptr || local_address == nullptr || remote_address == nullptr || timeout_ms == 0)
    return VIP_INVALID_PARAMETER;
  const auto local = vipl::from_api(*vi->nic, *local_address), remote = vipl::from_api(*vi->nic, *remote_address);
  if (!local || !remote) return VIP_INVALID_PARAMETER;
  const auto operation = Pending<vi::ConnectOperation>::make(call.domain());
  const vi::Return result = vi->nic->device().transport().connect_peer_request(
      *vi->model, *local, *remote, vipl::timeout_ns(timeout_ms), *operation);
  if (result == vi::Return::Success)
    vi->peer_request = operation;
  else
    call.domain().let_go(*operation);
  return to_api(result);
}

/// The result is returned once: from then on the VI has no request any more.
VIP_RETURN take_result(ViObject* vi, const std::shared_ptr<Pending<vi::ConnectOperation>>& operation,
                       vipl::NicObject& nic, VIP_VI_ATTRIBUTES* attributes) {
  if (vi != nullptr && vi->peer_request == operation) vi->peer_request.reset();
  if (operation->result == vi::Return::Success) *attributes = to_api(nic, operation->remote_attributes);
  return to_api(*operation->result);
}

/// VIP_SUCCESS: a VI that is being connected peer to peer.
VIP_RETURN find_requesting(Call& call, VIP_VI_HANDLE handle, const VIP_VI_ATTRIBUTES* attributes, ViObject*& vi) {
  vi = call.find<ViObject>(handle);
  if (vi == nullptr || attributes == nullptr) return VIP_INVALID_PARAMETER;
  return vi->peer_request == nullptr ? VIP_INVALID_STATE : VIP_SUCCESS;
}

VIP_RETURN done(VIP_VI_HANDLE handle, VIP_VI_ATTRIBUTES* attributes) {
  Call call;
  ViObject* vi = nullptr;
  if (const VIP_RETURN result = find_requesting(call, handle, attributes, vi); result != VIP_SUCCESS) return result;
  const auto operation = vi->peer_request;
  return operation->result ? take_result(vi, operation, *vi->nic, attributes) : VIP_NOT_DONE;
}

VIP_RETURN wait(VIP_VI_HANDLE handle, VIP_VI_ATTRIBUTES* attributes) {
  Call call;
  ViObject* vi = nullptr;
  if (const VIP_RETURN result = find_requesting(call, handle, attributes, vi); result != VIP_SUCCESS) return result;
  const auto operation = vi->peer_request;
  const auto nic = vi->nic->shared_from_this();
  if (!call.domain().engine().spin_until(operation->point, runtime::never,
                                         [&] { return operation->result.has_value(); }))
    return VIP_TIMEOUT;
  return take_result(call.find<ViObject>(handle), operation, *nic, attributes);
}

}  // namespace

VIP_RETURN VipConnectPeerRequest(VIP_VI_HANDLE ViHandle, VIP_NET_ADDRESS* LocalAddr, VIP_NET_ADDRESS* RemoteAddr,
                                 VIP_ULONG Timeout) {
  return api([=] { return request(ViHandle, LocalAddr, RemoteAddr, Timeout); });
}
VIP_RETURN VipConnectPeerDone(VIP_VI_HANDLE ViHandle, VIP_VI_ATTRIBUTES* RemoteViAttribs) {
  return api([=] { return done(ViHandle, RemoteViAttribs); });
}
VIP_RETURN VipConnectPeerWait(VIP_VI_HANDLE ViHandle, VIP_VI_ATTRIBUTES* RemoteViAttribs) {
  return api([=] { return wait(ViHandle, RemoteViAttribs); });
}
