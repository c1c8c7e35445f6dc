// Speculative placement: frames of IFT that are found in segments which came before their turn go to their place at
// once; nothing of them is told before all octets ahead of them were read (IFT 8).
//
// - Where a frame begins is guessed: at the first octet of a segment, and behind a frame that was found. The guess must
//   pass every check that can be made now (8.1), and both CRCs where they are checked; what fails is left to its turn,
//   and nothing of it is told.
// - It fills memory that nobody has written (8.2: written_octets.hpp). TCP then lets its octets go unacknowledged.
// - In its turn a frame must begin exactly there, belong exactly there still, and be intact. Then it is given to the
//   sink like any other, but for its payload, which is in place. Else the other end has to send it again, and it is
//   placed in order. Until then memory that was written in vain holds what nobody may rely on (8.3).
// Only frames that are there as a whole, with payload, are placed early.
#pragma once
#include <array>
#include <map>
#include <set>

#include "iwarp/framing.hpp"
#include "iwarp/speculation_counts.hpp"
#include "iwarp/written_octets.hpp"
#include "streams/early_octets.hpp"
#include "wire/iwarp/ift/frame.hpp"

namespace iwarp {

class IftSpeculation {
 public:
  static constexpr std::size_t most_frames = 4096;  // that wait for their turn
  static constexpr std::size_t most_guesses = 64;

  /// What the sink places is noted in `written`. `in`: of the frames that come.
  IftSpeculation(Workspace& workspace, UlpduSink& sink, WrittenOctets& written, SpeculationCounts& counts,
                 const wire::ift::Framing& in)
      : workspace_(workspace), sink_(sink), written_(written), counts_(counts), in_(in) {}
  ~IftSpeculation();
  IftSpeculation(const IftSpeculation&) = delete;
  IftSpeculation& operator=(const IftSpeculation&) = delete;

  /// Places what can be placed of the segments that came since.
  void look(streams::EarlyOctets& early);
  /// The next octet is the first of a frame that was placed early.
  [[nodiscard]] bool is_next(const streams::EarlyOctets& early) const;
  /// True: the sink has it. False: it was called back. Pre: is_next(). `at_boundary`: a frame begins there.
  bool take_turn(streams::EarlyOctets& early, bool at_boundary);
  /// Nothing is early any more.
  void call_back(streams::EarlyOctets& early);
  [[nodiscard]] bool is_consistent() const { return waiting_.size() <= most_frames && guesses_.size() <= most_guesses; }

 private:
  struct Waiting {
    std::size_t octets = 0;  // of the frame
    std::array<std::uint8_t, wire::ddp::untagged_header_bytes> header{};
    std::size_t header_octets = 0, payload_octets = 0;
    WrittenOctets::Id placement = 0;
    [[nodiscard]] wire::Bytes ddp_header() const { return wire::Bytes(header).first(header_octets); }
  };
  void place_from(streams::EarlyOctets& early, std::uint64_t at);
  [[nodiscard]] std::size_t place_one(streams::EarlyOctets& early, std::uint64_t at);
  [[nodiscard]] std::size_t extent_at(streams::EarlyOctets& early, std::uint64_t at);
  void place(streams::EarlyOctets& early, std::uint64_t at, wire::Bytes octets, const wire::ift::Frame& frame);
  [[nodiscard]] WrittenOctets::Pieces room_for(wire::Bytes ddp_header, std::size_t payload_octets) const;
  void guess_later(std::uint64_t at);
  [[nodiscard]] bool is_right(const Waiting& frame, bool at_boundary);

  Workspace& workspace_;
  UlpduSink& sink_;
  WrittenOctets& written_;
  SpeculationCounts& counts_;
  const wire::ift::Framing in_;
  std::map<std::uint64_t, Waiting> waiting_;  // by their first octets
  std::set<std::uint64_t> guesses_;           // where frames may begin that are not whole
};

}  // namespace iwarp
