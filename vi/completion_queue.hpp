// A completion queue of a NIC (VI-ARCH 2.4) as the model knows it: which work queues are associated with it. Its
// entries are kept by the consumer, who hears of each completion (Listener::completed).
#pragma once
#include <cstdint>

namespace vi {

class CompletionQueue {
 public:
  void attach() { ++users_; }
  void detach() { --users_; }
  [[nodiscard]] bool in_use() const { return users_ != 0; }
  void* context = nullptr;  // the consumer's queue

 private:
  std::uint32_t users_ = 0;
};

}  // namespace vi
