// FC-VI 7.7.1, 8.4.2 g): a logout in the middle of everything frees everything, in every class and order.
#include "tests/fcvi/class_2_nodes.hpp"

namespace {
using support::Class2Nodes;
using support::Level;

class LogoutInOrder : public support::MessageNodes {};
class LogoutAnyOrder : public support::MessageNodes {
 public:
  LogoutAnyOrder() : MessageNodes({}, {}, support::fabric_order(false)) {}
};
class LogoutClass2 : public Class2Nodes {};
class LogoutClass2AnyOrder : public Class2Nodes {
 public:
  LogoutClass2AnyOrder() : Class2Nodes({.in_order = false}) {}
};

template <class Nodes>
void log_out_in_the_middle(Nodes& nodes, bool explicit_logout) {
  nodes.begin(Level::ReliableReception);
  nodes.receive(8), nodes.send(8, 60'000);
  const auto read_from = [](support::Host& host, vi::Vi& vi, const support::Host& peer) {
    for (int i = 0; i < 4; ++i)
      vi.post_send(host.descriptor(vi::control::op_rdma_read, {{host.data + (20u << 20), 200'000}},
                                   peer.data + (24u << 20), peer.handle),
                   host.handle);
  };
  read_from(*nodes.client, *nodes.client_vi, *nodes.server), read_from(*nodes.server, *nodes.server_vi, *nodes.client);
  nodes.fabric.run_for(900 * runtime::microsecond);
  if (explicit_logout)
    nodes.server->port.remote_port(nodes.client->port.n_port_id()).log_out();
  else
    nodes.fabric.detach(1);
  nodes.fabric.run_for(runtime::second);
  nodes.disconnect(*nodes.server, *nodes.server_vi), nodes.disconnect(*nodes.client, *nodes.client_vi);
  nodes.fabric.run_for(60 * runtime::second);
  EXPECT_EQ(nodes.server->provider.handles_in_use() + nodes.client->provider.handles_in_use(), 0u);
  EXPECT_EQ(nodes.server->port.open_exchanges() + nodes.client->port.open_exchanges(), 0u);
  EXPECT_EQ(nodes.fabric.pool.outstanding(), 0u);
}
TEST_F(LogoutInOrder, transferring_explicit_freesEverything) { log_out_in_the_middle(*this, true); }   // FC-VI 8.4.2 g)
TEST_F(LogoutInOrder, transferring_implicit_freesEverything) { log_out_in_the_middle(*this, false); }  // FC-VI 7.7.1
TEST_F(LogoutAnyOrder, transferring_explicit_freesEverything) { log_out_in_the_middle(*this, true); }  // FC-VI 8.4.2 g)
TEST_F(LogoutClass2, transferring_explicit_freesEverything) { log_out_in_the_middle(*this, true); }    // FC-VI 8.4.2 g)
TEST_F(LogoutClass2, transferring_implicit_freesEverything) { log_out_in_the_middle(*this, false); }   // FC-VI 7.7.1
TEST_F(LogoutClass2AnyOrder, transferring_explicit_freesEverything) {
  log_out_in_the_middle(*this, true);
}  // FC-VI 8.4.2 g)
TEST_F(LogoutClass2AnyOrder, transferring_implicit_freesEverything) {
  log_out_in_the_middle(*this, false);
}  // FC-VI 7.7.1

}  // namespace
