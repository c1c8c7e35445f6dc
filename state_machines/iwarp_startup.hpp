// What the start-ups of RDMA over TCP and SCTP have in common: mpa_initiator, mpa_responder, ift_adaption,
// sctp_session.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::iwarp {

// Why a start-up made no RDMAP stream.
enum class Failure : std::uint8_t {
  NotReachable,  // no TCP connection
  TimedOut,      // the time for the whole of it is over
  PeerClosed,    // the other end closed, or the connection broke, before all frames were there
  Rejected,      // by the other end's ULP; its private data is there
  NotAdmitted,   // by the other end, whose ULP was not asked
  Invalid,       // a frame that is improperly formatted, or out of turn
  Crossing,      // both ends began
  NotAgreed,     // what the frames say cannot be met: modes, CRCs, IRD, RTR
  Withdrawn,     // by this end's ULP
};

// What RFC 6581 9 answers by a Terminate Message. Values: the codes of layer 2 (LLP), type 0 (RFC 6581 8).
enum class StartupError : std::uint8_t { LocalCatastrophic = 5, InsufficientIrd = 6, NoMatchingRtr = 7 };

using fsm::to_string;

}  // namespace machines::iwarp
