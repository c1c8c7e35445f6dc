#include "state_machines/message_originator.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::message_originator::Def);
