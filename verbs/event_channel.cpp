#include "verbs/event_channel.hpp"

#include <algorithm>
#include <utility>

namespace verbs {

CmEvent::CmEvent(rdma_cm_id& of, Acknowledgements& at, rdma_cm_event_type type, int why) : rdma_cm_event{}, own(&at) {
  id = &of;
  rdma_cm_event::event = type;
  status = why;
}

void CmEvent::set_listener(rdma_cm_id& of, Acknowledgements& at) {
  listen_id = &of;
  of_listener = &at;
}

void CmEvent::set_private_data(std::vector<std::uint8_t> octets) {
  constexpr std::size_t most = 255;
  data = std::move(octets);
  param.conn.private_data = data.empty() ? nullptr : data.data();
  param.conn.private_data_len = static_cast<std::uint8_t>(std::min(data.size(), most));
}

/// The program has a reference of its own until it acknowledges.
int get_event(EventChannel& channel, rdma_cm_event** event) {
  std::shared_ptr<CmEvent> next;
  if (const int error = channel.events().pop(next); error != 0) return error;
  next->own->given();
  if (next->of_listener != nullptr) next->of_listener->given();
  *event = new CmEvent(std::move(*next));
  return 0;
}

int acknowledge(rdma_cm_event* event) {
  const std::unique_ptr<CmEvent> whole(static_cast<CmEvent*>(event));
  if (whole->of_listener != nullptr) whole->of_listener->taken();
  whole->own->taken();
  return 0;
}

}  // namespace verbs
