#include "state_machines/port_registration.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::port_registration::Def);
