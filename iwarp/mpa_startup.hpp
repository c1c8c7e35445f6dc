// What the two ends of MPA's start-up have in common (RFC 5044 7.1, RFC 6581).
#pragma once
#include "iwarp/mpa_framing.hpp"
#include "iwarp/rdmap_stream.hpp"
#include "iwarp/startup_listener.hpp"
#include "iwarp/startup_stream.hpp"

namespace iwarp {

/// What this end wants of MPA, at either end.
struct MpaOptions {
  bool wants_markers = false;  // in what it receives (ruling M-1)
  bool crc = true;             // one end is enough (ruling M-2)
  /// At the end that is asked without an RTR indication: false breaks RFC 5044 7.1.2 rule 4, for who never sends first
  /// (ruling M-28).
  bool awaits_first_fpdu = true;
};

/// The terms that follow from both frames: each end gets markers if it requires them, CRCs if either wants them.
[[nodiscard]] MpaTerms terms_of(const wire::mpa::StartupFrame& ours, const wire::mpa::StartupFrame& theirs,
                                std::size_t emss);
[[nodiscard]] PeerOffer offer_of(const wire::mpa::StartupFrame& frame);
/// The smaller one, unless it is left to the ULP (RFC 6581 9.1).
[[nodiscard]] std::size_t depth_of(std::size_t ours, std::uint16_t theirs);
/// As a frame has it: never the value that says something else.
[[nodiscard]] std::uint16_t depth_on_wire(std::size_t depth);

}  // namespace iwarp
