#include "fc2_fabric/link/loop.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "fc2_fabric/frame/frame_header.hpp"

namespace fc2 {
// --- ports on it -------------------------------------------------------------------------------------------------

Loop::~Loop() {
  for (const auto& station : stations_) station->user_.loop_gone();
}

LoopStation& Loop::attach(LoopUser& user, const LoopPlace& place) {
  return join(std::make_unique<LoopStation>(*this, user, place));
}

LoopStation& Loop::attach(std::unique_ptr<LoopUser> user, const LoopPlace& place) {
  auto station = std::make_unique<LoopStation>(*this, *user, place);
  station->own_user_ = std::move(user);
  return join(std::move(station));
}

LoopStation& Loop::join(std::unique_ptr<LoopStation> station) {
  LoopStation& joined = *stations_.emplace_back(std::move(station));
  begin_lip(joined);
  return joined;
}

// What the port had on its way is lost with it, also what a fault held back.
void Loop::detach(LoopStation& station) {
  const std::size_t place = place_of(station);
  forget_traffic();
  const auto gone = std::move(stations_[place]);
  stations_.erase(stations_.begin() + static_cast<std::ptrdiff_t>(place));
  gone->sent_.clear();
  gone->received_.clear();
  gone->user_.loop_gone();
  if (!stations_.empty()) begin_lip(*stations_.front());
}

std::uint8_t Loop::highest_free() const {
  const auto is_free = [&](std::uint8_t al_pa) {
    return std::none_of(stations_.begin(), stations_.end(),
                        [&](const auto& station) { return station->al_pa_ == al_pa; });
  };
  return *std::find_if(al_pas.rbegin(), al_pas.rend(), is_free);
}

void Loop::move(const FrameReceiver& port) {
  LoopStation& station = *station_of(port);
  station.place_.hard_address = highest_free();
  station.al_pa_ = 0;
  begin_lip(station);
}

LoopStation* Loop::station_of(const FrameReceiver& port) const {
  for (const auto& station : stations_)
    if (&station->user_.receiver() == &port) return station.get();
  return nullptr;
}

void Loop::tap(const FrameReceiver& port, FrameTap* tap) {
  LoopStation& station = *station_of(port);
  station.sent_.tap_sender(tap);
  station.received_.tap_receiver(tap);
}

void Loop::set_faults(const FrameReceiver& port, FrameFault* sent, FrameFault* received) {
  LoopStation& station = *station_of(port);
  station.sent_.set_fault(sent);
  station.received_.set_fault(received);
}

bool Loop::is_consistent() const {
  return std::all_of(stations_.begin(), stations_.end(), [](const auto& station) { return station->is_consistent(); });
}

std::size_t Loop::place_of(const LoopStation& station) const {
  std::size_t place = 0;
  while (stations_[place].get() != &station) ++place;
  return place;
}

// --- initialization ----------------------------------------------------------------------------------------------

// Frames that are on their way are ahead of the LIP.
void Loop::begin_lip(LoopStation& from) {
  forget_traffic();
  from.signal_received({.kind = LoopSignal::Kind::Lip, .round = ++round_});
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
  passing.to->signal_received(passing.signal);
}

void Loop::forget_traffic() {
  scheduler_.cancel(*this);
  passing_.clear();
  for (Event* timer : {static_cast<Event*>(&arbitration_timer_), static_cast<Event*>(&circuit_timer_),
                       static_cast<Event*>(&transmission_timer_), static_cast<Event*>(&tenancy_timer_)})
    scheduler_.cancel(*timer);
  owner_ = opened_ = nullptr;
  for (const auto& station : stations_) station->waits_for_others_ = false;
}

// --- arbitration -------------------------------------------------------------------------------------------------

// ARB goes round once before a port has won.
void Loop::wants_loop() {
  if (owner_ == nullptr && !arbitration_timer_.pending()) scheduler_.schedule_after(arbitration_timer_, round_trip());
}

bool Loop::may_win(const LoopStation& station) const {
  if (station.frame_ == nullptr || !station.participating()) return false;
  const LoopStation* to = addressee(station, *station.frame_);
  return to == nullptr || to->free_buffers() != 0;
}

// FC-AL: the lowest AL_PA wins. Fairness: a port that had the loop waits until every other that wanted it has had it.
void Loop::arbitrate() {
  LoopStation* winner = nullptr;
  for (const bool fairly : {true, false}) {
    for (const auto& station : stations_) {
      const bool eligible = may_win(*station) && !(fairly && station->waits_for_others_);
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
  open_circuit();
}

// --- the owner's tenancy -----------------------------------------------------------------------------------------

// While a port is being initialized, frames on their way find it by the AL_PA of before.
LoopStation* Loop::addressee(const LoopStation& from, const Frame& frame) const {
  const wire::FcId d_id = d_id_of(frame);
  if (d_id == wire::well_known::broadcast) return nullptr;
  const std::uint8_t al_pd = from.user_.al_pd(d_id);
  LoopStation* former = nullptr;
  for (const auto& to : stations_) {
    if (to->al_pa_ != al_pd || to->user_.is_fl_port() != (al_pd == 0)) continue;
    if (to->participating()) return to.get();
    if (to->initializing()) former = to.get();
  }
  return former;
}

// OPN: the one that is opened answers by an R_RDY for each free buffer. On a loop without latency a LIP may have come
// meanwhile: the port has its frame back.
void Loop::open_circuit() {
  if (owner_->frame_ == nullptr) return close();
  opened_ = addressee(*owner_, *owner_->frame_);
  credit_ = opened_ == nullptr ? LoopStation::unlimited : opened_->free_buffers();
  go_on();
}

void Loop::go_on() {
  if (credit_ == 0 || (opened_ != nullptr && opened_->refuses_))
    close();
  else
    transmit();
}

void Loop::transmit() {
  --frames_left_;
  --credit_;
  owner_->sent_.set_latency(round_trip());
  owner_->sent_.send(std::move(owner_->frame_));
  scheduler_.schedule(transmission_timer_, owner_->sent_.free_at());
}

void Loop::frame_sent() {
  owner_->resume(FrameOutput::Pause::Receiver);
  scheduler_.schedule_after(tenancy_timer_, 0);  // behind whatever that woke
}

// What the port has for us now goes in the same tenancy, up to its limit; then it closes, and others arbitrate. To
// another port: CLS comes back first.
void Loop::next_of_tenancy() {
  if (owner_->frame_ == nullptr || frames_left_ == 0) return close();
  if (addressee(*owner_, *owner_->frame_) == opened_) return go_on();
  opened_ = nullptr;
  scheduler_.schedule_after(circuit_timer_, round_trip());
}

void Loop::close() {
  owner_ = opened_ = nullptr;
  wants_loop();
}

void Loop::buffer_is_free(LoopStation& station) {
  if (opened_ == &station) ++credit_;
  wants_loop();
}

// --- what arrives ------------------------------------------------------------------------------------------------

void Loop::arrive(FramePtr frame, LoopStation& from) {
  if (d_id_of(*frame) == wire::well_known::broadcast) return replicate(*frame, from);
  if (LoopStation* to = addressee(from, *frame)) {
    ++frames_carried_;
    return to->received_.send(std::move(frame));
  }
  ++frames_returned_;
  from.user_.frame_returned(std::move(frame));
}

// Taken by each on its way, by its sender not.
void Loop::replicate(const Frame& frame, const LoopStation& from) {
  for (const auto& to : stations_) {
    if (to.get() == &from || !to->participating()) continue;
    ++frames_carried_;
    to->received_.send(pool_.copy(frame));
  }
}

}  // namespace fc2
