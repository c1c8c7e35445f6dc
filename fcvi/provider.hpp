// The FC-VI provider of one N_Port: the VI model's transport, over exchanges of TYPE 58h (FC-VI clauses 4 to 8).
//
//   Provider    the calls of vi::Transport
//   Dispatcher  what the N_Port brings: frames, IUs, logins and logouts
//   SetupBook   Connection Setups, ours and the peers', and the requests of the peer pool
//   Connections by FCVI_HANDLE: each with MessageSender, MessageReceiver, ReadResponder and Disconnector
//   Services    what all of these are given: port, scheduler, counters, configuration, ...
//
// No I/O, clock, thread: fed by the N_Port and its scheduler. Not thread-safe: the driver serialises.
#pragma once
#include <cstdint>
#include <memory>

#include "farp/resolver.hpp"
#include "fc2_fabric/node/n_port.hpp"
#include "fcvi/configuration.hpp"
#include "fcvi/counters.hpp"
#include "fcvi/reports.hpp"
#include "vi/transport.hpp"

namespace fcvi {
class Provider final : public vi::Transport {
 public:
  Provider(fc2::NPort& port, farp::Resolver& resolver, ProviderConfig config);
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
  void withdraw(vi::ConnectWaitOperation& operation) override;
  void disconnect(vi::Vi& vi, vi::Operation& operation) override;
  void send_posted(vi::Vi& vi) override;
  void stopped(vi::Vi& vi, vi::StopCause cause) override;
  /// Pending Connect Retry (FC-VI 8.2 c).
  [[nodiscard]] std::string_view pending_state_name(const vi::Vi& vi) const override;
  [[nodiscard]] EndCause cause_of_end(const vi::Vi& vi) const override { return end_cause(vi); }

  /// For the next Connection Setup of this VI, until the VI is destroyed.
  void set_options(const vi::Vi& vi, ConnectionOptions options);

  /// For who asks where the peer stopped, and why. Nothing before the peer's first DISCONNECT IU of the connection;
  /// kept until the VI connects again or is destroyed.
  [[nodiscard]] std::optional<PeerReport> told_by_peer(const vi::Vi& vi) const;
  /// From the loss on, when the consumer hears of it too, until the VI is Idle again.
  [[nodiscard]] static EndCause end_cause(const vi::Vi& vi);

  [[nodiscard]] const ProviderConfig& config() const;
  /// One of the addresses that connection points and requests of this NIC may be bound to (FC-VI 4.2).
  [[nodiscard]] bool is_own(const wire::IpAddress& host) const;
  [[nodiscard]] const ProviderCounters& counters() const;
  [[nodiscard]] fc2::NPort& port();
  /// FCVI_HANDLEs that are in use or rest, and Connection Setups that are not over: what a long run must not grow.
  [[nodiscard]] std::size_t handles_in_use() const;
  [[nodiscard]] std::size_t open_setups() const;
  /// FCVI_CONNECTION_IDs of failed set-ups, ours and our peers', that rest (C.2).
  [[nodiscard]] std::size_t resting_connection_ids() const;
  [[nodiscard]] std::size_t open_connection_ids() const;
  /// Of all its parts, whenever none of its functions runs. Linear: for tests and simulators.
  [[nodiscard]] bool is_consistent() const;
  /// Bytes of the reorder pool: now, and the most at once.
  [[nodiscard]] std::uint64_t reorder_bytes() const;
  [[nodiscard]] std::uint64_t reorder_peak_bytes() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace fcvi
