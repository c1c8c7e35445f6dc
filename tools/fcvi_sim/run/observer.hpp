// Sees every frame of a run once, as it was sent: counts, assigns FC-VI traffic to connections, feeds the
// ladder.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "fc2_fabric/frame/capture.hpp"
#include "fc2_fabric/link/channel.hpp"
#include "tools/fcvi_sim/picture/ladder.hpp"
#include "tools/fcvi_sim/run/ladder_notes.hpp"
#include "tools/fcvi_sim/run/results.hpp"
#include "tools/fcvi_sim/run/wire_log.hpp"
#include "tools/faults/connections.hpp"
#include "runtime/scheduler.hpp"
#include "wire/fc_header.hpp"

namespace sim {

class Observer {
 public:
  /// `draws`: a ladder, or notes for one, will be wanted.
  Observer(RunResult& result, const Scenario& scenario, Ladder* ladder, bool draws);
  /// A tap for port `index`; `capture` may be null.
  fc2::FrameTap& tap(std::size_t index, fc2::FrameTap* capture);
  /// A fault befell a frame on the link of port `index`; `outbound`: the port sent it, its tap has just seen it.
  void fault(runtime::TimeNs at, const FaultSpec& fault, std::size_t index, bool outbound, const fc2::Frame& frame);
  /// Instead of the ladder: draws as frames pass. It outlives the observer.
  void set_notes(LadderNotes& notes) { notes_ = &notes; }
  /// The same, instead of RunResult::wire.
  void set_wire_notes(WireNotes& notes) { wire_notes_ = &notes; }
  /// Frames of ports whose own links are not seen here tell of connections as well: a share of a run.
  void learn_from_others(const runtime::Scheduler& clock) { share_clock_ = &clock; }
  /// Times of the results count from here.
  void start_clock(runtime::TimeNs zero) { wire_.start_clock(zero); }
  /// ELS replies of the F_Port that port `index` got: to its FLOGI, its LOGO.
  [[nodiscard]] std::uint64_t f_port_replies(std::size_t index) const { return f_port_replies_[index]; }

 private:
  class Tap final : public fc2::FrameTap {
   public:
    Tap(Observer& observer, std::size_t port, fc2::FrameTap* capture)
        : observer_(observer), port_(port), capture_(capture) {}
    void frame_passed(runtime::TimeNs at, const fc2::Frame& frame, bool outbound) override;

   private:
    friend class Observer;
    Observer& observer_;
    std::size_t port_;
    fc2::FrameTap* capture_;
  };
  /// Of a message's later frames, which are nearly all: what tells whose they are, and to whom they count.
  struct Stream {
    std::uint64_t addresses = 0;  // R_CTL to S_ID, as they stand in the frame
    wire::FcviHandle handle{};
    Traffic* traffic = nullptr;  // nullptr: there is none
  };
  [[nodiscard]] bool goes_on(const fc2::Frame& frame) const;
  /// False: it is none of those.
  bool count_later_frame(const fc2::Frame& frame);
  void begin_stream(const fc2::Frame& frame, const wire::FcHeader& header, Traffic& traffic);
  /// Pre: a header at least; if it is inbound, a service sent it.
  void frame_sent(runtime::TimeNs at, std::size_t port, const fc2::Frame& frame, bool outbound);
  void learn(const fc2::Frame& frame);
  void befell(const fc2::FaultAction& action, std::size_t port, const fc2::Frame& frame);
  [[nodiscard]] std::optional<std::size_t> port_of(wire::FcId id) const;

  RunResult& result_;
  const Scenario& scenario_;
  Ladder* ladder_;
  LadderNotes* notes_ = nullptr;
  WireLog wire_;
  WireNotes* wire_notes_ = nullptr;
  const runtime::Scheduler* share_clock_ = nullptr;  // of a share of a run
  std::map<std::uint32_t, std::size_t> ports_;       // by N_Port_ID, as they sent from it
  // What was entered there last: most frames follow one of the same port.
  wire::FcId last_sender_{};
  std::size_t last_port_ = static_cast<std::size_t>(-1);
  const bool counts_only_;  // nobody wants to know more of a frame that begins nothing
  Stream stream_;           // of the last frame
  std::deque<Tap> taps_;
  std::vector<std::uint64_t> f_port_replies_;  // by port
  faults::Connections connections_;            // by position among the workloads
};

}  // namespace sim
