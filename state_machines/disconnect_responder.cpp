#include "state_machines/disconnect_responder.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::disconnect_responder::Def);
