#include "fc2_fabric/link/link.hpp"

#include <cassert>
#include <utility>

#include "state_machines/consistency.hpp"
#include "state_machines/row_effects.hpp"

namespace fc2 {
namespace lp = machines::link_port;

namespace {
constexpr TimeNs r_t_tov = 100 * millisecond;  // FC-FS: receiver-transmitter time-out
constexpr std::size_t usual_primitives = 8;    // under way at once, beside the R_RDYs
}  // namespace

LinkEnd::LinkEnd(Scheduler& scheduler, const LinkConfig& config, FrameReceiver& far_receiver, ReceiveQueue& queue)
    : scheduler_(scheduler), output_(scheduler, config, far_receiver),
      line_(scheduler, config.latency_ns, config.bb_credit + usual_primitives),
      credit_(scheduler, output_, *this, config.link_timeout),
      buffers_(config.bb_credit != 0 ? new ReceiveBuffers(*this) : nullptr), queue_(queue) {}

void LinkEnd::connect_to(LinkEnd& far_end) {
  line_.set_receiver(far_end);
  if (buffers_ != nullptr) output_.set_credit(&credit_, far_end.buffers_.get());
}

// --- the user's wishes -------------------------------------------------------------------------------------------

void LinkEnd::reset() {
  if (active()) process(lp::LinkTimeout{});
}

void LinkEnd::go_offline() {
  if (active()) process(lp::OfflineRequested{});
}

void LinkEnd::fail() { process(lp::SignalLost{}); }

void LinkEnd::cut() {
  line_.cut();
  output_.clear();
  queue_.clear();
}

// --- what comes in -----------------------------------------------------------------------------------------------

void LinkEnd::primitive_received(Primitive primitive) {
  switch (primitive) {
    case Primitive::RRdy: return active() ? credit_.r_rdy_received() : void();  // from before a reset
    case Primitive::Idle: return process(lp::IdleReceived{});
    case Primitive::Lr: return process(lp::LrReceived{});
    case Primitive::Lrr: return process(lp::LrrReceived{});
    case Primitive::Ols: return process(lp::OlsReceived{});
    case Primitive::Nos: return process(lp::NosReceived{});
  }
}

void LinkEnd::link_timed_out() { reset(); }
void LinkEnd::fire(TimeNs) { process(lp::Timeout{}); }

// Only an active link has R_RDYs; what was freed meanwhile is free when the reset is over (FC-FS).
void LinkEnd::send_r_rdy() {
  if (active()) line_.send(Primitive::RRdy);
}

// --- the machine -------------------------------------------------------------------------------------------------

template <class E>
void LinkEnd::process(const E& event) {
  machine_.process(event, *this);
  settle();
}

void LinkEnd::settle() {
  static_assert(fsm::most_pending<lp::Def, lp::Activate, lp::SendLr, lp::SendLrr, lp::SendIdle, lp::SendOls,
                                  lp::SendNos, lp::AnswerOls, lp::AnswerOls> <= decltype(effects_)::capacity);
  effects_.drain([this](Effect effect) { carry_out(effect); });
  FCVI_ASSERT_CONSISTENT(*this);
}

void LinkEnd::carry_out(Effect effect) {
  switch (effect) {
    case Effect::Flush: return queue_.flush();
    case Effect::TellOffline:
      if (std::exchange(online_, false)) user_->link_offline();
      return;
    case Effect::TellActive:
      output_.resume(FrameOutput::Pause::Link);
      if (!std::exchange(online_, true)) user_->link_active();
      return;
  }
}

/// Frames go while it is active. Who uses it is told before.
bool LinkEnd::is_consistent() const {
  const bool knows_user = user_ != nullptr || !online_;
  const bool stops = user_ == nullptr || active() || output_.paused();
  return effects_.empty() && knows_user && stops &&
         (active() || !online_ || !machine_.is_any_of<lp::OlsReceive, lp::OlsTransmit>());
}

void LinkEnd::reset_link() {
  output_.pause(FrameOutput::Pause::Link);
  credit_.reset();
  if (buffers_ == nullptr) return;
  buffers_->reset();
  effects_.push(Effect::Flush);
}

void LinkEnd::report_offline() {
  output_.pause(FrameOutput::Pause::Link);
  credit_.forget_login();
  effects_.push(Effect::TellOffline);
}

// Over a line that is cut nothing can be answered.
void LinkEnd::start_timer() {
  if (line_.is_cut())
    scheduler_.cancel(*this);
  else
    scheduler_.schedule_after(*this, r_t_tov);
}
void LinkEnd::on_row(const fsm::Row& row) {
  if (user_ != nullptr) fsm::tell(user_->row_listener(), row);
}
void LinkEnd::unexpected(std::string_view, std::string_view, std::string_view) { ++unexpected_events_; }

// --- link --------------------------------------------------------------------------------------------------------

namespace {
// The way of a frame into a port that neither works slowly nor has to give buffers back is as short as can be.
FrameReceiver& entrance(const LinkConfig& config, FrameReceiver& port, BufferUse use, ReceiveQueue& queue) {
  const bool direct = use == BufferUse::UntilForwarded || (config.bb_credit == 0 && config.processing_ns == 0);
  return direct ? port : queue;
}
}  // namespace

Link::Link(Scheduler& scheduler, const LinkConfig& config, FrameReceiver& a_port, BufferUse a_use,
           FrameReceiver& b_port, BufferUse b_use)
    : config_(config), queue_a_(scheduler, config.processing_ns, a_port),
      queue_b_(scheduler, config.processing_ns, b_port),
      a(scheduler, config, entrance(config, b_port, b_use, queue_b_), queue_a_),
      b(scheduler, config, entrance(config, a_port, a_use, queue_a_), queue_b_) {
  a.connect_to(b);
  b.connect_to(a);
}

void Link::join(LinkUser& a_user, LinkUser& b_user) {
  a.user_ = &a_user;
  b.user_ = &b_user;
  a.process(lp::InitializationSkipped{});
  b.process(lp::InitializationSkipped{});
}

void Link::initialize(LinkUser& a_user, LinkUser& b_user) {
  a.user_ = &a_user;
  b.user_ = &b_user;
  for (LinkEnd* end : {&a, &b}) {
    end->output_.pause(FrameOutput::Pause::Link);
    end->send_ols();
    end->start_timer();
  }
}

void Link::set_rank(std::uint32_t rank) {
  for (LinkEnd* end : {&a, &b}) {
    end->output_.set_rank(rank++);
    end->line_.set_rank(rank++);
  }
}

void Link::cut() {
  if (std::exchange(cut_, true)) return;
  a.cut();
  b.cut();
  a.process(lp::SignalLost{});
  b.process(lp::SignalLost{});
}

void Link::mend() {
  if (!std::exchange(cut_, false)) return;
  a.line_.mend();
  b.line_.mend();
  a.process(lp::SignalFound{});
  b.process(lp::SignalFound{});
}

}  // namespace fc2
