#include "fc2_fabric/link/loop_station.hpp"

#include <utility>

#include "fc2_fabric/link/loop.hpp"
#include "state_machines/consistency.hpp"
#include "state_machines/row_effects.hpp"

namespace fc2 {
namespace loop_port = machines::loop_port;

// --- a place on the loop -----------------------------------------------------------------------------------------

namespace {
FrameReceiver& entrance(const LoopPlace& place, FrameReceiver& port, ReceiveQueue& queue, bool holds_buffers) {
  return holds_buffers || (place.bb_credit == 0 && place.processing_ns == 0) ? port : queue;
}
}  // namespace

// A FL_Port's frames keep their buffers until they go out of the switch.
LoopStation::LoopStation(Loop& loop, LoopUser& user, const LoopPlace& place)
    : loop_(loop), user_(user), place_(place),
      sent_(loop.scheduler_, {.bytes_per_second = loop.config_.bytes_per_second}, *this),
      queue_(loop.scheduler_, place.processing_ns, user.receiver()),
      buffers_(place.bb_credit != 0 ? new ReceiveBuffers(*this) : nullptr),
      received_(loop.scheduler_, {}, entrance(place, user.receiver(), queue_, user.is_fl_port())) {
  received_.set_credit(nullptr, buffers_.get());
  pause(Pause::Link);
}

// --- initialization ----------------------------------------------------------------------------------------------

template <class E>
void LoopStation::process(const E& event) {
  machine_.process(event, *this);
  settle();
}

void LoopStation::settle() {
  static_assert(fsm::most_pending<loop_port::Def, loop_port::Interrupt, loop_port::Participate> <=
                decltype(effects_)::capacity);
  effects_.drain([this](Effect effect) { carry_out(effect); });
  FCVI_ASSERT_CONSISTENT(*this);
}

void LoopStation::carry_out(Effect effect) {
  if (effect == Effect::TellInterrupted) {
    pause(Pause::Link);
    return user_.loop_interrupted(frame_);
  }
  if (frame_ == nullptr)
    resume(Pause::Receiver);
  else
    loop_.wants_loop();
  resume(Pause::Link);
  state_.al_pa = al_pa_;
  user_.loop_active(*this, state_);
}

bool LoopStation::is_consistent() const {
  return effects_.empty() && (!participating() || claimed_) && (frame_ == nullptr || paused());
}

// FC-AL LISM: the lowest name is loop master, a FL_Port before all.
void LoopStation::signal_received(const LoopSignal& signal) {
  current_ = signal;
  const auto own = std::pair(!user_.is_fl_port(), user_.loop_name());
  const auto theirs = std::pair(!signal.from_fl_port, signal.port_name);
  switch (signal.kind) {
    case LoopSignal::Kind::Lip:
      return process(loop_port::LipReceived{.again = std::exchange(last_round_, signal.round) == signal.round});
    case LoopSignal::Kind::Lism:
      return process(loop_port::LismReceived{theirs == own  ? loop_port::Name::Own
                                             : theirs < own ? loop_port::Name::Lower
                                                            : loop_port::Name::Higher});
    case LoopSignal::Kind::Claim: return process(loop_port::ClaimReceived{});
    case LoopSignal::Kind::Cls: return process(loop_port::ClsReceived{});
  }
}

void LoopStation::forward() { loop_.pass(*this, current_); }
void LoopStation::send_lism() {
  loop_.pass(*this,
             {.kind = LoopSignal::Kind::Lism, .from_fl_port = user_.is_fl_port(), .port_name = user_.loop_name()});
}
void LoopStation::send_cls() {
  note_claims(current_);
  loop_.pass(*this, {.kind = LoopSignal::Kind::Cls});
}
void LoopStation::forget_claim() { claimed_ = was_master_ = false; }

void LoopStation::claim() {
  note_claims(current_);
  take_part(current_.claimed, current_.stage);
}

// The first has an empty map, each next one the map that came back.
void LoopStation::send_claim() {
  LoopSignal next{.kind = LoopSignal::Kind::Claim};
  if (std::exchange(was_master_, true)) {
    note_claims(current_);
    next = current_;
    ++next.stage;
  } else {
    next.login_required = user_.is_fl_port() && user_.requires_login();
  }
  take_part(next.claimed, next.stage);
  loop_.pass(*this, next);
}

// AL_PA 00h in the map is an FL_Port's. The map of LIFA that came back has the ports with a fabric's address.
void LoopStation::note_claims(const LoopSignal& signal) {
  state_.fl_port = signal.claimed.test(0);
  state_.login_required = signal.login_required;
  if (signal.stage == 0) state_.assigned = signal.claimed;
}

// FC-AL: LIFA for what a fabric assigned, LIPA for the AL_PA that we had, LIHA for a hard address, LISA for any that is
// left. A FL_Port has its own in the first, or none: there is another one.
void LoopStation::take_part(AlPaMap& claimed, std::uint8_t stage) {
  if (claimed_) return;
  if (user_.is_fl_port()) {
    claimed_ = stage == 0 && claim_address(claimed, 0);
    return;
  }
  switch (stage) {
    case 0: claimed_ = al_pa_ != 0 && user_.has_assigned_address() && claim_address(claimed, al_pa_); break;
    case 1: claimed_ = al_pa_ != 0 && claim_address(claimed, al_pa_); break;
    case 2: claimed_ = place_.hard_address != 0 && claim_address(claimed, place_.hard_address); break;
    default: claimed_ = claim_soft(claimed); break;
  }
}

bool LoopStation::claim_soft(AlPaMap& claimed) {
  for (std::size_t i = 1; i < al_pas.size(); ++i)
    if (claim_address(claimed, al_pas[i])) return true;
  return false;
}

bool LoopStation::claim_address(AlPaMap& claimed, std::uint8_t al_pa) {
  const std::size_t position = al_pa_position(al_pa);
  if (position == al_pas.size() || claimed.test(position)) return false;
  claimed.set(position);
  al_pa_ = al_pa;
  return true;
}

// --- frames ------------------------------------------------------------------------------------------------------

void LoopStation::send(FramePtr frame) {
  frame_ = std::move(frame);
  pause(Pause::Receiver);
  loop_.wants_loop();
}

void LoopStation::receive(FramePtr frame) { loop_.arrive(std::move(frame), *this); }

std::size_t LoopStation::free_buffers() const {
  if (refuses_) return 0;
  if (buffers_ == nullptr) return unlimited;
  const std::size_t taken = buffers_->taken() + received_.in_flight();
  return taken < place_.bb_credit ? place_.bb_credit - taken : 0;
}

void LoopStation::send_r_rdy() { loop_.buffer_is_free(*this); }

void LoopStation::proceed() {
  if (std::exchange(refuses_, false)) loop_.wants_loop();
}

}  // namespace fc2
