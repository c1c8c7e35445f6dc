// A fabric of one switch: F_Ports, routing by N_Port_ID, Name Server, Fabric Controller. Classes 2 and 3.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "fc2_fabric/channel.hpp"
#include "fc2_fabric/counters.hpp"
#include "fc2_fabric/n_port.hpp"

namespace fc2 {
class FabricController;
class FabricService;
class FPort;
class Link;
class NameServer;

struct SwitchConfig {
  std::string name = "switch";
  std::uint8_t domain = 1;                         // 1 to 239
  wire::Wwn switch_name{0x1000'02FC'FA00'0001};
  wire::Wwn fabric_name{0x1000'02FC'FA00'0001};    // Node_Name in the accept of FLOGI
  TimeNs e_d_tov = 2 * second;
  TimeNs r_a_tov = 10 * second;
  std::uint16_t receive_data_field_bytes = max_data_field_bytes;
  std::size_t max_ports = 65280;                   // addresses of a domain: 255 areas of 256 ports
  TimeNs state_change_delay = 10 * millisecond;    // RSCNs of one burst of changes go out together
  std::size_t egress_queue_frames = 256;           // that wait for a port; from there on those who send to it are held back
  bool in_order = true;                            // what FLOGI promises; what becomes of frames is the links' (FrameFault)
  TimeNs hold_time = 2 * second;                   // how long a frame may wait for a port: E_D_TOV, well below R_A_TOV
};

class Switch {
 public:
  Switch(Scheduler& scheduler, FramePool& pool, SwitchConfig config);
  ~Switch();
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;

  /// Makes a link and brings it up: the port logs in. False: all F_Ports are taken. The port must outlive its link.
  /// The F_Port that is free the longest comes first, so that a link that comes back has the address that it had.
  bool attach(NPort& port, LinkConfig link = {});
  /// Takes the link down: frames under way are lost, the port is logged out implicitly. Not from inside a FrameTap.
  void detach(NPort& port);
  /// The same for an N_Port elsewhere: what goes there leaves by `output`, what comes from there is given to the F_Port's
  /// receive(), by `feeder`. nullptr: all F_Ports are taken. Both must outlive the link.
  FPort* attach(FrameOutput& output, FrameFeeder& feeder);
  void detach(FPort& port);
  /// Of a port that is attached, for link events; its end is b. nullptr: not attached.
  [[nodiscard]] Link* link_of(const NPort& port);
  [[nodiscard]] bool is_attached(const NPort& port) const { return links_.contains(&port); }
  /// At the N_Port's end of its link, so that loss in the fabric shows as it does to the port. nullptr takes it off.
  void tap(NPort& port, FrameTap* tap);
  /// On both directions of the port's link, until it goes down. nullptr takes it off.
  void set_fault(NPort& port, FrameFault* fault) { set_faults(port, fault, fault); }
  /// The same, one for what the port sends and one for what it receives.
  void set_faults(NPort& port, FrameFault* sent, FrameFault* received);
  /// The port's end of the link, to inject into. nullptr: not attached.
  [[nodiscard]] FrameReceiver* ingress_of(const NPort& port);

  [[nodiscard]] const SwitchConfig& config() const { return config_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] std::uint64_t frames_forwarded() const { return frames_forwarded_; }
  [[nodiscard]] std::size_t logged_in_ports() const { return names_.size(); }
  [[nodiscard]] NameServer& name_server() { return *name_server_; }
  [[nodiscard]] FabricController& fabric_controller() { return *fabric_controller_; }
  /// The embedded N_Port of a service, by its well-known address (FFFFFCh, FFFFFDh).
  [[nodiscard]] NPort& service_port(wire::FcId well_known);

 private:
  friend class FabricService;
  friend class FPort;
  /// A frame that an N_Port sent, as its F_Port got it.
  void frame_from_port(FPort& ingress, FramePtr frame);
  void frame_from_service(FramePtr frame);
  [[nodiscard]] Discard admits(const FPort& ingress, const Frame& frame) const;  // Discard::Count: it may pass
  void forward(FramePtr frame, FPort* ingress);
  void answer_class_2(const Frame& frame, wire::RCtl r_ctl);
  void broadcast(FramePtr frame, FPort* ingress);
  [[nodiscard]] FPort* find(wire::FcId id);
  [[nodiscard]] wire::FcId address_of(std::size_t number) const;
  FPort* take_f_port();
  void take_link_down(FPort& port);

  /// A FLOGI with this Port_Name may be accepted on `port`.
  [[nodiscard]] bool admits_name(const FPort& port, wire::Wwn port_name) const;
  void port_logged_in(FPort& port);
  void port_logged_out(FPort& port);

  Scheduler& scheduler_;
  FramePool& pool_;
  SwitchConfig config_;
  Counters counters_;
  std::uint64_t frames_forwarded_ = 0;
  std::vector<std::unique_ptr<FPort>> f_ports_;          // by number; never destroyed while the switch lives
  std::deque<std::size_t> free_f_ports_;                 // detached, longest first
  boost::unordered_flat_map<const NPort*, FPort*> links_;
  boost::unordered_flat_map<std::uint64_t, FPort*> names_;  // logged in, by Port_Name
  std::unique_ptr<FabricService> name_service_, controller_service_;
  std::unique_ptr<NameServer> name_server_;
  std::unique_ptr<FabricController> fabric_controller_;
};

}  // namespace fc2
