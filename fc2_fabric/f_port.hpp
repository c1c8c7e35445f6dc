// One port of a switch: its link to an N_Port, and the F_Port Controller (FFFFFEh) that answers fabric logins (FC-LS).
#pragma once
#include <deque>
#include <optional>

#include "fc2_fabric/link.hpp"
#include "fc2_fabric/n_port.hpp"

namespace fc2 {
class Switch;

class FPort final : public FrameReceiver, private LinkUser, private ElsUser, private OutputListener {
 public:
  FPort(Switch& fabric, std::size_t number, wire::FcId address);

  void connect(NPort& port, LinkConfig link);
  void connect(FrameOutput& output, FrameFeeder& feeder);
  void disconnect();
  [[nodiscard]] bool connected() const { return link_.has_value() || feeder_ != nullptr; }
  /// While connected. nullptr takes it off.
  void tap(FrameTap* tap);
  /// On the link to an N_Port of this program, while it is connected: from there, and to there. nullptr takes it off.
  void set_faults(FrameFault* from_port, FrameFault* to_port);

  /// While an N_Port of this program is connected: its end is b. Else nullptr.
  [[nodiscard]] Link* link() { return link_ ? &*link_ : nullptr; }

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
  /// To the N_Port. `ingress`: where it came from, held back while too many wait; nullptr: from inside the switch.
  void send(FramePtr frame, FPort* ingress);
  [[nodiscard]] std::uint64_t frames_from_port() const { return frames_from_port_; }
  [[nodiscard]] std::uint64_t frames_to_port() const { return frames_to_port_; }
  /// Frames that wait here, and whether the port took none for so long that they are discarded.
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] bool stalled() const { return stalled_; }

 private:
  // What the F_Port Controller sends leaves on this link, whatever its D_ID.
  class ControllerOutput final : public FrameReceiver {
   public:
    explicit ControllerOutput(FPort& port) : port_(port) {}
    void receive(FramePtr frame) override { port_.send(std::move(frame), nullptr); }

   private:
    FPort& port_;
  };

  bool els_received(Exchange& exchange, const wire::FcHeader& header, std::span<const std::uint8_t> payload) override;
  void log_in(Exchange& exchange, std::span<const std::uint8_t> payload);
  void log_out();
  void link_up(FrameOutput& output);
  void link_down();
  void link_active() override { link_up(link_->a.output()); }
  void link_offline() override { link_down(); }
  // Frames that wait while the output is paused.
  void output_resumed() override;
  void transmit(FramePtr frame);
  void enqueue(FramePtr frame, FPort* ingress);
  void drop(const Frame& frame);
  void hold_back(FPort& ingress);
  void release_held();
  void hold_time_over();
  [[nodiscard]] wire::els::Login accept_parameters() const;

  Switch& switch_;
  const std::size_t number_;
  const wire::FcId address_;
  NPort controller_;
  ControllerOutput controller_output_;
  Channel controller_channel_;
  std::optional<Link> link_;                    // while an N_Port of this program is connected
  std::optional<AttachedNPort> n_port_;         // that one
  FrameFeeder* feeder_ = nullptr;               // while one elsewhere is connected
  FrameTap* tap_ = nullptr;                     // of that one; channels have their own
  FrameOutput* output_ = nullptr;               // while connected
  FrameQueue waiting_;                          // arrival: since when
  bool stalled_ = false;
  TimeNs last_progress_ = 0;                    // when a frame left, or could have
  std::deque<FPort*> held_;                     // whom we hold back, first come first
  FPort* held_by_ = nullptr;
  std::uint64_t frames_from_port_ = 0, frames_to_port_ = 0;
  Timer<FPort, &FPort::hold_time_over> hold_timer_{*this};
  bool logged_in_ = false;
  wire::els::Login login_;
};

}  // namespace fc2
