// The state of one ENode at an FCF: its login at an F_Port, its VN_Ports, whether it is
// alive. Drives machines::fip_forwarder.
#pragma once
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include <boost/intrusive/list_hook.hpp>

#include "fc2_fabric/fcoe/encapsulation.hpp"
#include "fc2_fabric/fcoe/virtual_link.hpp"
#include "state_machines/consistency.hpp"
#include "state_machines/fip_forwarder.hpp"
#include "state_machines/outbox.hpp"
#include "wire/fip.hpp"

namespace fc2 {
class FPort;
}

namespace fc2::fcoe {
class FcfLink;
struct FcfConfig;
struct FcfEvent;

struct FcfVnPort {
  wire::FcId id{};
  wire::Wwn port_name{};
  TimeNs heard = 0;  // its latest keep-alive
};

/// What links need from their interface.
class FcfLinkUser {
 public:
  virtual FPort* attach_f_port(FcfLink& link) = 0;  // nullptr: the switch has none left
  virtual void detach_f_port(FPort& port) = 0;
  virtual void link_sends(FcfLink& link, FramePtr frame) = 0;                          // FCoE
  virtual void link_replies(FcfLink& link, const wire::fip::FipMessage& message) = 0;  // FIP
  virtual void link_rejects(FcfLink& link, const wire::fip::EncapsulatedFrame& request) = 0;
  virtual void vn_port_added(FcfLink& link, wire::FcId id) = 0;
  virtual void vn_port_removed(wire::FcId id) = 0;
  /// Clear Virtual Links is sent: for `port` alone, or, with nullptr, for all of the ENode.
  virtual void link_cleared(FcfLink& link, const FcfVnPort* port) = 0;
  virtual void link_event(FcfLink& link, const FcfEvent& event) = 0;  // its ENode and interface are not set
  virtual void link_idle() = 0;                                       // one may be forgotten
  virtual FcoeCounters& link_counters() = 0;

 protected:
  ~FcfLinkUser() = default;
};

/// FcfInterface has it in its queue by the hook until its ENode has sent something after the FLOGI.
class FcfLink final
    : private FrameReceiver,
      private machines::fip_forwarder::Context,
      public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  FcfLink(Scheduler& scheduler, FramePool& pool, FcfLinkUser& user, const FcfConfig& config,
          const wire::MacAddress& e_node, std::uint16_t data_field_bytes);
  ~FcfLink();
  FcfLink(const FcfLink&) = delete;
  FcfLink& operator=(const FcfLink&) = delete;

  /// FLOGI, FDISC or LOGO inside FIP.
  void els_received(const wire::fip::EncapsulatedFrame& request);
  /// FCoE from one of its VN_Ports; addresses are checked.
  void frame_received(FramePtr frame);
  void keep_alive_received();
  void solicitation_received() { solicited_ = scheduler_.now(); }
  void vn_port_keep_alive_received(const wire::fip::VnPort& sender);
  /// All logins end, and the ENode is notified. `why`, for people, is static text.
  void clear(std::string_view why = "by the fabric");
  /// The same for one VN_Port; that of the FLOGI takes the others with it. False: it is not logged in here.
  bool log_out(wire::FcId id);
  /// The Ethernet takes frames, or takes none.
  void set_paused(bool paused);

  [[nodiscard]] const wire::MacAddress& e_node() const { return e_node_; }
  [[nodiscard]] const std::vector<FcfVnPort>& vn_ports() const { return vn_ports_; }
  [[nodiscard]] FPort* f_port() const { return f_port_; }
  /// The time of the ENode's latest keep-alive, or of its accepted login.
  [[nodiscard]] TimeNs heard() const { return heard_; }
  /// While Clear Virtual Links is sent.
  [[nodiscard]] std::string_view why_cleared() const { return why_cleared_; }
  [[nodiscard]] bool idle() const { return machine_.is<machines::fip_forwarder::Idle>(); }
  [[nodiscard]] std::string_view state_name() const { return machine_.state_name(); }
  /// At the FC level, as the N_Ports there see it. nullptr removes it.
  void tap(FrameTap* tap) {
    link_.from_wire.tap_sender(tap);
    link_.to_wire.tap_receiver(tap);
  }
  /// `sent` by the N_Ports, and `received` by them.
  void set_faults(FrameFault* sent, FrameFault* received) { link_.set_faults(received, sent); }
  /// Frames that those delay.
  [[nodiscard]] std::size_t in_flight() const { return link_.to_wire.in_flight() + link_.from_wire.in_flight(); }
  void hasten() { link_.hasten(); }
  [[nodiscard]] FrameOutput& output() { return link_.to_wire; }
  /// Between its members, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;

 private:
  // Frames from an ENode, after taps and faults.
  class Ingress final : public FrameReceiver {
   public:
    explicit Ingress(FcfLink& link) : link_(link) {}
    void receive(FramePtr frame) override;

   private:
    FcfLink& link_;
  };
  void receive(FramePtr frame) override;  // from the F_Port
  struct Pending {
    wire::fip::DescriptorType type{};
    wire::OxId ox_id{};
    wire::FcId s_id{};
    wire::Wwn port_name{};
    bool ours = false;  // a LOGO for a VN_Port that is silent: its answer goes nowhere
  };
  enum class Outcome : std::uint8_t { LoginAccepted, LoginRejected, LoggedOut };
  [[nodiscard]] std::deque<Pending>::iterator pending_for(const Frame& frame);
  void answered(const Frame& frame, const Pending& request);
  void tell(const Pending& request, wire::FcId id, wire::Bytes answer, bool accepted);
  void take_login(const Pending& request, wire::FcId id, wire::fip::EncapsulatedFrame& reply);
  void add_vn_port(wire::FcId id, wire::Wwn port_name);
  void remove_vn_port(wire::FcId id);
  void end_virtual_login(const FcfVnPort& port);
  void heard_from() {
    if (is_linked()) unlink();
  }
  void pass(FramePtr frame, Pending request);
  void supervise();
  void watch();
  void settle();
  void carry_out(Outcome outcome);
  // machines::fip_forwarder
  void detach_f_port() override;
  void pass_request() override;
  void reject_request() override;
  void start_login_timer() override;
  void stop_login_timer() override { scheduler_.cancel(timer_); }
  void start_supervision() override;
  void stop_supervision() override { scheduler_.cancel(supervision_); }
  void send_clear_virtual_links() override;
  void report_departure() override;
  void forget_vn_ports() override;
  [[nodiscard]] bool has_f_port() const override { return f_port_ != nullptr; }
  [[nodiscard]] bool looks_for_fcf() const override { return solicited_ > heard_; }
  void unexpected(std::string_view, std::string_view, std::string_view) override;
  template <class E>
  void process(const E& event) {
    machine_.process(event, *this);
    FCVI_ASSERT_CONSISTENT(*this);
  }
  void time_out();

  Scheduler& scheduler_;
  FramePool& pool_;
  FcfLinkUser& user_;
  const FcfConfig& config_;
  const wire::MacAddress e_node_;
  const std::uint16_t data_field_bytes_;
  machines::fip_forwarder::Machine machine_;
  Ingress ingress_{*this};
  VirtualLink link_;
  FPort* f_port_ = nullptr;
  const wire::fip::EncapsulatedFrame* request_ = nullptr;  // while its event is processed
  std::deque<Pending> pending_;                            // passed to the F_Port, unanswered; a few
  std::vector<FcfVnPort> vn_ports_;                        // the one that logged in by FLOGI first
  std::string_view why_cleared_ = "by the fabric";
  TimeNs heard_ = 0;                  // the ENode's latest keep-alive
  TimeNs solicited_ = 0;              // its latest solicitation
  fsm::Outbox<Outcome, 1> outcomes_;  // drained when no call is inside the F_Port any more
  Timer<FcfLink, &FcfLink::settle> settle_{*this};
  Timer<FcfLink, &FcfLink::time_out> timer_{*this};
  Timer<FcfLink, &FcfLink::supervise> supervision_{*this};
};

}  // namespace fc2::fcoe
