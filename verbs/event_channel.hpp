// Events of rdma_cm_ids.
#pragma once
#include <rdma/rdma_cma.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "verbs/event_queue.hpp"

#pragma GCC visibility push(default)  // for both libraries
namespace verbs {

/// With the private data that it points to.
struct CmEvent final : rdma_cm_event {
  /// Who destroys `of` waits until the event is acknowledged at `at`.
  CmEvent(rdma_cm_id& of, Acknowledgements& at, rdma_cm_event_type type, int why);
  /// Of a request: the listening id, which waits, too.
  void set_listener(rdma_cm_id& of, Acknowledgements& at);
  void set_private_data(std::vector<std::uint8_t> octets);
  std::vector<std::uint8_t> data{};
  Acknowledgements* own;
  Acknowledgements* of_listener = nullptr;
};

class EventChannel final : public rdma_event_channel {
 public:
  EventChannel() : rdma_event_channel{} { fd = events_.descriptor(); }
  static EventChannel& of(rdma_event_channel* channel) { return static_cast<EventChannel&>(*channel); }
  [[nodiscard]] EventQueue<std::shared_ptr<CmEvent>>& events() { return events_; }

 private:
  EventQueue<std::shared_ptr<CmEvent>> events_;
};

/// As rdma_get_cm_event, rdma_ack_cm_event: 0, or errno.
[[nodiscard]] int get_event(EventChannel& channel, rdma_cm_event** event);
int acknowledge(rdma_cm_event* event);

}  // namespace verbs
#pragma GCC visibility pop
