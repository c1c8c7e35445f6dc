// What a simulated host needs of its transport. Who makes one knows which it is: network/fc_host.hpp for
// Fibre Channel.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vi/transport.hpp"
#include "wire/types.hpp"

namespace sim {

class TransportListener {
 public:
  /// Once or more often; callable from inside the model.
  virtual void transport_ready() = 0;

 protected:
  ~TransportListener() = default;
};

/// A row of a state machine that fired. Its texts live for ever.
struct FiredRow {
  std::string_view machine, source, event, target, clause;
  std::size_t index = 0;  // position in its table
};
class FiredRowListener {
 public:
  /// Called from inside the model: takes note.
  virtual void row_fired(const FiredRow& row) = 0;

 protected:
  ~FiredRowListener() = default;
};

class HostTransport {
 public:
  virtual ~HostTransport() = default;

  [[nodiscard]] virtual const std::string& name() const = 0;
  virtual vi::Transport& transport() = 0;
  /// The first of those that others can call.
  [[nodiscard]] virtual const wire::IpAddress& address() const = 0;

  /// Tells when others can find this host.
  virtual void set_ready_listener(TransportListener& listener) = 0;
  /// Hears of rows from now on; nullptr: nobody does. At most one.
  virtual void set_row_listener(FiredRowListener* /*listener*/) {}
  /// What has to happen before that, for messages: "logged in and registered".
  [[nodiscard]] virtual std::string_view ready_means() const = 0;
  /// Tells the network that it goes. False: it is not in one that wants to know.
  virtual bool leave() = 0;

  /// What it keeps for connections, and should give back when they are over.
  struct Held {
    std::string_view what;  // in the plural
    std::size_t count = 0;
  };
  [[nodiscard]] virtual std::vector<Held> held() const = 0;
  /// What it counted since it began.
  struct Tally {
    struct Discarded {
      std::string_view reason;  // its name: scenario/discard_names.hpp
      std::uint64_t times = 0;
    };
    std::vector<Discarded> discarded;     // reasons that there were
    std::uint64_t unexpected_events = 0;  // a machine had no row
    std::uint64_t kept_bytes = 0;         // the most at once of what overtook other frames
    std::uint64_t pool_refusals = 0;      // frames that found no room there
  };
  [[nodiscard]] virtual Tally tally() const = 0;
  /// What it has of something at this moment.
  struct Gauge {
    std::string_view what, unit;  // "B"; empty: a count
    std::uint64_t value = 0;
  };
  /// Appends them: the same ones, in the same order, at every time.
  virtual void add_gauges(std::vector<Gauge>& /*to*/) const {}
  /// What the members of its owners say agrees (state_machines/consistency.hpp). Between events.
  [[nodiscard]] virtual bool is_consistent() const = 0;

 protected:
  HostTransport() = default;
  HostTransport(const HostTransport&) = delete;
  HostTransport& operator=(const HostTransport&) = delete;
};

}  // namespace sim
