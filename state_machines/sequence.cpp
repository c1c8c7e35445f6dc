#include "state_machines/sequence.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::sequence::Def);
