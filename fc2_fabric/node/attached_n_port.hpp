// An N_Port at its end of a link.
#pragma once
#include "fc2_fabric/link/link.hpp"

namespace fc2 {
class NPort;

/// An N_Port of this program at its end of a link.
class AttachedNPort final : public LinkUser {
 public:
  AttachedNPort(NPort& port, LinkEnd& end) : port_(port), end_(end) {}
  [[nodiscard]] NPort& port() { return port_; }
  void link_active() override;
  void link_offline() override;
  [[nodiscard]] fsm::RowListener* row_listener() const override;

 private:
  NPort& port_;
  LinkEnd& end_;
};

}  // namespace fc2
