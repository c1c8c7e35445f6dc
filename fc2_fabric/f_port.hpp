// A port of a switch for N_Ports: their link, and the F_Port Controller (FFFFFEh) that answers fabric logins (FC-LS):
// FLOGI for the N_Port itself, FDISC for each further N_Port_ID on the same link (N_Port_ID virtualization).
#pragma once
#include <optional>
#include <vector>

#include "fc2_fabric/link.hpp"
#include "fc2_fabric/n_port.hpp"
#include "fc2_fabric/switch_port.hpp"

namespace fc2 {

class SharedLink;

class FPort final : public SwitchPort, private LinkUser, private ElsUser {
 public:
  FPort(Switch& fabric, std::size_t number);

  /// Plugs a link in, and brings it up if the switch is online.
  void connect(NPort& port, LinkConfig link);
  void connect(SharedLink& ports, LinkConfig link);
  void connect(FrameOutput& output, FrameFeeder& feeder);
  /// Unplugs it: whoever is logged in is logged out.
  void disconnect();
  [[nodiscard]] bool connected() const { return link_.has_value() || far_output_ != nullptr; }
  /// The cable of its N_Port is plugged in at `other`: NOS, and another address (FC-VI 7.7.5).
  void move_to(FPort& other);
  /// The switch comes online, or goes offline, and what is plugged in with it.
  void switch_online();
  void switch_offline();
  /// Offline and back: the N_Port must log in anew.
  void reset_link();
  /// While an N_Port of this program is connected: its end is b. Else nullptr.
  [[nodiscard]] Link* link() { return link_ ? &*link_ : nullptr; }
  /// While connected. nullptr takes it off.
  void tap(FrameTap* tap);
  /// On the link to an N_Port of this program, while it is connected: from there, and to there. nullptr takes it off.
  void set_faults(FrameFault* from_port, FrameFault* to_port);

  [[nodiscard]] std::size_t number() const { return number_; }
  /// Its own Port_Name.
  [[nodiscard]] wire::Wwn name() const { return controller_.config().port_name; }
  /// What a FLOGI here is granted.
  [[nodiscard]] wire::FcId address() const { return address_; }
  [[nodiscard]] bool logged_in() const { return logged_in_; }
  /// What the N_Port said in its FLOGI; while it is logged in.
  [[nodiscard]] const wire::els::Login& login() const { return login_; }
  /// N_Port_IDs that FDISC brought.
  [[nodiscard]] std::size_t virtual_ports() const { return virtual_logins_.size(); }
  /// `id` is logged in on this link.
  [[nodiscard]] bool has(wire::FcId id) const;
  /// Ends the login of `id`, without a word; of the N_Port itself: all on this link.
  void log_out(wire::FcId id);

  /// From the N_Port.
  void receive(FramePtr frame) override;
  /// To the F_Port Controller.
  void receive_control(FramePtr frame) { controller_.receive(std::move(frame)); }
  [[nodiscard]] std::uint64_t frames_from_port() const { return frames_in(); }
  [[nodiscard]] std::uint64_t frames_to_port() const { return frames_out(); }

 private:
  // What the F_Port Controller sends leaves on this link, whatever its D_ID.
  class ControllerOutput final : public FrameReceiver {
   public:
    explicit ControllerOutput(FPort& port) : port_(port) {}
    void receive(FramePtr frame) override { port_.send(std::move(frame), nullptr); }

   private:
    FPort& port_;
  };
  struct VirtualLogin {
    wire::FcId id;
    wire::els::Login parameters;
  };

  void hold() override;
  void proceed() override;
  void link_active() override;
  void link_offline() override { link_is_over(); }
  void link_begins(FrameOutput& output);
  void link_is_over();
  bool els_received(Exchange& exchange, const wire::FcHeader& header, std::span<const std::uint8_t> payload) override;
  [[nodiscard]] std::optional<wire::els::Login> admitted(Exchange& exchange, std::span<const std::uint8_t> payload, wire::els::Command command);
  [[nodiscard]] bool admits_name(wire::Wwn port_name, wire::els::Command command) const;
  void log_in(Exchange& exchange, std::span<const std::uint8_t> payload);
  void discover(Exchange& exchange, std::span<const std::uint8_t> payload);
  void grant(Exchange& exchange, wire::FcId id, const wire::els::Login& login);
  void log_out_all();
  void tell_old_address();
  [[nodiscard]] wire::els::Login accept_parameters(const wire::els::Login& request);

  const std::size_t number_;
  wire::FcId address_{};        // while the switch is online
  wire::FcId former_address_{}; // of the login that the last loss of the link ended
  NPort controller_;
  ControllerOutput controller_output_;
  Channel controller_channel_;
  std::optional<Link> link_;                    // to an N_Port of this program
  std::optional<AttachedNPort> n_port_;         // that one; none: several share the link
  LinkUser* far_user_ = nullptr;                // it, or they
  bool joined_ = false;                         // its link was active
  bool cut_by_switch_ = false;
  FrameOutput* far_output_ = nullptr;           // to one elsewhere
  FrameFeeder* feeder_ = nullptr;               // of that one
  bool logged_in_ = false;
  wire::els::Login login_;
  std::vector<VirtualLogin> virtual_logins_;
};

}  // namespace fc2
