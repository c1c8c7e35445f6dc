// What the loop-back NICs of one process share: their addresses, who waits for a connection, and whose requests are
// offered.
#pragma once
#include <array>
#include <list>
#include <set>
#include <span>
#include <vector>

#include "runtime/scheduler.hpp"
#include "vi/connection_points.hpp"
#include "vi/offer_tokens.hpp"
#include "vi/transport.hpp"

namespace loopback {
class Endpoint;

inline constexpr std::size_t chunk_bytes =
    1024;  // moved by one event, so that a slice of events is short: others have their turn
inline constexpr std::size_t max_pending_requests = 1024;  // offered, and not decided

class Hub {
 public:
  explicit Hub(runtime::Scheduler& scheduler) : scheduler_(scheduler), points_(scheduler) {}

  runtime::Scheduler& scheduler() { return scheduler_; }
  vi::ConnectionPoints& points() { return points_; }
  vi::OfferTokens<Endpoint>& offers() { return offers_; }
  /// Where data rest between two memories, either of which may be gone. For one chunk.
  std::span<std::uint8_t> chunk(std::size_t bytes) { return std::span(chunk_).first(bytes); }

  void add_hosts(const std::vector<wire::IpAddress>& hosts) { hosts_.insert(hosts.begin(), hosts.end()); }
  void remove_hosts(const std::vector<wire::IpAddress>& hosts);
  [[nodiscard]] bool has_host(const wire::IpAddress& host) const { return hosts_.contains(host); }

  // VipConnectPeerRequests without a connection.
  void add_peer(Endpoint& endpoint) { peers_.push_back(&endpoint); }
  void remove_peer(Endpoint& endpoint) { peers_.remove(&endpoint); }
  /// The oldest that `endpoint` asks for, and that asks for it; nullptr: there is none yet.
  [[nodiscard]] Endpoint* find_peer(const Endpoint& endpoint) const;
  /// Who is in the peer pool waits for a peer and is there once; there are no more offers than there may be. Between
  /// calls and events. Quadratic in the pool.
  [[nodiscard]] bool is_consistent() const;

 private:
  runtime::Scheduler& scheduler_;
  vi::ConnectionPoints points_;
  vi::OfferTokens<Endpoint> offers_{max_pending_requests};
  std::multiset<wire::IpAddress> hosts_;  // NICs of one node have the same
  std::list<Endpoint*> peers_;            // in order of arrival
  std::array<std::uint8_t, chunk_bytes> chunk_{};
};

}  // namespace loopback
