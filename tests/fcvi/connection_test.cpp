#include "tests/fcvi/two_nodes.hpp"

namespace {
using support::TwoNodes;
using Level = vi::ReliabilityLevel;

// FC-VI 5.3.2, 5.3.5: a client-server set-up in four IUs, then a disconnect; the other end hears of it (D.2).
TEST_F(TwoNodes, connect_then_disconnect) {
  connect(Level::ReliableDelivery);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  EXPECT_EQ(disconnect(*client, *client_vi), vi::Return::Success);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), 1);
  EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 0);
  EXPECT_EQ(disconnect(*server, *server_vi), vi::Return::Success);
  EXPECT_EQ(server_vi->state(), vi::State::Idle);
  EXPECT_EQ(unexpected(), 0u);
}

// FC-VI 5.2.2: one Send at each level arrives.
TEST_F(TwoNodes, connected_send_one) {
  for (const Level level : {Level::UnreliableDelivery, Level::ReliableDelivery, Level::ReliableReception}) {
    wait.result.reset(), request.result.reset(), accept.result.reset();
    connect(level, std::string("d") + std::to_string(static_cast<int>(level)));
    const auto receive = server->descriptor(0, {{server->data, 100}});
    server_vi->post_receive(receive, server->handle);
    std::memcpy(client->bytes(client->data), "hello, fabric", 13);
    const auto send = client->descriptor(vi::control::immediate, {{client->data, 13}}, 0, {}, 42);
    client_vi->post_send(send, client->handle);
    fabric.run_for(runtime::millisecond);
    EXPECT_EQ(client->status(send), vi::status::done | vi::status::op_send);
    EXPECT_EQ(server->status(receive), vi::status::done | vi::status::op_receive | vi::status::immediate);
    EXPECT_EQ(server->control(receive).length_bytes, 13u);
    EXPECT_EQ(server->control(receive).immediate_data, 42u);
    EXPECT_EQ(std::memcmp(server->bytes(server->data), "hello, fabric", 13), 0);
  }
  EXPECT_EQ(unexpected(), 0u);
}
}  // namespace
