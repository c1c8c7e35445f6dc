#include "state_machines/rdmap_read_responder.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::rdmap_read_responder::Def);
