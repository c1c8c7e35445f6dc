#include "tools/fcvi_sim/run/fault_injector.hpp"

#include <string>
#include <utility>

namespace sim {
namespace {

// A fault at a given time has a rule too, which no frame meets: so that rules and faults have the same positions.
std::vector<faults::Rule> rules_of(const Scenario& scenario) {
  std::vector<faults::Rule> rules;
  for (const FaultSpec& fault : scenario.faults) {
    rules.push_back(fault.rule);
    if (fault.at) rules.back().match.sent = rules.back().match.received = false;
  }
  return rules;
}

}  // namespace

FaultInjector::FaultInjector(runtime::Scheduler& scheduler, const Scenario& scenario, PortControl& control,
                             PortOf port_of, FrameListener listener)
    : scheduler_(scheduler), scenario_(scenario), control_(control), listener_(std::move(listener)),
      random_(scenario.seed, "faults"), connections_(connection_points_of(scenario)),
      rules_(
          rules_of(scenario), [this](std::size_t rule, std::size_t link) { return chance(rule, link); },
          std::move(port_of),
          [this](const faults::FrameFacts& facts, const fc2::Frame& frame) {
            return connections_.of(facts.header, frame.content().subspan(wire::FcHeader::size()));
          }),
      segment_rules_(scenario, [this] { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }) {
  rules_.set_listener([this](std::size_t rule, std::size_t link, fc2::LinkDirection direction,
                             const fc2::Frame& frame) { happened(rule, link, direction, frame); });
  for (std::size_t port = 0; port < scenario.ports.size(); ++port) links_.emplace_back(scheduler, rules_, port);
  for (std::size_t i = 0; i < scenario.faults.size(); ++i) {
    const auto& event = scenario.faults[i].event;
    port_faults_.push_back(event ? std::make_unique<PortFault>(*this, *event, rank_of(i)) : nullptr);
  }
}

/// ISLs and switches go down in all parts of a run in the same order with all else.
std::uint32_t FaultInjector::rank_of(std::size_t fault) const {
  const bool ranked = scenario_.fabric.has_independent_switches() && is_of_fabric(*scenario_.faults[fault].event);
  return ranked ? fc2::instant_rank::faults + static_cast<std::uint32_t>(fault) : 0;
}

double FaultInjector::chance(std::size_t fault, std::size_t link) {
  Random* random = &random_;
  if (scenario_.fabric.has_independent_switches()) {
    const std::string what = "fault " + std::to_string(fault) + " at " + std::to_string(link);
    random = &randoms_.try_emplace({fault, link}, scenario_.seed, what).first->second;
  }
  return static_cast<double>(random->next() >> 11) * 0x1p-53;
}

void FaultInjector::start_clock() {
  rules_.start_clock(scheduler_.now());
  segment_rules_.start_clock(scheduler_.now());
  for (std::size_t i = 0; i < port_faults_.size(); ++i) {
    const FaultSpec& fault = scenario_.faults[i];
    if (port_faults_[i] != nullptr && fault.at && (is_of_fabric(*fault.event) || control_.is_here(fault.event->port)))
      port_faults_[i]->trigger(*fault.at);
  }
}

void FaultInjector::heal() {
  rules_.heal();
  segment_rules_.heal();
  for (const auto& fault : port_faults_)
    if (fault != nullptr) fault->heal();
}

std::vector<std::uint64_t> FaultInjector::times() const {
  std::vector<std::uint64_t> times;
  for (std::size_t i = 0; i < port_faults_.size(); ++i)
    times.push_back(port_faults_[i] != nullptr ? port_faults_[i]->times() : fired(i));
  return times;
}

SegmentFate FaultInjector::befall(const SegmentMet& met, std::optional<std::size_t> workload, const FaultSpec*& fault) {
  const SegmentRules::Verdict verdict = segment_rules_.judge(met, workload);
  for (const std::size_t event : verdict.events) port_faults_[event]->trigger(0);
  if (!verdict.fault) return {};
  note(scheduler_.now());
  fault = &scenario_.faults[*verdict.fault];
  if (segment_listener_) segment_listener_(*fault, met);
  return sim::befall(*fault->segment, met);
}

std::vector<FaultMatches> FaultInjector::matches() const {
  std::vector<FaultMatches> matches;
  for (std::size_t i = 0; i < port_faults_.size(); ++i)
    matches.push_back({fired(i), matched(i), on_tcp() ? segment_rules_.near_miss(i) : rules_.near_miss(i)});
  return matches;
}

void FaultInjector::note(runtime::TimeNs now) {
  if (!moments_.empty() && (moments_.back() == now || moments_.size() == most_moments))
    moments_.back() = now;
  else
    moments_.push_back(now);
}

// Links do not go down while one of them carries a frame: at the same moment, but afterwards.
void FaultInjector::happened(std::size_t rule, std::size_t link, fc2::LinkDirection direction,
                             const fc2::Frame& frame) {
  if (port_faults_[rule] != nullptr) return port_faults_[rule]->trigger(0);
  note(scheduler_.now());
  listener_(scenario_.faults[rule], link, direction, frame);
}

void FaultInjector::PortFault::trigger(runtime::TimeNs delay) {
  if (!down_) happen_in(delay);
}

void FaultInjector::PortFault::happen_in(runtime::TimeNs delay) {
  if (rank_ != 0)
    owner_.scheduler_.schedule_first(*this, owner_.scheduler_.now() + delay, rank_);
  else
    owner_.scheduler_.schedule_after(*this, delay);
}

void FaultInjector::PortFault::heal() {
  owner_.scheduler_.cancel(*this);
  if (down_) finish();
}

void FaultInjector::PortFault::finish() {
  down_ = false;
  event_.apply(owner_.control_, event_, true);
}

void FaultInjector::PortFault::fire(runtime::TimeNs now) {
  if (down_) return finish();
  if (!is_of_fabric(event_) || owner_.control_.is_here(0)) ++times_;  // of what happens in all parts, one counts
  owner_.note(now);
  down_ = event_.lasts;
  event_.apply(owner_.control_, event_, false);
  if (down_ && event_.duration != 0) happen_in(event_.duration);
}

}  // namespace sim
