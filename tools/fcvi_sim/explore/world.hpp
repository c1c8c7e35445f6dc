// One run of an exploration: a small fabric with logged-in ports, the scenario's workloads under a list of faults, then
// a new connection for each workload without faults (two if late frames still arrive: one before, one after them), then
// rest until every timer has ended. Or the same under the faults that the scenario itself has.
#pragma once
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "tools/fcvi_sim/explore/octet_faults.hpp"
#include "tools/fcvi_sim/explore/probe.hpp"
#include "tools/fcvi_sim/picture/ladder.hpp"
#include "tools/fcvi_sim/network/network.hpp"
#include "tools/fcvi_sim/run/background.hpp"
#include "tools/fcvi_sim/run/fault_injector.hpp"
#include "tools/fcvi_sim/run/stream_traffic.hpp"

namespace sim::explore {

class World;

/// For tests of the invariants: faults of the world itself. All may be empty.
struct Sabotage {
  std::function<void(fc2::Frame&)> frame = {};  // each frame of the workloads, as it leaves
  std::function<void(World&)> before_new_connection = {};
  std::function<void(World&)> before_rest = {};
  std::function<void(Record&)> record = {};
};

class World final : private PeerListener, private PortControl {
 public:
  /// `pool` serves one run after another. All references outlive the world.
  /// `capture`: of all ports and ISLs; may be nullptr.
  World(const Scenario& scenario, const FaultList& faults, fc2::FramePool& pool, Sabotage sabotage,
        fc2::Capture* capture = nullptr);
  /// Under the scenario's own faults, of frames and of ports, and beside its background traffic; both end when the
  /// programs have.
  World(const Scenario& scenario, fc2::FramePool& pool, fc2::Capture* capture);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Before run(): asks the owners whether they contradict themselves at its end alone, which is quicker.
  void ask_owners_at_the_end() { asks_at_the_end_ = true; }
  /// Draws the run into `ladder` (may be null). Call it once.
  const Record& run(Ladder* ladder = nullptr);

  // --- for the programs
  [[nodiscard]] Driver& driver() { return driver_; }
  [[nodiscard]] Node& node(std::size_t port) { return *nodes_[port]; }
  [[nodiscard]] Network& network() { return *network_; }
  [[nodiscard]] std::uint64_t seed() const { return scenario_.seed; }
  /// A program whose connection was not made calls VipDisconnect even in Error: those of an exploration all do.
  [[nodiscard]] bool cleans_up(const WorkloadSpec& workload) const { return !own_faults_ || workload.clean_up; }
  /// The operation lives as long as the world, so that a second return of the call would show.
  template <class Base>
  struct Call;
  template <class Base>
  Call<Base>& begin_call(End& end, std::string_view name, runtime::TimeNs limit);
  /// co_await: true if `condition` held at some event within `patience`.
  class Until;
  Until until(std::function<bool()> condition, runtime::TimeNs patience);
  [[nodiscard]] const Record& record() const { return record_; }

  /// By position in the scenario's faults: of the frames that matched those that it befell, from 1.
  using Turns = std::vector<std::vector<std::uint64_t>>;
  [[nodiscard]] const Turns& turns() const { return turns_; }

 private:
  friend class Until;
  struct Unattached {};  // its hosts are not, yet
  World(Unattached, const Scenario& scenario, const FaultList& faults, fc2::FramePool& pool, Sabotage sabotage,
        fc2::Capture* capture);
  /// Sees the frames of one port, under the scenario's own faults.
  class Watch final : public fc2::FrameTap {
   public:
    Watch(World& world, fc2::FrameTap* capture) : world_(world), capture_(capture) {}
    void frame_passed(runtime::TimeNs at, const fc2::Frame& frame, bool outbound) override;

   private:
    World& world_;
    fc2::FrameTap* capture_;
  };
  /// The same of VI segments, of all hosts.
  class StreamWatch final : public SegmentWatch {
   public:
    StreamWatch(World& world, fc2::Capture* capture)
        : world_(world), traffic_(result_, world.scenario_, *world.network_, *world.own_faults_, nullptr, capture) {
      result_.workloads.resize(world.scenario_.workloads.size());
    }
    SegmentFate segment_met(const SegmentMet& met) override;
    [[nodiscard]] streams::SegmentTap& tap() { return traffic_; }

   private:
    World& world_;
    RunResult result_;
    StreamTraffic traffic_;
  };
  void watch_streams(fc2::Capture* capture);
  void own_fault_befell(const FaultSpec& spec, const SegmentMet& met);
  void note_own_fault(const FaultSpec& spec, const Fault& fault);
  void begin_faults();
  void end_faults();
  void own_fault_befell(const FaultSpec& spec, std::size_t port, const fc2::Frame& frame);
  [[nodiscard]] runtime::TimeNs last_arrival() const;
  [[nodiscard]] bool befell_port() const;
  [[nodiscard]] bool needs_recovery() const;
  /// Two ends and the programs on them.
  struct Pair {
    const WorkloadSpec* workload;
    ConnectionRecord* record;
    std::unique_ptr<Probe> ends[2];
  };
  void log_in();
  // PeerListener
  void peer_lost(std::size_t host, std::optional<std::size_t> peer) override;
  // PortControl
  [[nodiscard]] bool is_here(std::size_t /*port*/) const override { return true; }
  void set_plugged(std::size_t port, bool plugged) override;
  void at_link(std::size_t port, LinkFunction& what) override;
  void lip(std::size_t port) override;
  void replug(std::size_t port) override;
  void log_out(std::size_t port, std::size_t peer, bool implicit) override;
  void set_isl(std::size_t isl, bool up) override { network_->set_isl(isl, up); }
  void set_switch(std::size_t index, bool up) override { network_->set_switch(index, up); }
  void attach(std::size_t port);
  Pair& make_pair(const WorkloadSpec& workload, std::uint32_t salt);
  void spawn(Pair& pair);
  void spawn_rdma(const WorkloadSpec& workload, ConnectionRecord::Phase phase);
  void run_programs();
  void sleep(runtime::TimeNs time);
  void connect_anew(ConnectionRecord::Phase phase);
  void disconnect_again();
  void disconnect_left();
  void rest();
  void collect();
  /// Asks all owners, after each event.
  void look_for_contradictions();
  void observe();
  void note_hit(const fc2::Frame& frame, const Fault& fault);
  void witness(std::uint32_t number, const fc2::Frame& frame, const Fault* fault);
  void witness(std::uint32_t number, const SegmentMet& met, const Fault* fault);
  void note(std::uint64_t value) { record_.digest = (record_.digest ^ value) * 0x100000001B3; }

  const Scenario& scenario_;
  const Sabotage sabotage_;
  fc2::FramePool& pool_;
  runtime::Scheduler scheduler_;
  Driver driver_;
  Record record_;
  std::vector<std::unique_ptr<vi::Operation>> operations_;  // providers know them until the end
  std::unique_ptr<Network> network_;
  std::vector<std::unique_ptr<Node>> nodes_;  // on its hosts
  FaultInjector injector_;
  std::optional<OctetFaults> octets_;             // over TCP, instead
  std::optional<sim::FaultInjector> own_faults_;  // the scenario's, instead
  std::deque<Watch> watches_;                     // by port; then
  std::optional<StreamWatch> stream_watch_;       // the same over TCP
  runtime::TimeNs held_back_ = 0;                 // streams, by those faults, one after the other
  std::vector<BackgroundResult> background_results_;
  std::optional<Background> background_;  // then
  Turns turns_;
  runtime::TimeNs last_own_arrival_ = 0;
  bool credit_lost_ = false;
  std::list<Until*> waiting_;
  std::list<Pair> pairs_;
  std::list<WorkloadSpec> new_workloads_;
  Ladder* ladder_ = nullptr;
  bool asks_at_the_end_ = false;
  std::vector<std::pair<const Probe*, std::string_view>> shown_states_;
};

template <class Base>
struct World::Call final : Base {
  Call(Driver& driver, CallRecord& its) : finished(driver), driver_(driver), record(its) {}
  void done(vi::Return outcome) override {
    if (record.returns++ != 0) return;
    record.result = outcome;
    record.returned = driver_.now();
    finished.set();
  }
  Signal finished;
  Driver& driver_;
  CallRecord& record;
};

template <class Base>
World::Call<Base>& World::begin_call(End& end, std::string_view name, runtime::TimeNs limit) {
  CallRecord& record = end.calls.emplace_back();
  record.name = name;
  record.issued = driver_.now();
  record.limit = limit;
  auto call = std::make_unique<Call<Base>>(driver_, record);
  Call<Base>& made = *call;
  operations_.push_back(std::move(call));
  return made;
}

class World::Until final : public runtime::Event {
 public:
  Until(World& world, std::function<bool()> condition, runtime::TimeNs patience)
      : world_(world), condition_(std::move(condition)), patience_(patience) {}
  ~Until() override { world_.waiting_.remove(this); }
  bool await_ready() { return held_ = condition_(); }
  void await_suspend(std::coroutine_handle<> program) {
    program_ = program;
    world_.waiting_.push_back(this);
    world_.scheduler_.schedule_after(*this, patience_);
  }
  bool await_resume() const { return held_; }
  [[nodiscard]] bool condition_holds() const { return condition_(); }
  void wake(bool held);

 private:
  void fire(runtime::TimeNs) override { wake(false); }
  World& world_;
  std::function<bool()> condition_;
  runtime::TimeNs patience_;
  std::coroutine_handle<> program_;
  bool held_ = false;
};

inline World::Until World::until(std::function<bool()> condition, runtime::TimeNs patience) {
  return Until(*this, std::move(condition), patience);
}

}  // namespace sim::explore
