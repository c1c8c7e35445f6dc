// VI-DG 3.5.7, 3.5.8, 3.6: completion queues.
#include <algorithm>
#include <limits>

#include "vipl/call.hpp"
#include "vipl/conversions.hpp"

using vipl::Call;
using vipl::NicObject;
using vipl::QueueObject;
using vipl::to_api;
using vipl::ViObject;

namespace {

/// The model refuses what is above its limit, and that is below 32 bits.
std::uint32_t entry_count(VIP_ULONG count) {
  return static_cast<std::uint32_t>(std::min<VIP_ULONG>(count, std::numeric_limits<std::uint32_t>::max()));
}

VIP_RETURN take(QueueObject& queue, VIP_VI_HANDLE* vi_handle, VIP_BOOLEAN* receive_queue) {
  const auto entry = queue.model->pop();
  if (!entry) return VIP_NOT_DONE;
  *vi_handle = static_cast<const ViObject*>(entry->vi->consumer_context)->handle;
  *receive_queue = to_api(entry->receive_queue);
  return VIP_SUCCESS;
}

}  // namespace

VIP_RETURN VipCreateCQ(VIP_NIC_HANDLE NicHandle, VIP_ULONG EntryCount, VIP_CQ_HANDLE* CQHandle) {
  Call call;
  NicObject* nic = call.find<NicObject>(NicHandle);
  if (nic == nullptr || CQHandle == nullptr) return VIP_INVALID_PARAMETER;
  vi::CompletionQueue* model = nullptr;
  const vi::Return result = nic->model().create_completion_queue(entry_count(EntryCount), model);
  if (result != vi::Return::Success) return to_api(result);
  const auto object = std::make_shared<QueueObject>(*nic);
  object->model = model;
  model->context = object.get();
  void* handle = nic->adopt(object);
  if (handle == nullptr) {
    nic->model().destroy_completion_queue(*model);
    return VIP_ERROR_RESOURCE;
  }
  *CQHandle = handle;
  return VIP_SUCCESS;
}

VIP_RETURN VipDestroyCQ(VIP_CQ_HANDLE CQHandle) {
  Call call;
  QueueObject* queue = call.find<QueueObject>(CQHandle);
  if (queue == nullptr) return VIP_INVALID_PARAMETER;
  const vi::Return result = queue->nic->model().destroy_completion_queue(*queue->model);
  if (result != vi::Return::Success) return to_api(result);
  queue->model = nullptr;
  queue->nic->release(*queue);
  return VIP_SUCCESS;
}

VIP_RETURN VipResizeCQ(VIP_CQ_HANDLE CQHandle, VIP_ULONG EntryCount) {
  Call call;
  QueueObject* queue = call.find<QueueObject>(CQHandle);
  if (queue == nullptr) return VIP_INVALID_PARAMETER;
  return to_api(queue->nic->model().resize_completion_queue(*queue->model, entry_count(EntryCount)));
}

VIP_RETURN VipCQDone(VIP_CQ_HANDLE CQHandle, VIP_VI_HANDLE* ViHandle, VIP_BOOLEAN* RecvQueue) {
  Call call;
  QueueObject* queue = call.find<QueueObject>(CQHandle);
  if (queue == nullptr || ViHandle == nullptr || RecvQueue == nullptr) return VIP_INVALID_PARAMETER;
  return take(*queue, ViHandle, RecvQueue);
}

VIP_RETURN VipCQWait(VIP_CQ_HANDLE CQHandle, VIP_ULONG Timeout, VIP_VI_HANDLE* ViHandle, VIP_BOOLEAN* RecvQueue) {
  Call call;
  QueueObject* queue = call.find<QueueObject>(CQHandle);
  if (queue == nullptr || ViHandle == nullptr || RecvQueue == nullptr) return VIP_INVALID_PARAMETER;
  const auto keep = queue->shared_from_this();
  VIP_RETURN result = VIP_NOT_DONE;
  const auto ready = [&] {
    result = queue->closed ? VIP_INVALID_PARAMETER : take(*queue, ViHandle, RecvQueue);
    return result != VIP_NOT_DONE;
  };
  const bool done = call.domain().wait_until(queue->point, call.domain().deadline(Timeout), ready);
  return done ? result : VIP_TIMEOUT;
}
