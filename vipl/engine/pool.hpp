// Objects whose memory is always theirs.
#pragma once
#include <memory>
#include <utility>
#include <vector>

namespace vipl {

/// Threads look at VIs and completion queues without the engine's lock, and may do so when these are gone already.
/// Their memory is therefore never given back while the pool lives, and only another object of the same type gets it.
/// T has `bool try_rest()`: drops what the last user left unless somebody is still at it. With the engine's lock.
template <class T>
class Pool {
 public:
  /// The last owner returns it. Must not outlive the pool.
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
    // Whoever is still at an object is preempted there, and that is seldom: look at a few.
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
