// VI-DG 3.5.7, 3.5.8, 3.5.11, 3.6: completion queues. VipCQDone, Wait and Notify do not wait for the engine's lock.
#include <algorithm>

#include "vipl/api/call.hpp"
#include "vipl/api/conversions.hpp"
#include "vipl/engine/waiting.hpp"

using vipl::api;
using vipl::Call;
using vipl::CompletionPort;
using vipl::data_api;
using vipl::Domain;
using vipl::NicObject;
using vipl::QueueObject;
using vipl::Taken;

namespace {

VIP_RETURN create(VIP_NIC_HANDLE nic_handle, VIP_ULONG entry_count, VIP_CQ_HANDLE* queue_handle) {
  Call call;
  NicObject* nic = call.find<NicObject>(nic_handle);
  if (nic == nullptr || queue_handle == nullptr) return VIP_INVALID_PARAMETER;
  const auto object = call.domain().take_queue();
  const vi::Return result = nic->model().create_completion_queue(entry_count, object->model);
  if (result != vi::Return::Success) return vipl::to_api(result);
  object->model->context = object.get();
  object->nic_handle = nic_handle;
  void* handle = nic->adopt(object);
  if (handle == nullptr) {
    nic->model().destroy_completion_queue(*object->model);
    return VIP_ERROR_RESOURCE;
  }
  object->port.open(handle);
  *queue_handle = handle;
  return VIP_SUCCESS;
}

VIP_RETURN destroy(VIP_CQ_HANDLE handle) {
  Call call;
  QueueObject* queue = call.find<QueueObject>(handle);
  if (queue == nullptr) return VIP_INVALID_PARAMETER;
  const vi::Return result = queue->nic->model().destroy_completion_queue(*queue->model);
  if (result != vi::Return::Success) return vipl::to_api(result);
  queue->model = nullptr;
  queue->nic->release_and_stop_notifiers(*queue);
  return VIP_SUCCESS;
}

/// VI-DG 3.6.3 asks for room for at least so many; there always is, and more where more is queued: that stays.
VIP_RETURN resize(VIP_CQ_HANDLE handle, VIP_ULONG entry_count) {
  Call call;
  QueueObject* queue = call.find<QueueObject>(handle);
  if (queue == nullptr) return VIP_INVALID_PARAMETER;
  return vipl::to_api(queue->nic->model().check_completion_queue(std::max<VIP_ULONG>(entry_count, 1)));  // never none
}

QueueObject* find(VIP_CQ_HANDLE handle) {
  const Domain* domain = Domain::find();
  return domain == nullptr ? nullptr : domain->find<QueueObject>(handle);
}

VIP_RETURN give(Taken taken, const CompletionPort::Entry& entry, VIP_VI_HANDLE* vi, VIP_BOOLEAN* receive_queue,
                VIP_RETURN not_done) {
  if (taken == Taken::Gone) return VIP_INVALID_PARAMETER;
  if (taken != Taken::Success) return not_done;
  *vi = entry.vi;
  *receive_queue = vipl::to_api(entry.receive_queue);
  return VIP_SUCCESS;
}

VIP_RETURN take(VIP_CQ_HANDLE handle, VIP_VI_HANDLE* vi, VIP_BOOLEAN* receive_queue) {
  QueueObject* queue = find(handle);
  if (queue == nullptr || vi == nullptr || receive_queue == nullptr) return VIP_INVALID_PARAMETER;
  CompletionPort::Entry entry{};
  const Taken taken = vipl::poll_once(queue->port.engine(), queue, [&] { return queue->port.take(handle, entry); });
  return give(taken, entry, vi, receive_queue, VIP_NOT_DONE);
}

VIP_RETURN wait(VIP_CQ_HANDLE handle, VIP_ULONG timeout_ms, VIP_VI_HANDLE* vi, VIP_BOOLEAN* receive_queue) {
  QueueObject* queue = find(handle);
  if (queue == nullptr || vi == nullptr || receive_queue == nullptr) return VIP_INVALID_PARAMETER;
  CompletionPort::Entry entry{};
  Taken taken = queue->port.take(handle, entry);  // what is there already needs no clock
  if (taken == Taken::NotDone)
    taken = queue->port.wait(handle, vipl::deadline(queue->port.engine().runtime(), timeout_ms), entry);
  return give(taken, entry, vi, receive_queue, VIP_TIMEOUT);
}

VIP_RETURN notify(VIP_CQ_HANDLE handle, VIP_PVOID context, CompletionPort::Handler handler) {
  QueueObject* queue = find(handle);
  if (queue == nullptr || handler == nullptr) return VIP_INVALID_PARAMETER;
  const VIP_NIC_HANDLE nic = queue->nic_handle;
  const bool added = queue->port.notifiers().add(queue->port, handle, nic, {handler, context});
  return added ? VIP_SUCCESS : VIP_INVALID_PARAMETER;
}

}  // namespace

VIP_RETURN VipCreateCQ(VIP_NIC_HANDLE NicHandle, VIP_ULONG EntryCount, VIP_CQ_HANDLE* CQHandle) {
  return api([=] { return create(NicHandle, EntryCount, CQHandle); });
}
VIP_RETURN VipDestroyCQ(VIP_CQ_HANDLE CQHandle) {
  return api([=] { return destroy(CQHandle); });
}
VIP_RETURN VipResizeCQ(VIP_CQ_HANDLE CQHandle, VIP_ULONG EntryCount) {
  return api([=] { return resize(CQHandle, EntryCount); });
}
VIP_RETURN VipCQDone(VIP_CQ_HANDLE CQHandle, VIP_VI_HANDLE* ViHandle, VIP_BOOLEAN* RecvQueue) {
  return data_api([=] { return take(CQHandle, ViHandle, RecvQueue); });
}
VIP_RETURN VipCQWait(VIP_CQ_HANDLE CQHandle, VIP_ULONG Timeout, VIP_VI_HANDLE* ViHandle, VIP_BOOLEAN* RecvQueue) {
  return data_api([=] { return wait(CQHandle, Timeout, ViHandle, RecvQueue); });
}
VIP_RETURN VipCQNotify(VIP_CQ_HANDLE CQHandle, VIP_PVOID Context, CompletionPort::Handler Handler) {
  return api([=] { return notify(CQHandle, Context, Handler); });
}
