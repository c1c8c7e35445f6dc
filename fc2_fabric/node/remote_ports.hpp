// The ports that an N_Port knows. Bounded: strangers may have as many addresses as there are, so where the table is
// full whoever is not in use makes room: first those without a login, then the login that is the oldest. FC-LS lets a
// login end implicitly; who comes back is told so by LOGO (NPort::deny), and logs in anew.
#pragma once
#include <cstdint>
#include <map>
#include <memory>

#include <boost/intrusive/list.hpp>

#include "fc2_fabric/node/remote_port.hpp"

namespace fc2 {

class RemotePorts {
 public:
  using ById = std::map<std::uint32_t, std::unique_ptr<RemotePort>>;  // in order of N_Port_ID

  /// `owner` hears of each one's login.
  RemotePorts(const LoginServices& services, PortListener& owner)
      : port_(services.port), services_(services), owner_(owner) {}
  [[nodiscard]] RemotePort* find(wire::FcId id) const {
    return last_found_ != nullptr && last_found_->peer() == id ? last_found_ : look_up(id);
  }
  /// Made on first use. What we ask for ourselves is never refused: others make room for it afterwards.
  RemotePort& at(wire::FcId id);
  /// For one that is not known, as a peer's frame asks for it. False: all are in use. Some may go: no other may be on
  /// the stack.
  bool make_room_for_login(wire::FcId id);
  /// The same for one that asks for no login: none ends for its sake.
  bool make_room_for_stranger(wire::FcId id);
  void login_begins(RemotePort& port) { move(port, logged_in_); }
  void login_ends(RemotePort& port) { move(port, others_); }

  /// Each port stands in one of the queues.
  [[nodiscard]] bool is_consistent() const;

  [[nodiscard]] ById::const_iterator begin() const { return by_id_.begin(); }
  [[nodiscard]] ById::const_iterator end() const { return by_id_.end(); }
  [[nodiscard]] std::size_t size() const { return by_id_.size(); }

 private:
  using Queue = boost::intrusive::list<RemotePort, boost::intrusive::constant_time_size<false>>;
  [[nodiscard]] RemotePort* look_up(wire::FcId id) const;
  static void move(RemotePort& port, Queue& queue);
  [[nodiscard]] bool has_room_for(wire::FcId id) const;
  bool evict_one_of(Queue& queue);
  void tidy();

  const PortServices& port_;
  const LoginServices& services_;
  PortListener& owner_;
  Queue others_, logged_in_;  // the oldest first; outlive the ports
  ById by_id_;
  mutable RemotePort* last_found_ = nullptr;
  Timer<RemotePorts, &RemotePorts::tidy> tidy_{*this};
};

}  // namespace fc2
