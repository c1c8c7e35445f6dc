#include "state_machines/rdmap_stream.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::rdmap_stream::Def);
