// Why a connection of VI over TCP fails: what its machines tell their owner.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::vitcp {

enum class Failure : std::uint8_t {
  Protocol,   // the peer broke a rule of VI-TCP: a number out of turn, a segment that makes no sense here
  Transport,  // octets were changed on the way (CRC), or the peer could not send what it had to (Transmit Error)
  Local,      // an error that a Descriptor of this end reports: memory, length, no Descriptor
  Remote,     // the peer reported an error of one of our messages (Remote Error Code)
};
using fsm::to_string;

}  // namespace machines::vitcp
