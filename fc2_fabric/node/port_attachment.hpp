// An N_Port's link: how it comes by its N_Port_ID, how it loses it, and whether logins survive that (FC-VI 7.7).
#pragma once
#include "fc2_fabric/node/fabric_login.hpp"
#include "fc2_fabric/node/login_services.hpp"
#include "fc2_fabric/node/port_listener.hpp"
#include "state_machines/outbox.hpp"
#include "state_machines/port_attachment.hpp"
#include "wire/els/fan.hpp"

namespace fc2 {
class RemotePorts;

class PortAttachment final : public LoginOwner,
                             private FabricLoginListener,
                             private machines::port_attachment::Context {
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

  [[nodiscard]] bool has_fabric() const { return topology_ == Topology::Fabric || topology_ == Topology::PublicLoop; }
  [[nodiscard]] bool is_point_to_point() const { return topology_ == Topology::PointToPoint; }
  [[nodiscard]] bool interrupted() const {
    namespace pa = machines::port_attachment;
    return machine_
        .is_any_of<pa::Interrupted, pa::AwaitingFan, pa::LoggingInAgain, pa::LoggingInAnew, pa::AwaitingNewAddress>();
  }
  [[nodiscard]] std::string_view state_name() const { return machine_.state_name(); }
  [[nodiscard]] wire::els::Login login_parameters(wire::els::Command command) const override;
  [[nodiscard]] bool keeps_login(wire::FcId peer) const override;
  /// Between its members, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;
  /// Its fabric login as well.
  [[nodiscard]] bool is_consistent_throughout() const { return is_consistent() && fabric_login_.is_consistent(); }

  // --- what other ports ask ------------------------------------------------------------------------------------
  /// A PLOGI would tell the address.
  [[nodiscard]] bool may_be_assigned() const {
    namespace pa = machines::port_attachment;
    return machine_.is_any_of<pa::AwaitingAddress, pa::AwaitingNewAddress>();
  }
  void address_assigned(wire::FcId id);
  /// FLOGI of another N_Port, which was accepted.
  void fabric_login_received(const wire::els::Login& login);
  /// LOGO of the F_Port.
  void fabric_logout_received(Exchange& exchange);
  [[nodiscard]] bool awaits_fan() const { return machine_.is<machines::port_attachment::AwaitingFan>(); }
  void fan_received(const wire::els::Fan& fan);

 private:
  /// What the link is, as far as it is known: a fabric is what is asked for first.
  enum class Topology : std::uint8_t { Fabric, PublicLoop, None, PointToPoint, Fixed };
  /// What is known of others' addresses when an interruption ends.
  enum class Mappings : std::uint8_t { Same, Ask, Changed };
  /// What is left to do when the machine has come to rest.
  enum class Effect : std::uint8_t {
    LogInToFabric,
    LeaveFabric,
    UseOwnParameters,
    UseFixedAddress,
    GoOnlineSame,
    GoOnlineAsking,
    GoOnlineChanged,
    LogInToOther,
    RenewOther,
    GoOffline,
    Suspend,
    EndInterruption,
    DropLink,
    ForgetTopology,
    ConfirmFabricLogin,
    StartFanTimer,
    StopFanTimer,
    StartAddressTimer,
    StopAddressTimer,
    ReportLoginFailed,
  };
  template <class E>
  void process(const E& event);
  void carry_out(Effect effect);
  void begin_link(FrameOutput& output, Topology topology);
  [[nodiscard]] bool has_link() const;
  /// Our FLOGI was answered by an N_Port of a higher name.
  [[nodiscard]] bool awaits_plogi() const;
  // FabricLoginListener
  void fabric_login_accepted(wire::FcId id, const wire::els::Login& accept) override;
  void fabric_login_lost() override;
  void fabric_login_failed() override { listener_.fabric_login_failed(); }
  void fabric_login_ended() override;
  [[nodiscard]] bool is_same_fabric(wire::Wwn port_name, wire::Wwn fabric_name) const;
  void take_parameters(const wire::els::Login& fabric);
  void fan_overdue();
  void address_overdue();
  void interruption_over();

  // what the effects do
  void do_log_in();
  void do_leave_fabric();
  void take_own_parameters();
  void become_fixed();
  void become_online(Mappings mappings);
  void do_renew_other();
  void become_offline();
  void do_suspend();
  void do_end_interruption();
  void do_drop_link();
  void detach();
  void keep(FramePtr frame);
  void validate_logins(Mappings mappings);

  // machines::port_attachment
  void log_in_to_fabric() override { effects_.push(Effect::LogInToFabric); }
  void leave_fabric() override { effects_.push(Effect::LeaveFabric); }
  void use_own_parameters() override { effects_.push(Effect::UseOwnParameters); }
  void use_fixed_address() override { effects_.push(Effect::UseFixedAddress); }
  void go_online_same() override { effects_.push(Effect::GoOnlineSame); }
  void go_online_asking() override { effects_.push(Effect::GoOnlineAsking); }
  void go_online_changed() override { effects_.push(Effect::GoOnlineChanged); }
  void log_in_to_other() override { effects_.push(Effect::LogInToOther); }
  void renew_other() override { effects_.push(Effect::RenewOther); }
  void go_offline() override { effects_.push(Effect::GoOffline); }
  void suspend() override { effects_.push(Effect::Suspend); }
  void end_interruption() override { effects_.push(Effect::EndInterruption); }
  void drop_link() override { effects_.push(Effect::DropLink); }
  void forget_topology() override { effects_.push(Effect::ForgetTopology); }
  void confirm_fabric_login() override { effects_.push(Effect::ConfirmFabricLogin); }
  void start_fan_timer() override { effects_.push(Effect::StartFanTimer); }
  void stop_fan_timer() override { effects_.push(Effect::StopFanTimer); }
  void start_address_timer() override { effects_.push(Effect::StartAddressTimer); }
  void stop_address_timer() override { effects_.push(Effect::StopAddressTimer); }
  void report_login_failed() override { effects_.push(Effect::ReportLoginFailed); }
  [[nodiscard]] bool has_fixed_address() const override { return port_.config().is_fixed(); }
  [[nodiscard]] bool others_may_have_moved() const override { return others_may_have_moved_; }
  void on_row(const fsm::Row& row) override;
  void unexpected(std::string_view, std::string_view, std::string_view) override;

  const PortServices& port_;
  PortState& state_;
  RemotePorts& remote_ports_;
  AttachmentListener& listener_;
  machines::port_attachment::Machine machine_;
  fsm::Outbox<Effect, 8> effects_;
  bool settling_ = false;  // effects are being carried out
  Topology topology_;
  bool others_may_have_moved_ = false;  // the fabric was interrupted with us
  FrameOutput* output_ = nullptr;       // while the link works
  FramePtr unsent_;                     // while the event of an interruption is processed
  wire::FcId next_id_{};                // with which the port goes online
  wire::Wwn fabric_port_name_{}, fabric_name_{};
  FabricLogin fabric_login_;
  Timer<PortAttachment, &PortAttachment::interruption_over> interruption_timer_{*this};
  Timer<PortAttachment, &PortAttachment::fan_overdue> fan_timer_{*this};
  Timer<PortAttachment, &PortAttachment::address_overdue> address_timer_{*this};
};

}  // namespace fc2
