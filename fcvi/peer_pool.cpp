#include "fcvi/peer_pool.hpp"

#include <algorithm>

#include "fcvi/conversions.hpp"

namespace fcvi {

PeerRequest& PeerPool::add(std::unique_ptr<PeerRequest> request) {
  const vi::NetAddress& remote = request->remote();
  return *requests_.emplace(vi::PeerKey::of(remote), std::move(request))->second;
}

PeerRequest* PeerPool::match(const wire::fcvi::ConnectRqst& request, wire::FcId source) {
  const auto [first, last] =
      requests_.equal_range(vi::PeerKey::asked_by(local_address(request.payload), remote_address(request.payload)));
  for (auto candidate = first; candidate != last; ++candidate)
    if (candidate->second->may_match(request, source)) return candidate->second.get();
  return nullptr;
}

// None leaves the map before bury().

void PeerPool::link_lost() {
  for (auto& [key, request] : requests_)
    if (!request->is_over()) request->link_lost();
}

void PeerPool::fabric_logged_in() {
  for (auto& [key, request] : requests_) request->search_again();
}

void PeerPool::superseded_resp1_received(std::uint64_t setup, machines::peer_arbitration::Resp1 resp1,
                                         wire::FcId port) {
  for (auto& [key, request] : requests_) request->superseded_resp1_received(setup, resp1, port);
}

void PeerPool::retire(const PeerRequest& request) { retired_.push_back(vi::PeerKey::of(request.remote())); }

bool PeerPool::is_consistent() const {
  return retired_.size() <= requests_.size() && std::all_of(requests_.begin(), requests_.end(), [](const auto& entry) {
           return entry.second->is_consistent();
         });
}

void PeerPool::bury() {
  for (const vi::PeerKey& key : retired_) {
    const auto [first, last] = requests_.equal_range(key);
    for (auto request = first; request != last;)
      request = request->second->is_over() ? requests_.erase(request) : std::next(request);
  }
  retired_.clear();
}

}  // namespace fcvi
