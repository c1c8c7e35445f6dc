#include "state_machines/ift_adaption.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::ift_adaption::Def);
