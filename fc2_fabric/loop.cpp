#include "fc2_fabric/loop.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace fc2 {
namespace lp = machines::loop_port;

namespace {
constexpr std::size_t frame_overhead_bytes = 4 + 4 + 4 + 24;  // SOF, CRC, EOF, and six words between frames
}

// --- station: initialization -------------------------------------------------------------------------------------

template <class E>
void LoopStation::process(const E& event) {
  machine_.process(event, *this);
  settle();
}

void LoopStation::settle() {
  if (std::exchange(interrupted_, false)) {
    pause(Pause::Link);
    port_.link_interrupted(std::move(frame_));
  }
  if (!std::exchange(participates_, false)) return;
  resume(Pause::Receiver);
  resume(Pause::Link);
  port_.link_up_without_fabric(*this, {al_pa_});
}

void LoopStation::receive(const LoopSignal& signal) {
  current_ = signal;
  const wire::Wwn own = port_.config().port_name;
  switch (signal.kind) {
    case LoopSignal::Kind::Lip:
      return process(lp::LipReceived{.again = std::exchange(last_round_, signal.round) == signal.round});
    case LoopSignal::Kind::Lism:
      return process(lp::LismReceived{signal.port_name == own  ? lp::Name::Own
                                      : signal.port_name < own ? lp::Name::Lower
                                                               : lp::Name::Higher});
    case LoopSignal::Kind::Claim: return process(lp::ClaimReceived{});
    case LoopSignal::Kind::Cls: return process(lp::ClsReceived{});
  }
}

void LoopStation::forward() { loop_.pass(*this, current_); }
void LoopStation::send_lism() { loop_.pass(*this, {.kind = LoopSignal::Kind::Lism, .port_name = port_.config().port_name}); }
void LoopStation::send_cls() { loop_.pass(*this, {.kind = LoopSignal::Kind::Cls}); }
void LoopStation::forget_claim() { claimed_ = was_master_ = false; }

// The first begins with an empty map, the next goes on with what came back.
void LoopStation::send_claim() {
  LoopSignal next{.kind = LoopSignal::Kind::Claim};
  if (std::exchange(was_master_, true)) {
    next.claimed = current_.claimed;
    next.stage = static_cast<std::uint8_t>(current_.stage + 1);
  } else {
    next.claimed.set(0);  // 00h is a FL_Port's
  }
  take_part(next.claimed, next.stage);
  loop_.pass(*this, next);
}

// FC-AL: LIFA for what a fabric assigned (never on a private loop), LIPA for the AL_PA that we had, LIHA for a hard
// address, LISA for any that is left.
void LoopStation::take_part(AlPaMap& claimed, std::uint8_t stage) {
  if (claimed_ || stage == 0) return;
  if (stage == 1) claimed_ = al_pa_ != 0 && claim_address(claimed, al_pa_);
  if (stage == 2) claimed_ = hard_address_ != 0 && claim_address(claimed, hard_address_);
  for (std::size_t i = 1; stage == 3 && !claimed_ && i < al_pas.size(); ++i) claimed_ = claim_address(claimed, al_pas[i]);
}

bool LoopStation::claim_address(AlPaMap& claimed, std::uint8_t al_pa) {
  const auto found = std::find(al_pas.begin(), al_pas.end(), al_pa);
  const auto position = static_cast<std::size_t>(found - al_pas.begin());
  if (found == al_pas.end() || claimed.test(position)) return false;
  claimed.set(position);
  al_pa_ = al_pa;
  return true;
}

// --- station: frames ---------------------------------------------------------------------------------------------

// One waits for the loop; the next is asked for when that is gone.
void LoopStation::send(FramePtr frame) {
  if (frame->buffers != nullptr) free_buffer(*frame);
  frame_ = std::move(frame);
  pause(Pause::Receiver);
  loop_.wants_loop();
}

// --- loop: who is on it ------------------------------------------------------------------------------------------

Loop::~Loop() {
  for (const auto& station : stations_) station->port_.link_down();
}

LoopStation& Loop::attach(NPort& port, std::uint8_t hard_address) {
  assert(station_of(port) == nullptr && stations_.size() < max_stations);
  LoopStation& station = *stations_.emplace_back(std::make_unique<LoopStation>(*this, port, hard_address));
  begin_lip(station);
  return station;
}

void Loop::detach(NPort& port) {
  const auto found = std::find_if(stations_.begin(), stations_.end(), [&](const auto& station) { return &station->port_ == &port; });
  assert(found != stations_.end());
  while (!flying_.empty()) deliver_next();
  forget_traffic();
  const auto gone = std::move(*found);
  stations_.erase(found);
  gone->port_.link_down();
  if (!stations_.empty()) begin_lip(*stations_.front());
}

void Loop::lip(NPort& port) {
  LoopStation* station = station_of(port);
  assert(station != nullptr);
  begin_lip(*station);
}

LoopStation* Loop::station_of(const NPort& port) const {
  for (const auto& station : stations_)
    if (&station->port_ == &port) return station.get();
  return nullptr;
}

void Loop::tap(NPort& port, FrameTap* tap) { station_of(port)->tap_ = tap; }

std::size_t Loop::place_of(const LoopStation& station) const {
  std::size_t place = 0;
  while (stations_[place].get() != &station) ++place;
  return place;
}

// --- loop: initialization ----------------------------------------------------------------------------------------

// What is on its way is ahead of the LIP.
void Loop::begin_lip(LoopStation& from) {
  while (!flying_.empty()) deliver_next();
  forget_traffic();
  from.receive({.kind = LoopSignal::Kind::Lip, .round = ++round_});
}

void Loop::pass(const LoopStation& from, const LoopSignal& signal) {
  LoopStation* next = stations_[(place_of(from) + 1) % stations_.size()].get();
  passing_.push_back({scheduler_.now() + config_.hop_latency_ns, next, signal});
  if (!pending()) scheduler_.schedule(*this, passing_.front().arrival);
}

void Loop::fire(TimeNs) {
  const Passing passing = passing_.front();
  passing_.pop_front();
  if (!passing_.empty()) scheduler_.schedule(*this, passing_.front().arrival);
  passing.to->receive(passing.signal);
}

void Loop::forget_traffic() {
  scheduler_.cancel(*this);
  passing_.clear();
  for (Event* timer : {static_cast<Event*>(&arbitration_timer_), static_cast<Event*>(&transmission_timer_),
                       static_cast<Event*>(&tenancy_timer_), static_cast<Event*>(&delivery_timer_)})
    scheduler_.cancel(*timer);
  owner_ = nullptr;
  for (const auto& station : stations_) station->waits_for_others_ = false;
}

// --- loop: arbitration -------------------------------------------------------------------------------------------

// ARB goes round once before somebody has won.
void Loop::wants_loop() {
  if (owner_ == nullptr && !arbitration_timer_.pending()) scheduler_.schedule_after(arbitration_timer_, round_trip());
}

// FC-AL: the lowest AL_PA wins. Fairness: who had the loop waits until every other that wanted it had it, too.
void Loop::arbitrate() {
  LoopStation* winner = nullptr;
  for (const bool fairly : {true, false}) {
    for (const auto& station : stations_) {
      const bool eligible = station->frame_ != nullptr && !(fairly && station->waits_for_others_);
      if (eligible && (winner == nullptr || station->al_pa_ < winner->al_pa_)) winner = station.get();
    }
    if (winner != nullptr) break;
    for (const auto& station : stations_) station->waits_for_others_ = false;  // a new access window
  }
  if (winner == nullptr) return;
  owner_ = winner;
  winner->waits_for_others_ = true;
  frames_left_ = config_.frames_per_tenancy;
  ++tenancies_;
  transmit();
}

void Loop::transmit() {
  --frames_left_;
  const std::uint64_t bytes = owner_->frame_->size_bytes + frame_overhead_bytes;
  const std::uint64_t rate = config_.bytes_per_second;
  if (owner_->tap_ != nullptr) owner_->tap_->frame_passed(scheduler_.now(), *owner_->frame_, true);
  scheduler_.schedule_after(transmission_timer_, rate == 0 ? 0 : static_cast<TimeNs>((bytes * second + rate - 1) / rate));
}

void Loop::frame_sent() {
  FramePtr frame = std::move(owner_->frame_);
  frame->arrival = scheduler_.now() + round_trip();
  flying_.push_back({std::move(frame), owner_});
  if (!delivery_timer_.pending()) scheduler_.schedule(delivery_timer_, flying_.front().frame->arrival);
  owner_->resume(FrameOutput::Pause::Receiver);
  scheduler_.schedule_after(tenancy_timer_, 0);  // behind whatever that woke
}

// What the port has for us now goes in the same tenancy, up to its limit; then it closes, and others arbitrate.
void Loop::next_of_tenancy() {
  if (owner_->frame_ != nullptr && frames_left_ > 0) return transmit();
  owner_ = nullptr;
  wants_loop();
}

void Loop::deliver_next() {
  Flying next = std::move(flying_.front());
  flying_.pop_front();
  if (!flying_.empty()) scheduler_.schedule(delivery_timer_, flying_.front().frame->arrival);
  const wire::FcId d_id{wire::load_big<3>(next.frame->bytes.data() + 1)};
  if (d_id == wire::well_known::broadcast) return broadcast(next);
  for (const auto& to : stations_)
    if (to->participating() && d_id == wire::FcId{to->al_pa_}) return deliver(std::move(next.frame), *to);
  ++frames_returned_;
}

// Taken by each on its way, by its sender not. Whoever gets it may change who is on the loop.
void Loop::broadcast(const Flying& next) {
  std::vector<NPort*> receivers;
  for (const auto& to : stations_)
    if (to.get() != next.from && to->participating()) receivers.push_back(&to->port_);
  for (NPort* port : receivers)
    if (LoopStation* to = station_of(*port)) deliver(pool_.copy(*next.frame), *to);
}

void Loop::deliver(FramePtr frame, LoopStation& to) {
  ++frames_carried_;
  frame->arrival = scheduler_.now();
  if (to.tap_ != nullptr) to.tap_->frame_passed(scheduler_.now(), *frame, false);
  to.port_.receive(std::move(frame));
}

}  // namespace fc2
