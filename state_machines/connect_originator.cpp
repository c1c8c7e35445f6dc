#include "state_machines/connect_originator.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::connect_originator::Def);
