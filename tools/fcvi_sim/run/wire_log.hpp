// The IUs of a run, for what it expects on the wire.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "fc2_fabric/frame/frame.hpp"
#include "tools/fcvi_sim/run/ordered_notes.hpp"
#include "tools/fcvi_sim/run/results.hpp"

namespace sim {

/// Frames as their ports send them, and what befalls them on their way.
class WireLog {
 public:
  /// Pre: the scenario, which expects something on the wire, and the list outlive it.
  WireLog(const Scenario& scenario, std::vector<WireIu>& ius) : scenario_(scenario), ius_(ius) {}
  /// Times of the IUs count from here.
  void start_clock(runtime::TimeNs zero);
  /// That port sends it. Pre: a header at least.
  void sent(runtime::TimeNs at, std::size_t port, const fc2::Frame& frame);
  /// On its way it was lost, or became `changed` (nullptr: it did not). `frame`: as it was.
  void befell(const fc2::Frame& frame, bool lost, const fc2::Frame* changed);

 private:
  void rewritten(const fc2::Frame& frame, const fc2::Frame& changed);
  WireIu* iu_of(const wire::FcHeader& header);
  [[nodiscard]] std::optional<std::size_t> port_of(wire::FcId id) const;

  const Scenario& scenario_;
  std::vector<WireIu>& ius_;
  runtime::TimeNs zero_ = 0;
  std::map<std::uint32_t, std::size_t> ports_;  // by N_Port_ID, as they sent from it
};

/// What a WireLog is made of, in the order of OrderedNotes: frames, then what befell some; each by port.
class WireNotes {
 public:
  /// Pre: the clock outlives it.
  WireNotes(const runtime::Scheduler& clock, OrderedNotes::Sink sink) : notes_(clock, std::move(sink)) {}
  // As WireLog has them; `port`: on whose link it befell the frame.
  void sent(runtime::TimeNs at, std::size_t port, const fc2::Frame& frame);
  void befell(std::size_t port, const fc2::Frame& frame, bool lost, const fc2::Frame* changed);
  /// What is left, at the end.
  void flush() { notes_.flush(); }

  /// Of a note. `pool`: for the frames of it.
  static void enter(WireLog& log, fc2::FramePool& pool, std::span<const std::uint8_t> note);

 private:
  enum class Kind : std::uint8_t { Sent, Befell };
  void add(Kind kind, std::size_t port, ByteWriter& note);
  OrderedNotes notes_;
};

}  // namespace sim
