#include "state_machines/fip_forwarder.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::fip_forwarder::Def);
