// One Ethernet interface of an FCF: advertisements, and the ENodes that logged in through it.
#pragma once
#include <deque>
#include <map>
#include <memory>

#include <boost/intrusive/list.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include "fc2_fabric/fcoe/encapsulation.hpp"
#include "fc2_fabric/fcoe/fcf_link.hpp"
#include "fc2_fabric/fcoe/fcf_listener.hpp"
#include "fc2_fabric/fcoe/fip_admission.hpp"
#include "fc2_fabric/fcoe/vn_port.hpp"
#include "fc2_fabric/switch/switch.hpp"
#include "wire/els/ls_rjt.hpp"
#include "wire/fip.hpp"

namespace fc2::fcoe {

struct FcfConfig {
  std::uint8_t priority = 128;
  std::uint16_t vf_id = 0;
  std::uint16_t vlan =
      0;  // where FCoE is served, told to those who ask (FIP VLAN discovery); 0: untagged, nobody is told
  std::uint32_t fc_map = wire::default_fc_map;
  TimeNs period = 2 * second;           // FKA_ADV_PERIOD: advertisements and keep-alives; at least 500 ms
  bool keep_alives = true;              // false: the D bit is set, silence ends no login
  TimeNs vn_port_period = 90 * second;  // between the keep-alives of a VN_Port (FC-BB-5)
  TimeNs login_time = 20 * second;      // for the F_Port's answer to FLOGI or LOGO: 2 x R_A_TOV
  // Per interface. For one more the first that sent nothing since its FLOGI is evicted; if there is none,
  // FLOGI is rejected.
  std::size_t max_enodes = 1024;
  FipLimits limits{};
  FcfListener* listener = nullptr;  // outlives the FCF
};

class FcfInterface final : private EthernetReceiver, private FcfLinkUser {
 public:
  FcfInterface(Scheduler& scheduler, FramePool& pool, Switch& fabric, EthernetPort& ethernet, const FcfConfig& config);
  /// Clears the virtual links.
  ~FcfInterface();
  FcfInterface(const FcfInterface&) = delete;
  FcfInterface& operator=(const FcfInterface&) = delete;

  void stop();
  /// The A bit: whether new logins are accepted. Existing ones stay.
  void set_available(bool available) { available_ = available; }
  [[nodiscard]] const EthernetPort& ethernet() const { return ethernet_; }
  [[nodiscard]] std::size_t enode_count() const { return links_.size(); }
  [[nodiscard]] std::size_t vn_port_count() const { return vn_ports_.size(); }
  /// By the ENode's MAC address.
  [[nodiscard]] const std::map<wire::MacAddress, std::unique_ptr<FcfLink>>& links() const { return links_; }
  /// The link through which a VN_Port logged in; nullptr: none on this interface. For taps, faults and logout.
  [[nodiscard]] FcfLink* link_of(wire::FcId id);
  /// The fabric ends the login of one VN_Port (its F_Port logs it out) and notifies the ENode. False: not logged in
  /// on this interface.
  bool log_out(wire::FcId id);
  [[nodiscard]] const FcoeCounters& counters() const { return counters_; }
  /// An ENode that is or was logged in here.
  struct Former {
    std::size_t f_port = 0;          // its number
    bool believes_in_login = false;  // it had one that was not ended by itself, and has not looked for an FCF since
    // Its first and latest keep-alive without a login, since its last solicitation or silence.
    TimeNs alive_since = never, alive_until = 0;
  };
  /// By MAC address.
  [[nodiscard]] const std::map<wire::MacAddress, Former>& former_e_nodes() const { return former_e_nodes_; }
  /// It was logged in at that F_Port before this interface existed. False: max_enodes are known already.
  bool remember(const wire::MacAddress& e_node, std::size_t f_port);

 private:
  // EthernetReceiver
  void ethernet_received(EthernetFrame frame) override;
  void ethernet_link_changed(bool up) override;
  void ethernet_resumed() override;
  void fcoe_received(EthernetFrame frame);
  // FIP, received
  void fip_received(const EthernetFrame& frame);
  void discovery(const wire::fip::FipMessage& message, const EthernetFrame& frame);
  void link_service(const wire::fip::FipMessage& message, const EthernetFrame& frame);
  void keep_alive(const wire::fip::FipMessage& message, const EthernetFrame& frame);
  void vlan_request(const EthernetFrame& frame);
  // FcfLinkUser
  FPort* attach_f_port(FcfLink& link) override;
  void detach_f_port(FPort& port) override;
  void link_sends(FcfLink& link, FramePtr frame) override;
  void link_replies(FcfLink& link, const wire::fip::FipMessage& message) override;
  void link_rejects(FcfLink& link, const wire::fip::EncapsulatedFrame& request) override;
  void vn_port_added(FcfLink& link, wire::FcId id) override;
  void vn_port_removed(wire::FcId id) override;
  void link_cleared(FcfLink& link, const FcfVnPort* port) override;
  void link_idle() override;
  void link_event(FcfLink& link, const FcfEvent& event) override;
  FcoeCounters& link_counters() override { return counters_; }

  void advertise();
  void sweep();
  void clear_all(std::string_view why);
  void looks_for_fcf(const wire::MacAddress& e_node);
  [[nodiscard]] bool believes_in_login(const wire::MacAddress& e_node);
  void keep_alive_without_login(const wire::MacAddress& e_node, bool of_vn_port);
  [[nodiscard]] FcfLink* find_link(const wire::MacAddress& e_node) const;
  [[nodiscard]] FcfLink* link_for(const wire::fip::EncapsulatedFrame& request, const wire::MacAddress& e_node);
  bool make_room();
  [[nodiscard]] bool admitted(const wire::fip::EncapsulatedFrame& request, const wire::MacAddress& e_node);
  void tell(FcfEvent event);
  void remember_f_port(const wire::MacAddress& e_node, std::size_t number);
  [[nodiscard]] std::uint16_t frame_limit() const;
  [[nodiscard]] wire::fip::FipMessage advertisement(std::uint16_t flags) const;
  void send_fip(const wire::fip::FipMessage& message, const wire::MacAddress& destination);
  void send_fip(const wire::fip::FipMessage& message, const wire::MacAddress& destination, std::uint16_t vlan);
  void reject(const wire::fip::EncapsulatedFrame& request, const wire::MacAddress& e_node, const wire::els::LsRjt& why,
              std::string_view in_words = {});
  [[nodiscard]] static wire::els::LsRjt refusal_of(const wire::fip::EncapsulatedFrame& request);

  Scheduler& scheduler_;
  FramePool& pool_;
  Switch& switch_;
  EthernetPort& ethernet_;
  const FcfConfig& config_;
  FcoeCounters counters_;
  FipAdmission admission_;
  bool available_ = true, stopped_ = false;
  boost::intrusive::list<FcfLink, boost::intrusive::constant_time_size<false>>
      lifeless_;  // the oldest first; outlives them
  std::map<wire::MacAddress, std::unique_ptr<FcfLink>> links_;
  boost::unordered_flat_map<std::uint32_t, FcfLink*> vn_ports_;  // by N_Port_ID
  std::map<wire::MacAddress, Former> former_e_nodes_;
  std::deque<wire::MacAddress> oldest_former_;  // of those, each once
  Timer<FcfInterface, &FcfInterface::advertise> advertisement_timer_{*this};
  Timer<FcfInterface, &FcfInterface::sweep> sweep_timer_{*this};  // destroys idle links when no call is inside them
};

}  // namespace fc2::fcoe
