// One call of the API: holds the lock, knows the handles, and lets the fabric settle before it returns.
#pragma once
#include <optional>

#include "vipl/objects.hpp"
#include "vipl/vipl.h"

namespace vipl {

class Call {
 public:
  Call() : Call(Domain::find()) {}
  explicit Call(Domain* domain) : domain_(domain) {
    if (domain_ == nullptr) return;
    domain_->runtime().lock();
    domain_->settle();
  }
  ~Call() {
    if (domain_ == nullptr) return;
    domain_->settle();
    domain_->runtime().unlock();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Pre: some handle was found.
  Domain& domain() { return *domain_; }

  /// nullptr for anything but a valid handle of this kind.
  template <class T>
  T* find(void* handle) {
    Object* object = domain_ == nullptr ? nullptr : domain_->object(handle);
    if (object == nullptr || object->kind != T::its_kind) return nullptr;
    T* found = static_cast<T*>(object);
    if constexpr (std::is_base_of_v<Part, T>)
      if (found->nic->closed()) return nullptr;  // VipCloseNic is under way
    return found;
  }

  /// The transport's answer to an operation that it always answers.
  template <class Operation>
  VIP_RETURN answer(Operation& operation) {
    const bool answered =
        domain_->wait_until(operation.point, fc2::never, [&] { return operation.result.has_value(); });
    return answered ? static_cast<VIP_RETURN>(*operation.result) : VIP_TIMEOUT;
  }

 private:
  Domain* domain_;
};

}  // namespace vipl
