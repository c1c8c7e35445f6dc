// Who waits for which ConnectRequest.
#pragma once
#include <list>
#include <map>
#include <set>
#include <vector>

#include "runtime/time.hpp"
#include "wire/vitcp/ce_header.hpp"

namespace vitcp::port_service {

/// A process, for as long as its link to the service lasts.
using ClientId = std::uint64_t;
/// What it calls one of its waits.
using WaitId = std::uint32_t;

/// Between which addresses of hosts a stream is.
struct Ends {
  Ends(const wire::IpAddress& sender, const wire::IpAddress& receiver = {})  // NOLINT: most tests name the sender alone
      : from(sender), at(receiver) {}
  wire::IpAddress from;
  wire::IpAddress at;  // of this host: where the sender connected to
};

/// Which ConnectRequest is waited for. Discriminators match padded with zeros (ruling V-14).
struct Wanted {
  wire::vitcp::Discriminator called{};
  bool peer_to_peer = false;  // must match that of the request (VI-TCP 3.3)
  /// Of a peer that knows who is to call it (VI-TCP 4, ruling V-13): from there only.
  std::optional<wire::vitcp::Discriminator> calling{};
  std::optional<wire::IpAddress> from{};
  /// Of a NIC that is one of several behind the port: to its address only.
  std::optional<wire::IpAddress> at{};

  [[nodiscard]] bool meets(const wire::vitcp::CeHeader& request, const Ends& ends) const;
  friend bool operator==(const Wanted&, const Wanted&) = default;
};

/// An order in which those are equal that the same requests meet.
struct WantedOrder {
  [[nodiscard]] bool operator()(const Wanted& left, const Wanted& right) const;
};

struct Waiter {
  ClientId client = 0;
  WaitId id = 0;
  Wanted wanted{};
  runtime::TimeNs since = 0;
};

/// Of several that wait for the same the one that has waited longest is first.
class Waiters {
 public:
  static constexpr std::size_t max_per_client = 65'536;

  /// False: the client has a wait of that id, or too many.
  bool add(const Waiter& waiter);
  /// False: there is none.
  bool remove(ClientId client, WaitId id);
  void remove_all(ClientId client);
  /// The first that it meets, other than of these clients; it stays until it is removed.
  [[nodiscard]] std::optional<Waiter> first(const wire::vitcp::CeHeader& request, const Ends& ends,
                                            const std::set<ClientId>& except = {}) const;
  [[nodiscard]] std::size_t size() const { return count_; }
  /// Whom all waits are of; nothing: there are none, or of several.
  [[nodiscard]] std::optional<ClientId> only_client() const {
    return by_client_.size() == 1 ? std::optional(by_client_.begin()->first) : std::nullopt;
  }
  [[nodiscard]] std::size_t count_of(ClientId client) const;
  /// In the order of their discriminators, each in that of their coming.
  [[nodiscard]] std::vector<Waiter> all() const;

 private:
  using Key = std::array<std::uint8_t, wire::vitcp::Discriminator::max_bytes>;
  using Queue = std::list<Waiter>;
  using ById = std::map<WaitId, Queue::iterator>;
  void erase(Queue::iterator waiter);

  std::map<Key, Queue> by_discriminator_;  // no queue is empty
  std::map<ClientId, ById> by_client_;     // likewise
  std::size_t count_ = 0;
};

}  // namespace vitcp::port_service
