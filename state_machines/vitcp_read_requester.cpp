#include "state_machines/vitcp_read_requester.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::vitcp_read_requester::Def);
