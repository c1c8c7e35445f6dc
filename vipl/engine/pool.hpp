// Objects whose memory is never used for anything else.
#pragma once
#include <memory>
#include <utility>
#include <vector>

namespace vipl {

/// Threads read VIs and completion queues without the engine's lock, perhaps after these were destroyed. Their memory
/// is therefore kept as long as the pool lives, and only another object of the same type gets it. T has `bool
/// try_rest()`, called with the engine's lock: drops the last user's data unless a thread is still using it.
template <class T>
class Pool {
 public:
  /// The last owner returns it. It must not outlive the pool.
  template <class... Arguments>
  std::shared_ptr<T> take(Arguments&... arguments) {
    T* object = rested();
    if (object == nullptr) {
      used_.reserve(objects_.size() + 1);  // so that giving back cannot fail
      object = objects_.emplace_back(std::make_unique<T>(arguments...)).get();
    }
    return std::shared_ptr<T>(object, [this](T* given_back) { used_.push_back(given_back); });
  }

 private:
  T* rested() {
    // A thread that still uses an object was preempted there, which is rare: check a few.
    for (std::size_t i = 0; i != used_.size() && i != 4; ++i) {
      std::swap(used_[i], used_.back());
      if (!used_.back()->try_rest()) continue;
      T* const object = used_.back();
      used_.pop_back();
      return object;
    }
    return nullptr;
  }

  std::vector<std::unique_ptr<T>> objects_;
  std::vector<T*> used_;
};

}  // namespace vipl
