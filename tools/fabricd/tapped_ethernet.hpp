// An Ethernet port whose frames the recorder sees, and that an operator may cut.
#pragma once
#include <memory>
#include <set>

#include "fc2_fabric/fcoe/ethernet_port.hpp"
#include "runtime/scheduler.hpp"
#include "tools/fabricd/recorder.hpp"

namespace fabricd {

class TappedEthernet final : public fc2::fcoe::EthernetPort, private fc2::fcoe::EthernetReceiver {
 public:
  TappedEthernet(runtime::Scheduler& scheduler, Recorder& recorder, std::unique_ptr<fc2::fcoe::EthernetPort> port);

  void send(fc2::fcoe::EthernetFrame frame) override;
  void listen(const wire::MacAddress& address) override { port_->listen(address); }
  void ignore(const wire::MacAddress& address) override { port_->ignore(address); }
  void use_vlan(std::uint16_t vlan) override { port_->use_vlan(vlan); }
  [[nodiscard]] std::uint64_t kernel_drops() override { return port_->kernel_drops(); }

  /// As without carrier: nothing goes out or comes in.
  void set_cut(bool cut);
  [[nodiscard]] bool is_cut() const { return cut_; }
  /// Nothing comes in from that station, or it does again.
  void block(const wire::MacAddress& station, bool blocked);
  [[nodiscard]] bool is_blocked(const wire::MacAddress& station) const { return blocked_.contains(station); }
  [[nodiscard]] const std::set<wire::MacAddress>& blocked() const { return blocked_; }

  [[nodiscard]] const fc2::fcoe::EthernetCounters& port_counters() const { return port_->counters(); }

 private:
  void ethernet_received(fc2::fcoe::EthernetFrame frame) override;
  void ethernet_link_changed(bool up) override { set_up(up && !cut_); }
  void ethernet_resumed() override { resume(); }

  runtime::Scheduler& scheduler_;
  Recorder& recorder_;
  const PortNames::Number number_;
  std::unique_ptr<fc2::fcoe::EthernetPort> port_;
  bool cut_ = false;
  std::set<wire::MacAddress> blocked_;
};

}  // namespace fabricd
