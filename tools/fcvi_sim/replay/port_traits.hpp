// What a captured port was set up with, as far as its own frames tell.
#pragma once
#include <string>

#include "farp/resolver.hpp"
#include "fc2_fabric/node/n_port_config.hpp"
#include "fcvi/configuration.hpp"
#include "tools/fcvi_sim/replay/conversation.hpp"

namespace sim::replay {

struct PortTraits {
  fc2::NPortConfig port = {};
  farp::ResolverConfig resolver = {};
  fcvi::ProviderConfig provider = {};
  std::uint16_t bb_credit = 0;
  bool alternate_bb_credit = false;
  /// Of a port without a fabric (VN2VN, private loop): the N_Port_ID that it has from the beginning. Of one of a public
  /// loop: its AL_PA.
  std::optional<wire::FcId> own_id = {};
  bool public_loop = false;
  std::string error;  // why it cannot be played: the capture begins too late, or the port has no fabric
};

/// Of Exchange ids and handles those that the port gave first, so that most of what it chooses is the same again.
PortTraits traits_of(const Conversation& conversation);

}  // namespace sim::replay
