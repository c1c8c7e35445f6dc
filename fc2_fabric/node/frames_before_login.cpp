#include "fc2_fabric/node/frames_before_login.hpp"

#include <iterator>
#include <utility>

namespace fc2 {

void FramesBeforeLogin::asked(wire::FcId peer) {
  const auto [port, first] = repeated_.try_emplace(peer.value);
  port->second = !first;
  drop_of(peer);
}

bool FramesBeforeLogin::keep(const ReceivedFrame& frame) {
  const auto port = repeated_.find(frame.header.s_id.value);
  if (kept_.size() == limit || port == repeated_.end() || port->second) return false;
  kept_.push_back({frame.header.s_id, std::move(*frame.owner)});
  return true;
}

void FramesBeforeLogin::logged_in(wire::FcId peer) {
  repeated_.erase(peer.value);
  for (Kept& kept : kept_) kept.due = kept.due || kept.peer == peer;
  if (!kept_.empty()) scheduler_.schedule_after(delivery_, 0);
}

void FramesBeforeLogin::forget(wire::FcId peer) {
  repeated_.erase(peer.value);
  drop_of(peer);
}

void FramesBeforeLogin::drop_of(wire::FcId peer) {
  std::erase_if(kept_, [&](const Kept& kept) { return kept.peer == peer; });
}

void FramesBeforeLogin::deliver() {
  std::vector<Kept> waiting;
  for (Kept& kept : std::exchange(kept_, {})) (kept.due ? waiting : kept_).push_back(std::move(kept));
  for (Kept& kept : waiting) port_.receive(std::move(kept.frame));
}

}  // namespace fc2
