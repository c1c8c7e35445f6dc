// Frames of other FC-4s between the ports of a run, beside its workloads.
#pragma once
#include <deque>
#include <functional>
#include <vector>

#include "runtime/scheduler.hpp"
#include "tools/fcvi_sim/host/pace.hpp"
#include "tools/fcvi_sim/network/network.hpp"
#include "tools/fcvi_sim/run/results.hpp"

namespace sim {

/// All of the scenario's `background`.
class Background {
 public:
  /// All references outlive it; `results`: a place for each flow. `is_here`: the flows of that port are made here; may
  /// be empty: of all ports.
  Background(runtime::Scheduler& scheduler, const Scenario& scenario, Network& network,
             std::vector<BackgroundResult>& results, const std::function<bool(std::size_t port)>& is_here = {});
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  /// The scenario's times count from now.
  void start();
  /// The programs have ended: no more frames.
  void stop();

 private:
  class Flow final : public runtime::Event {
   public:
    Flow(Background& owner, const BackgroundSpec& spec, BackgroundResult& result, Random random);
    void start();
    void stop() { owner_.scheduler_.cancel(*this); }

   private:
    void fire(runtime::TimeNs now) override;
    Background& owner_;
    const BackgroundSpec& spec_;
    BackgroundResult& result_;
    Pace pace_;
    std::vector<std::uint8_t> data_field_;
    runtime::TimeNs zero_ = 0;
  };
  runtime::Scheduler& scheduler_;
  Network& network_;
  std::deque<Flow> flows_;
};

}  // namespace sim
