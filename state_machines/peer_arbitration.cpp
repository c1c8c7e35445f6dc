#include "state_machines/peer_arbitration.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::peer_arbitration::Def);
