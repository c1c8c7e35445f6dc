// What the ULP is told of a start-up, of any framing.
#pragma once
#include <optional>
#include <vector>

#include "state_machines/iwarp_startup.hpp"
#include "wire/iwarp/mpa/startup_frame.hpp"

namespace iwarp {

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

}  // namespace iwarp
