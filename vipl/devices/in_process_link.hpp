// The link of a NIC to a switch in this process.
#pragma once
#include "fc2_fabric/switch/switch.hpp"
#include "vipl/devices/fc_link.hpp"

namespace vipl {

class InProcessLink final : public FcLink {
 public:
  /// `in_bursts`: not where a run must repeat exactly, in a simulation.
  InProcessLink(fc2::Switch& fabric, bool in_bursts) : fabric_(fabric) {
    if (in_bursts) config_.burst_frames = 32;
  }
  ~InProcessLink() override {
    if (port_ != nullptr) fabric_.detach(*port_);
  }
  void attach(fc2::NPort& port) override { fabric_.attach(*(port_ = &port), config_); }
  /// It ends with all that it could tell.
  [[nodiscard]] bool needs_goodbye() const override { return false; }

 private:
  fc2::Switch& fabric_;
  fc2::LinkConfig config_;
  fc2::NPort* port_ = nullptr;
};

}  // namespace vipl
