// The scenario's faults at work: on the links by rules, on ports by events.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fc2_fabric/link/faults.hpp"
#include "tools/fcvi_sim/network/network.hpp"
#include "tools/fcvi_sim/run/results.hpp"
#include "tools/fcvi_sim/run/segment_rules.hpp"
#include "tools/fcvi_sim/scenario/random.hpp"
#include "tools/fcvi_sim/scenario/scenario.hpp"
#include "tools/faults/connections.hpp"
#include "tools/faults/rules.hpp"

namespace sim {

class FaultInjector {
 public:
  using PortOf = faults::RuleSet::PortOf;
  /// A fault befell a frame: `fault` is a position in the scenario's list.
  using FrameListener =
      std::function<void(const FaultSpec& fault, std::size_t port, fc2::LinkDirection direction, const fc2::Frame&)>;

  FaultInjector(runtime::Scheduler& scheduler, const Scenario& scenario, PortControl& control, PortOf port_of,
                FrameListener listener);
  FaultInjector(const FaultInjector&) = delete;
  FaultInjector& operator=(const FaultInjector&) = delete;

  /// The rules, for the port's link; none where the scenario has no faults.
  [[nodiscard]] LinkFaults rules_for(std::size_t port) {
    if (scenario_.faults.empty()) return {};
    return {&links_[port].sent, &links_[port].received};
  }
  /// Over TCP: what befalls this segment, of that workload's connection; `fault` is left as it is where nothing does.
  SegmentFate befall(const SegmentMet& met, std::optional<std::size_t> workload, const FaultSpec*& fault);
  /// A fault is about to befall a segment, which is still as its sender wrote it.
  using SegmentListener = std::function<void(const FaultSpec& fault, const SegmentMet& met)>;
  void set_segment_listener(SegmentListener listener) { segment_listener_ = std::move(listener); }
  /// The times of the scenario count from now.
  void start_clock();
  /// The run is over: no more faults; links that are down come up.
  void heal();
  /// By position in the scenario's list.
  [[nodiscard]] std::vector<std::uint64_t> times() const;
  /// When they happened, of frames and ports: each time once, in ascending order. Beyond `most_moments` the last only.
  [[nodiscard]] const std::vector<runtime::TimeNs>& moments() const { return moments_; }
  /// So many frames matched that fault's rule until now.
  [[nodiscard]] std::uint64_t matched(std::size_t fault) const {
    return on_tcp() ? segment_rules_.matched(fault) : rules_.matched(fault);
  }
  /// As times(): how near each came.
  [[nodiscard]] std::vector<FaultMatches> matches() const;

 private:
  /// One fault that befalls a port; also what ends it.
  class PortFault final : public runtime::Event {
   public:
    /// `rank`: of all that happens at its time (Scheduler::schedule_first); 0: none.
    PortFault(FaultInjector& owner, const PortEvent& event, std::uint32_t rank)
        : owner_(owner), event_(event), rank_(rank) {}
    void trigger(runtime::TimeNs delay);
    void heal();
    [[nodiscard]] std::uint64_t times() const { return times_; }

   private:
    void fire(runtime::TimeNs now) override;
    void finish();
    void happen_in(runtime::TimeNs delay);
    FaultInjector& owner_;
    PortEvent event_;
    const std::uint32_t rank_;
    bool down_ = false;
    std::uint64_t times_ = 0;
  };
  [[nodiscard]] bool on_tcp() const { return scenario_.topology == TopologyKind::Tcp; }
  [[nodiscard]] std::uint64_t fired(std::size_t fault) const {
    return on_tcp() ? segment_rules_.fired(fault) : rules_.fired(fault);
  }
  static constexpr std::size_t most_moments = 1'000'000;
  void note(runtime::TimeNs now);
  /// [0, 1)
  double chance(std::size_t fault, std::size_t link);
  [[nodiscard]] std::uint32_t rank_of(std::size_t fault) const;
  void happened(std::size_t rule, std::size_t link, fc2::LinkDirection direction, const fc2::Frame& frame);

  runtime::Scheduler& scheduler_;
  const Scenario& scenario_;
  PortControl& control_;
  FrameListener listener_;
  SegmentListener segment_listener_;
  Random random_;
  // With independent switches: by fault and link, so that none knows of the others.
  std::map<std::pair<std::size_t, std::size_t>, Random> randoms_;
  faults::Connections connections_;  // by position among the workloads; as the rules see the frames
  faults::RuleSet rules_;
  SegmentRules segment_rules_;
  std::deque<fc2::FaultyLink> links_;                    // by port
  std::vector<std::unique_ptr<PortFault>> port_faults_;  // by fault; null: one of frames
  std::vector<runtime::TimeNs> moments_;
};

}  // namespace sim
