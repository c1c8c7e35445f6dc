// Lists the rows of all machines for tools/mutation: key, target ("-" for none), effects ("A, B" or "-"), clause,
// separated by tabs.
#include "state_machines/fsm_mutation.hpp"

#include "state_machines/address_resolution.hpp"
#include "state_machines/connect_originator.hpp"
#include "state_machines/connect_responder.hpp"
#include "state_machines/ddp_stream.hpp"
#include "state_machines/disconnect_originator.hpp"
#include "state_machines/disconnect_responder.hpp"
#include "state_machines/exchange.hpp"
#include "state_machines/fip_forwarder.hpp"
#include "state_machines/fip_node.hpp"
#include "state_machines/fip_vn2vn.hpp"
#include "state_machines/ift_adaption.hpp"
#include "state_machines/link_port.hpp"
#include "state_machines/loop_port.hpp"
#include "state_machines/message_originator.hpp"
#include "state_machines/message_responder.hpp"
#include "state_machines/mpa_initiator.hpp"
#include "state_machines/mpa_responder.hpp"
#include "state_machines/peer_arbitration.hpp"
#include "state_machines/port_attachment.hpp"
#include "state_machines/port_login.hpp"
#include "state_machines/port_registration.hpp"
#include "state_machines/port_validation.hpp"
#include "state_machines/rdmap_read_responder.hpp"
#include "state_machines/rdmap_stream.hpp"
#include "state_machines/sctp_session.hpp"
#include "state_machines/sequence.hpp"
#include "state_machines/vi_endpoint.hpp"
#include "state_machines/vitcp_active.hpp"
#include "state_machines/vitcp_closing.hpp"
#include "state_machines/vitcp_passive.hpp"
#include "state_machines/vitcp_peer.hpp"
#include "state_machines/vitcp_read_requester.hpp"
#include "state_machines/vitcp_read_responder.hpp"
#include "state_machines/vitcp_receiver.hpp"
#include "state_machines/vitcp_sender.hpp"

#include <cstdio>

namespace {

template <class R>
std::string effects() {
  std::string text;
  fsm::mp::mp_for_each<fsm::mutation::actions_of<R>>(
      [&](auto action) { text += (text.empty() ? "" : ", ") + fsm::label<decltype(action)>(); });
  return text.empty() ? "-" : text;
}

template <class Def>
void list() {
  fsm::mp::mp_for_each<fsm::mp::mp_transform<fsm::mp::mp_identity, fsm::rows_of<Def>>>([](auto tag) {
    using R = typename decltype(tag)::type;
    const std::string target = R::internal ? "-" : std::string(fsm::name_of<fsm::next_of<R>>());
    std::printf("%s\t%s\t%s\t%s\n", fsm::mutation::key_of<Def, R>().c_str(), target.c_str(), effects<R>().c_str(),
                std::string(R::clause).c_str());
  });
}

}  // namespace

int main() {
  list<machines::address_resolution::Def>();
  list<machines::connect_originator::Def>();
  list<machines::connect_responder::Def>();
  list<machines::ddp_stream::Def>();
  list<machines::disconnect_originator::Def>();
  list<machines::disconnect_responder::Def>();
  list<machines::exchange::Def>();
  list<machines::fip_forwarder::Def>();
  list<machines::fip_node::Def>();
  list<machines::fip_vn2vn::Def>();
  list<machines::ift_adaption::Def>();
  list<machines::link_port::Def>();
  list<machines::loop_port::Def>();
  list<machines::message_originator::Def>();
  list<machines::message_responder::Def>();
  list<machines::mpa_initiator::Def>();
  list<machines::mpa_responder::Def>();
  list<machines::peer_arbitration::Def>();
  list<machines::port_attachment::Def>();
  list<machines::port_login::Def>();
  list<machines::port_registration::Def>();
  list<machines::port_validation::Def>();
  list<machines::rdmap_read_responder::Def>();
  list<machines::rdmap_stream::Def>();
  list<machines::sctp_session::Def>();
  list<machines::sequence::Def>();
  list<machines::vi_endpoint::Def>();
  list<machines::vitcp_active::Def>();
  list<machines::vitcp_closing::Def>();
  list<machines::vitcp_passive::Def>();
  list<machines::vitcp_peer::Def>();
  list<machines::vitcp_read_requester::Def>();
  list<machines::vitcp_read_responder::Def>();
  list<machines::vitcp_receiver::Def>();
  list<machines::vitcp_sender::Def>();
}
