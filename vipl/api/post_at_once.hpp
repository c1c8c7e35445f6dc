// A post past the queue of posts. Each VipPostXxx compiles it into itself: entering and leaving a function of its own
// would be an eighth of it.
#pragma once
#include "vi/short_post.hpp"
#include "vipl/api/objects.hpp"

namespace vipl {

template <bool receive_queue>
[[gnu::always_inline]] inline bool ViObject::post_at_once(void* owner, std::uint64_t address, wire::MemHandle region) {
  WorkPort& queue = ports_[receive_queue ? 1 : 0];
  if (model == nullptr || !queue.may_post_inside(owner)) return false;
  if (receive_queue && !receives_wait.load(std::memory_order_relaxed)) return false;
  if (!model->place_short<receive_queue>(address, region)) [[unlikely]]
    return post_judged(receive_queue, address, region);
  queue.count_post_inside();
  model->post_placed<receive_queue>();
  return true;
}

}  // namespace vipl
