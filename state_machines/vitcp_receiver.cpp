#include "state_machines/vitcp_receiver.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::vitcp_receiver::Def);
