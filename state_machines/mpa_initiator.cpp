#include "state_machines/mpa_initiator.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::mpa_initiator::Def);
