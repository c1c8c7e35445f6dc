// What the parts of one provider are given.
#pragma once
#include "farp/resolver.hpp"
#include "fc2_fabric/node/n_port.hpp"
#include "fcvi/configuration.hpp"
#include "fcvi/connection_ids.hpp"
#include "fcvi/counters.hpp"
#include "fcvi/message_exchanges.hpp"
#include "fcvi/reorder_pool.hpp"
#include "fcvi/reports.hpp"
#include "state_machines/fsm.hpp"

namespace fcvi {
class ConnectionOwner;

/// All exchanges are in use: one is asked for again after this time.
inline constexpr runtime::TimeNs exchange_retry_ns = 10 * runtime::microsecond;

/// References to what a provider has once. Who has this knows nothing of the provider itself, nor of other connections.
struct Services {
  fc2::NPort& port;
  runtime::Scheduler& scheduler;  // the port's
  farp::Resolver& resolver;
  const ProviderConfig& config;
  ProviderCounters& counters;
  ReorderPool& reorder_pool;            // of all connections
  ConnectionIds& connection_ids;        // FCVI_CONNECTION_IDs in use, and CSerr
  MessageExchanges& message_exchanges;  // for ABTS
  PeerReports& peer_reports;            // until the VI connects again
  ConnectionOwner& connection_owner;    // hears of those that are over
  fc2::DataFrameUser& replies;          // user of exchanges that only take an answer
  runtime::Event& burial;               // destroys what is over; see bury_soon()

  [[nodiscard]] runtime::TimeNs now() const { return scheduler.now(); }
  /// FCVI_ULP_TIMEOUT.
  [[nodiscard]] runtime::TimeNs ulp_timeout() const {
    return config.ulp_timeout > 0 ? config.ulp_timeout : port.r_a_tov();
  }
  void discard(fc2::Discard reason) const { port.counters().discard(reason); }
  void discard(Discard reason) const { counters.discard(reason); }
  /// A frame finds no room there, and is lost or busied.
  void reorder_pool_full() const {
    ++counters.reorder_pool_full;
    discard(fc2::Discard::NoResources);
  }
  /// A row of a machine fired.
  void fired(const fsm::Row& row) const { fsm::tell(port.config().rows, row); }
  /// Nobody asks which rows fire.
  [[nodiscard]] bool takes_short_cuts() const { return config.short_cuts && port.config().rows == nullptr; }
  void unexpected() const { ++port.counters().unexpected_events; }
  /// Objects that are over go later, when nothing of them is under way. A connection's handle may be used again.
  void bury_soon() const { scheduler.schedule(burial, scheduler.now()); }
};

}  // namespace fcvi
