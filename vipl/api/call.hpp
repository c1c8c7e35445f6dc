// One call of the API.
#pragma once
#include <cxxabi.h>

#include <optional>

#include "vipl/engine/cancellation.hpp"
#include "vipl/engine/memory_faults.hpp"
#include "vipl/api/objects.hpp"
#include "vipl/engine/trace.hpp"
#include "vipl/vipl.h"

namespace vipl {

/// The C edge: no exception crosses it. Exceptions inside mean lack of memory or of threads.
template <class Body>
[[gnu::always_inline]] inline VIP_RETURN caught(Body& body) {
  try {
    return body();
  } catch (const abi::__forced_unwind&) {
    throw;  // the caller's frames are C
  } catch (...) {
    return VIP_ERROR_RESOURCE;
  }
}

template <class Body>
VIP_RETURN guarded(Body& body) {
  const Cancellation held(Cancellation::Held);
  return caught(body);
}

/// By value: what the usual way has stays in registers.
template <class Body>
[[gnu::noinline, gnu::cold]] VIP_RETURN traced(Body body, const char* name) {
  const trace::Traced call(name);
  return call.ended(guarded(body));
}

/// `name` is the VipXxx that makes the call.
template <class Body>
VIP_RETURN api(Body body, const char* name = __builtin_FUNCTION()) {
  if (trace::any()) [[unlikely]]
    return traced(body, name);
  return guarded(body);
}

/// The same for calls of the data plane, which hold back pthread_cancel() themselves where they may reach a
/// cancellation point. What they usually do has none, and Cancellation costs a locked instruction at each end.
template <class Body>
[[gnu::always_inline]] inline VIP_RETURN data_api(Body body, const char* name = __builtin_FUNCTION()) {
  if (trace::any()) [[unlikely]]
    return traced(body, name);
  return caught(body);
}

/// A control call: alone in the engine, which settles before the call returns. Sees all that this thread
/// posted before it.
class Call {
 public:
  Call() : Call(Domain::find()) {}
  explicit Call(Domain* domain) : domain_(domain) {
    if (domain_ == nullptr) return;
    MemoryFaults::look_again();
    domain_->engine().enter();
  }
  ~Call() {
    if (domain_ != nullptr) domain_->engine().leave();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Pre: a handle was found.
  Domain& domain() { return *domain_; }

  /// nullptr for anything but a valid handle of this kind.
  template <class T>
  T* find(void* handle) {
    T* found = domain_ == nullptr ? nullptr : domain_->find<T>(handle);
    if constexpr (std::is_base_of_v<Part, T>)
      if (found != nullptr && found->nic->closed()) return nullptr;  // VipCloseNic is under way
    return found;
  }

  /// The result of an operation that the transport always completes.
  template <class Operation>
  VIP_RETURN answer(Operation& operation) {
    const bool answered =
        domain_->engine().spin_until(operation.point, runtime::never, [&] { return operation.result.has_value(); });
    return answered ? static_cast<VIP_RETURN>(*operation.result) : VIP_TIMEOUT;
  }

 private:
  Domain* domain_;
};

}  // namespace vipl
