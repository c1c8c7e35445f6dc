// A switch: F_Ports, routing by N_Port_ID, Name Server, Fabric Controller. Classes 2 and 3. A single switch is a fabric
// by itself; a Fabric creates, links and configures several.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "fc2_fabric/link/channel.hpp"
#include "fc2_fabric/frame/counters.hpp"
#include "fc2_fabric/switch/routing_table.hpp"
#include "fc2_fabric/switch/switch_services.hpp"

namespace fc2 {
class FabricController;
class FabricDirectory;
class DirectoryListener;
class FabricService;
class FPort;
class Link;
class Loop;
class NPort;
class NameServer;
class SharedLink;
class SwitchPort;
struct LoopPlace;

class Switch final : private SwitchServices {
 public:
  Switch(Scheduler& scheduler, FramePool& pool, SwitchConfig config);
  ~Switch();
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;

  /// Creates a link and brings it up: the port logs in. False: all F_Ports are in use. The port must outlive its link.
  /// The F_Port that has been free the longest is used, so that a link that comes back gets its former address.
  bool attach(NPort& port, LinkConfig link = {});
  /// The same for several N_Ports on one link. To detach it, tap it or give it faults, name its base port.
  bool attach(SharedLink& ports, LinkConfig link = {});
  /// Takes the link down: frames under way are lost, the port is logged out implicitly. Must not be called
  /// inside a FrameTap.
  void detach(NPort& port);
  /// The same for an N_Port in another program: frames to it go to `output`, frames from it are given to the F_Port's
  /// receive() by `feeder`. nullptr: all F_Ports are in use. Both must outlive the link.
  FPort* attach(FrameOutput& output, FrameFeeder& feeder);
  /// The same for a sender that cannot be held back: Ethernet. `former`: the number of the F_Port to use if it is free,
  /// which gives the port its former address (FC-VI 7.7.5).
  FPort* attach(FrameOutput& output, std::optional<std::size_t> former = {});
  /// Creates the F_Port of that number and reserves it for a port that asks for it; others get it only when no other is
  /// left. For ports that were logged in at the switch that this one replaces.
  void set_aside(std::size_t number);
  /// Frees reserved F_Ports that no port has asked for.
  void release_set_aside();
  void detach(FPort& port);
  /// Attaches an arbitrated loop; returns its FL_Port, for detach(). nullptr: no F_Port is free whose area of 256
  /// addresses is unused.
  FPort* attach(Loop& loop, const LoopPlace& place);
  FPort* attach(Loop& loop);
  /// Moves its cable to another F_Port: NOS, and another N_Port_ID. False: none is free. Taps and faults are removed.
  bool replug(NPort& port);
  /// The link of an attached port, for link events; its end is b. nullptr: not attached.
  [[nodiscard]] Link* link_of(const NPort& port);
  /// Frames that wait here for that port, none of which is on its link yet. 0: not attached.
  [[nodiscard]] std::size_t frames_for(const NPort& port) const;
  [[nodiscard]] bool is_attached(const NPort& port) const { return links_.contains(&port); }
  /// At the N_Port's end of its link, so that it sees losses in the fabric as the port does. nullptr removes it.
  void tap(NPort& port, FrameTap* tap);
  /// On both directions of the port's link, until it goes down. nullptr removes it.
  void set_fault(NPort& port, FrameFault* fault) { set_faults(port, fault, fault); }
  /// The same, one for frames that the port sends and one for those that it receives.
  void set_faults(NPort& port, FrameFault* sent, FrameFault* received);
  /// The port's end of the link, for injected frames. nullptr: not attached.
  [[nodiscard]] FrameReceiver* ingress_of(const NPort& port);

  using SwitchServices::config;
  /// It has a Domain_ID and its links work. A single switch always does; a switch of a Fabric while it runs
  /// and is configured.
  [[nodiscard]] bool online() const override { return domain_ != 0; }
  [[nodiscard]] std::uint8_t domain() const { return domain_; }
  /// The Switch_Name of the principal switch; for a single switch as configured.
  [[nodiscard]] wire::Wwn fabric_name() const override { return fabric_name_; }
  using SwitchServices::counters;
  using SwitchServices::set_witness;
  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] std::uint64_t frames_forwarded() const { return frames_forwarded_; }
  /// Of all switches that this one reaches.
  [[nodiscard]] std::size_t logged_in_ports() const;
  [[nodiscard]] NameServer& name_server() { return *name_server_; }
  [[nodiscard]] FabricController& fabric_controller() { return *fabric_controller_; }
  [[nodiscard]] const RoutingTable& routes() const { return routes_; }
  /// The common directory of this switch and those that it reaches.
  [[nodiscard]] FabricDirectory& directory() { return *directory_; }
  /// Its services and F_Ports, between events. Linear.
  [[nodiscard]] bool is_consistent() const;
  /// The embedded N_Port of a service, by its well-known address (FFFFFCh, FFFFFDh).
  [[nodiscard]] NPort& service_port(wire::FcId well_known);

 private:
  friend class Fabric;
  friend class InterSwitchLink;  // makes its ports
  friend class FabricService;
  /// A switch of a Fabric: offline until the Fabric has configured it.
  Switch(Scheduler& scheduler, FramePool& pool, SwitchConfig config, Multipath multipath, const PathAges* ages);

  // --- frames
  /// A frame that an N_Port sent, as its F_Port got it.
  void frame_from_port(FPort& ingress, FramePtr frame) override;
  [[nodiscard]] std::size_t run_from_port(FPort& ingress, const FrameRun& run) override;
  void frame_from_service(FramePtr frame);
  void frame_from_link(EPort& ingress, FramePtr frame) override;
  [[nodiscard]] Discard admits(const FPort& ingress, const Frame& frame) const;  // Discard::Count: it may pass
  [[nodiscard]] Discard admits(const Frame& frame) const;                        // from another switch
  void forward(FramePtr frame, SwitchPort* ingress);
  bool deliver(FramePtr& frame, wire::FcId d_id, SwitchPort* ingress);
  void pass_on(FramePtr frame, wire::FcId d_id, SwitchPort* ingress);
  void undeliverable(const Frame& frame) override;
  void answer_class_2(const Frame& frame, wire::RCtl r_ctl) override;
  void enter_fabric(Frame& frame) const;
  void broadcast(FramePtr frame, SwitchPort* ingress);

  // --- addresses: 255 areas of 256 ports. An F_Port keeps its own, virtual ports share its area
  using AddressNumber = std::size_t;
  [[nodiscard]] wire::FcId id_of(AddressNumber number) const;
  [[nodiscard]] wire::FcId address_of(const FPort& port) const override;
  /// nullptr: no port has this address.
  [[nodiscard]] FPort* find(wire::FcId id) const override;
  /// 0: the area is full.
  wire::FcId take_address(const FPort& port) override;
  void give_back_address(wire::FcId id) override;
  void take_address_number(AddressNumber number);
  FPort* take_f_port();
  FPort* take_f_port(std::size_t number);  // nullptr: it is in use
  FPort* take_f_port(std::deque<std::size_t>& from, std::deque<std::size_t>::iterator at);
  FPort* make_f_port();
  /// All other addresses of its area. False: one of them is another port's.
  bool take_area(const FPort& port);
  void give_back_area(const FPort& port);
  template <class Ports>
  bool attach(NPort& base, Ports& ports, const LinkConfig& link);
  void unplug(FPort& port);

  // --- logins
  /// A login with this Port_Name may be accepted; `id`: the port that may have it already.
  [[nodiscard]] bool admits_name(wire::Wwn port_name, wire::FcId id) const override;
  void port_logged_in(FPort& port, wire::FcId id, const wire::els::Login& login) override;
  void port_logged_out(wire::FcId id, wire::Wwn port_name) override;
  void leave_services(wire::FcId id) override;
  [[nodiscard]] std::optional<wire::FcId> address_of_name(wire::Wwn port_name) const override;

  // --- by the Fabric
  void go_online(std::uint8_t domain, wire::Wwn fabric_name);
  void go_offline();
  void set_directory(FabricDirectory& directory);
  /// Keeps what it knows of its own ports apart, from the beginning: `listener`, which outlives it, hears of changes.
  void keep_own_directory(DirectoryListener& listener);
  /// Of its own ports, where that is not the common one.
  [[nodiscard]] FabricDirectory& own_directory() const {
    return own_directory_ == nullptr ? *directory_ : *own_directory_;
  }

  std::uint64_t frames_forwarded_ = 0;
  std::uint8_t domain_ = 0;
  wire::Wwn fabric_name_{};
  std::vector<std::unique_ptr<FPort>> f_ports_;  // by number; never destroyed while the switch lives
  std::vector<AddressNumber> f_port_addresses_;  // by number of F_Port
  std::deque<std::size_t> free_f_ports_;         // unplugged, longest first
  std::deque<std::size_t> set_aside_;
  std::vector<FPort*> logged_in_;  // by number of address: where its frames go
  std::vector<bool> taken_;        // the same: by an F_Port or a login
  AddressNumber next_f_port_address_ = 0;
  boost::unordered_flat_map<const NPort*, FPort*> links_;
  RoutingTable routes_;
  const PathAges* ages_;                            // of the Fabric; nullptr: a switch by itself
  std::unique_ptr<FabricDirectory> own_directory_;  // of a switch by itself, or of its own ports alone
  FabricDirectory* directory_ = nullptr;
  std::unique_ptr<FabricService> name_service_, controller_service_;
  std::unique_ptr<NameServer> name_server_;
  std::unique_ptr<FabricController> fabric_controller_;
};

}  // namespace fc2
