#include "vitcp/port_service/waiters.hpp"

#include <algorithm>
#include <tuple>

namespace vitcp::port_service {

bool Wanted::meets(const wire::vitcp::CeHeader& request, const Ends& ends) const {
  if (request.called.octets != called.octets || request.peer_to_peer != peer_to_peer) return false;
  if (calling && calling->octets != request.calling.octets) return false;
  return (!from || *from == ends.from) && (!at || *at == ends.at);
}

bool WantedOrder::operator()(const Wanted& left, const Wanted& right) const {
  const auto calling = [](const Wanted& wanted) {
    return wanted.calling ? wanted.calling->octets : decltype(wanted.called.octets){};
  };
  const auto key = [&](const Wanted& wanted) {
    return std::make_tuple(wanted.called.octets, wanted.peer_to_peer, wanted.calling.has_value(), calling(wanted),
                           wanted.from, wanted.at);
  };
  return key(left) < key(right);
}

bool Waiters::add(const Waiter& waiter) {
  ById& own = by_client_[waiter.client];
  if (own.size() >= max_per_client || own.contains(waiter.id)) return false;
  Queue& queue = by_discriminator_[waiter.wanted.called.octets];
  own[waiter.id] = queue.insert(queue.end(), waiter);
  ++count_;
  return true;
}

void Waiters::erase(Queue::iterator waiter) {
  const auto queue = by_discriminator_.find(waiter->wanted.called.octets);
  queue->second.erase(waiter);
  if (queue->second.empty()) by_discriminator_.erase(queue);
  --count_;
}

bool Waiters::remove(ClientId client, WaitId id) {
  const auto own = by_client_.find(client);
  if (own == by_client_.end()) return false;
  const auto found = own->second.find(id);
  if (found == own->second.end()) return false;
  erase(found->second);
  own->second.erase(found);
  if (own->second.empty()) by_client_.erase(own);
  return true;
}

void Waiters::remove_all(ClientId client) {
  const auto own = by_client_.find(client);
  if (own == by_client_.end()) return;
  for (const auto& [id, waiter] : own->second) erase(waiter);
  by_client_.erase(own);
}

std::optional<Waiter> Waiters::first(const wire::vitcp::CeHeader& request, const Ends& ends,
                                     const std::set<ClientId>& except) const {
  const auto queue = by_discriminator_.find(request.called.octets);
  if (queue == by_discriminator_.end()) return std::nullopt;
  const auto met = [&](const Waiter& waiter) {
    return waiter.wanted.meets(request, ends) && !except.contains(waiter.client);
  };
  const auto found = std::find_if(queue->second.begin(), queue->second.end(), met);
  return found == queue->second.end() ? std::nullopt : std::optional(*found);
}

std::size_t Waiters::count_of(ClientId client) const {
  const auto own = by_client_.find(client);
  return own == by_client_.end() ? 0 : own->second.size();
}

std::vector<Waiter> Waiters::all() const {
  std::vector<Waiter> waiters;
  waiters.reserve(count_);
  for (const auto& [discriminator, queue] : by_discriminator_)
    waiters.insert(waiters.end(), queue.begin(), queue.end());
  return waiters;
}

}  // namespace vitcp::port_service
