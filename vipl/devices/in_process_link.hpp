// The link of a NIC to a switch in this process.
#pragma once
#include "fc2_fabric/switch/switch.hpp"
#include "vipl/devices/fc_link.hpp"

namespace vipl {

class InProcessLink final : public FcLink {
 public:
  explicit InProcessLink(fc2::Switch& fabric) : fabric_(fabric) {}
  ~InProcessLink() override {
    if (port_ != nullptr) fabric_.detach(*port_);
  }
  void attach(fc2::NPort& port) override { fabric_.attach(*(port_ = &port)); }
  /// It ends with all that it could tell.
  [[nodiscard]] bool needs_goodbye() const override { return false; }

 private:
  fc2::Switch& fabric_;
  fc2::NPort* port_ = nullptr;
};

}  // namespace vipl
