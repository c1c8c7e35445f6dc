// A link between two ports of this program: frames, credit and primitive sequences both ways, and at each end the port
// state machine (FC-FS), which decides whether frames may pass.
#pragma once
#include "fc2_fabric/link/channel.hpp"
#include "fc2_fabric/link/primitives.hpp"
#include "fc2_fabric/link/receive_queue.hpp"
#include "state_machines/link_port.hpp"
#include "state_machines/outbox.hpp"

namespace fc2 {
/// The port at an end of a link. Calls come when no operation of the link is under way: it may be used in them,
/// but not destroyed.
class LinkUser {
 public:
  /// Frames may pass again after NOS, OLS or the start.
  virtual void link_active() = 0;
  /// NOS or OLS: frames no longer pass; logins must be validated, or are over (FC-VI 7.7). Not called for a Link Reset.
  virtual void link_offline() = 0;
  /// Hears of the rows that fire in the machine of this end; nullptr: nobody does. Asked at each row.
  [[nodiscard]] virtual fsm::RowListener* row_listener() const { return nullptr; }

 protected:
  ~LinkUser() = default;
};

/// What happens to the buffer of a frame that arrived.
enum class BufferUse : std::uint8_t {
  UntilProcessed,  // an N_Port's: see ReceiveQueue
  UntilForwarded,  // a switch's: the frame holds it until it goes out on another link
};

class LinkEnd final : public PrimitiveReceiver,
                      private CreditListener,
                      private ReadySignal,
                      private machines::link_port::Context,
                      private Event {
 public:
  /// Frames sent here arrive at `far_receiver`, frames received here go through `queue`.
  LinkEnd(Scheduler& scheduler, const LinkConfig& config, FrameReceiver& far_receiver, ReceiveQueue& queue);
  ~LinkEnd() override = default;

  /// The sending side. Paused while the link is not active, and while the far end has no buffer.
  [[nodiscard]] Channel& output() { return output_; }
  [[nodiscard]] bool active() const { return machine_.is<machines::link_port::Active>(); }
  [[nodiscard]] std::string_view state_name() const { return machine_.state_name(); }
  /// Its user was told that it is active, and not since that it is offline: also while a Link Reset is under way.
  [[nodiscard]] bool online() const { return online_; }

  /// Link Reset protocol: LR, LRR. Logins stay (FC-VI 7.7.1).
  void reset();
  /// Online to offline and back: OLS.
  void go_offline();
  /// Link failure protocol: NOS, as after a short loss of signal.
  void fail();

  /// The port at this end stops taking frames, or resumes. Only on links that have credit, where
  /// BufferUse is UntilProcessed.
  void pause_receiver() { queue_.pause(); }
  void resume_receiver() { queue_.resume(); }
  [[nodiscard]] const ReceiveQueue& receive_queue() const { return queue_; }
  /// Frames that arrived here and occupy a buffer. 0 if the link has no credit.
  [[nodiscard]] std::size_t buffers_taken() const { return buffers_ == nullptr ? 0 : buffers_->taken(); }
  [[nodiscard]] const BufferCredit& credit() const { return credit_; }
  [[nodiscard]] const PrimitiveLine& primitives() const { return line_; }
  [[nodiscard]] std::uint64_t unexpected_events() const { return unexpected_events_; }
  /// Applies to primitives that this end sends. nullptr removes it.
  void set_primitive_fault(PrimitiveFault* fault) { line_.set_fault(fault); }
  /// A primitive of this end, which another program simulates: it is at the far end at `arrival`.
  void carry(Primitive primitive, TimeNs arrival) { line_.carry(primitive, arrival); }
  /// Between its members, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;

 private:
  friend class Link;
  /// What is left to do when the machine has come to rest.
  enum class Effect : std::uint8_t { Flush, TellOffline, TellActive };
  template <class E>
  void process(const E& event);
  void settle();
  void carry_out(Effect effect);
  void connect_to(LinkEnd& far_end);
  void cut();

  void primitive_received(Primitive primitive) override;
  void link_timed_out() override;
  void send_r_rdy() override;
  void fire(TimeNs now) override;  // R_T_TOV

  // machines::link_port
  void send_idle() override { line_.send(Primitive::Idle); }
  void send_lr() override { line_.send(Primitive::Lr); }
  void send_lrr() override { line_.send(Primitive::Lrr); }
  void send_ols() override { line_.send(Primitive::Ols); }
  void send_nos() override { line_.send(Primitive::Nos); }
  void reset_link() override;
  void start_timer() override;
  void stop_timer() override { scheduler_.cancel(*this); }
  void report_offline() override;
  void report_active() override { effects_.push(Effect::TellActive); }
  void on_row(const fsm::Row& row) override;
  void unexpected(std::string_view machine, std::string_view state, std::string_view event) override;

  Scheduler& scheduler_;
  Channel output_;
  PrimitiveLine line_;
  BufferCredit credit_;        // for what we send
  ReceiveBuffersPtr buffers_;  // for what we receive; none: no credit on this link
  ReceiveQueue& queue_;
  machines::link_port::Machine machine_;
  LinkUser* user_ = nullptr;
  bool online_ = false;  // as last reported to the user
  fsm::Outbox<Effect, 4> effects_;
  std::uint64_t unexpected_events_ = 0;
};

class Link {
 public:
  Link(Scheduler& scheduler, const LinkConfig& config, FrameReceiver& a, BufferUse a_use, FrameReceiver& b,
       BufferUse b_use);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Joined after both ends have finished the link initialization protocol: active at once.
  void join(LinkUser& a, LinkUser& b);
  /// Both ends start with the link initialization protocol.
  void initialize(LinkUser& a, LinkUser& b);
  /// One of these was called.
  [[nodiscard]] bool joined() const { return a.user_ != nullptr; }
  /// The cable is cut: frames on it are lost, both ends see no signal.
  void cut();
  /// ... and mended: both ends go through the link failure protocol.
  void mend();
  [[nodiscard]] bool is_cut() const { return cut_; }
  /// What it carries arrives before all else of that time, by rank: this one and the three that follow. Not 0.
  void set_rank(std::uint32_t rank);
  static constexpr std::uint32_t ranks = 4;
  [[nodiscard]] const LinkConfig& config() const { return config_; }
  /// Both ends.
  [[nodiscard]] bool is_consistent() const { return a.is_consistent() && b.is_consistent(); }

 private:
  const LinkConfig config_;
  ReceiveQueue queue_a_, queue_b_;
  bool cut_ = false;

 public:
  LinkEnd a, b;
};

}  // namespace fc2
