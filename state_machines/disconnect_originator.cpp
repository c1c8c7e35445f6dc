#include "state_machines/disconnect_originator.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::disconnect_originator::Def);
