// After a state change notification, and where one may have been missed: checks that the ports that we are logged in
// with are still the same (FC-VI 7.7.1, 7.7.5), each by a machine `port_validation`.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <span>

#include "fc2_fabric/node/n_port.hpp"
#include "wire/els/rscn.hpp"

namespace farp {

/// Looks up each port that the notification affects and that is logged in here in the Name Server (GPN_ID).
/// - A port that is gone, or has another Port_Name, is logged out implicitly, and its connections end.
/// - A port that is there is asked by ADISC. If it does not answer with the names of its login, it is logged out as
///   well: its own login may have ended meanwhile.
/// - A login that is under way with a port that is gone fails: frames to it are discarded silently (class 3).
/// - A port whose login is already being validated, after our own link was down, may have lost its link with us and
///   return after us: its ADISC decides whether it is gone.
/// - A port that comes back and may still believe in its login (FC-VI 7.7.5: its addresses did not change) is told by
///   LOGO that there is none.
class PortValidator {
 public:
  static constexpr std::size_t max_checks_at_once = 16;  // others wait

  explicit PortValidator(fc2::NPort& port);
  ~PortValidator();
  void state_changed(const wire::els::Rscn& rscn);
  /// The fabric tells of changes from now on. A port that went while it did not, since our own link was away with it,
  /// say, went untold: each one that is logged in is asked by ADISC. The Name Server is not: who was away with us and
  /// is not back yet is not gone (see ruling 183).
  void notifications_begin();
  /// That port is already logged out.
  void forget(wire::FcId id);
  void stop();
  /// Between its members, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;

 private:
  class Check;
  enum class First : std::uint8_t { NameServer, Port };
  void start_next();
  void finish(wire::FcId id, bool valid);

  fc2::NPort& port_;
  std::map<wire::FcId, First> waiting_;  // and who is asked first about it
  std::map<wire::FcId, std::unique_ptr<Check>> checks_;
  std::set<wire::FcId> gone_;  // logged out silently, since they were not there
};

}  // namespace farp
