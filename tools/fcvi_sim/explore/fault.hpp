// One fault of an exploration, and how it changes the frames of a run: one frame, or a block of them. Frames are
// numbered from 1 in the order in which their senders send them, each once, however many links it passes.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fc2_fabric/switch/switch.hpp"

namespace sim::explore {

struct Fault {
  enum class Kind : std::uint8_t {
    Lose,
    Duplicate,
    Delay,
    Reorder,
    Reverse,    // the last one of the block comes first, a millisecond before the one in front of it
    Shuffle,    // in an order of its own, which `frame` decides
    Alternate,  // every other one, from the first on, is late
  };
  Kind kind = Kind::Lose;
  std::uint32_t frame = 0;      // its number
  runtime::TimeNs delay = 0;    // Delay, Alternate: how much later; Duplicate: when the second one comes, 0 at once
  std::uint32_t overtaken = 0;  // Reorder: how many later frames of the same link come before it
  std::uint32_t count = 1;      // so many frames from `frame` on, of all links
  friend bool operator==(const Fault&, const Fault&) = default;
};
using FaultList = std::vector<Fault>;  // frames ascending

/// "lose:7", "duplicate:7", "duplicate:7+2s", "delay:7+10s", "reorder:7+1"; blocks: "lose:7x16", "delay:7x300+4s",
/// "reverse:7x300", "shuffle:7x300", "alternate:7x300+4s".
std::string to_string(const Fault& fault);
std::string to_string(const FaultList& faults);
std::optional<Fault> parse_fault(std::string_view text);

/// A frame as it was sent, for diagrams and digests.
using FrameWitness = std::function<void(std::uint32_t number, const fc2::Frame& frame, const Fault* fault)>;

/// A fault on the links of all ports. Before begin() and after end() every frame passes unchanged.
class FaultInjector {
 public:
  FaultInjector(runtime::Scheduler& scheduler, fc2::FramePool& pool, FaultList faults)
      : scheduler_(scheduler), pool_(pool), faults_(std::move(faults)) {}
  FaultInjector(const FaultInjector&) = delete;
  FaultInjector& operator=(const FaultInjector&) = delete;

  void watch(fc2::Switch& fabric, fc2::NPort& port);
  void begin() { active_ = true; }
  void end() { active_ = false; }
  [[nodiscard]] std::uint32_t frames() const { return frames_; }
  [[nodiscard]] std::size_t applied() const { return applied_; }
  /// When the last delayed frame arrives. In the past: the faults are over.
  [[nodiscard]] runtime::TimeNs last_arrival() const { return last_arrival_; }
  void set_witness(FrameWitness witness) { witness_ = std::move(witness); }
  /// Changes bytes without a trace: for tests of the invariants.
  void set_tampering(std::function<void(fc2::Frame&)> tamper) { tamper_ = std::move(tamper); }

 private:
  /// A frame that waits until others have overtaken it, for a limited time.
  struct Held final : runtime::Event {
    explicit Held(fc2::Channel& link) : channel(link) {}
    void fire(runtime::TimeNs) override;
    fc2::Channel& channel;
    fc2::FramePtr frame;
    std::uint32_t overtaken = 0;
  };
  struct Link final : fc2::FrameFault {
    Link(FaultInjector& all, fc2::NPort& its) : injector(all), port(its) {}
    void carry(fc2::Channel& channel, fc2::FramePtr frame) override { injector.carry(port, channel, std::move(frame)); }
    FaultInjector& injector;
    fc2::NPort& port;
  };
  void carry(fc2::NPort& port, fc2::Channel& channel, fc2::FramePtr frame);
  /// The last one to begin of the faults that cover this frame; nullptr if there is none, or it does not
  /// change this frame.
  const Fault* fault_at(std::uint32_t number);
  void apply(const Fault& fault, fc2::Channel& channel, fc2::FramePtr frame);
  void pass(fc2::Channel& channel, fc2::FramePtr frame);
  [[nodiscard]] static bool is_first_link(const fc2::NPort& port, const fc2::Frame& frame);

  runtime::Scheduler& scheduler_;
  fc2::FramePool& pool_;
  const FaultList faults_;
  std::deque<Link> links_;
  std::deque<Held> held_;
  std::uint32_t frames_ = 0;
  std::size_t applied_ = 0;
  runtime::TimeNs last_arrival_ = 0;
  bool active_ = false;
  FrameWitness witness_;
  std::function<void(fc2::Frame&)> tamper_;
};

}  // namespace sim::explore
