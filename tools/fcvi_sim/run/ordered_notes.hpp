// What was seen, of one instant in an order that does not depend on who simulates what: where switches are independent,
// as OrderedCapture. A share of a run hands it on as bytes, from which part 0 makes what the whole run would have.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/scheduler.hpp"
#include "tools/fcvi_sim/parts/byte_stream.hpp"

namespace sim {

class OrderedNotes {
 public:
  /// Each kind of notes numbers them for itself.
  using Place = std::uint64_t;
  /// Takes the notes in the order of instants, and then of places.
  using Sink = std::function<void(runtime::TimeNs instant, Place place, std::span<const std::uint8_t> note)>;
  /// Pre: the clock outlives it.
  OrderedNotes(const runtime::Scheduler& clock, Sink sink) : clock_(clock), sink_(std::move(sink)) {}
  /// Notes of one place and instant stay in the order in which they come.
  void add(Place place, ByteWriter& note);
  /// What is left, at the end.
  void flush();

 private:
  struct Noted {
    Place place;
    ByteString bytes;
  };
  const runtime::Scheduler& clock_;
  const Sink sink_;
  runtime::TimeNs instant_ = 0;
  std::vector<Noted> noted_;  // in this instant
};

}  // namespace sim
