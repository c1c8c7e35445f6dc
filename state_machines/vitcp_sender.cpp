#include "state_machines/vitcp_sender.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::vitcp_sender::Def);
