// What the verbs of a process share: the core, the configuration, devices, connections.
#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "iwarp/drivers/host.hpp"
#include "iwarp/sctp_peers.hpp"
#include "verbs/configuration.hpp"

namespace iwarp::drivers {
class SctpTransport;
}

#pragma GCC visibility push(default)  // for both libraries
namespace verbs {
class Device;
class QueuePair;

/// Made when it is first needed, never destroyed: exit() must end at once. The child of a fork() makes its own; what it
/// has of its parent's makes no connection and sends nothing any more (ibv_fork_init).
class Process {
 public:
  /// Throws std::exception: too many open files, too many threads.
  static Process& get();

  [[nodiscard]] iwarp::drivers::Host& host() { return host_; }
  [[nodiscard]] const Configuration& configuration() const { return configuration_; }
  // --- inside
  /// Made when it is first asked for. nullptr: this build has no SCTP.
  [[nodiscard]] iwarp::SctpPeers* sctp_peers();
  /// All that were made (device.hpp).
  [[nodiscard]] std::vector<std::shared_ptr<Device>>& devices() { return devices_; }
  /// Connections and listeners outlive what the program has of them, until they let go themselves.
  void keep(const std::shared_ptr<void>& object) { kept_.emplace(object.get(), object); }
  void let_go(const void* object) { kept_.erase(object); }
  /// The number of a new queue pair: 24 bits, never 0.
  [[nodiscard]] std::uint32_t add(QueuePair& queue_pair);
  void remove(std::uint32_t queue_pair) { queue_pairs_.erase(queue_pair); }
  [[nodiscard]] QueuePair* queue_pair(std::uint32_t number) const;
  [[nodiscard]] iwarp::ProtectionDomain next_domain() { return {++last_domain_}; }

 private:
  Process();
  void abandon_in_child();
  static void end_in_order();
  static void prepare_fork();
  static void go_on_in_parent();
  static void go_on_in_child();

  const Configuration configuration_ = configuration_of_environment();
  iwarp::drivers::Host host_{iwarp::drivers::Host::Progress::own_thread};
  std::unique_ptr<iwarp::drivers::SctpTransport> sctp_;
  std::vector<std::shared_ptr<Device>> devices_;
  std::unordered_map<const void*, std::shared_ptr<void>> kept_;
  std::unordered_map<std::uint32_t, QueuePair*> queue_pairs_;
  std::uint32_t last_number_ = 0, last_domain_ = 0;
};

}  // namespace verbs
#pragma GCC visibility pop
