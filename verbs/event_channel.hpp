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

/// Around a fork().
void lock_channels();
void unlock_channels();

using CmEvents = EventQueue<std::shared_ptr<CmEvent>>;

class EventChannel final : public rdma_event_channel {
 public:
  EventChannel();
  ~EventChannel();
  EventChannel(const EventChannel&) = delete;
  EventChannel& operator=(const EventChannel&) = delete;
  static EventChannel& of(rdma_event_channel* channel) { return static_cast<EventChannel&>(*channel); }
  [[nodiscard]] CmEvents& events() { return *events_; }

 private:
  std::shared_ptr<CmEvents> events_ =
      std::make_shared<CmEvents>();  // also of a thread that waits, and goes on doing so
};

/// As rdma_get_cm_event, rdma_ack_cm_event: 0, or errno. A program that ends may destroy the channel while a thread of
/// it waits, which then waits on, as at the kernel's; or comes back for the next event: EBADF, but late, since an error
/// there becomes the exit status, and here more is between that and the end than where the kernel ends connections.
[[nodiscard]] int get_event(rdma_event_channel* channel, rdma_cm_event** event);
int acknowledge(rdma_cm_event* event);

}  // namespace verbs
#pragma GCC visibility pop
