// VI-DG 3.2, 3.7.2, 3.7.3: endpoints.
#include "vipl/call.hpp"
#include "vipl/conversions.hpp"

using vipl::Call;
using vipl::NicObject;
using vipl::QueueObject;
using vipl::to_api;
using vipl::ViObject;

namespace {

/// False: not NULL, and no completion queue of this NIC.
bool find_queue(Call& call, const NicObject& nic, VIP_CQ_HANDLE handle, vi::CompletionQueue*& queue) {
  queue = nullptr;
  if (handle == nullptr) return true;
  QueueObject* object = call.find<QueueObject>(handle);
  if (object == nullptr || object->nic != &nic) return false;
  queue = object->model;
  return true;
}

}  // namespace

VIP_RETURN VipCreateVi(VIP_NIC_HANDLE NicHandle, VIP_VI_ATTRIBUTES* ViAttribs, VIP_CQ_HANDLE SendCQHandle,
                       VIP_CQ_HANDLE RecvCQHandle, VIP_VI_HANDLE* ViHandle) {
  Call call;
  NicObject* nic = call.find<NicObject>(NicHandle);
  if (nic == nullptr || ViAttribs == nullptr || ViHandle == nullptr) return VIP_INVALID_PARAMETER;
  vi::CompletionQueue *send_queue = nullptr, *receive_queue = nullptr;
  if (!find_queue(call, *nic, SendCQHandle, send_queue) || !find_queue(call, *nic, RecvCQHandle, receive_queue))
    return VIP_INVALID_PARAMETER;
  vi::ViAttributes attributes;
  if (const VIP_RETURN result = vipl::from_api(*nic, *ViAttribs, attributes); result != VIP_SUCCESS) return result;
  vi::Vi* model = nullptr;
  const vi::Return result = nic->model().create_vi(attributes, send_queue, receive_queue, model);
  if (result != vi::Return::Success) return to_api(result);
  const auto object = std::make_shared<ViObject>(*nic);
  object->model = model;
  model->consumer_context = object.get();
  void* handle = nic->adopt(object);
  if (handle == nullptr) {
    nic->model().destroy_vi(*model);
    return VIP_ERROR_RESOURCE;
  }
  *ViHandle = handle;
  return VIP_SUCCESS;
}

VIP_RETURN VipDestroyVi(VIP_VI_HANDLE ViHandle) {
  Call call;
  ViObject* vi = call.find<ViObject>(ViHandle);
  if (vi == nullptr) return VIP_INVALID_PARAMETER;
  if (const vi::Return result = vi->nic->model().destroy_vi(*vi->model); result != vi::Return::Success)
    return to_api(result);
  vi->model = nullptr;
  vi->nic->release(*vi);
  return VIP_SUCCESS;
}

VIP_RETURN VipSetViAttributes(VIP_VI_HANDLE ViHandle, VIP_VI_ATTRIBUTES* ViAttribs) {
  Call call;
  ViObject* vi = call.find<ViObject>(ViHandle);
  if (vi == nullptr || ViAttribs == nullptr) return VIP_INVALID_PARAMETER;
  if (vi->model->state() != vi::State::Idle) return VIP_INVALID_STATE;
  vi::ViAttributes attributes;
  if (const VIP_RETURN result = vipl::from_api(*vi->nic, *ViAttribs, attributes); result != VIP_SUCCESS)
    return result;
  return to_api(vi->nic->model().set_vi_attributes(*vi->model, attributes));
}

VIP_RETURN VipQueryVi(VIP_VI_HANDLE ViHandle, VIP_VI_STATE* State, VIP_VI_ATTRIBUTES* ViAttribs,
                      VIP_BOOLEAN* ViSendQEmpty, VIP_BOOLEAN* ViRecvQEmpty) {
  Call call;
  ViObject* vi = call.find<ViObject>(ViHandle);
  if (vi == nullptr || State == nullptr || ViAttribs == nullptr || ViSendQEmpty == nullptr || ViRecvQEmpty == nullptr)
    return VIP_INVALID_PARAMETER;
  *State = static_cast<VIP_VI_STATE>(vi->model->state());
  *ViAttribs = to_api(*vi->nic, vi->model->attributes());
  *ViSendQEmpty = to_api(vi->model->send_queue_empty());
  *ViRecvQEmpty = to_api(vi->model->receive_queue_empty());
  return VIP_SUCCESS;
}
