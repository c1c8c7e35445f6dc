#include "iwarp/chunk_order.hpp"

namespace iwarp {

ChunkOrder::~ChunkOrder() {
  for (const auto& [ssn, chunk] : waiting_) octets_.count -= chunk.octets.size() + WaitingOctets::of_a_chunk;
}

ChunkOrder::Place ChunkOrder::receive(std::uint16_t ssn, std::uint32_t protocol, wire::Bytes octets) {
  if (ssn == due_) {
    ++due_;
    return Place::next;
  }
  const auto ahead = static_cast<std::uint16_t>(ssn - due_);
  const bool fits =
      ahead <= most_chunks && octets_.count + octets.size() + WaitingOctets::of_a_chunk <= WaitingOctets::most;
  if (!wire::sctp::ssn_less(due_, ssn) || !fits) return Place::wrong;
  if (!waiting_.try_emplace(ssn, Chunk{protocol, {octets.begin(), octets.end()}}).second) return Place::wrong;
  octets_.count += octets.size() + WaitingOctets::of_a_chunk;
  return Place::early;
}

bool ChunkOrder::take_waiting(Chunk& chunk) {
  const auto found = waiting_.find(due_);
  if (found == waiting_.end()) return false;
  chunk = std::move(found->second);
  octets_.count -= chunk.octets.size() + WaitingOctets::of_a_chunk;
  waiting_.erase(found);
  ++due_;
  return true;
}

}  // namespace iwarp
