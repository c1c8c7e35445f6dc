// One run of a scenario: network, hosts, programs, virtual time.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fc2_fabric/frame/capture.hpp"
#include "tools/fcvi_sim/host/content.hpp"
#include "tools/fcvi_sim/host/driver.hpp"
#include "tools/fcvi_sim/host/node.hpp"
#include "tools/fcvi_sim/network/network.hpp"
#include "tools/fcvi_sim/picture/ladder.hpp"
#include "tools/fcvi_sim/run/background.hpp"
#include "tools/fcvi_sim/run/far_side.hpp"
#include "tools/fcvi_sim/run/fault_injector.hpp"
#include "tools/fcvi_sim/run/frame_spool.hpp"
#include "tools/fcvi_sim/run/ladder_notes.hpp"
#include "tools/fcvi_sim/run/measurement.hpp"
#include "tools/fcvi_sim/run/observer.hpp"
#include "tools/fcvi_sim/run/ordered_capture.hpp"
#include "tools/fcvi_sim/run/record.hpp"
#include "tools/fcvi_sim/run/results.hpp"
#include "tools/fcvi_sim/run/stream_traffic.hpp"

namespace sim {

/// Where a run leaves what it saw; each may be null. `check`: after each event, each port's owners are asked whether
/// they are consistent.
struct Outputs {
  fc2::Capture* capture = nullptr;
  Ladder* ladder = nullptr;
  bool check = false;
  RunRecord* record = nullptr;
  /// Of a share of a run: instead of `capture`, whose interfaces it has, all of them. It outlives the simulation.
  FrameSpool* frames = nullptr;
  /// The same instead of `ladder`.
  NoteSpool* notes = nullptr;
  /// The same instead of RunResult::wire.
  NoteSpool* wire = nullptr;
  [[nodiscard]] bool draw() const { return ladder != nullptr || notes != nullptr; }
};

/// By fault, for the comments of a capture.
[[nodiscard]] std::vector<std::string> fault_notes_of(const Scenario& scenario);

/// After the programs: R_A_TOV twice, and some.
inline constexpr runtime::TimeNs logout_limit = 25 * runtime::second;

class Simulation final : private PortControl {
 public:
  using NetworkMaker = std::function<std::unique_ptr<Network>(runtime::Scheduler&, fc2::FramePool&, const Scenario&,
                                                              fc2::CaptureInterfaces*)>;
  /// All references outlive the simulation. `make`: for tests, another network than the scenario's own.
  Simulation(const Scenario& scenario, const ContentStore& contents, Outputs outputs, const NetworkMaker& make = {});
  /// Only that share of it, to be run in steps; `share` and `outbox` outlive it.
  Simulation(const Scenario& scenario, const ContentStore& contents, Outputs outputs, const Share& share,
             Outbox& outbox);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Logs the ports in, runs the workloads, logs out of the fabric.
  const RunResult& run();
  /// The same with more programs beside the workloads: tests.
  const RunResult& run(std::vector<Task<>> programs);

  // --- in steps, for a share of a run (PartedRun): its phases begin at times that all parts agree on
  void await_ports();
  void begin_programs(runtime::TimeNs at);
  /// `ended`: when the last program of all parts did.
  void log_out(runtime::TimeNs ended);
  /// Fires all events before `limit`; as soon as the phase is over and `stop_when_over`, no more.
  void run_before(runtime::TimeNs limit, bool stop_when_over = false) { driver_.run_before(limit, stop_when_over); }
  /// When the programs of this phase ended here; never: they run on.
  [[nodiscard]] runtime::TimeNs over_at() const { return over_at_; }
  /// When the programs began; 0: they did not.
  [[nodiscard]] runtime::TimeNs ready_at() const { return ready_at_; }
  /// When the next event is due.
  [[nodiscard]] runtime::TimeNs next_time() const { return scheduler_.next_time(); }
  /// Until when the present phase may last.
  [[nodiscard]] runtime::TimeNs phase_limit() const { return phase_limit_; }
  /// From another part, between steps.
  void deliver(std::span<const std::uint8_t> messages);
  /// Completes the result.
  const RunResult& conclude(Driver::Outcome outcome);

  [[nodiscard]] Driver& driver() { return driver_; }
  [[nodiscard]] Node& node(std::size_t port) { return *nodes_[port]; }
  [[nodiscard]] const RunResult& result() const { return result_; }
  [[nodiscard]] runtime::TimeNs start() const { return start_; }

 private:
  Simulation(const Scenario& scenario, const ContentStore& contents, Outputs outputs, const Share* share,
             Outbox* outbox, const NetworkMaker& make);
  Task<> all_ready();
  Task<> all_ready_everywhere();
  // PortControl, too
  [[nodiscard]] bool is_here(std::size_t port) const override {
    return share_ == nullptr || share_->has(scenario_.ports[port]);
  }
  Task<> start_later(Task<> program, runtime::TimeNs delay);
  Task<> log_out_of_fabric(runtime::TimeNs ended);
  void end_background();
  Task<> leave_fabric();
  Task<> programs_at(runtime::TimeNs at);
  Task<> noted(Task<> program);
  void spawn(Task<> program);
  void start_clocks();
  void spawn_workloads();
  void spawn_workload(std::size_t index);
  Task<> rdma_of(std::size_t index);
  void make_far_sides();
  void observe();
  void check_owners();
  void watch_states();
  void note_for_ladder();
  void note_for_wire();
  void record_rows();
  void begin_measurement();
  void state_changed(std::size_t port, const Endpoint& endpoint, std::string_view from, std::string_view to);
  [[nodiscard]] bool states_matter() const;
  std::vector<BackgroundResult>& background_results();
  void attach(std::size_t port);
  // PortControl
  void set_plugged(std::size_t port, bool plugged) override;
  void at_link(std::size_t port, LinkFunction& what) override;
  void lip(std::size_t port) override;
  void replug(std::size_t port) override;
  void log_out(std::size_t port, std::size_t peer, bool implicit) override;
  void set_isl(std::size_t isl, bool up) override { network_->set_isl(isl, up); }
  void set_switch(std::size_t index, bool up) override { network_->set_switch(index, up); }
  void collect();
  /// No more faults, and what they hold back goes on.
  void heal();
  /// Of all ports and switches.
  [[nodiscard]] std::uint64_t discards_as(std::string_view reason) const;
  void collect_errors();
  void collect_completions();
  void collect_last_states();
  [[nodiscard]] auto sleep_until_first(runtime::TimeNs at) { return driver_.sleep_first(at - scheduler_.now()); }
  [[nodiscard]] runtime::TimeNs time_left() const;
  [[nodiscard]] runtime::TimeNs time_to_settle() const;

  const Scenario& scenario_;
  const ContentStore& contents_;
  Outputs outputs_;
  const Share* share_;  // nullptr: all of it
  Outbox* outbox_;
  const bool watches_states_;
  RunResult result_;
  fc2::FramePool pool_;
  runtime::Scheduler scheduler_;
  runtime::TimeNs start_;
  runtime::TimeNs ready_at_ = 0;                     // when the programs began
  std::uint64_t wrong_addresses_before_logout_ = 0;  // discards
  bool programs_run_ = false;                        // and background traffic
  std::optional<OrderedCapture> ordered_;            // with independent switches
  std::optional<LadderNotes> ladder_notes_;          // then, for a ladder
  std::optional<WireNotes> wire_notes_;              // then, for what is expected on the wire
  std::optional<WireLog> wire_;                      // made of them, where this is the whole run
  Observer observer_;
  Driver driver_;
  std::unique_ptr<Network> network_;
  std::vector<std::unique_ptr<Node>> nodes_;  // on its hosts
  std::map<std::pair<std::size_t, std::string>, std::string_view>
      states_;  // as last seen, by port, and workload and end
  FaultInjector faults_;
  std::optional<StreamTraffic> streams_;  // where hosts are on TCP
  Background background_;
  std::optional<Measurement> measurement_;  // for a report
  void conclude_record();
  /// Takes note of the rows of one port, or switch.
  struct RowNote final : FiredRowListener {
    RowNote(RunRecord& to, const runtime::Scheduler& clock, std::size_t of) : record(to), scheduler(clock), place(of) {}
    void row_fired(const FiredRow& row) override;
    RunRecord& record;
    const runtime::Scheduler& scheduler;
    std::size_t place;
  };
  std::deque<RowNote> row_notes_;  // by place
  /// Takes note of the records of one port that faults befell.
  struct FaultNote final : fc2::FrameTap {
    FaultNote(RunRecord& to, const fc2::Capture& of, fc2::FrameTap& through) : record(to), capture(of), next(through) {}
    void frame_passed(runtime::TimeNs at, const fc2::Frame& frame, bool outbound) override;
    RunRecord& record;
    const fc2::Capture& capture;
    fc2::FrameTap& next;
  };
  std::deque<FaultNote> fault_notes_;
  fc2::FrameTap* capture_of(const PortSpec& port);
  /// What the network's ISLs are interfaces of.
  fc2::CaptureInterfaces* captured();
  std::deque<ToFarSide> far_sides_;  // of workloads of which one side is here
  std::size_t open_programs_ = 0;    // of this phase, in steps
  runtime::TimeNs over_at_ = runtime::never, phase_limit_ = runtime::never;
  std::vector<fc2::FrameTap*> taps_;  // by port
};

}  // namespace sim
