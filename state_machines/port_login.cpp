#include "state_machines/port_login.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::port_login::Def);
