#include "state_machines/vitcp_closing.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::vitcp_closing::Def);
