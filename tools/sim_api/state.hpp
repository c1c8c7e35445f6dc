// What stands behind the handles of <fcvi/sim.hpp>: a switch, and hosts made of the parts that the simulator's are
// made of (tools/fcvi_sim/host). No programs: the caller is the program, and acts between events.
#pragma once
#include <array>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fc2_fabric/frame/capture.hpp"
#include "fc2_fabric/link/faults.hpp"
#include "fc2_fabric/switch/fabric.hpp"
#include "tools/fcvi_sim/host/endpoint.hpp"
#include "tools/fcvi_sim/host/node.hpp"
#include "tools/fcvi_sim/scenario/random.hpp"
#include "tools/sim_api/include/fcvi/sim.hpp"
#include "tools/sim_api/port_host.hpp"

namespace fcvi::sim::detail {

// Calls and descriptors stand for themselves; all else is the fabric's, and handles share the fabric.

struct CallState {
  vi::Return result = vi::Return::NotDone;
};

struct WorkState {
  ::sim::Region region;  // where the data lies, until it is complete
  std::optional<::sim::Completion> completion;
  Bytes data;
};

struct MemoryState {
  FabricState& fabric;
  ::sim::Region region;
};

struct FaultState {
  FaultState(FabricState& of, Predicate asked, std::uint16_t note)
      : fabric(of), predicate(std::move(asked)), number(note) {}
  FabricState& fabric;
  Predicate predicate;  // empty: removed
  std::uint64_t fired = 0;
  const std::uint16_t number;  // of its note, from 1
};

struct IslState {
  FabricState& fabric;
  fc2::InterSwitchLink* link;  // lives as long as the fabric's switches: until it is closed
};

/// A call of the VI model that sets the result of a Call.
template <class Base>
struct Operation final : Base {
  explicit Operation(std::weak_ptr<CallState> of) : call(std::move(of)) {}
  void done(vi::Return result) override {
    is_done = true;
    outcome = result;
    if (const auto state = call.lock()) state->result = result;
  }
  std::weak_ptr<CallState> call;
  bool is_done = false;
  vi::Return outcome = vi::Return::NotDone;
};

/// Their places stay until the NIC is gone, which ends all calls.
struct Operations {
  std::deque<Operation<vi::Operation>> plain;
  std::deque<Operation<vi::ConnectOperation>> connects;
  std::deque<Operation<vi::ConnectWaitOperation>> waits;
};

struct ViState {
  explicit ViState(PortState& of) : port(of) {}
  PortState& port;
  std::unique_ptr<::sim::Endpoint> endpoint;  // nullptr: the fabric is closed
  unsigned depth = 0;
  std::deque<std::shared_ptr<WorkState>> sends, receives;  // posted, oldest first
  Operation<vi::ConnectWaitOperation>* wait = nullptr;     // of listen(), until it is matched
  std::shared_ptr<CallState> listening;
};

/// Tells the fabric of the frames at one port.
class Tap final : public fc2::FrameTap {
 public:
  Tap(FabricState& fabric, PortState& port, fc2::FrameTap* capture) : fabric_(fabric), port_(port), capture_(capture) {}
  void frame_passed(runtime::TimeNs at, const fc2::Frame& frame, bool outbound) override;

 private:
  FabricState& fabric_;
  PortState& port_;
  fc2::FrameTap* capture_;  // nullptr: there is none
};

/// A port, or a peer: that is one whose FC-VI is the test's.
struct PortState {
  explicit PortState(FabricState& of) : fabric(of) {}
  FabricState& fabric;
  std::string name, address;
  std::size_t index = 0;
  fc2::LinkConfig link;
  fc2::Switch* at = nullptr;  // where it is attached
  // In the order in which they are made.
  Operations operations;
  std::unique_ptr<PortHost> host;
  std::unique_ptr<::sim::Node> node;  // not of a peer
  std::deque<std::unique_ptr<ViState>> vis;
  std::unique_ptr<Tap> tap;
  std::unique_ptr<fc2::FaultyLink> faults;
  bool plugged = false;
  // Of a peer.
  std::deque<Frame> inbox, outbox;
  std::function<void(const Frame&)> script;
  std::uint16_t next_ox_id = 1;
};

class MemorySink final : public fc2::ByteSink {
 public:
  void write(std::span<const std::uint8_t> bytes) override { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

/// Who asks: nobody, the predicate of a frame inside an event, or the caller's code between events of a run.
enum class Within : std::uint8_t { nothing, predicate, script };

/// Throws Error: no frame has a message of that name, or protocol where it has none.
void must_be_message(std::string_view name);

struct FabricState final : private fc2::FaultPolicy {
  explicit FabricState(const FabricOptions& options);
  ~FabricState();

  // --- what handles ask
  PortState& add(std::string name, const PortOptions& options, bool is_peer);
  void add_switch(std::string name);
  IslState& add_isl(std::string_view one, std::string_view other, const IslOptions& options);
  void plug(PortState& port);
  void unplug(PortState& port);
  [[nodiscard]] runtime::TimeNs now() const { return scheduler->now() - start; }
  [[nodiscard]] const std::string& name_or_address(std::string_view host) const;
  /// Throws Error: closed, or from within a predicate.
  void must_be_usable() const;
  void close();

  // --- running
  /// One event, due within `limit` of the scheduler's clock, and what follows from it.
  bool step(runtime::TimeNs limit);
  /// After the caller did something: what is complete is told, frames of peers leave.
  void settle();
  bool run_until(const std::function<bool()>& condition, Duration limit);
  /// For messages: what was sent last.
  [[nodiscard]] std::string latest_frames() const;

  // --- frames
  void frame_passed(PortState& port, runtime::TimeNs at, const fc2::Frame& frame, bool outbound);
  [[nodiscard]] Frame seen(const fc2::Frame& frame, runtime::TimeNs at) const;
  [[nodiscard]] std::string name_of(wire::FcId id) const;

  FabricOptions options;
  std::unique_ptr<fc2::FramePool> pool = std::make_unique<fc2::FramePool>();
  std::unique_ptr<runtime::Scheduler> scheduler = std::make_unique<runtime::Scheduler>();
  runtime::TimeNs start = 0;
  std::unique_ptr<::sim::Driver> driver;
  std::unique_ptr<fc2::Fabric> switches;
  MemorySink sink;
  fc2::Capture capture{sink};
  std::deque<std::unique_ptr<PortState>> ports;
  std::deque<std::unique_ptr<FaultState>> faults;
  std::deque<std::unique_ptr<MemoryState>> memories;
  std::deque<std::unique_ptr<IslState>> isls;
  std::vector<std::string> fault_notes;
  std::vector<Frame> log;
  /// Who waits for a frame to be sent: the first with that name.
  struct Awaited {
    std::string message;
    std::optional<Frame> frame = {};
  };
  Awaited* awaited = nullptr;
  /// Sent by what was called since the last run: posts send at once. Who waits for a frame looks here first.
  std::deque<Frame> sent_since_run;
  std::function<void()> interrupt;
  std::uint64_t events = 0;
  bool is_closed = false;
  Within within = Within::nothing;
  bool running = false;
  ::sim::Random random;

 private:
  fc2::FaultPolicy& policy() { return *this; }
  [[nodiscard]] fc2::Switch& switch_named(std::string_view name);
  void configure_first();
  PortHostConfig host_config(const std::string& name, const PortOptions& chosen, const wire::IpAddress& address);
  Verdict judge(std::size_t link, fc2::LinkDirection direction, const fc2::Frame& frame, runtime::TimeNs now) override;
  void befell(std::size_t, fc2::LinkDirection, const fc2::Frame&, const Verdict&, runtime::TimeNs) override {}
  Verdict ask(FaultState& fault, const Frame& frame, fc2::FaultAction& action);
  bool to_fault(const Action& action, fc2::FaultAction& to);
  void tend(PortState& port);
  void tend(ViState& vi);
  void tell_script(PortState& port);
  void send_waiting(PortState& port);

  std::exception_ptr thrown_;                            // by a predicate
  std::deque<std::array<fc2::FaultAction, 2>> actions_;  // of the frame that is being sent, by link and direction
  static constexpr std::size_t most_latest = 12;
  std::deque<Frame> latest_;
};

}  // namespace fcvi::sim::detail
