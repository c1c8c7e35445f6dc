// Two N_Ports on one link: no fabric (FC-VI 7.7.2). Each asks by FLOGI, and learns from the answer that the other is
// none.
#pragma once
#include "fc2_fabric/node/attached_n_port.hpp"
#include "fc2_fabric/node/n_port.hpp"

namespace fc2 {

class PointToPoint {
 public:
  PointToPoint(Scheduler& scheduler, const LinkConfig& config, NPort& a, NPort& b)
      : link(scheduler, config, a, BufferUse::UntilProcessed, b, BufferUse::UntilProcessed), a_(a, link.a),
        b_(b, link.b) {
    link.join(a_, b_);
  }
  ~PointToPoint() {
    link.a.output().clear();
    link.b.output().clear();
    a_.port().link_down();
    b_.port().link_down();
  }
  PointToPoint(const PointToPoint&) = delete;
  PointToPoint& operator=(const PointToPoint&) = delete;

  Link link;

 private:
  AttachedNPort a_, b_;
};

}  // namespace fc2
