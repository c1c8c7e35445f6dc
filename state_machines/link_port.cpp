#include "state_machines/link_port.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::link_port::Def);
