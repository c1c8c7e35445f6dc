// An N_Port's link: how it comes by its N_Port_ID, how it loses it, and whether logins survive that (FC-VI 7.7).
#pragma once
#include "fc2_fabric/node/fabric_login.hpp"
#include "fc2_fabric/node/login_services.hpp"
#include "fc2_fabric/node/port_listener.hpp"
#include "wire/els/fan.hpp"

namespace fc2 {
class RemotePorts;

class PortAttachment final : public LoginOwner, private FabricLoginListener {
 public:
  PortAttachment(const PortServices& port, PortState& state, const LoginServices& logins, RemotePorts& remote_ports,
                 AttachmentListener& listener);

  // --- the link (see NPort) ------------------------------------------------------------------------------------
  void link_up(FrameOutput& output);
  void link_up_without_fabric(FrameOutput& output, wire::FcId own);
  void link_up_on_public_loop(FrameOutput& output, std::uint8_t al_pa, bool login_required);
  void link_interrupted(FramePtr unsent);
  void fabric_interrupted();
  void link_down();
  void log_out_of_fabric();

  [[nodiscard]] bool has_fabric() const {
    return attachment_ == Attachment::Fabric || attachment_ == Attachment::PublicLoop;
  }
  [[nodiscard]] bool is_point_to_point() const { return attachment_ == Attachment::PointToPoint; }
  [[nodiscard]] bool interrupted() const { return interrupted_; }
  [[nodiscard]] wire::els::Login login_parameters(wire::els::Command command) const override;
  [[nodiscard]] bool keeps_login(wire::FcId peer) const override;
  /// Between its members, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;

  // --- what other ports ask ------------------------------------------------------------------------------------
  /// A PLOGI would tell the address.
  [[nodiscard]] bool may_be_assigned() const;
  void address_assigned(wire::FcId id);
  /// FLOGI of another N_Port, which was accepted.
  void fabric_login_received(const wire::els::Login& login);
  /// LOGO of the F_Port.
  void fabric_logout_received(Exchange& exchange);
  [[nodiscard]] bool awaits_fan() const { return awaits_fan_; }
  void fan_received(const wire::els::Fan& fan);

 private:
  enum class Attachment : std::uint8_t { Fabric, PublicLoop, None, PointToPoint, Fixed };
  /// What is known of others' addresses when an interruption ends.
  enum class Mappings : std::uint8_t { Same, Ask, Changed };
  void begin_link(FrameOutput& output, Attachment attachment);
  void log_in_to_fabric();
  void use_own_parameters();
  // FabricLoginListener
  void fabric_login_accepted(wire::FcId id, const wire::els::Login& accept) override;
  void fabric_login_lost() override;
  void fabric_login_failed() override;
  void fabric_login_ended() override;

  [[nodiscard]] bool is_same_fabric(wire::Wwn port_name, wire::Wwn fabric_name) const;
  void go_online(wire::FcId id, Mappings mappings);
  void begin_point_to_point(wire::Wwn other);
  void leave_fabric();
  void link_is_gone();
  void keep(FramePtr frame);
  void validate_logins(Mappings mappings);
  void end_interruption();
  void fan_overdue();
  void fabric_changed();
  void set_offline();
  void take_timeouts(const wire::els::Login& fabric);

  const PortServices& port_;
  PortState& state_;
  RemotePorts& remote_ports_;
  AttachmentListener& listener_;
  FrameOutput* output_ = nullptr;  // while the link works
  bool link_up_ = false;
  Attachment attachment_;
  bool interrupted_ = false;            // n_port_id is the former one
  bool others_may_have_moved_ = false;  // ... and the fabric was interrupted with us
  bool other_n_port_ = false;           // a FLOGI came: there is no fabric
  bool awaits_fan_ = false;
  bool fabric_has_changed_ = false;  // whatever FLOGI says now
  wire::Wwn fabric_port_name_{}, fabric_name_{};
  FabricLogin fabric_login_;
  Timer<PortAttachment, &PortAttachment::end_interruption> interruption_timer_{*this};
  Timer<PortAttachment, &PortAttachment::fan_overdue> fan_timer_{*this};
};

}  // namespace fc2
