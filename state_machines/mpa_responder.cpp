#include "state_machines/mpa_responder.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::mpa_responder::Def);
