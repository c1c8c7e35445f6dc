// A transport of the VI model within one process: no packets, no fabric, and every behaviour of vi::Transport. What it
// moves, it moves by events of the scheduler; peers answer at once.
//
//   vi::Nic -> Provider -> Endpoint (one per VI) -> MessageMover
//                    Hub (one for all NICs of the process: addresses, waiters, offers)
//
// No I/O, clock, thread. Not thread-safe: the driver serialises.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "loopback/endpoint.hpp"
#include "loopback/hub.hpp"
#include "vi/transport.hpp"

namespace loopback {

/// Of one NIC. Its VIs connect to those of all NICs on the hub.
class Provider final : public vi::Transport {
 public:
  /// The hub outlives it.
  Provider(Hub& hub, std::vector<wire::IpAddress> addresses);
  ~Provider() override;

  // vi::Transport; see there
  [[nodiscard]] vi::Capabilities capabilities() const override;
  vi::Return attach(vi::Vi& vi) override;
  void detach(vi::Vi& vi) override;
  void connect_request(vi::Vi& vi, const vi::NetAddress& local, const vi::NetAddress& remote, vi::TimeNs timeout_ns,
                       vi::ConnectOperation& operation) override;
  void connect_wait(const vi::NetAddress& local, vi::TimeNs timeout_ns, vi::ConnectWaitOperation& operation) override;
  void connect_accept(vi::ConnectionToken token, vi::Vi& vi, vi::Operation& operation) override;
  void connect_reject(vi::ConnectionToken token, vi::Operation& operation) override;
  vi::Return connect_peer_request(vi::Vi& vi, const vi::NetAddress& local, const vi::NetAddress& remote,
                                  vi::TimeNs timeout_ns, vi::ConnectOperation& operation) override;
  void withdraw(vi::ConnectWaitOperation& operation) override { hub_.points().withdraw(operation); }
  void disconnect(vi::Vi& vi, vi::Operation& operation) override;
  void send_posted(vi::Vi& vi) override { of(vi).mover().wake(); }
  void stopped(vi::Vi& vi, vi::StopCause cause) override;
  [[nodiscard]] vi::EndCause cause_of_end(const vi::Vi& vi) const override;

  /// Each VI and its endpoint know each other; they are consistent, and so is the hub, which has these hosts. Between
  /// calls and events. Linear.
  [[nodiscard]] bool is_consistent() const;

 private:
  static Endpoint& of(const vi::Vi& vi) { return *static_cast<Endpoint*>(vi.transport_context); }
  [[nodiscard]] bool is_own(const wire::IpAddress& host) const;
  vi::Return request(vi::Vi& vi, const Endpoint::Request& request, vi::TimeNs timeout_ns);
  [[nodiscard]] vi::Return accept(vi::ConnectionToken token, vi::Vi& vi);

  Hub& hub_;
  const std::vector<wire::IpAddress> addresses_;
  std::map<const vi::Vi*, std::unique_ptr<Endpoint>> endpoints_;
};

}  // namespace loopback
