// Exchanges that others open and do not go on with: whoever does that stops neither the messages nor the set-ups
// of the rest.
#include "fc2_fabric/node/remote_port.hpp"
#include "tests/fcvi/message_nodes.hpp"
#include "tests/support/made_frame.hpp"

namespace {
using support::Level;
using wire::RCtl;

class ExchangeLimits : public support::MessageNodes {
 public:
  /// First frames of IUs that never end, each of an exchange of its own.
  void open_from(fc2::NPort& from, std::uint16_t count) {
    for (std::uint16_t i = 0; i < count; ++i) {
      wire::FcHeader fc{.r_ctl = RCtl::unsolicited_control,
                        .d_id = server->port.n_port_id(),
                        .s_id = from.n_port_id(),
                        .type = wire::Type::fc_vi,
                        .f_ctl = wire::f_ctl::first_sequence,
                        .ox_id = {i},
                        .rx_id = wire::RxId::unassigned};
      fabric.fabric.ingress_of(from)->receive(
          support::made_frame(fabric.pool, fc, support::zeros(32), wire::Sof::i3, wire::Eof::n));
      if (i % 64 == 0) fabric.run_for(50 * runtime::microsecond);
    }
    fabric.run_for(runtime::millisecond);
  }
  fc2::NPort& add_third() {
    fabric.add_port();
    fabric.attach(2);
    fabric.run_for(runtime::second);
    return fabric.port(2);
  }
  void expect_message_arrives() {
    receive(), send(1, 100);
    fabric.run_for(20 * runtime::second);
    EXPECT_EQ(sent(0), sent_well);
    EXPECT_EQ(client_vi->state(), vi::State::Connected);
  }
};

// FC-VI 5.6, 7.7.2: without a login no exchange of TYPE 58h is opened, and LOGO says why.
TEST_F(ExchangeLimits, connected_strangerOpensMany_isDenied) {
  begin(Level::ReliableReception);
  const std::size_t open = server->port.open_exchanges();
  open_from(add_third(), 5000);
  EXPECT_LE(server->port.open_exchanges(), open + 1) << "the LOGO";
  EXPECT_GE(server->port.counters().discarded(fc2::Discard::NotLoggedIn), 5000u);
  expect_message_arrives();
  fabric.detach(2);
}

// One that is logged in has at most half of them, and an answer to message data finds one.
TEST_F(ExchangeLimits, connected_loggedInPeerOpensMany_othersAreAnswered) {
  begin(Level::ReliableReception);
  fc2::NPort& third = add_third();
  third.remote_port(server->port.n_port_id()).log_in();
  fabric.run_for(runtime::second);
  open_from(third, 5000);
  EXPECT_GE(server->port.open_exchanges(), 2000u);
  EXPECT_LE(server->port.open_exchanges(), 2050u);
  expect_message_arrives();
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(server->port.open_exchanges(), 0u);
  fabric.detach(2);
}

/// Takes every exchange that is free, and gives all back.
class NoExchangeFree : public ExchangeLimits, private fc2::DataFrameUser {
 public:
  void take_originators() {
    const wire::FcId peer = server->port.n_port_id();
    while (fc2::Exchange* exchange = client->port.originate(peer, wire::Type::fc_vi, *this)) taken.push_back(exchange);
  }
  void take_responders() {
    fc2::ReceivedFrame frame{.header = {.d_id = server->port.n_port_id(),
                                        .s_id = client->port.n_port_id(),
                                        .type = wire::Type::fc_vi,
                                        .ox_id = {0x8000},
                                        .rx_id = wire::RxId::unassigned},
                             .data_field = {}};
    for (; fc2::Exchange* exchange = server->port.open_for_reply(frame, *this); ++frame.header.ox_id.value)
      taken.push_back(exchange);
  }
  void give_back(fc2::NPort& port) {
    ASSERT_FALSE(taken.empty());
    for (fc2::Exchange* exchange : std::exchange(taken, {})) port.release(*exchange);
  }
  std::vector<fc2::Exchange*> taken;

 private:
  void data_frame_received(const fc2::ReceivedFrame&) override {}
  bool abort_received(wire::FcId, wire::OxId) override { return false; }
  void sequence_received(fc2::Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
  void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure) override {}
};

// FC-VI 5.2.1: each message has an exchange of its own: where all are in use, it waits until one is free, and
// for nothing else.
TEST_F(NoExchangeFree, sending_allInUse_waitsForOne) {
  begin(Level::ReliableDelivery);
  take_originators();
  receive(), send(1, 100);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(log.count(RCtl::solicited_data), 0u);
  give_back(client->port);
  fabric.run_for(runtime::millisecond);
  EXPECT_TRUE(arrived(0, 0, 100));
}

// ... and it asks again every 10 us.
TEST_F(NoExchangeFree, sending_allInUse_asksEvery10Us) {
  begin(Level::ReliableDelivery);
  take_originators();
  receive(), send(1, 100);
  const runtime::TimeNs posted = fabric.scheduler.now();
  fabric.run_for(runtime::millisecond);
  give_back(client->port);
  fabric.run_for(runtime::millisecond);
  const auto* frame = log.find([](const support::LoggedFrame& f) { return f.is(RCtl::solicited_data); });
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(frame->at, posted + runtime::millisecond + 10 * runtime::microsecond);
}

// FC-VI 5.2.4: ... and so do the data of an RDMA Read.
TEST_F(NoExchangeFree, reading_allInUse_waitsForOne) {
  begin(Level::ReliableDelivery);
  take_responders();
  const auto read = client->descriptor(vi::control::op_rdma_read, {{client->data, 100}}, server->data, server->handle);
  client_vi->post_send(read, client->handle);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(client->status(read), 0u);
  give_back(server->port);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(client->status(read), vi::status::done | vi::status::op_rdma_read);
  EXPECT_TRUE(server->port.transmitter().idle()) << "nothing is asked for when nothing is left";
}
TEST_F(NoExchangeFree, reading_allInUse_asksEvery10Us) {  // 5.2.4
  begin(Level::ReliableDelivery);
  support::FrameLog at_server;
  fabric.fabric.tap(server->port, &at_server);
  take_responders();
  const auto read = client->descriptor(vi::control::op_rdma_read, {{client->data, 100}}, server->data, server->handle);
  client_vi->post_send(read, client->handle);
  fabric.run_for(runtime::millisecond);
  give_back(server->port);
  fabric.run_for(runtime::millisecond);
  fabric.fabric.tap(server->port, nullptr);
  const auto* asked =
      at_server.find([](const support::LoggedFrame& f) { return !f.outbound && f.is(RCtl::unsolicited_command); });
  const auto* data =
      at_server.find([](const support::LoggedFrame& f) { return f.outbound && f.is(RCtl::solicited_data); });
  ASSERT_TRUE(asked != nullptr && data != nullptr);
  EXPECT_GT(data->at, asked->at + 500 * runtime::microsecond);
  EXPECT_EQ((data->at - asked->at) % (10 * runtime::microsecond), 0);
}

// FC-VI 7.7.3: while its address is validated nothing goes to a port. One that asks all the time meanwhile, by ABTS of
// exchanges that nobody knows or by DISCONNECT_RQST, does not make this port keep an answer for each.
TEST_F(ExchangeLimits, validating_floodOfAbts_isBounded) {
  begin(Level::ReliableDelivery);
  server->port.remote_port(client->port.n_port_id()).suspend();
  const std::size_t before = fabric.pool.outstanding();
  for (std::uint16_t i = 0; i < 20'000; ++i) {
    fabric.fabric.ingress_of(client->port)
        ->receive(support::made_frame(fabric.pool, {.r_ctl = RCtl::abts,
                                                    .d_id = server->port.n_port_id(),
                                                    .s_id = client->port.n_port_id(),
                                                    .type = wire::Type::bls,
                                                    .f_ctl = wire::f_ctl::end_sequence,
                                                    .ox_id = {i},
                                                    .rx_id = wire::RxId::unassigned}));
    if (i % 64 == 0) fabric.run_for(50 * runtime::microsecond);
  }
  fabric.run_for(runtime::millisecond);
  EXPECT_LE(fabric.pool.outstanding(), before + server->port.config().max_waiting_frames);
  server->port.remote_port(client->port.n_port_id()).resume();
  expect_message_arrives();
}

}  // namespace
