// An N_Port inside a switch, at a well-known address.
#pragma once
#include "fc2_fabric/node/n_port.hpp"

namespace fc2 {
class Switch;

class FabricService final : private FrameReceiver {
 public:
  FabricService(Switch& fabric, const char* name, wire::FcId well_known);
  [[nodiscard]] NPort& port() { return port_; }
  [[nodiscard]] bool is_consistent() const { return port_.is_consistent(); }
  /// All logins end.
  void restart();
  /// A port lost its fabric login, and with it its login here.
  void port_logged_out(wire::FcId id);

 private:
  void receive(FramePtr frame) override;  // what the service sends

  Switch& switch_;
  NPort port_;
  Channel output_;
};

}  // namespace fc2
