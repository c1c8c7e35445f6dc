#include "state_machines/address_resolution.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::address_resolution::Def);
