// What a ladder is made of, in the order of OrderedNotes.
#pragma once
#include <cstdint>
#include <string_view>

#include "fc2_fabric/frame/frame.hpp"
#include "tools/fcvi_sim/picture/ladder.hpp"
#include "tools/fcvi_sim/run/ordered_notes.hpp"

namespace sim {

class LadderNotes {
 public:
  /// Places: frames, then faults, then states; each by port.
  using Sink = OrderedNotes::Sink;
  /// Pre: the clock outlives it.
  LadderNotes(const runtime::Scheduler& clock, Sink sink) : clock_(clock), notes_(clock, std::move(sink)) {}

  // --- as Ladder has them
  void frame(const SeenFrame& seen, const wire::FcHeader& header, wire::Bytes data_field);
  void fault(std::size_t port, const wire::FcHeader& header, std::string_view note, bool lost);
  void state(std::size_t port, std::string_view connection, std::string_view from, std::string_view to);
  /// What is left, at the end.
  void flush() { notes_.flush(); }

  /// Of a note.
  static void draw(Ladder& ladder, std::span<const std::uint8_t> note);

 private:
  enum class Kind : std::uint8_t { Frame, Fault, State };
  ByteWriter begin(Kind kind);
  void add(Kind kind, std::size_t port, ByteWriter& note);

  const runtime::Scheduler& clock_;
  OrderedNotes notes_;
};

}  // namespace sim
