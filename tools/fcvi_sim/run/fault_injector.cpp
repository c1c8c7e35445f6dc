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
          rules_of(scenario), [this](std::size_t rule) { return chance(rule); }, std::move(port_of),
          [this](const faults::FrameFacts& facts, const fc2::Frame& frame) {
            return connections_.of(facts.header, frame.content().subspan(wire::FcHeader::size()));
          }),
      segment_rules_(scenario, [this] { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }) {
  rules_.set_listener([this](std::size_t rule, std::size_t link, fc2::LinkDirection direction,
                             const fc2::Frame& frame) { happened(rule, link, direction, frame); });
  for (std::size_t port = 0; port < scenario.ports.size(); ++port) links_.emplace_back(scheduler, rules_, port);
  if (scenario.fabric.has_independent_switches())
    for (std::size_t i = 0; i < scenario.faults.size(); ++i)
      randoms_.emplace_back(scenario.seed, "fault " + std::to_string(i));
  for (const FaultSpec& fault : scenario.faults)
    port_faults_.push_back(fault.event ? std::make_unique<PortFault>(*this, *fault.event) : nullptr);
}

double FaultInjector::chance(std::size_t fault) {
  Random& random = randoms_.empty() ? random_ : randoms_[fault];
  return static_cast<double>(random.next() >> 11) * 0x1p-53;
}

void FaultInjector::start_clock() {
  rules_.start_clock(scheduler_.now());
  segment_rules_.start_clock(scheduler_.now());
  for (std::size_t i = 0; i < port_faults_.size(); ++i) {
    const FaultSpec& fault = scenario_.faults[i];
    if (port_faults_[i] != nullptr && fault.at && control_.is_here(fault.event->port))
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
  if (!down_) owner_.scheduler_.schedule_after(*this, delay);
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
  ++times_;
  owner_.note(now);
  down_ = event_.lasts;
  event_.apply(owner_.control_, event_, false);
  if (down_ && event_.duration != 0) owner_.scheduler_.schedule_after(*this, event_.duration);
}

}  // namespace sim
