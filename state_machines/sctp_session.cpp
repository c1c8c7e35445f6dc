#include "state_machines/sctp_session.hpp"

#include "state_machines/fsm_backend.hpp"

FSM_INSTANTIATE(machines::sctp_session::Def);
