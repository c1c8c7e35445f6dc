// The Ethernet side of the service: its interfaces, and the FCF that joins them with the switch.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "fc2_fabric/drivers/ethernet_name.hpp"
#include "fc2_fabric/drivers/fabric_core.hpp"
#include "fc2_fabric/fcoe/fcf.hpp"
#include "tools/fabricd/fcoe_links.hpp"
#include "tools/service_common/log_budget.hpp"
#include "tools/fabricd/tapped_ethernet.hpp"

namespace fabricd {

struct FcoeConfig {
  std::vector<fc2::drivers::EthernetName> interfaces;  // none: no FCF
  std::uint16_t mtu = 0;                               // at most; 0: each interface's own
  std::uint8_t ethernet_priority = 3;                  // 802.1p
  // Without priority flow control Ethernet cannot hold an ENode back: frames that it sends while a port is slow (two
  // megabytes with vicp, for one connection) wait here, 70 MB in all and half of the rest for one flow. Frames above
  // that are lost and counted, and connections break.
  static constexpr std::size_t flow_queue_frames = 32768;
  fc2::fcoe::FcfConfig fcf = {};
};

/// A message for people: the kernel lost frames before we could read them.
[[nodiscard]] std::string loss_hint(std::uint64_t frames, unsigned priority);

class FcoeSide final : private fc2::fcoe::FcfListener {
 public:
  /// Opens the interfaces; sends nothing yet. `logins_path`: the file of the FCF's logins, for the next FCF.
  FcoeSide(fc2::drivers::FabricCore& core, Recorder& recorder, LiveFaults& faults, const FcoeConfig& config,
           std::string logins_path);
  FcoeSide(const FcoeSide&) = delete;
  FcoeSide& operator=(const FcoeSide&) = delete;
  /// Why an interface could not be opened; empty: all are open.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  [[nodiscard]] bool present() const { return !ports_.empty(); }
  /// NAA 1, from the first interface's MAC address: switches on one Ethernet must not share a name.
  /// nullopt: no interface.
  [[nodiscard]] std::optional<wire::Wwn> switch_name() const;
  /// Starts advertising.
  void start(fc2::Switch& fabric);
  /// Clears every virtual link: ENodes are notified, and log in elsewhere or later.
  void stop();
  /// Call it before the switch is destroyed.
  void let_go_of_switch();

  [[nodiscard]] FcoeLinks& links() { return links_; }
  [[nodiscard]] const FcoeLinks& links() const { return links_; }
  [[nodiscard]] const fc2::fcoe::Fcf* fcf() const { return fcf_ ? &*fcf_ : nullptr; }
  [[nodiscard]] std::deque<TappedEthernet>& ports() { return ports_; }
  [[nodiscard]] const std::deque<TappedEthernet>& ports() const { return ports_; }

 private:
  void logins_changed() override;
  void happened(const fc2::fcoe::FcfEvent& event) override;
  void keep_logins();
  void look_at_links() { links_.look(); }
  void look_at_losses();

  fc2::drivers::FabricCore& core_;
  Recorder& recorder_;
  const fc2::fcoe::FcfConfig config_;
  const std::string logins_path_;
  bool stopped_ = false;
  std::string trouble_;
  std::deque<TappedEthernet> ports_;  // as the FCF's interfaces, one for one
  std::optional<fc2::fcoe::Fcf> fcf_;
  FcoeLinks links_;
  std::vector<fc2::fcoe::FormerLogin> kept_;  // in the file, since we began
  services::LogBudget events_;
  std::vector<std::uint64_t> losses_;  // of each interface, as last logged
  runtime::Timer<FcoeSide, &FcoeSide::look_at_losses> losses_timer_{*this};
  runtime::Timer<FcoeSide, &FcoeSide::keep_logins> keeping_{*this};
  runtime::Timer<FcoeSide, &FcoeSide::look_at_links> links_changed_{*this};
};

}  // namespace fabricd
