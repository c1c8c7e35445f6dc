// Messages that come while a set-up is under way (FC-VI C.5.5, C.5.10.1, Annex F): what a withdrawn set-up brought is
// not part of the next one, and what waits for an IU of the set-up has the set-up's time, and its turn.
#include "tests/fcvi/class_2_nodes.hpp"
#include "tests/fcvi/peer_wire_fixture.hpp"

namespace {
using support::late;
using support::Level;
using support::MessageFrame;
using support::pass;
using vi::Return;
using wire::fcvi::Reason;
namespace f_ctl = wire::f_ctl;

/// Our request waits in the pool; the peer asks, is accepted, sends, and gives up; then it asks again.
class EarlyAcceptance : public support::PeerWire {
 public:
  void accept(Level level) {
    if (vi == nullptr) post(runtime::never, level);
    respond(Reason::no_waiting_remote_connectionpoint);
    request();
    ASSERT_TRUE(peer.resp1.has_value());
    ASSERT_EQ(answered(), std::nullopt);
  }
  /// FCVI_MSG_ID 1, one frame.
  void send(char content, bool answered) {
    auto frame =
        support::forged_message(host.port.n_port_id(), peer.port.n_port_id(),
                                {.handle = peer.resp1->payload.handle,
                                 .opcode = wire::fcvi::Opcode::send_rqst,
                                 .msg_id = {1},
                                 .tot_len_or_connection_id = bytes},
                                {.bytes = bytes, .answered = answered, .content = static_cast<std::uint8_t>(content)});
    frame.header.ox_id = {next_ox_id++};
    host.port.receive(frame.build(fabric.pool));
    settle();
  }
  std::uint64_t receive(std::uint64_t to) {
    const auto descriptor = host.descriptor(0, {{to, bytes}});
    vi->post_receive(descriptor, host.handle);
    return descriptor;
  }
  void peer_gives_up() {
    peer.send_resp2(Reason::connect_timeout), settle();
    expect_waits();
  }
  static constexpr std::uint32_t bytes = 100;
  static constexpr std::uint32_t received = vi::status::done | vi::status::op_receive;
  std::uint16_t next_ox_id = 0x5000;
};

// FC-VI C.5.2, C.5.5, 5.3.3: a message that asks for a response waits for RESP2, which says that the peer gave up: it
// is gone with that set-up, and message 1 of the next connection is another one.
TEST_F(EarlyAcceptance, waiting_peerGivesUp_messageIsNotOfTheNextConnection) {
  accept(Level::ReliableReception);
  const auto to = receive(host.data);
  send('a', true);
  const auto before = host.provider.counters().discarded(fcvi::Discard::NotReceiving);
  peer_gives_up();
  EXPECT_EQ(host.provider.counters().discarded(fcvi::Discard::NotReceiving), before + 1);
  accept(Level::ReliableReception);
  peer.send_resp2(), settle();
  EXPECT_EQ(call.result, Return::Success);
  EXPECT_EQ(host.status(to), 0u);
  send('b', true);
  EXPECT_EQ(host.status(to), received);
  EXPECT_EQ(*host.bytes(host.data), 'b');
  EXPECT_EQ(vi->state(), vi::State::Connected);
}

// FC-VI 5.9.6, C.5.5: ... and one that asked for none was received before the peer gave up: the next connection begins
// with message 1 all the same.
TEST_F(EarlyAcceptance, received_peerGivesUp_nextConnectionBeginsAnew) {
  accept(Level::ReliableDelivery);
  receive(host.data);
  const auto second = receive(host.data + bytes);
  send('a', false);
  peer_gives_up();
  accept(Level::ReliableDelivery);
  peer.send_resp2(), settle();
  EXPECT_EQ(call.result, Return::Success);
  send('b', false);
  EXPECT_EQ(host.status(second), received);
  EXPECT_EQ(*host.bytes(host.data + bytes), 'b');
  EXPECT_EQ(vi->state(), vi::State::Connected);
}

/// The IUs of the set-up that the client, or the server, sends behind RESP1 come late.
class LateSetup : public support::MessageNodes {
 public:
  explicit LateSetup(bool in_order) : MessageNodes(patient(), {}, support::fabric_order(in_order)) {}
  static fcvi::ProviderConfig patient() {
    fcvi::ProviderConfig config;
    config.ulp_timeout = 30 * runtime::second;  // longer than R_A_TOV
    return config;
  }
  void connect_client() {
    client_vi = &client->make_vi(Level::ReliableReception), server_vi = &server->make_vi(Level::ReliableReception);
    server->provider.connect_wait(server->net("late"), runtime::second, wait);
    client->provider.connect_request(*client_vi, client->net("c"), server->net("late"), runtime::second, request);
    ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
    receive(2);
    server->provider.connect_accept(wait.token, *server_vi, accept);
    ASSERT_TRUE(fabric.run_until([&] { return request.result.has_value(); }));
    ASSERT_EQ(request.result, Return::Success);
  }
};
class LateSetupInOrder : public LateSetup {
 public:
  LateSetupInOrder() : LateSetup(true) {}
};
class LateSetupAnyOrder : public LateSetup {
 public:
  LateSetupAnyOrder() : LateSetup(false) {}
};

// FC-VI C.5.2, C.5.5, B.2.5 rule 7: on an in-order fabric no frame of a message is missing when one waits for RESP2: T2
// is its time-out, and not R_A_TOV.
TEST_F(LateSetupInOrder, waiting_resp2ComesAfterRaTov_messageArrives) {
  faults.on_control = [&](const wire::FcHeader& fc) {
    return fc.s_id == client->port.n_port_id() && fc.r_ctl == wire::RCtl::solicited_control ? late(15 * runtime::second)
                                                                                            : pass;
  };
  connect_client();
  send(1, 100);
  fabric.run_for(14 * runtime::second);
  EXPECT_EQ(received(0), 0u);
  EXPECT_EQ(server_vi->state(), vi::State::ConnectPending);
  fabric.run_for(2 * runtime::second);
  EXPECT_EQ(accept.result, Return::Success);
  EXPECT_TRUE(arrived(0, 0, 100));
  EXPECT_EQ(sent(0), sent_well);
}

// VI-ARCH 6.3.1.1, FC-VI C.5.10.1, Annex E: RESP3 comes when message 2 was answered and message 1 was not: message 2
// completes in its turn.
TEST_F(LateSetupAnyOrder, awaitResp3_secondWasAnsweredFirst_completesInOrder) {
  int of_server = 0;
  faults.on_control = [&](const wire::FcHeader& fc) {
    const bool answer = fc.s_id == server->port.n_port_id() && fc.r_ctl == wire::RCtl::solicited_control;
    return answer && ++of_server == 2 ? late(10 * runtime::millisecond) : pass;  // behind RESP1
  };
  faults.on_frame = [](MessageFrame& frame) {
    return !frame.from_client && frame.number == 0 ? late(20 * runtime::millisecond) : pass;
  };
  connect_client();
  send(2, 100);
  fabric.run_for(15 * runtime::millisecond);
  EXPECT_TRUE(arrived(1, 1, 100));
  EXPECT_EQ(sent(0), 0u);
  EXPECT_EQ(sent(1), 0u);
  fabric.run_for(10 * runtime::millisecond);
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(sent(1), sent_well);
}
}  // namespace
