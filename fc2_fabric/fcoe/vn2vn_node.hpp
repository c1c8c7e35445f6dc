// VN2VN (FC-BB-6): N_Ports on one Ethernet without a fabric. The node claims an N_Port_ID, sends beacons, and is the
// link of its N_Port while it has that address. Drives machines::fip_vn2vn.
//
// When the carrier is lost its N_Port is interrupted. If it claims the same N_Port_ID again within R_A_TOV, it asks
// the others by ADISC whether they are unchanged, and its logins stand; with another N_Port_ID they end (FC-VI 7.7.5,
// as after NOS).
#pragma once
#include <deque>
#include <map>
#include <vector>

#include "fc2_fabric/fcoe/encapsulation.hpp"
#include "fc2_fabric/fcoe/vn_port.hpp"
#include "fc2_fabric/node/n_port.hpp"
#include "state_machines/consistency.hpp"
#include "state_machines/fip_vn2vn.hpp"

namespace fc2::fcoe {

struct Vn2vnConfig {
  // As Linux times them; FC-BB-6.
  TimeNs probe_wait = 100 * millisecond;  // between the two probes
  TimeNs claim_wait = 400 * millisecond;  // for objections, after the second probe and again after the claim
  TimeNs beacon_interval = 8 * second;
  TimeNs beacon_fuzz = 100 * millisecond;  // at most so much is added, so that beacons of many do not come together
  TimeNs rest = 10 * second;               // after max_collisions within that time
  int max_collisions = 10;
  std::uint16_t vlan = 0;             // 0: untagged
  wire::FcId first_id{};              // 0000xxh, not 0 or FFFFh; 0: the low 16 bits of the Port_Name
  std::uint64_t seed = 1;             // for the addresses after that one, and the fuzz
  std::size_t max_neighbours = 1024;  // for one more the oldest that our N_Port has nothing to do with is forgotten
};

struct Vn2vnNeighbour {
  wire::FcId id{};
  wire::Wwn port_name{}, node_name{};
  wire::MacAddress e_node{};  // where FIP for it goes
  TimeNs heard = 0;           // 2.5 beacon intervals of silence, and it is gone
};

/// Told of neighbours; called inside the node, which must not be destroyed then.
class Vn2vnListener {
 public:
  virtual void neighbour_appeared(const Vn2vnNeighbour& neighbour) = 0;
  virtual void neighbour_gone(const Vn2vnNeighbour& neighbour) = 0;

 protected:
  ~Vn2vnListener() = default;
};

class Vn2vnNode final : private EthernetReceiver, private VnPortUser, private machines::fip_vn2vn::Context {
 public:
  /// Ethernet and N_Port outlive the node. Starts when the Ethernet is up.
  Vn2vnNode(Scheduler& scheduler, FramePool& pool, EthernetPort& ethernet, NPort& port, Vn2vnConfig config = {},
            Vn2vnListener* listener = nullptr);
  ~Vn2vnNode();
  Vn2vnNode(const Vn2vnNode&) = delete;
  Vn2vnNode& operator=(const Vn2vnNode&) = delete;

  /// At the FC level. nullptr removes it.
  void tap(FrameTap* tap) { port_.link.tap(tap); }
  void set_faults(FrameFault* sent, FrameFault* received) { port_.link.set_faults(sent, received); }

  /// The N_Port_ID that is being probed or claimed, or is owned.
  [[nodiscard]] wire::FcId id() const { return id_; }
  [[nodiscard]] bool up() const { return machine_.is<machines::fip_vn2vn::Claimed>(); }
  [[nodiscard]] std::string_view state_name() const { return machine_.state_name(); }
  [[nodiscard]] const std::map<wire::FcId, Vn2vnNeighbour>& neighbours() const { return neighbours_; }
  [[nodiscard]] const FcoeCounters& counters() const { return counters_; }
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
  void vn2vn_message(const wire::fip::FipMessage& message);
  void contest(std::uint8_t subcode, const Vn2vnNeighbour& sender);
  void claim_heard(const wire::fip::FipMessage& message, const Vn2vnNeighbour& sender);
  void beacon_heard(const Vn2vnNeighbour& sender);
  void flogi_received(const wire::fip::FipMessage& message, const wire::MacAddress& source);
  // VnPortUser
  void vn_port_sends_els(VnPort& port, const Frame& frame, wire::fip::DescriptorType type) override;
  void vn_port_sends(VnPort& port, FramePtr frame) override;
  // machines::fip_vn2vn
  void choose_first_id() override;
  void choose_another_id() override;
  void send_probe() override;
  void send_probe_reply() override;
  void send_claim() override;
  void send_beacon() override;
  void start_probe_timer() override { start(config_.probe_wait); }
  void start_claim_timer() override { start(config_.claim_wait); }
  void start_beacon_timer() override;
  void start_rest_timer() override { start(config_.rest); }
  void stop_timer() override { scheduler_.cancel(timer_); }
  void take_link_up() override;
  void take_link_down() override;
  void interrupt_link() override;
  [[nodiscard]] bool too_many_collisions() const override;
  void unexpected(std::string_view, std::string_view, std::string_view) override { ++counters_.unexpected_events; }

  template <class E>
  void process(const E& event) {
    machine_.process(event, *this);
    FCVI_ASSERT_CONSISTENT(*this);
  }
  void forget_link();
  void start(TimeNs delay) { scheduler_.schedule_after(timer_, delay); }
  void time_out();
  void expire_neighbours();
  [[nodiscard]] TimeNs silence_limit() const { return config_.beacon_interval / 2 * 5; }
  void add_neighbour(const Vn2vnNeighbour& neighbour);
  void drop_neighbour(wire::FcId id);
  void forget_neighbour(wire::FcId id);
  bool make_room();
  bool answers_flogi(const Frame& frame);
  [[nodiscard]] bool may_be_ours(wire::FcId id) const;
  [[nodiscard]] wire::fip::FipMessage message(std::uint8_t subcode) const;
  void describe_port(wire::fip::FipMessage& message) const;
  void send_fip(const wire::fip::FipMessage& message, const wire::MacAddress& destination,
                const wire::MacAddress& source);
  void send(EthernetFrame frame);
  [[nodiscard]] wire::MacAddress vn_mac() const { return wire::mac_of(id_, wire::vn2vn_fc_map); }
  std::uint64_t draw();

  Scheduler& scheduler_;
  FramePool& pool_;
  EthernetPort& ethernet_;
  const Vn2vnConfig config_;
  Vn2vnListener* const listener_;
  FcoeCounters counters_;
  machines::fip_vn2vn::Machine machine_;
  VnPort port_;
  Channel loop_;  // what the N_Port sends to itself
  wire::FcId id_{};
  wire::MacAddress sender_{};  // of the message that is processed
  std::uint64_t random_;
  std::vector<TimeNs> collisions_;  // of the last config.rest
  TimeNs last_claim_ = 0;
  std::vector<wire::FcId> to_tell_;  // logged in when the carrier was lost: those whose login ended get LOGO
  struct ReceivedFlogi {
    wire::FcId peer{};
    wire::OxId ox_id{};
    wire::Wwn port_name{};
  };
  std::vector<ReceivedFlogi> flogis_;  // the N_Port has not answered yet
  std::map<wire::FcId, Vn2vnNeighbour> neighbours_;
  std::deque<wire::FcId> oldest_neighbours_;  // each once
  Timer<Vn2vnNode, &Vn2vnNode::time_out> timer_{*this};
  Timer<Vn2vnNode, &Vn2vnNode::expire_neighbours> expiry_{*this};
};

}  // namespace fc2::fcoe
