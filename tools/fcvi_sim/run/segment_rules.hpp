// The scenario's faults over TCP: which VI segments they befall, and what they do to them.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "tools/faults/rules.hpp"
#include "tools/fcvi_sim/network/segment_watch.hpp"
#include "tools/fcvi_sim/scenario/scenario.hpp"

namespace sim {

/// Faults are positions in the scenario's list; those at a time of their own meet no segment.
class SegmentRules {
 public:
  /// [0, 1)
  using Chance = std::function<double()>;
  SegmentRules(const Scenario& scenario, Chance chance);

  /// The times of faults with a time window count from here on; before, those match nothing.
  void start_clock(runtime::TimeNs zero) { zero_ = zero; }
  /// From now on nothing befalls a segment.
  void heal() { healed_ = true; }

  struct Verdict {
    std::optional<std::size_t> fault = {};  // the first whose turn it is
    std::vector<std::size_t> events = {};   // what befalls ports then
  };
  /// `workload`: whose connection it is of.
  Verdict judge(const SegmentMet& met, std::optional<std::size_t> workload);

  [[nodiscard]] std::uint64_t matched(std::size_t fault) const { return states_[fault].seen; }
  [[nodiscard]] std::uint64_t fired(std::size_t fault) const { return states_[fault].fired; }
  /// Of a fault that never matched: as faults::RuleSet says it.
  [[nodiscard]] faults::RuleSet::NearMiss near_miss(std::size_t fault) const;

 private:
  /// What a rule asks, in this order.
  enum class Key : std::uint8_t { Time, Port, Message, Workload, Peer, Fields, None };
  struct State {
    std::uint64_t seen = 0, fired = 0;
    Key nearest = Key::Time;
    std::uint64_t nearest_count = 0;
  };
  /// The first that does not hold.
  [[nodiscard]] Key unmatched(const FaultSpec& fault, const SegmentMet& met, std::optional<std::size_t> workload) const;
  [[nodiscard]] bool matches(std::size_t fault, const SegmentMet& met, std::optional<std::size_t> workload);
  [[nodiscard]] bool has_turn(std::size_t fault);

  const Scenario& scenario_;
  Chance chance_;
  std::vector<State> states_;
  runtime::TimeNs zero_ = runtime::never;
  bool healed_ = false;
};

/// Changes the segment as the fault says; returns what becomes of it.
SegmentFate befall(const SegmentFault& fault, const SegmentMet& met);

}  // namespace sim
