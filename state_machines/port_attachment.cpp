#include "state_machines/port_attachment.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::port_attachment::Def);
