#include "state_machines/fip_vn2vn.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::fip_vn2vn::Def);
