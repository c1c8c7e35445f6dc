#include "state_machines/port_validation.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::port_validation::Def);
