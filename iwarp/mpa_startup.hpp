// What the two ends of MPA's start-up have in common (RFC 5044 7.1, RFC 6581).
#pragma once
#include "iwarp/mpa_framing.hpp"
#include "iwarp/rdmap_stream.hpp"
#include "iwarp/startup_stream.hpp"
#include "state_machines/iwarp_startup.hpp"

namespace iwarp {

/// What this end wants of MPA, at either end.
struct MpaOptions {
  bool wants_markers = false;  // in what it receives (ruling M-1)
  bool crc = true;             // one end is enough (ruling M-2)
};

/// What the other end told, for the ULP (RFC 6581 9.1).
struct PeerOffer {
  std::uint8_t revision = 0;
  std::optional<wire::mpa::EnhancedData> enhanced{};
  std::vector<std::uint8_t> private_data{};
};

/// How a start-up ends: an event of one of these; then the start-up may be destroyed, from within too.
class StartupListener {
 public:
  /// The ULP may use the stream.
  virtual void connected(const PeerOffer& peer) = 0;
  /// There will be no stream. With Rejected and NotAgreed `peer` has what came.
  virtual void startup_failed(machines::iwarp::Failure failure, const PeerOffer& peer) = 0;

 protected:
  ~StartupListener() = default;
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
