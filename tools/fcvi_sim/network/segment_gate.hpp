// One direction of a TCP connection of the simulator: cuts what is written into VI segments and lets them go on as a
// SegmentWatch says.
#pragma once
#include <optional>
#include <vector>

#include "streams/emulated.hpp"
#include "tools/fcvi_sim/network/segment_watch.hpp"

namespace sim {

/// What both directions share. Of the CRC option of both connection segments: as it was written, and as it went on.
struct TcpStream {
  struct Option {
    bool written = false, sent = false;
  };
  std::size_t number = 0;
  Option request{}, accept{};
};

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
  /// Of what host `from` writes to host `to`; `connects`: it began the stream. The owner outlives it.
  SegmentGate(const GateOwner& owner, std::shared_ptr<TcpStream> stream, std::size_t from, std::size_t to,
              bool connects)
      : owner_(owner), stream_(std::move(stream)), from_(from), to_(to), connects_(connects) {}

  streams::Passage pass(runtime::TimeNs now, std::uint64_t at, wire::MutableBytes first,
                        wire::MutableBytes rest) override;

 private:
  /// Judges the segments that are whole, until one is held back or ends the direction.
  void judge(runtime::TimeNs now, std::uint64_t at, wire::MutableBytes first, wire::MutableBytes rest);
  SegmentFate fate_of(runtime::TimeNs now, std::size_t offset, wire::MutableBytes first, wire::MutableBytes rest);
  void obey(const SegmentFate& fate, runtime::TimeNs now, std::size_t size);
  /// Its segments have a CRC, as their sender sees it.
  [[nodiscard]] bool has_crc() const;
  /// What both connection segments say, before and after the watch.
  void learn(const wire::vitcp::Segment& written);
  /// So many octets of a segment begin there; nothing: it is not whole.
  [[nodiscard]] std::optional<std::size_t> whole_segment(std::size_t offset, wire::Bytes first, wire::Bytes rest) const;

  const GateOwner& owner_;
  const std::shared_ptr<TcpStream> stream_;
  const std::size_t from_, to_;
  const bool connects_;
  std::uint64_t judged_ = 0;  // octets of segments that were judged
  // Of those, what is held back, and until when; or where the direction ends.
  std::optional<std::uint64_t> held_from_;
  runtime::TimeNs held_until_ = 0;
  std::optional<std::uint64_t> ends_at_;
  streams::Cut end_ = streams::Cut::none;
  std::vector<std::uint8_t> segment_;  // the one that is judged
};

}  // namespace sim
