#include "fcvi/reorder_pool.hpp"

#include <algorithm>

namespace fcvi {

bool ReorderPool::Share::take(wire::FcId peer, std::uint64_t bytes, Need need) {
  if (bytes == 0) return true;
  const auto holds = pool_.of_peer_.find(peer.value);
  const std::uint64_t of_peer = holds != pool_.of_peer_.end() ? holds->second : 0;
  if (!pool_.may_take(bytes_, of_peer, bytes, need)) return false;
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
  const std::uint64_t free = limit_bytes_ - held_bytes_;
  if (need == Need::Now) return bytes <= free;
  return bytes <= free && of_peer + bytes <= free && of_stream + bytes <= free - of_peer;
}

}  // namespace fcvi
