#include "state_machines/exchange.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::exchange::Def);
