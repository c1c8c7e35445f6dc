// VI-DG 3.2, 3.7.2, 3.7.3: endpoints.
#include "vipl/api/call.hpp"
#include "vipl/api/conversions.hpp"

using vipl::api;
using vipl::Call;
using vipl::NicObject;
using vipl::QueueObject;
using vipl::to_api;
using vipl::ViObject;

namespace {

/// False: not NULL, and no completion queue of this NIC.
bool find_queue(Call& call, const NicObject& nic, VIP_CQ_HANDLE handle, QueueObject*& queue) {
  queue = nullptr;
  if (handle == nullptr) return true;
  queue = call.find<QueueObject>(handle);
  return queue != nullptr && queue->nic == &nic;
}

/// Makes the object that of the model's VI, with a handle; nullptr when there are too many, or no memory is left.
void* adopt(const std::shared_ptr<ViObject>& object, NicObject& nic, vi::Vi& model, QueueObject* send_queue,
            QueueObject* receive_queue) {
  object->model = &model;
  object->memory = &nic.model().memory();
  object->tag = model.attributes().ptag.value;
  object->max_segments = nic.model().limits().max_segments_per_descriptor;
  object->receives_wait = !nic.model().capabilities().needs_receives_at_once;
  object->gathers_sends = nic.device().gathers_sends();
  object->nic_handle = nic.handle;
  void* handle = nic.adopt(object);
  if (handle == nullptr) return nullptr;
  model.consumer_context = object.get();
  const std::uint32_t limit = nic.model().limits().max_descriptors_per_queue;
  object->port(false).open(handle, false, limit, send_queue == nullptr ? nullptr : &send_queue->port);
  object->port(true).open(handle, true, limit, receive_queue == nullptr ? nullptr : &receive_queue->port);
  return handle;
}

VIP_RETURN create(VIP_NIC_HANDLE nic_handle, const VIP_VI_ATTRIBUTES* wanted, VIP_CQ_HANDLE send_handle,
                  VIP_CQ_HANDLE receive_handle, VIP_VI_HANDLE* vi) {
  Call call;
  NicObject* nic = call.find<NicObject>(nic_handle);
  if (nic == nullptr || wanted == nullptr || vi == nullptr) return VIP_INVALID_PARAMETER;
  QueueObject *send = nullptr, *receive = nullptr;
  if (!find_queue(call, *nic, send_handle, send) || !find_queue(call, *nic, receive_handle, receive))
    return VIP_INVALID_PARAMETER;
  vi::ViAttributes attributes;
  if (const VIP_RETURN result = vipl::from_api(*nic, *wanted, attributes); result != VIP_SUCCESS) return result;
  const auto object = call.domain().take_vi();
  vi::Vi* model = nullptr;
  const vi::Return result = nic->model().create_vi(attributes, send == nullptr ? nullptr : send->model,
                                                   receive == nullptr ? nullptr : receive->model, model);
  if (result != vi::Return::Success) return to_api(result);
  void* handle = adopt(object, *nic, *model, send, receive);
  if (handle == nullptr) {
    nic->model().destroy_vi(*model);
    return VIP_ERROR_RESOURCE;
  }
  *vi = handle;
  return VIP_SUCCESS;
}

VIP_RETURN destroy(VIP_VI_HANDLE handle) {
  Call call;
  ViObject* vi = call.find<ViObject>(handle);
  if (vi == nullptr) return VIP_INVALID_PARAMETER;
  if (!vi->empty()) return VIP_INVALID_STATE;
  if (const vi::Return result = vi->nic->model().destroy_vi(*vi->model); result != vi::Return::Success)
    return to_api(result);
  vi->model = nullptr;
  vi->peer_request.reset();
  vi->nic->release_and_stop_notifiers(*vi);
  return VIP_SUCCESS;
}

VIP_RETURN set_attributes(VIP_VI_HANDLE handle, const VIP_VI_ATTRIBUTES* wanted) {
  Call call;
  ViObject* vi = call.find<ViObject>(handle);
  if (vi == nullptr || wanted == nullptr) return VIP_INVALID_PARAMETER;
  if (vi->model->state() != vi::State::Idle) return VIP_INVALID_STATE;
  vi::ViAttributes attributes;
  if (const VIP_RETURN result = vipl::from_api(*vi->nic, *wanted, attributes); result != VIP_SUCCESS) return result;
  const vi::Return result = vi->nic->model().set_vi_attributes(*vi->model, attributes);
  vi->tag = vi->model->attributes().ptag.value;
  return to_api(result);
}

VIP_RETURN query(VIP_VI_HANDLE handle, VIP_VI_STATE* state, VIP_VI_ATTRIBUTES* attributes, VIP_BOOLEAN* send_empty,
                 VIP_BOOLEAN* receive_empty) {
  Call call;
  ViObject* vi = call.find<ViObject>(handle);
  if (vi == nullptr || state == nullptr || attributes == nullptr || send_empty == nullptr || receive_empty == nullptr)
    return VIP_INVALID_PARAMETER;
  *state = static_cast<VIP_VI_STATE>(vi->model->state());
  *attributes = to_api(*vi->nic, vi->model->attributes());
  *send_empty = to_api(vi->port(false).empty());
  *receive_empty = to_api(vi->port(true).empty());
  return VIP_SUCCESS;
}

}  // namespace

VIP_RETURN VipCreateVi(VIP_NIC_HANDLE NicHandle, VIP_VI_ATTRIBUTES* ViAttribs, VIP_CQ_HANDLE SendCQHandle,
                       VIP_CQ_HANDLE RecvCQHandle, VIP_VI_HANDLE* ViHandle) {
  return api([=] { return create(NicHandle, ViAttribs, SendCQHandle, RecvCQHandle, ViHandle); });
}
VIP_RETURN VipDestroyVi(VIP_VI_HANDLE ViHandle) {
  return api([=] { return destroy(ViHandle); });
}
VIP_RETURN VipSetViAttributes(VIP_VI_HANDLE ViHandle, VIP_VI_ATTRIBUTES* ViAttribs) {
  return api([=] { return set_attributes(ViHandle, ViAttribs); });
}
VIP_RETURN VipQueryVi(VIP_VI_HANDLE ViHandle, VIP_VI_STATE* State, VIP_VI_ATTRIBUTES* ViAttribs,
                      VIP_BOOLEAN* ViSendQEmpty, VIP_BOOLEAN* ViRecvQEmpty) {
  return api([=] { return query(ViHandle, State, ViAttribs, ViSendQEmpty, ViRecvQEmpty); });
}
