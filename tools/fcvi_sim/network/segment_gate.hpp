// One direction of a TCP connection of the simulator: cuts what is written into segments, by a codec, and lets them go
// on as a SegmentWatch says.
#pragma once
#include <deque>
#include <optional>
#include <vector>

#include "streams/emulated.hpp"
#include "tools/fcvi_sim/network/segment_watch.hpp"

namespace sim {

/// What gates ask.
class GateOwner {
 public:
  /// nullptr: nobody watches.
  [[nodiscard]] virtual SegmentWatch* watch() const = 0;
  /// Both hosts are attached.
  [[nodiscard]] virtual bool joins(std::size_t one, std::size_t other) const = 0;
  /// Nothing is held back any more.
  [[nodiscard]] virtual bool is_healed() const = 0;

 protected:
  ~GateOwner() = default;
};

class SegmentGate final : public streams::Gate {
 public:
  /// Of what host `from` writes to host `to`, on that stream. The owner outlives it.
  SegmentGate(const GateOwner& owner, std::unique_ptr<StreamCodec> codec, std::size_t stream, std::size_t from,
              std::size_t to)
      : owner_(owner), codec_(std::move(codec)), stream_(stream), from_(from), to_(to) {}

  /// So many of the octets from number `at` on may travel together, if `most` could.
  [[nodiscard]] std::size_t together(std::uint64_t at, std::size_t most);

  streams::Passage pass(runtime::TimeNs now, std::uint64_t at, wire::MutableBytes first,
                        wire::MutableBytes rest) override;

 private:
  /// Judges the segments that are whole, until one is held back or ends the direction.
  void judge(runtime::TimeNs now, std::uint64_t at, wire::MutableBytes first, wire::MutableBytes rest);
  /// Of the segment that was copied.
  SegmentFate fate_of(runtime::TimeNs now);
  void obey(const SegmentFate& fate, runtime::TimeNs now, std::size_t size);

  const GateOwner& owner_;
  const std::unique_ptr<StreamCodec> codec_;
  const std::size_t stream_;
  const std::size_t from_, to_;
  std::uint64_t judged_ = 0;  // octets of segments that were judged
  // Of those, what is held back, and until when; or where the direction ends.
  std::optional<std::uint64_t> held_from_;
  runtime::TimeNs held_until_ = 0;
  std::optional<std::uint64_t> ends_at_;
  streams::Cut end_ = streams::Cut::none;
  std::vector<std::uint8_t> segment_;  // the one that is judged
  std::deque<std::uint64_t> ends_;     // of segments that were judged and did not travel yet, where that matters
};

}  // namespace sim
