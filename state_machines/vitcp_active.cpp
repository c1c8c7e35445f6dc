#include "state_machines/vitcp_active.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::vitcp_active::Def);
