// After a state change notification: are the ports that we are logged in with still who they were (FC-VI 7.7.1, 7.7.5)?
#pragma once
#include <map>
#include <memory>
#include <set>
#include <span>

#include "fc2_fabric/node/n_port.hpp"
#include "wire/els/rscn.hpp"

namespace farp {

/// Each port that the notification affects and that is logged in here is looked up in the Name Server (GPN_ID): one
/// that is gone, or has another Port_Name, is logged out implicitly, and its connections end. One that is there answers
/// ADISC with the names of its login, or is logged out as well: its own login may have gone meanwhile. A login that is
/// under way with a port that is gone fails: frames to it are discarded without a word (class 3). A port that its login
/// validates already, after our own link was away, may have lost its link with us and come back after us: that it is
/// gone is for its ADISC to find out. A port that comes back, and may believe in its login all the same (FC-VI 7.7.5:
/// its addresses did not change), is told by LOGO that there is none.
class PortValidator {
 public:
  static constexpr std::size_t max_checks_at_once = 16;  // others wait

  explicit PortValidator(fc2::NPort& port);
  ~PortValidator();
  void state_changed(const wire::els::Rscn& rscn);
  /// That port is logged out already.
  void forget(wire::FcId id);
  void stop();

 private:
  class Check;
  void start_next();
  void finish(wire::FcId id, bool valid);

  fc2::NPort& port_;
  std::set<wire::FcId> waiting_;
  std::map<wire::FcId, std::unique_ptr<Check>> checks_;
  std::set<wire::FcId> gone_;  // logged out without a word, since nobody was there to hear it
};

}  // namespace farp
