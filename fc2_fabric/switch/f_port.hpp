// A port of a switch for N_Ports: their link, and the F_Port Controller (FFFFFEh) that answers fabric logins (FC-LS):
// FLOGI for the N_Port itself, FDISC for each further N_Port_ID on the same link (N_Port_ID virtualization). On a loop
// it is a FL_Port: a FLOGI of each NL_Port, which keeps its AL_PA and gets domain and area.
#pragma once
#include <optional>
#include <vector>

#include "fc2_fabric/switch/fl_port.hpp"
#include "fc2_fabric/link/link.hpp"
#include "fc2_fabric/node/attached_n_port.hpp"
#include "fc2_fabric/node/n_port.hpp"
#include "fc2_fabric/switch/switch_port.hpp"

namespace fc2 {

class SharedLink;

/// Hears, inside the core, when a login at a F_Port ends: of the N_Port or of one of its further N_Port_IDs.
class LoginListener {
 public:
  virtual void login_ended(wire::FcId id) = 0;

 protected:
  ~LoginListener() = default;
};

class FPort final : public SwitchPort, private LinkUser, private ElsUser, private ExchangeUser {
 public:
  FPort(SwitchServices& fabric, std::size_t number);

  /// Plugs a link in, and brings it up if the switch is online.
  void connect(NPort& port, LinkConfig link);
  void connect(SharedLink& ports, LinkConfig link);
  /// `feeder` nullptr: the sender cannot be held back.
  void connect(FrameOutput& output, FrameFeeder* feeder);
  /// To a loop, as its FL_Port. The addresses of its area are its own (Switch::attach).
  void connect(Loop& loop, const LoopPlace& place);
  /// Unplugs the link: its logins end.
  void disconnect();
  [[nodiscard]] bool connected() const { return link_.has_value() || far_output_ != nullptr || on_loop(); }
  [[nodiscard]] bool on_loop() const { return fl_port_.has_value(); }
  /// The cable of its N_Port is plugged in at `other`: NOS, and another address (FC-VI 7.7.5).
  void move_to(FPort& other);
  /// The switch goes online or offline, and its links with it.
  void switch_online();
  void switch_offline();
  /// Offline and back: the N_Port must log in anew.
  void reset_link();
  /// While an N_Port of this program is connected: its end is b. Else nullptr.
  [[nodiscard]] Link* link() { return link_ ? &*link_ : nullptr; }
  /// While connected. nullptr removes it.
  void tap(FrameTap* tap);
  /// One at a time; nullptr removes it.
  void set_login_listener(LoginListener* listener) { login_listener_ = listener; }
  /// On the link to an N_Port of this program, while it is connected: from it, and to it. nullptr removes them.
  void set_faults(FrameFault* from_port, FrameFault* to_port);

  /// Between its members, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;
  /// Its controller as well, and both ends of a link to an N_Port of this program.
  [[nodiscard]] bool is_consistent_throughout() const {
    return is_consistent() && controller_.is_consistent() && (!link_ || link_->is_consistent());
  }
  [[nodiscard]] std::size_t number() const { return number_; }
  /// Its own Port_Name.
  [[nodiscard]] wire::Wwn name() const { return controller_.config().port_name; }
  /// The N_Port_ID that a FLOGI here is granted.
  [[nodiscard]] wire::FcId address() const { return address_; }
  [[nodiscard]] bool logged_in() const { return login_.has_value(); }
  /// The N_Port's FLOGI; while it is logged in.
  [[nodiscard]] const wire::els::Login& login() const { return *login_; }
  /// N_Port_IDs granted by FDISC, or by FLOGI on a loop.
  [[nodiscard]] std::size_t virtual_ports() const { return virtual_logins_.size(); }
  [[nodiscard]] bool has_logins() const { return login_ || !virtual_logins_.empty(); }
  /// A frame without a login may come from this S_ID.
  [[nodiscard]] bool may_log_in(wire::FcId s_id) const;
  /// `id` is logged in on this link.
  [[nodiscard]] bool has(wire::FcId id) const;
  /// Ends the login of `id` and sends nothing; for the N_Port itself: all logins on this link.
  void log_out(wire::FcId id);

  /// From the N_Port.
  void receive(FramePtr frame) override;
  [[nodiscard]] std::size_t receive_run(const FrameRun& run) override;
  /// It was damaged on the way here.
  void count_bad_crc() { controller_.counters().discard(Discard::BadCrc); }
  /// To the F_Port Controller.
  void receive_control(FramePtr frame) { controller_.receive(std::move(frame)); }
  [[nodiscard]] std::uint64_t frames_from_port() const { return frames_in(); }
  [[nodiscard]] std::uint64_t frames_to_port() const { return frames_out(); }

 private:
  friend class FlPort;
  // Frames of the F_Port Controller leave on this link, whatever their D_ID.
  class ControllerOutput final : public FrameReceiver {
   public:
    explicit ControllerOutput(FPort& port) : port_(port) {}
    void receive(FramePtr frame) override;

   private:
    FPort& port_;
  };
  struct VirtualLogin {
    wire::FcId id;
    wire::els::Login parameters;
  };

  void hold() override;
  void proceed() override;
  [[nodiscard]] Hold hold_kind() const override;
  void hold_for(wire::FcId id) override;
  void proceed_for(wire::FcId id) override;
  void link_active() override;
  void link_offline() override;
  [[nodiscard]] fsm::RowListener* row_listener() const override { return switch_.config().rows; }
  [[nodiscard]] LinkUser& far_user();
  [[nodiscard]] bool one_link() const;
  [[nodiscard]] bool logins_have_a_link() const;
  void link_begins(FrameOutput& output);
  void link_is_over();
  bool els_received(Exchange& exchange, const wire::FcHeader& header, std::span<const std::uint8_t> payload) override;
  [[nodiscard]] std::optional<wire::els::Login> admitted(Exchange& exchange, std::span<const std::uint8_t> payload,
                                                         wire::FcId id);
  bool read_link_errors(Exchange& exchange, std::span<const std::uint8_t> payload);
  void log_in(Exchange& exchange, std::span<const std::uint8_t> payload);
  void discover(Exchange& exchange, std::span<const std::uint8_t> payload);
  void grant(Exchange& exchange, wire::FcId id, const wire::els::Login& login);
  void log_out_all();
  void login_ended(wire::FcId id, wire::Wwn port_name);
  // FC-VI 7.7.5: after NOS or OLS a logged-in port may come back. Its login stands and frames for it wait, for the hold
  // time of the switch; the services have forgotten it already.
  void leave_services(wire::FcId id);
  void forget_where_away(wire::Wwn port_name, wire::FcId id);
  [[nodiscard]] std::vector<wire::FcId> logins() const;
  /// The login whose Port_Name is in this FLOGI or FDISC.
  [[nodiscard]] const VirtualLogin* virtual_login(std::span<const std::uint8_t> payload) const;
  void away_for_too_long();
  // on a loop
  void log_in_on_loop(Exchange& exchange, std::span<const std::uint8_t> payload);
  void loop_initialized(const AlPaMap& assigned);
  void announce(wire::FcId id);
  void frame_returned(const Frame& frame);
  void sequence_received(Exchange& exchange, const wire::FcHeader& first, std::span<const std::uint8_t> iu) override;
  void exchange_failed(Exchange&, ExchangeFailure) override {}

  void tell_old_address();
  [[nodiscard]] wire::els::Login accept_parameters(const wire::els::Login& request);

  const std::size_t number_;
  wire::FcId address_{};         // while the switch is online
  wire::FcId former_address_{};  // of the login that the last loss of the link ended
  NPort controller_;
  ControllerOutput controller_output_;
  Channel controller_channel_;
  std::optional<Link> link_;             // to an N_Port of this program
  std::optional<AttachedNPort> n_port_;  // that one; none: several share the link
  SharedLink* shared_link_ = nullptr;    // those
  bool cut_by_switch_ = false;           // its cable, which is mended when the switch is online again
  std::optional<FlPort> fl_port_;        // to a loop
  FrameOutput* far_output_ = nullptr;    // to one elsewhere
  FrameFeeder* feeder_ = nullptr;        // of that one
  LoginListener* login_listener_ = nullptr;
  std::optional<wire::els::Login> login_;
  std::vector<VirtualLogin> virtual_logins_;
  std::vector<wire::FcId> returning_;  // logged in again: when their accept is out, what waited for them follows
  Timer<FPort, &FPort::away_for_too_long> away_timer_{*this};
};

}  // namespace fc2
