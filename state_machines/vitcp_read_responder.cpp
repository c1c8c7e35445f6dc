#include "state_machines/vitcp_read_responder.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::vitcp_read_responder::Def);
