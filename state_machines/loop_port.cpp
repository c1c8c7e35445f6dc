#include "state_machines/loop_port.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::loop_port::Def);
