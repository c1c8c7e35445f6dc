#include "state_machines/vitcp_peer.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::vitcp_peer::Def);
