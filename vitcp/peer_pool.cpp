#include "vitcp/peer_pool.hpp"

#include <algorithm>

#include "vitcp/conversions.hpp"

namespace vitcp {

void PeerPool::add(PeerRequest& request) { requests_.emplace(vi::PeerKey::of(request.remote()), &request); }

void PeerPool::remove(const PeerRequest& request) {
  const auto [first, last] = requests_.equal_range(vi::PeerKey::of(request.remote()));
  const auto found = std::find_if(first, last, [&](const auto& entry) { return entry.second == &request; });
  if (found != last) requests_.erase(found);
}

void PeerPool::waiting_changed(const PeerRequest& request, bool waits) {
  const vi::NetAddress& remote = request.remote();
  waits_.change(
      {.called = discriminator_of(remote), .peer_to_peer = true, .from = remote.host, .at = request.local().host},
      waits);
}

PeerRequest* PeerPool::match(const IncomingSetup& theirs) const {
  const auto [first, last] = requests_.equal_range(vi::PeerKey::asked_by(theirs.client(), theirs.wanted()));
  const auto found = std::find_if(first, last, [&](const auto& entry) { return entry.second->may_match(theirs); });
  return found == last ? nullptr : found->second;
}

}  // namespace vitcp
