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

#include "fc2_fabric/link/faults.hpp"
#include "tools/fcvi_sim/network/network.hpp"

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
    // Over TCP, in front of an octet (and Delay: what follows waits there):
    Reset,    // the connection
    Close,    // its receiver reads the end
    Silence,  // nothing comes any more, and nobody is told
    Invert,   // the octet: all of its bits
  };
  Kind kind = Kind::Lose;
  std::uint32_t frame = 0;      // its number; over TCP that of an octet
  runtime::TimeNs delay = 0;    // Delay, Alternate: how much later; Duplicate: when the second one comes, 0 at once
  std::uint32_t overtaken = 0;  // Reorder: how many later frames of the same link come before it
  std::uint32_t count = 1;      // so many frames from `frame` on, of all links
  friend bool operator==(const Fault&, const Fault&) = default;
};
using FaultList = std::vector<Fault>;  // frames ascending
/// Reorder: where too few frames follow, it goes after this time.
inline constexpr runtime::TimeNs longest_hold = 100 * runtime::millisecond;

/// "lose:7", "duplicate:7", "duplicate:7+2s", "delay:7+10s", "reorder:7+1"; blocks: "lose:7x16", "delay:7x300+4s",
/// "reverse:7x300", "shuffle:7x300", "alternate:7x300+4s".
std::string to_string(const Fault& fault);
std::string to_string(const FaultList& faults);
std::optional<Fault> parse_fault(std::string_view text);
/// Hosts on TCP have it; elsewhere all others, and Delay.
bool is_of_octets(Fault::Kind kind);

/// A frame as it was sent, for diagrams and digests.
using FrameWitness = std::function<void(std::uint32_t number, const fc2::Frame& frame, const Fault* fault)>;

/// Decides for the links of all ports. Before begin() and after end() every frame passes unchanged.
class FaultInjector final : private fc2::FaultPolicy {
 public:
  /// That the host of a link has an address now, as Network::has_address.
  using HasAddress = std::function<bool(std::size_t link, wire::FcId address)>;
  FaultInjector(runtime::Scheduler& scheduler, FaultList faults, HasAddress has_address)
      : scheduler_(scheduler), faults_(std::move(faults)), has_address_(std::move(has_address)) {}
  FaultInjector(const FaultInjector&) = delete;
  FaultInjector& operator=(const FaultInjector&) = delete;

  /// For the next link, from 0.
  [[nodiscard]] LinkFaults add_link();
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
  /// One direction of a port's link: tampering comes before the fault.
  class Direction final : public fc2::FrameFault {
   public:
    Direction(FaultInjector& injector, std::size_t link, fc2::LinkDirection direction)
        : injector_(injector), link_(link), faults_(injector.scheduler_, injector, link, direction) {}
    void foresee(fc2::Frame& frame) override { faults_.foresee(frame); }
    void carry(fc2::Channel& channel, fc2::FramePtr frame) override;
    void link_broke() override { faults_.link_broke(); }

   private:
    FaultInjector& injector_;
    std::size_t link_;
    fc2::FaultyDirection faults_;
  };
  struct Link {
    Link(FaultInjector& injector, std::size_t index)
        : sent(injector, index, fc2::LinkDirection::Sent), received(injector, index, fc2::LinkDirection::Received) {}
    Direction sent, received;
  };

  // fc2::FaultPolicy
  Verdict judge(std::size_t link, fc2::LinkDirection direction, const fc2::Frame& frame, runtime::TimeNs now) override;
  void befell(std::size_t, fc2::LinkDirection, const fc2::Frame&, const Verdict&, runtime::TimeNs) override {}

  /// Of those that cover this frame the one that begins last; nullptr if none does, or it leaves this frame alone.
  const Fault* fault_at(std::uint32_t number);
  [[nodiscard]] bool is_first_link(std::size_t link, const fc2::Frame& frame) const;

  runtime::Scheduler& scheduler_;
  const FaultList faults_;
  const HasAddress has_address_;
  std::deque<Link> links_;
  fc2::FaultAction action_;  // of the frame that is being sent
  std::uint32_t frames_ = 0;
  std::size_t applied_ = 0;
  runtime::TimeNs last_arrival_ = 0;
  bool active_ = false;
  FrameWitness witness_;
  std::function<void(fc2::Frame&)> tamper_;
};

}  // namespace sim::explore
