// Messages that come before the set-up is done at their receiver (FC-VI C.5.5), when it then comes to nothing.
#include "tests/fcvi/message_nodes.hpp"

namespace {
using support::Level;

/// RESP2 is lost: the client is Connected and sends, the server still waits.
class EarlyMessage : public support::MessageNodes, public fc2::FrameFault {
 public:
  void carry(fc2::Channel& channel, fc2::FramePtr frame) override {
    const auto fc = wire::FcHeader::parse(frame->content());
    if (fc->type == wire::Type::fc_vi && fc->r_ctl == wire::RCtl::solicited_control && frame->data_field()[4] == 0x19)
      return;
    channel.deliver(std::move(frame));
  }
  void accept_without_resp2(Level level) {
    fabric.fabric.set_fault(client->port, this);
    client_vi = &client->make_vi(level), server_vi = &server->make_vi(level);
    receive();
    server->provider.connect_wait(server->net("early"), runtime::second, wait);
    client->provider.connect_request(*client_vi, client->net("c"), server->net("early"), runtime::second, request);
    ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
    server->provider.connect_accept(wait.token, *server_vi, accept);
    ASSERT_TRUE(fabric.run_until([&] { return client_vi->can_transmit(); }));
  }
  /// The server gives up in the middle of what comes.
  void disconnect_in_the_middle(runtime::TimeNs after) {
    fabric.run_for(after);
    support::Done done;
    server->provider.disconnect(*server_vi, done);
    fabric.run_for(100 * runtime::second);
    EXPECT_TRUE(done.result.has_value());
    EXPECT_EQ(server->provider.handles_in_use(), 0u);
    EXPECT_EQ(received(0), receive_flushed);  // as all that was posted (VI-DG 3.3.5)
  }
};

// FC-VI 8.2 b), VI-ARCH 5.2: the first message is half in: the handle returns, and nothing happens that was held
// to be impossible.
TEST_F(EarlyMessage, receiving_disconnect_freesEverything) {
  accept_without_resp2(Level::ReliableDelivery);
  send(1, 60'000);
  disconnect_in_the_middle(200 * runtime::microsecond);  // of 600
}

// FC-VI 8.2 b): the same while the message is being refused.
TEST_F(EarlyMessage, refusing_disconnect_freesEverything) {
  accept_without_resp2(Level::ReliableReception);
  send(1, 100), send(1, 60'000);  // the second has no descriptor
  fabric.run_for(200 * runtime::microsecond);
  support::Done done;
  server->provider.disconnect(*server_vi, done);
  fabric.run_for(100 * runtime::second);
  EXPECT_TRUE(done.result.has_value());
  EXPECT_EQ(server->provider.handles_in_use(), 0u);
}

// FC-VI 8.2 b), 5.2.4: the same while read data goes out: no more of it does.
TEST_F(EarlyMessage, reading_disconnect_stopsTheReadData) {
  accept_without_resp2(Level::ReliableDelivery);
  const auto read =
      client->descriptor(vi::control::op_rdma_read, {{client->data, 1u << 20}}, server->data, server->handle);
  client_vi->post_send(read, client->handle);
  disconnect_in_the_middle(runtime::millisecond);  // of ten
  EXPECT_NE(client->status(read) & vi::status::error_mask, 0u);
}

}  // namespace
