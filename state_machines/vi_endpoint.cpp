#include "state_machines/vi_endpoint.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::vi_endpoint::Def);
