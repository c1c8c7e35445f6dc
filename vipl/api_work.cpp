// VI-DG 3.5.1 to 3.5.6: work queues.
#include "vipl/call.hpp"
#include "vipl/conversions.hpp"

using vipl::Call;
using vipl::to_api;
using vipl::ViObject;

namespace {

VIP_RETURN post(VIP_VI_HANDLE handle, VIP_DESCRIPTOR* descriptor, VIP_MEM_HANDLE memory, bool receive_queue) {
  Call call;
  ViObject* vi = call.find<ViObject>(handle);
  if (vi == nullptr || descriptor == nullptr) return VIP_INVALID_PARAMETER;
  const std::uint64_t address = vipl::address_of(descriptor);
  return to_api(receive_queue ? vi->model->post_receive(address, wire::MemHandle{memory})
                              : vi->model->post_send(address, wire::MemHandle{memory}));
}

/// Takes the head descriptor if it is complete.
VIP_RETURN take(Call& call, ViObject& vi, bool receive_queue, VIP_DESCRIPTOR** descriptor) {
  std::uint64_t address = 0;
  const vi::Return result = receive_queue ? vi.model->receive_done(address) : vi.model->send_done(address);
  *descriptor = reinterpret_cast<VIP_DESCRIPTOR*>(address);
  // Who waits behind the last one learns that the queue is empty now.
  const bool empty = receive_queue ? vi.model->receive_queue_empty() : vi.model->send_queue_empty();
  if (address != 0 && empty) call.domain().runtime().notify_all(vi.point(receive_queue));
  return to_api(result);
}

VIP_RETURN take_if_done(VIP_VI_HANDLE handle, bool receive_queue, VIP_DESCRIPTOR** descriptor) {
  Call call;
  ViObject* vi = call.find<ViObject>(handle);
  if (vi == nullptr || descriptor == nullptr) return VIP_INVALID_PARAMETER;
  return take(call, *vi, receive_queue, descriptor);
}

bool has_completion_queue(const vi::Vi& vi, bool receive_queue) {
  return (receive_queue ? vi.receive_completion_queue() : vi.send_completion_queue()) != nullptr;
}

VIP_RETURN wait_and_take(VIP_VI_HANDLE handle, bool receive_queue, VIP_ULONG timeout_ms, VIP_DESCRIPTOR** descriptor) {
  Call call;
  ViObject* vi = call.find<ViObject>(handle);
  if (vi == nullptr || descriptor == nullptr) return VIP_INVALID_PARAMETER;
  *descriptor = nullptr;
  if (has_completion_queue(*vi->model, receive_queue)) return VIP_ERROR_RESOURCE;
  const auto keep = vi->shared_from_this();
  VIP_RETURN result = VIP_NOT_DONE;
  const auto ready = [&] {
    result = vi->closed ? VIP_INVALID_PARAMETER : take(call, *vi, receive_queue, descriptor);
    return result != VIP_NOT_DONE;
  };
  const bool done = call.domain().wait_until(vi->point(receive_queue), call.domain().deadline(timeout_ms), ready);
  return done ? result : VIP_TIMEOUT;
}

}  // namespace

VIP_RETURN VipPostSend(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR* DescriptorPtr, VIP_MEM_HANDLE MemoryHandle) {
  return post(ViHandle, DescriptorPtr, MemoryHandle, false);
}
VIP_RETURN VipPostRecv(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR* DescriptorPtr, VIP_MEM_HANDLE MemoryHandle) {
  return post(ViHandle, DescriptorPtr, MemoryHandle, true);
}
VIP_RETURN VipSendDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR** DescriptorPtr) {
  return take_if_done(ViHandle, false, DescriptorPtr);
}
VIP_RETURN VipRecvDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR** DescriptorPtr) {
  return take_if_done(ViHandle, true, DescriptorPtr);
}
VIP_RETURN VipSendWait(VIP_VI_HANDLE ViHandle, VIP_ULONG TimeOut, VIP_DESCRIPTOR** DescriptorPtr) {
  return wait_and_take(ViHandle, false, TimeOut, DescriptorPtr);
}
VIP_RETURN VipRecvWait(VIP_VI_HANDLE ViHandle, VIP_ULONG TimeOut, VIP_DESCRIPTOR** DescriptorPtr) {
  return wait_and_take(ViHandle, true, TimeOut, DescriptorPtr);
}
