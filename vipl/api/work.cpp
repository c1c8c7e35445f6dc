// VI-DG 3.5.1 to 3.5.6, 3.5.9, 3.5.10: work queues. None of these waits for the engine's lock.
#include <optional>

#include "vi/posted_descriptor.hpp"
#include "vipl/api/call.hpp"
#include "vipl/api/conversions.hpp"
#include "vipl/api/post_at_once.hpp"
#include "vipl/engine/waiting.hpp"

using vipl::api;
using vipl::data_api;
using vipl::Domain;
using vipl::Engine;
using vipl::Taken;
using vipl::ViObject;
using vipl::WorkPort;

// Calls of a few hundred instructions: each body is a part of its VipXxx.
#define ALWAYS_INLINE __attribute__((always_inline))

namespace {

using Handler = WorkPort::Handler;

/// As the engine would judge it, which need not look again. VI-DG 5.5: a program that polls the status sees zero from
/// now on. Where the descriptor is not valid the engine will report Post Descriptor Error. nullopt: the VI is gone.
std::optional<vi::PostedDescriptor> judge(Domain& domain, ViObject& vi, bool receive_queue, void* owner,
                                          std::uint64_t address, VIP_MEM_HANDLE memory) {
  const vipl::MemoryGate::Reader reader(domain.memory_gate());
  if (!vi.port(receive_queue).is_owned_by(owner)) return std::nullopt;
  const vipl::MemoryFaults::Section section;
  constexpr auto relaxed = std::memory_order_relaxed;
  return vi::judge_post({*vi.memory.load(relaxed), vi::Ptag{vi.tag.load(relaxed)}, vi.max_segments.load(relaxed)},
                        receive_queue, address, wire::MemHandle{memory}, true);
}

/// From so many on that are under way the other end is busy, and one more that is posted waits for those that follow it
/// at once. Who posts fewer is never kept waiting.
constexpr std::uint64_t many_sends = 8;

[[gnu::always_inline]] inline bool gathers(ViObject& vi) {
  return vi.gathers_sends.load(std::memory_order_relaxed) && vi.port(false).outstanding() > many_sends;
}

void ring_send(Engine& engine, ViObject& vi) { gathers(vi) ? engine.ring_soon(vi) : engine.ring(vi); }

/// Where what is sent may meet a cancellation point.
[[gnu::noinline]] bool post_send_held(Engine& engine, ViObject& vi, void* owner, std::uint64_t address,
                                      VIP_MEM_HANDLE memory) {
  const vipl::Cancellation held(vipl::Cancellation::Held);
  return engine.do_at_once_and_settle(
      [=, &vi]() ALWAYS_INLINE { return vi.post_at_once<false>(owner, address, wire::MemHandle{memory}); },
      !vi.times_sends.load(std::memory_order_relaxed));
}

/// Most posts find the engine free: then the model takes them at once, past the queue of posts. False: nothing has
/// happened.
template <bool receive_queue>
[[gnu::always_inline]] inline bool post_at_once(Engine& engine, ViObject& vi, void* owner, std::uint64_t address,
                                                VIP_MEM_HANDLE memory) {
  const auto post = [=, &vi]() ALWAYS_INLINE {
    return vi.post_at_once<receive_queue>(owner, address, wire::MemHandle{memory});
  };
  if (receive_queue) return vi.receives_wait.load(std::memory_order_relaxed) && engine.do_at_once(post);
  if (gathers(vi)) return false;
  // Mostly no cancellation point is below but those that hold it back themselves: a trace, a wake-up.
  if (engine.sends_meet_cancellation()) [[unlikely]]
    return post_send_held(engine, vi, owner, address, memory);
  return engine.do_at_once_and_settle([=, &engine]()
                                          ALWAYS_INLINE { return !engine.sends_meet_cancellation() && post(); },
                                      !vi.times_sends.load(std::memory_order_relaxed));
}

[[gnu::noinline]] VIP_RETURN submit(Domain& domain, ViObject& vi, bool receive_queue, void* owner,
                                    std::uint64_t address, VIP_MEM_HANDLE memory) {
  const auto found = judge(domain, vi, receive_queue, owner, address, memory);
  if (!found) return VIP_INVALID_PARAMETER;
  const WorkPort::Posted posted = vi.port(receive_queue).post(owner, *found);
  if (posted == WorkPort::Posted::Gone) return VIP_INVALID_PARAMETER;
  if (posted == WorkPort::Posted::Full) return VIP_ERROR_RESOURCE;
  Engine& engine = domain.engine();
  if (!receive_queue || !found->valid || posted == WorkPort::Posted::Overrun) {
    receive_queue ? engine.ring(vi) : ring_send(engine, vi);
    return VIP_SUCCESS;
  }
  engine.ring_later(vi);
  // After that: the engine says that they wait no more before it looks at the bells for the last time.
  if (!vi.receives_wait.load()) engine.ring(vi);
  return VIP_SUCCESS;
}

template <bool receive_queue>
[[gnu::always_inline]] inline VIP_RETURN post(VIP_VI_HANDLE handle, VIP_DESCRIPTOR* descriptor, VIP_MEM_HANDLE memory) {
  Domain* domain = Domain::find();
  ViObject* vi = domain == nullptr ? nullptr : domain->find<ViObject>(handle);
  if (vi == nullptr) [[unlikely]]
    return VIP_INVALID_PARAMETER;  // an address that is not valid is a Post Descriptor Error (3.8.1), NULL too
  const std::uint64_t address = vipl::address_of(descriptor);
  if (post_at_once<receive_queue>(domain->engine(), *vi, handle, address, memory)) [[likely]]
    return VIP_SUCCESS;
  return submit(*domain, *vi, receive_queue, handle, address, memory);
}

VIP_RETURN to_api(Taken taken, VIP_RETURN not_done) {
  switch (taken) {
    case Taken::Success: return VIP_SUCCESS;
    case Taken::Error:
    case Taken::Empty: return VIP_DESCRIPTOR_ERROR;
    case Taken::NotDone: return not_done;
    case Taken::Gone: return VIP_INVALID_PARAMETER;
  }
  return VIP_INVALID_PARAMETER;
}

template <bool receive_queue>
[[gnu::always_inline]] inline VIP_RETURN take(VIP_VI_HANDLE handle, VIP_DESCRIPTOR** descriptor) {
  Domain* domain = Domain::find();
  ViObject* vi = domain == nullptr ? nullptr : domain->find<ViObject>(handle);
  if (vi == nullptr || descriptor == nullptr) return VIP_INVALID_PARAMETER;
  WorkPort::Completion completion{};
  WorkPort& queue = vi->port(receive_queue);
  const Taken taken =
      vipl::poll_once(domain->engine(), &queue, [&]() ALWAYS_INLINE { return queue.take(handle, completion); });
  *descriptor = reinterpret_cast<VIP_DESCRIPTOR*>(completion.address);
  return to_api(taken, VIP_NOT_DONE);
}

[[gnu::noinline]] VIP_RETURN wait_for(Domain& domain, WorkPort& queue, void* owner, VIP_ULONG timeout_ms,
                                      VIP_DESCRIPTOR** descriptor) {
  WorkPort::Completion completion{};
  const Taken taken = queue.wait(owner, vipl::deadline(domain.runtime(), timeout_ms), completion);
  *descriptor = reinterpret_cast<VIP_DESCRIPTOR*>(completion.address);
  return to_api(taken, VIP_TIMEOUT);
}

template <bool receive_queue>
[[gnu::always_inline]] inline VIP_RETURN wait(VIP_VI_HANDLE handle, VIP_ULONG timeout_ms, VIP_DESCRIPTOR** descriptor) {
  Domain* domain = Domain::find();
  ViObject* vi = domain == nullptr ? nullptr : domain->find<ViObject>(handle);
  if (vi == nullptr || descriptor == nullptr) return VIP_INVALID_PARAMETER;
  *descriptor = nullptr;
  WorkPort& queue = vi->port(receive_queue);
  if (queue.has_completion_queue()) return queue.is_owned_by(handle) ? VIP_ERROR_RESOURCE : VIP_INVALID_PARAMETER;
  WorkPort::Completion completion{};
  const Taken taken = queue.take_expected(handle, completion);  // what is there already needs no clock
  if (taken == Taken::NotDone) return wait_for(*domain, queue, handle, timeout_ms, descriptor);
  *descriptor = reinterpret_cast<VIP_DESCRIPTOR*>(completion.address);
  return to_api(taken, VIP_TIMEOUT);
}

VIP_RETURN notify(VIP_VI_HANDLE handle, bool receive_queue, VIP_PVOID context, Handler handler) {
  Domain* domain = Domain::find();
  ViObject* vi = domain == nullptr ? nullptr : domain->find<ViObject>(handle);
  if (vi == nullptr || handler == nullptr) return VIP_INVALID_PARAMETER;
  WorkPort& queue = vi->port(receive_queue);
  const bool has_completion_queue = queue.has_completion_queue(), empty = queue.empty();
  const VIP_NIC_HANDLE nic = vi->nic_handle.load();
  if (!queue.is_owned_by(handle)) return VIP_INVALID_PARAMETER;  // the memory belongs to another VI by now
  if (has_completion_queue) return VIP_ERROR_RESOURCE;
  if (empty) return VIP_DESCRIPTOR_ERROR;
  return queue.notifiers().add(queue, handle, nic, {handler, context}) ? VIP_SUCCESS : VIP_INVALID_PARAMETER;
}

}  // namespace

VIP_RETURN VipPostSend(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR* DescriptorPtr, VIP_MEM_HANDLE MemoryHandle) {
  return data_api([=]() ALWAYS_INLINE { return post<false>(ViHandle, DescriptorPtr, MemoryHandle); });
}
VIP_RETURN VipPostRecv(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR* DescriptorPtr, VIP_MEM_HANDLE MemoryHandle) {
  return data_api([=]() ALWAYS_INLINE { return post<true>(ViHandle, DescriptorPtr, MemoryHandle); });
}
VIP_RETURN VipSendDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR** DescriptorPtr) {
  return data_api([=]() ALWAYS_INLINE { return take<false>(ViHandle, DescriptorPtr); });
}
VIP_RETURN VipRecvDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR** DescriptorPtr) {
  return data_api([=]() ALWAYS_INLINE { return take<true>(ViHandle, DescriptorPtr); });
}
VIP_RETURN VipSendWait(VIP_VI_HANDLE ViHandle, VIP_ULONG TimeOut, VIP_DESCRIPTOR** DescriptorPtr) {
  return data_api([=]() ALWAYS_INLINE { return wait<false>(ViHandle, TimeOut, DescriptorPtr); });
}
VIP_RETURN VipRecvWait(VIP_VI_HANDLE ViHandle, VIP_ULONG TimeOut, VIP_DESCRIPTOR** DescriptorPtr) {
  return data_api([=]() ALWAYS_INLINE { return wait<true>(ViHandle, TimeOut, DescriptorPtr); });
}
VIP_RETURN VipSendNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context, Handler Handler) {
  return api([=] { return notify(ViHandle, false, Context, Handler); });
}
VIP_RETURN VipRecvNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context, Handler Handler) {
  return api([=] { return notify(ViHandle, true, Context, Handler); });
}
