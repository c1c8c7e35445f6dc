// ENode: brings N_Ports to a fabric over Ethernet (FC-BB-5 FIP and FCoE). Drives machines::fip_node.
//
// It looks for FCFs on every VLAN that is known; frames of a virtual link use the VLAN where its FCF was heard.
//
// It is the link of its N_Ports: when an FCF is selected the link goes up; the port's FLOGI (FDISC, LOGO) is sent
// inside FIP and its answer comes back as a frame; all other frames are FCoE between the VN_Port's MAC and the FCF's.
// When the virtual links are lost (the FCF is silent, or clears them, or the carrier is lost) its N_Ports are
// interrupted: they log in again, and their logins with others stand if every address is unchanged (FC-VI 7.7.5).
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "fc2_fabric/fcoe/encapsulation.hpp"
#include "fc2_fabric/fcoe/fcf_table.hpp"
#include "fc2_fabric/fcoe/vn_port.hpp"
#include "fc2_fabric/node/n_port.hpp"
#include "state_machines/consistency.hpp"
#include "state_machines/fip_node.hpp"

namespace fc2::fcoe {

struct ENodeConfig {
  std::uint16_t vlan = 0;                     // the only one that is used; 0: untagged frames
  bool discover_vlans = false;                // FCFs are looked for on the VLANs that a FIP VLAN Request finds as well
  TimeNs solicitation_interval = 4 * second;  // while no FCF is known
  TimeNs choice_delay = 200 * millisecond;    // from the first usable FCF: a better one may answer as well
  TimeNs login_retry_delay = 2 * second;      // after a fabric login failed
  TimeNs vn_port_keep_alive_period = 90 * second;  // FC-BB-5; that of the ENode's own is the FCF's to say
  wire::Wwn switch_name{};                         // of the only FCF to log in at; 0: any
  std::size_t max_virtual_ports = 255;             // N_Ports beyond the first
};

class ENode final : private EthernetReceiver,
                    private VnPortUser,
                    private PortListener,
                    private machines::fip_node::Context {
 public:
  /// `port` logs in by FLOGI. Ethernet and N_Ports outlive the ENode. Starts when the Ethernet is up.
  ENode(Scheduler& scheduler, FramePool& pool, EthernetPort& ethernet, NPort& port, ENodeConfig config = {});
  /// The links go down; fabric and FCF notice it by the missing keep-alives. To log out
  /// first, call NPort::log_out_of_fabric().
  ~ENode();
  ENode(const ENode&) = delete;
  ENode& operator=(const ENode&) = delete;

  /// A further N_Port that logs in by FDISC (NPortConfig::virtual_n_port) whenever the first is logged in. False: too
  /// many of them.
  bool add_virtual_port(NPort& port);
  void remove_virtual_port(NPort& port);

  /// At the FC level of one of its N_Ports. nullptr removes it.
  void tap(NPort& port, FrameTap* tap);
  void set_faults(NPort& port, FrameFault* sent, FrameFault* received);

  /// The selected FCF; nullptr: none.
  [[nodiscard]] const KnownFcf* fcf() const { return selected_ ? &*selected_ : nullptr; }
  [[nodiscard]] const std::vector<KnownFcf>& known_fcfs() const { return fcfs_.fcfs(); }
  [[nodiscard]] bool logged_in() const { return machine_.is<machines::fip_node::LoggedIn>(); }
  [[nodiscard]] std::string_view state_name() const { return machine_.state_name(); }
  /// Granted by the FCF; nullopt before.
  [[nodiscard]] std::optional<wire::MacAddress> mac_of(const NPort& port) const;
  /// Announced by FCFs in answer to VLAN Requests since the carrier came, except evicted ones.
  [[nodiscard]] const std::vector<std::uint16_t>& vlans() const { return vlans_; }
  [[nodiscard]] const FcoeCounters& counters() const { return counters_; }
  /// Of the ENode's own; 0: none was sent.
  [[nodiscard]] std::uint64_t keep_alives_sent() const { return keep_alives_sent_; }
  [[nodiscard]] TimeNs latest_keep_alive() const { return latest_keep_alive_; }
  /// Between its members, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;

 private:
  // EthernetReceiver
  void ethernet_received(EthernetFrame frame) override;
  void ethernet_link_changed(bool up) override;
  void ethernet_resumed() override;
  void fcoe_received(EthernetFrame frame);
  // FIP, received
  void fip_received(const EthernetFrame& frame);
  void advertisement(const wire::fip::FipMessage& message, const EthernetFrame& frame);
  void renew_selected(const KnownFcf& fcf);
  void link_service_reply(const wire::fip::FipMessage& message, const EthernetFrame& frame);
  void clear_virtual_links(const wire::fip::FipMessage& message, const EthernetFrame& frame);
  void vlan_notification(const wire::fip::FipMessage& message, const EthernetFrame& frame);
  // VnPortUser
  void vn_port_sends_els(VnPort& port, const Frame& frame, wire::fip::DescriptorType type) override;
  void vn_port_sends(VnPort& port, FramePtr frame) override;
  // PortListener, of the first N_Port
  void fabric_logged_in() override;
  void fabric_login_failed() override;
  void remote_port_logged_in(RemotePort&) override {}
  void remote_port_login_failed(RemotePort&) override {}
  void remote_port_logged_out(RemotePort&) override {}
  // machines::fip_node
  void send_vlan_request() override;
  void send_solicitation() override;
  void solicit_new_vlans() override;
  void start_solicitation_timer() override { start(config_.solicitation_interval); }
  void start_choice_timer() override { start(config_.choice_delay); }
  void start_retry_timer() override { start(config_.login_retry_delay); }
  void stop_timer() override { scheduler_.cancel(timer_); }
  void select_fcf() override;
  void take_link_up() override;
  void interrupt_links() override;
  void start_keep_alives() override;
  void stop_keep_alives() override;
  [[nodiscard]] bool wants_vlans() const override { return config_.discover_vlans; }
  [[nodiscard]] bool fcf_usable() const override { return fcfs_.best(preferred_fabric_) != nullptr; }
  void unexpected(std::string_view, std::string_view, std::string_view) override { ++counters_.unexpected_events; }

  template <class E>
  void process(const E& event) {
    machine_.process(event, *this);
    FCVI_ASSERT_CONSISTENT(*this);
  }
  void start(TimeNs delay) { scheduler_.schedule_after(timer_, delay); }
  void time_out();
  void expire_fcfs();
  void watch_fcfs();
  void login_failed();
  void send_keep_alive();
  void send_vn_port_keep_alives();
  void send_fip(const wire::fip::FipMessage& message, const FcfAddress& destination, const wire::MacAddress& source);
  void solicit(const FcfAddress& destination);
  [[nodiscard]] bool listens_on(std::uint16_t vlan) const;
  [[nodiscard]] int worth_of(std::uint16_t vlan) const;
  bool make_room_for_vlan();
  [[nodiscard]] bool is_of_selected(const EthernetFrame& frame) const;
  [[nodiscard]] VnPort* find(const NPort& port) const;
  [[nodiscard]] VnPort& first() const { return *ports_.front(); }
  [[nodiscard]] VnPort* waiting_for(const wire::fip::EncapsulatedFrame& reply, wire::OxId ox_id) const;
  void deliver(VnPort& port, const wire::fip::EncapsulatedFrame& reply);
  void granted(VnPort& port, const wire::MacAddress& mac, wire::FcId id);
  void forget_address(VnPort& port);
  void take_up(VnPort& port);
  void release(VnPort& port);
  void interrupt(VnPort& port);
  void interrupt_virtual_ports();
  void release_virtual_ports();

  Scheduler& scheduler_;
  FramePool& pool_;
  EthernetPort& ethernet_;
  const ENodeConfig config_;
  FcoeCounters counters_;
  std::uint64_t keep_alives_sent_ = 0;
  TimeNs latest_keep_alive_ = 0;
  machines::fip_node::Machine machine_;
  FcfTable fcfs_;
  TimeNs solicited_all_ = 0;  // the latest solicitation to All-FCF
  std::optional<KnownFcf> selected_;
  wire::Wwn preferred_fabric_{};                // of the latest login: one comes back to it
  std::vector<std::uint16_t> vlans_;            // the longest known first
  std::vector<std::uint16_t> new_vlans_;        // of the latest notification
  std::vector<std::unique_ptr<VnPort>> ports_;  // the one that logs in by FLOGI first
  Timer<ENode, &ENode::time_out> timer_{*this};
  Timer<ENode, &ENode::expire_fcfs> expiry_{*this};
  Timer<ENode, &ENode::login_failed> login_failure_{*this};
  Timer<ENode, &ENode::send_keep_alive> keep_alive_{*this};
  Timer<ENode, &ENode::send_vn_port_keep_alives> vn_port_keep_alive_{*this};
};

}  // namespace fc2::fcoe
