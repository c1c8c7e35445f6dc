// Maps host addresses to N_Port_IDs (FC-VI 7.4 to 7.7) and makes our own addresses known: by the Name Server,
// else by FARP.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fc2_fabric/node/n_port.hpp"
#include "runtime/scheduler.hpp"

namespace farp {

struct ResolverConfig {
  std::vector<wire::IpAddress> own_addresses = {};  // registered by RIPP_ID, answered in FARP
  std::string symbolic_node_name = {};              // RNN_ID and RSNN_NN: the host's name; empty: not registered
  std::string symbolic_port_name = {};              // RSPN_ID; empty: not registered
  bool use_name_server = true;                      // off: FARP only, as where there is no fabric
  bool register_state_changes = true;               // SCR: an RSCN invalidates the entries it affects (FC-VI 7.7.5)
  int retries = 2;                                  // of each way of asking
  runtime::TimeNs farp_timeout = 0;                 // 0: E_D_TOV of the port
  std::size_t max_entries = 65536;                  // cached host addresses; evicted: the oldest without listeners
  std::size_t max_ports_of_address = 64;  // that FARP found; evicted: of the later half, the oldest without a login
};

class ResolveListener {
 public:
  /// At least one N_Port_ID, in the order in which they became known. May be called inside resolve().
  virtual void resolved(const wire::IpAddress& address, std::span<const wire::FcId> n_port_ids) = 0;
  virtual void not_resolved(const wire::IpAddress& address) = 0;

 protected:
  ~ResolveListener() = default;
};

/// Told when other ports can find this one: registered, or online where there is no name server.
class ReadyListener {
 public:
  virtual void address_ready() = 0;

 protected:
  ~ReadyListener() = default;
};

/// One for each N_Port. Registers as the port's listener and ELS user; the port must outlive it.
class Resolver {
 public:
  Resolver(fc2::NPort& port, ResolverConfig config);
  ~Resolver();
  void set_ready_listener(ReadyListener& listener);
  [[nodiscard]] bool ready() const;

  /// Asks for the ports with `address`; several listeners share one query.
  void resolve(const wire::IpAddress& address, ResolveListener& listener);
  /// The listener is destroyed, or needs no answer any more.
  void forget(ResolveListener& listener);
  /// The mapping may be wrong (7.7, or a connection attempt found no such port).
  void invalidate(const wire::IpAddress& address);
  void invalidate_all();
  /// Between its members, whenever none of its functions runs. Linear.
  [[nodiscard]] bool is_consistent() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace farp
