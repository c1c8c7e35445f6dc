#include "state_machines/vitcp_passive.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::vitcp_passive::Def);
