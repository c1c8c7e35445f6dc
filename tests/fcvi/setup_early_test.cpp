// Messages while a set-up is not confirmed: the client's before RESP3, which do not complete, and those that are faster
// than RESP2 (FC-VI C.5.1, C.5.4, C.5.5, Annex F).
#include "tests/fcvi/setup_fixture.hpp"
#include "tests/support/times.hpp"

namespace {
using support::ms;
using vi::Return;
using Opcode = wire::fcvi::Opcode;
using Level = vi::ReliabilityLevel;

/// At each level.
class Throttle : public support::FaultySetup, public ::testing::WithParamInterface<Level> {
 public:
  Throttle() : FaultySetup({}, {}, {}, GetParam()) {}
};
// FC-VI C.5.1, C.5.5, F.1: the client sends from RESP2 on; no descriptor completes before RESP3, then all do, in order.
TEST_P(Throttle, awaitResp3_sendsDoNotComplete) {
  faults.hold(Opcode::connect_resp3, runtime::second);
  std::vector<std::uint64_t> receives, sends;
  for (int i = 0; i < 3; ++i) {
    receives.push_back(server->descriptor(0, {{server->data + 100u * static_cast<unsigned>(i), 100}}));
    server_vi->post_receive(receives.back(), server->handle);
    sends.push_back(client->descriptor(0, {{client->data, 10}}));
  }
  listen(), ask();
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  for (const auto send : sends) client_vi->post_send(send, client->handle);
  run_to(runtime::second - ms);
  for (const auto receive : receives) EXPECT_EQ(server->status(receive), vi::status::done | vi::status::op_receive);
  for (const auto send : sends) EXPECT_EQ(client->status(send), 0u);
  EXPECT_EQ(client->sends_completed, 0);
  run_to(runtime::second + ms);
  for (const auto send : sends) {
    std::uint64_t done = 0;
    EXPECT_EQ(client_vi->send_done(done), Return::Success);
    EXPECT_EQ(done, send);
    EXPECT_EQ(client->status(send), vi::status::done | vi::status::op_send);
  }
  expect_nothing_left();
}
INSTANTIATE_TEST_SUITE_P(Levels, Throttle,
                         ::testing::Values(Level::UnreliableDelivery, Level::ReliableDelivery,
                                           Level::ReliableReception));

class MessageBeforeResp2 : public support::FaultySetup {
 public:
  explicit MessageBeforeResp2(Level level = Level::ReliableReception) : FaultySetup({}, {}, {}, level) {}
  /// Of the frames at the client's port, the first with that opcode; -1: none.
  [[nodiscard]] static int position(const std::vector<support::WireFrame>& frames, Opcode opcode) {
    for (std::size_t i = 0; i < frames.size(); ++i)
      if (frames[i].opcode() == static_cast<unsigned>(opcode)) return static_cast<int>(i);
    return -1;
  }
  void connect_with_late_resp2() {
    faults.hold(Opcode::connect_resp2, ms);
    listen(), ask();
    accept_next();
    EXPECT_EQ(asked(), Return::Success);
  }
};

// FC-VI C.5.4, C.5.5: the Server sends nothing before RESP3, an answer neither: that to a message that overtook RESP2
// goes behind it.
TEST_F(MessageBeforeResp2, beforeResp2_isAnsweredBehindResp3) {
  const auto receive = server->descriptor(0, {{server->data, 64}});
  server_vi->post_receive(receive, server->handle);
  connect_with_late_resp2();
  const auto send = client->descriptor(vi::control::immediate, {}, 0, {}, 1);
  client_vi->post_send(send, client->handle);
  fabric.run_for(ms / 2);
  EXPECT_FALSE(accept.result.has_value());
  EXPECT_EQ(server->status(receive), 0u);
  fabric.run_for(5 * ms);
  EXPECT_EQ(accept.result, Return::Success);
  const auto iu = frames();
  EXPECT_GE(position(iu, Opcode::connect_resp3), 0);
  EXPECT_GT(position(iu, Opcode::send_resp), position(iu, Opcode::connect_resp3));
  EXPECT_EQ(server->status(receive), vi::status::done | vi::status::op_receive | vi::status::immediate);
  EXPECT_EQ(client->status(send), vi::status::done | vi::status::op_send);
  expect_nothing_left();
}

// ... with all of its frames, and what is behind it.
TEST_F(MessageBeforeResp2, beforeResp2_longMessagesWait) {
  std::vector<std::uint64_t> receives, sends;
  for (const std::uint32_t bytes : {5000u, 8u}) {
    receives.push_back(server->descriptor(0, {{server->data, bytes}}));
    server_vi->post_receive(receives.back(), server->handle);
    sends.push_back(client->descriptor(0, {{client->data, bytes}}));
  }
  connect_with_late_resp2();
  for (const auto send : sends) client_vi->post_send(send, client->handle);
  fabric.run_for(ms / 2);
  for (const auto receive : receives) EXPECT_EQ(server->status(receive), 0u);
  fabric.run_for(5 * ms);
  for (const auto receive : receives) EXPECT_EQ(server->status(receive), vi::status::done | vi::status::op_receive);
  for (const auto send : sends) EXPECT_EQ(client->status(send), vi::status::done | vi::status::op_send);
  expect_nothing_left();
}

// ... nor the data of an RDMA Read, at a level where messages have no other answer.
class EarlyRead : public MessageBeforeResp2 {
 public:
  EarlyRead() : MessageBeforeResp2(Level::ReliableDelivery) {}
};
TEST_F(EarlyRead, beforeResp2_isAnsweredBehindResp3) {
  connect_with_late_resp2();
  const auto read = client->descriptor(vi::control::op_rdma_read, {{client->data, 64}}, server->data, server->handle);
  client_vi->post_send(read, client->handle);
  fabric.run_for(5 * ms);
  const auto iu = frames();
  EXPECT_GE(position(iu, Opcode::connect_resp3), 0);
  EXPECT_GT(position(iu, Opcode::read_resp), position(iu, Opcode::connect_resp3));
  EXPECT_EQ(client->status(read) & vi::status::done, vi::status::done);
  expect_nothing_left();
}

// FC-VI 8.5.2 c), C.5.9.1: RESP2 is lost, and with it what the message waited for: it is never answered, and
// both ends fail.
TEST_F(MessageBeforeResp2, resp2Lost_isNeverAnswered) {
  const auto receive = server->descriptor(0, {{server->data, 64}});
  server_vi->post_receive(receive, server->handle);
  faults.lose(Opcode::connect_resp2);
  listen(), ask();
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  const auto send = client->descriptor(vi::control::immediate, {}, 0, {}, 1);
  client_vi->post_send(send, client->handle);
  EXPECT_EQ(accepted(), Return::Timeout);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(position(frames(), Opcode::send_resp), -1);
  EXPECT_EQ(server->status(receive), vi::status::done | vi::status::op_receive | vi::status::flushed);
  expect_nothing_left();
}
}  // namespace
