#include "fcvi/reorder_pool.hpp"

#include <algorithm>

namespace fcvi {

std::uint64_t ReorderPool::held_by(wire::FcId peer) const {
  const auto holds = of_peer_.find(peer.value);
  return holds != of_peer_.end() ? holds->second : 0;
}

bool ReorderPool::Share::has_room(wire::FcId peer, std::uint64_t bytes, Need need) const {
  return bytes == 0 || pool_.may_take(bytes_, pool_.held_by(peer), bytes, need);
}

bool ReorderPool::Share::take(wire::FcId peer, std::uint64_t bytes, Need need) {
  if (bytes == 0) return true;
  if (!has_room(peer, bytes, need)) return false;
  peer_ = peer;
  bytes_ += bytes;
  pool_.of_peer_[peer.value] += bytes;
  pool_.held_bytes_ += bytes;
  pool_.peak_bytes_ = std::max(pool_.peak_bytes_, pool_.held_bytes_);
  return true;
}

void ReorderPool::Share::give_back(std::uint64_t bytes) {
  if (bytes == 0) return;
  bytes_ -= bytes;
  pool_.held_bytes_ -= bytes;
  const auto holds = pool_.of_peer_.find(peer_.value);
  if ((holds->second -= bytes) == 0) pool_.of_peer_.erase(holds);
}

bool ReorderPool::may_take(std::uint64_t of_stream, std::uint64_t of_peer, std::uint64_t bytes, Need need) const {
  if (bytes > limit_bytes_ - held_bytes_) return false;
  const std::uint64_t free = limit_bytes_ - held_bytes_ - bytes;  // afterwards, all three
  of_peer += bytes, of_stream += bytes;
  switch (need) {
    case Need::Share: return of_peer <= free && of_stream <= free - of_peer;
    case Need::Book: return of_peer / 2 <= free;
    case Need::Now: break;
  }
  return true;
}

}  // namespace fcvi
