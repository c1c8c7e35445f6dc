// What a ladder is made of, of one instant in an order that does not depend on who simulates what: where switches are
// independent, as OrderedCapture. A share of a run hands it on as bytes, from which part 0 draws.
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "fc2_fabric/frame/frame.hpp"
#include "runtime/scheduler.hpp"
#include "tools/fcvi_sim/parts/byte_stream.hpp"
#include "tools/fcvi_sim/picture/ladder.hpp"

namespace sim {

class LadderNotes {
 public:
  /// Frames, then faults, then states; each by port.
  using Place = std::uint64_t;
  /// Takes the notes in the order of instants, and then of places.
  using Sink = std::function<void(runtime::TimeNs instant, Place place, std::span<const std::uint8_t> note)>;
  /// Pre: the clock outlives it.
  LadderNotes(const runtime::Scheduler& clock, Sink sink) : clock_(clock), sink_(std::move(sink)) {}

  // --- as Ladder has them
  void frame(const SeenFrame& seen, const wire::FcHeader& header, wire::Bytes data_field);
  void fault(std::size_t port, const wire::FcHeader& header, std::string_view note, bool lost);
  void state(std::size_t port, std::string_view connection, std::string_view from, std::string_view to);
  /// What is left, at the end.
  void flush();

  /// Of a note.
  static void draw(Ladder& ladder, std::span<const std::uint8_t> note);

 private:
  enum class Kind : std::uint8_t { Frame, Fault, State };
  struct Noted {
    Place place;
    ByteString bytes;
  };
  ByteWriter begin(Kind kind);
  void add(Kind kind, std::size_t port, ByteWriter& note);

  const runtime::Scheduler& clock_;
  const Sink sink_;
  runtime::TimeNs instant_ = 0;
  std::vector<Noted> noted_;  // in this instant
};

}  // namespace sim
