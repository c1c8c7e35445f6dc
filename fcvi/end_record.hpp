// Why a connection ended: the first cause that is noted stays.
#pragma once
#include <cstdint>

#include "fcvi/reports.hpp"
#include "state_machines/message_responder.hpp"
#include "wire/fcvi/reason.hpp"

namespace fcvi {

enum class Ended : std::uint8_t {
  No,
  ByUs,
  NoReceive,
  TooLong,
  Protection,
  Transport,
  Descriptor,
  PeerLeft,
  PeerGone,
  LinkLost,
  PeerTransport,
  PeerProtection,
  PeerDescriptor,
  PeerProtocol
};
/// What the receiver here met.
[[nodiscard]] Ended ended_by(machines::message_responder::ReceiveError error);
/// What the peer told (FC-VI Table 12).
[[nodiscard]] Ended ended_by(wire::fcvi::Reason reason);

class EndRecord {
 public:
  void note(Ended cause) {
    if (cause_ == Ended::No) cause_ = cause;
  }
  /// A failure that is found here, with the Reason Code that the peer is told.
  void note_here(wire::fcvi::Reason reason) { note(ended_here_by(reason)); }
  [[nodiscard]] EndCause told() const;

  /// The peer refused a message, or has disconnected: it needs no DISCONNECT_RQST of ours.
  bool peer_knows = false;

 private:
  [[nodiscard]] Ended ended_here_by(wire::fcvi::Reason reason) const;
  Ended cause_ = Ended::No;
};

}  // namespace fcvi
