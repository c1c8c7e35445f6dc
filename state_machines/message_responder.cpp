#include "state_machines/message_responder.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::message_responder::Def);
