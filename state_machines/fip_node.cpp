#include "state_machines/fip_node.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::fip_node::Def);
