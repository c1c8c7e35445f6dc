// One port of a switch: its link to an N_Port, and the F_Port Controller (FFFFFEh) that answers fabric logins (FC-LS).
#pragma once
#include <optional>

#include "fc2_fabric/channel.hpp"
#include "fc2_fabric/n_port.hpp"

namespace fc2 {
class Switch;

class FPort final : public FrameReceiver, private ElsUser {
 public:
  FPort(Switch& fabric, std::size_t number, wire::FcId address);

  void connect(NPort& port, LinkConfig link);
  void disconnect();
  void tap(FrameTap* tap);
  [[nodiscard]] NPort* n_port() { return n_port_; }

  [[nodiscard]] std::size_t number() const { return number_; }
  /// What a FLOGI here is granted.
  [[nodiscard]] wire::FcId address() const { return address_; }
  [[nodiscard]] bool logged_in() const { return logged_in_; }
  /// What the N_Port said in its FLOGI; while it is logged in.
  [[nodiscard]] const wire::els::Login& login() const { return login_; }

  /// From the N_Port.
  void receive(FramePtr frame) override;
  /// To the F_Port Controller.
  void receive_control(FramePtr frame) { controller_.receive(std::move(frame)); }
  /// To the N_Port.
  void send(FramePtr frame);

 private:
  // What the F_Port Controller sends leaves on this link, whatever its D_ID.
  class ControllerOutput final : public FrameReceiver {
   public:
    explicit ControllerOutput(FPort& port) : port_(port) {}
    void receive(FramePtr frame) override { port_.send(std::move(frame)); }

   private:
    FPort& port_;
  };

  bool els_received(Exchange& exchange, const wire::FcHeader& header, std::span<const std::uint8_t> payload) override;
  void log_in(Exchange& exchange, std::span<const std::uint8_t> payload);
  void log_out();
  [[nodiscard]] wire::els::Login accept_parameters() const;

  Switch& switch_;
  const std::size_t number_;
  const wire::FcId address_;
  NPort controller_;
  ControllerOutput output_;
  Channel controller_channel_;
  NPort* n_port_ = nullptr;
  std::optional<Channel> to_switch_, to_port_;  // while connected
  bool logged_in_ = false;
  wire::els::Login login_;
};

}  // namespace fc2
