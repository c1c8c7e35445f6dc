#include "state_machines/ddp_stream.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::ddp_stream::Def);
