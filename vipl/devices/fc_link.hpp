// How the N_Port of a NIC comes to its fabric: within the process, through fcvi-fabricd, or by Ethernet.
#pragma once
#include <string>

#include "fc2_fabric/node/n_port.hpp"

namespace vipl {

/// Made, used and destroyed inside the engine. The N_Port must know how large frames may be before it exists: first the
/// link is made, then the port, then attach().
class FcLink {
 public:
  FcLink() = default;
  virtual ~FcLink() = default;  // the port is still there, and is detached
  FcLink(const FcLink&) = delete;
  FcLink& operator=(const FcLink&) = delete;

  /// What this link demands of the port.
  virtual void limit(fc2::NPortConfig& /*config*/) const {}
  /// The port is brought up as soon as the link lets it; once, where there is no failure(). It outlives the link.
  virtual void attach(fc2::NPort& port) = 0;
  /// Why the port will never be up: there is no sense in waiting. Empty: it may be.
  [[nodiscard]] virtual std::string failure() const { return {}; }
  /// For people: what is not there yet. Empty: nothing is known to be missing.
  [[nodiscard]] virtual std::string trouble() const { return {}; }
  /// The process ends: what others cannot notice at once is told, and waits for nobody for long.
  [[nodiscard]] virtual bool needs_goodbye() const { return true; }
  virtual void say_goodbye() {}

  [[nodiscard]] virtual bool has_name_server() const { return true; }
  /// For the answer to one FARP-REQ, unless it is configured. Within a host links have no latency to speak of: whoever
  /// has an address answers at once.
  [[nodiscard]] virtual runtime::TimeNs farp_timeout() const { return 100 * runtime::millisecond; }
};

}  // namespace vipl
