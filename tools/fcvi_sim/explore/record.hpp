// The record of an exploration's run for the invariants: calls, descriptors, states and bytes as programs see them.
// Nothing in it comes from the protocol's own state, except the counts of what must be given back.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/scheduler.hpp"
#include "tools/fcvi_sim/host/host_transport.hpp"
#include "tools/fcvi_sim/host/rdma_result.hpp"
#include "tools/fcvi_sim/explore/fault.hpp"
#include "tools/fcvi_sim/scenario/scenario.hpp"
#include "vi/types.hpp"
#include "wire/fcvi/opcode.hpp"

namespace sim::explore {

/// A call of the VI Provider Library that takes time.
struct CallRecord {
  std::string_view name;  // "VipConnectRequest"
  runtime::TimeNs issued = 0, returned = 0;
  unsigned returns = 0;
  vi::Return result = vi::Return::NotDone;
  runtime::TimeNs limit = 0;  // what its time-out and the standard's timers allow
};

/// One message that a side is to send.
struct Message {
  Operation operation = Operation::Send;
  std::vector<std::uint8_t> content;
  std::optional<std::uint32_t> immediate;
  std::uint32_t segments = 1;  // data segments, at both ends
  [[nodiscard]] bool takes_receive() const {
    return operation == Operation::Send || (operation == Operation::RdmaWrite && immediate.has_value());
  }
};

/// A posted descriptor and its result.
struct Descriptor {
  std::size_t message = 0;  // sends: position in the side's messages; receives: their own count
  std::uint64_t address = 0;
  runtime::TimeNs completed = 0;
  unsigned completions = 0;
  std::uint32_t status = 0;  // whole
  std::uint32_t length_bytes = 0, immediate_data = 0;
  /// If it succeeded: the content of the receive buffer, or of the target of an RDMA Read. At the end: of
  /// the same memory.
  std::vector<std::uint8_t> content = {}, content_at_end = {};
  /// Sends: the peer's memory or receive had all of it at this time. Receives: this memory had all RDMA Writes that the
  /// peer posted before.
  bool in_place = false;
};

struct StateChange {
  runtime::TimeNs at = 0;
  vi::State state = vi::State::Idle;
};

/// Memory for the peer's RDMA Writes, at the end of the run; `untouched` where nothing was written.
struct Target {
  std::size_t message = 0;
  std::vector<std::uint8_t> bytes;
};
inline constexpr std::uint8_t untouched = 0xA5;

struct End {
  std::string port;
  bool began = false;  // its program ran
  bool ended = false;
  std::deque<CallRecord> calls;
  std::vector<Message> messages;  // to send
  std::vector<Descriptor> sends, receives;
  std::vector<Target> targets;
  std::vector<StateChange> states;        // begins with Idle
  std::uint64_t signals = 0;              // completions that the model announced
  std::uint64_t strange_completions = 0;  // of no descriptor that was due
  std::uint64_t stray_bytes = 0;          // written outside every buffer
  bool vi_destroyed = false;
  bool broken_off = false;  // the connection ended before this side, the first to do so, disconnected
};

struct ConnectionRecord {
  std::string name;
  vi::ReliabilityLevel reliability = vi::ReliabilityLevel::ReliableDelivery;
  enum class Phase : std::uint8_t {
    Faults,
    Meanwhile,  // no new fault, but frames that a fault made late still arrive
    Afterwards,
  };
  Phase phase = Phase::Faults;
  runtime::TimeNs began = 0;
  bool rejected = false;      // the server's program refuses
  runtime::TimeNs holds = 0;  // how long its programs wait on purpose before they disconnect, one after the other
  bool permits_write = true, permits_read = true;  // both ends: RDMA of the other side
  bool replies = false;                            // what does not come is not answered, and ends what would come then
  End ends[2];                                     // by Side

  /// Some message of it breaks the connection, or fails, by itself (VI-ARCH 3.2.1): it is not permitted.
  [[nodiscard]] bool refuses_messages() const;
};

/// A stream of RDMA.
struct RdmaRecord {
  std::string name;
  const RdmaSpec* spec = nullptr;
  ConnectionRecord::Phase phase = ConnectionRecord::Phase::Faults;
  RdmaResult result = {};
};

/// What one port still holds after all timers have ended.
struct Holdings {
  std::string port;
  std::vector<HostTransport::Held> held;  // by its transport and its NIC
};

/// A login between two ports that one of them lost.
struct Logout {
  runtime::TimeNs at = 0;
  std::string port, peer;
};

/// The frame that a fault hit.
struct Hit {
  Fault::Kind kind{};
  bool fc_vi = false;           // TYPE 58h, and not an answer of the class 2 protocol
  wire::fcvi::Opcode opcode{};  // then
};

struct Record {
  std::deque<ConnectionRecord> connections;
  std::deque<RdmaRecord> rdma;
  std::vector<Hit> hits;  // as they happened
  std::vector<Logout> logouts;
  std::vector<Holdings> holdings;
  std::size_t frames_held = 0;  // buffers that did not come back
  std::size_t timers_before = 0, timers_after = 0;
  std::uint64_t unexpected_events = 0;  // a machine had no row
  std::string inconsistent;             // the first whose owners contradict themselves: "port b"
  bool came_to_an_end = true;
  runtime::TimeNs ulp_timeout = 0, r_a_tov = 0;
  std::uint32_t frames = 0;  // that a fault could have hit
  bool in_order = true;      // what the fabric promises
  // One frame that is so late keeps back what is behind it until nobody asks any more: where a link has one credit.
  runtime::TimeNs standstill = runtime::never;
  runtime::TimeNs frame_lifetime =
      0;  // what comes later is given up: R_A_TOV, where a port uses class 2 E_D_TOV (FC-VI B.2.6.1 rule 8e)
  FaultList faults;
  std::size_t faults_applied = 0;
  runtime::TimeNs stalled_until = 0;  // a stream stood still for good, until the faults healed; 0: none did
  bool port_befallen = false;  // what the scenario's own faults did to ports, links or switches, is not in that list
  std::uint64_t digest = 0;    // of the course: frames in their order, results
};

}  // namespace sim::explore
