#include "state_machines/connect_responder.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::connect_responder::Def);
