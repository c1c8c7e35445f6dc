// A third port that knows a connection's numbers: nothing that it sends has an effect on the connection (FC-VI 5.9.2,
// 8.4.2 f); and requests to abort a set-up that the connection does not come from (6.12.2, D.1 rule 6).
#include "fc2_fabric/node/remote_port.hpp"
#include "tests/fcvi/class_2_nodes.hpp"
#include "tests/fcvi/scripted_peer.hpp"
#include "wire/fcvi/disconnect_rqst.hpp"

namespace {
using support::ForgedFrame;
using support::Level;
using support::LoggedFrame;
using support::lose;
using support::pass;
using wire::RCtl;
namespace f_ctl = wire::f_ctl;

constexpr wire::FcId stranger{0x010777};
constexpr wire::FcviHandle server_handle{0x1001};

class Strangers : public support::MessageNodes {
 public:
  explicit Strangers(const fcvi::ProviderConfig& config = {}) : MessageNodes(config) {
    fabric.fabric.tap(server->port, &at_server);
  }
  ~Strangers() override { fabric.fabric.tap(server->port, nullptr); }
  /// At the server, as the fabric would bring it.
  void deliver(const ForgedFrame& frame) {
    server->port.receive(frame.build(fabric.pool));
    fabric.run_for(runtime::millisecond);
  }
  /// A frame that the client sent, with another FCVI_MSG_ID and exchange.
  [[nodiscard]] ForgedFrame like(const LoggedFrame& sent, std::uint32_t msg_id) {
    ForgedFrame frame{.header = sent.header, .data = sent.data};
    frame.header.ox_id = {0x5555};
    auto header = *wire::fcvi::DeviceHeader::parse(sent.header.device_header_size(), sent.data);
    header.msg_id = {msg_id};
    frame.set(header);
    return frame;
  }
  [[nodiscard]] const LoggedFrame& data_frame() {
    return *log.find([](const LoggedFrame& f) { return f.outbound && f.is(RCtl::solicited_data); });
  }
  [[nodiscard]] ForgedFrame disconnect_rqst(wire::FcId from, bool abort, std::uint32_t id,
                                            std::uint32_t last_msg_id = 0) {
    ForgedFrame frame{.header = {.r_ctl = RCtl::unsolicited_control,
                                 .d_id = server->port.n_port_id(),
                                 .s_id = from,
                                 .type = wire::Type::fc_vi,
                                 .f_ctl = f_ctl::first_sequence | f_ctl::end_sequence | f_ctl::sequence_initiative |
                                          f_ctl::relative_offset_present,
                                 .df_ctl = wire::df_ctl::device_header_32,
                                 .ox_id = {0x5556},
                                 .rx_id = wire::RxId::unassigned},
                      .data = std::vector<std::uint8_t>(32)};
    wire::fcvi::DisconnectRqst{.handle = server_handle,
                               .last_msg_id = {last_msg_id},
                               .connection_id = {id},
                               .conn_setup_abort = abort,
                               .vi_app_discon = true,
                               .status = {}}
        .write(std::span(frame.data).first<32>());
    return frame;
  }
  [[nodiscard]] std::vector<wire::fcvi::DeviceHeader> disconnect_resps() const {
    std::vector<wire::fcvi::DeviceHeader> result;
    for (const LoggedFrame& f : at_server.frames())
      if (f.outbound && f.is(RCtl::solicited_control) && f.header.type == wire::Type::fc_vi)
        result.push_back(*wire::fcvi::DeviceHeader::parse(f.header.device_header_size(), f.data));
    return result;
  }
  [[nodiscard]] std::size_t logouts() const {
    return at_server.count([](const LoggedFrame& f) {
      return f.outbound && f.is_els(wire::els::Command::logo) && f.header.d_id == stranger;
    });
  }
  support::FrameLog at_server;
};

// FC-VI 5.9.2: a handle serves the port that the connection is with. FC-LS: who is not logged in is told so, by LOGO.
TEST_F(Strangers, connected_messageOfAnotherPort_isDiscarded) {
  begin(Level::ReliableDelivery);
  receive(2), send(1, 100);
  fabric.run_for(runtime::millisecond);
  ASSERT_TRUE(arrived(0, 0, 100));
  const auto before = server->provider.counters().discarded(fcvi::Discard::UnknownHandle);
  ForgedFrame forged = like(data_frame(), 2);
  forged.header.s_id = stranger;
  deliver(forged);
  EXPECT_EQ(received(1), 0u);
  EXPECT_EQ(server->provider.counters().discarded(fcvi::Discard::UnknownHandle), before + 1);
  EXPECT_EQ(logouts(), 1u);
  send(1, 100);
  fabric.run_for(runtime::millisecond);
  EXPECT_TRUE(arrived(1, 1, 100)) << "the message is still awaited";
}

// FC-VI B.2.5 rule 7: ABTS ends the exchange of the port that sends it: another port may use the same OX_ID.
TEST_F(Strangers, receiving_abtsOfAnotherPort_endsNothing) {
  begin(Level::ReliableDelivery);
  faults.on_frame = support::to_frame(3, support::late(100 * runtime::millisecond));
  receive(), send();
  fabric.run_for(runtime::millisecond);
  deliver({.header = {.r_ctl = RCtl::abts,
                      .d_id = server->port.n_port_id(),
                      .s_id = stranger,
                      .type = wire::Type::bls,
                      .f_ctl = f_ctl::end_sequence | f_ctl::sequence_initiative,
                      .ox_id = data_frame().header.ox_id,
                      .rx_id = wire::RxId::unassigned},
           .data = {}});
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  fabric.run_for(runtime::second);
  EXPECT_TRUE(arrived(0, 0));
}

// FC-VI 5.9.2, 6.2: an answer stands on the exchange of its request, with the responder's Exchange Context; a request
// with it, or an answer without, is neither (5.2.5).
TEST_F(Strangers, connected_requestOfTheResponder_isDiscarded) {
  begin(Level::ReliableDelivery);
  receive(2), send(1, 100);
  fabric.run_for(runtime::millisecond);
  ForgedFrame forged = like(data_frame(), 2);
  forged.header.f_ctl |= f_ctl::exchange_responder;
  const auto before = server->port.counters().discarded(fc2::Discard::BadHeader);
  deliver(forged);
  EXPECT_EQ(received(1), 0u);
  EXPECT_EQ(server->port.counters().discarded(fc2::Discard::BadHeader), before + 1);
}

// FC-VI 5.8.1: R_CTL belongs to the opcode: a Send in another category is no Send.
TEST_F(Strangers, connected_sendOfAnotherCategory_isDiscarded) {
  begin(Level::ReliableDelivery);
  receive(2), send(1, 100);
  fabric.run_for(runtime::millisecond);
  ForgedFrame forged = like(data_frame(), 2);
  forged.header.r_ctl = RCtl::unsolicited_command;
  const auto before = server->port.counters().discarded(fc2::Discard::BadHeader);
  deliver(forged);
  EXPECT_EQ(received(1), 0u);
  EXPECT_EQ(server->port.counters().discarded(fc2::Discard::BadHeader), before + 1);
}

// FC-VI 5.8.5, 5.9.1: a Send without a Device_Header is none.
TEST_F(Strangers, connected_sendWithoutDeviceHeader_isDiscarded) {
  begin(Level::ReliableDelivery);
  receive(2), send(1, 100);
  fabric.run_for(runtime::millisecond);
  ForgedFrame forged = like(data_frame(), 2);
  forged.header.df_ctl = 0;
  const auto before = server->port.counters().discarded(fc2::Discard::BadPayload);
  deliver(forged);
  EXPECT_EQ(received(1), 0u);
  EXPECT_EQ(server->port.counters().discarded(fc2::Discard::BadPayload), before + 1);
}

// FC-VI B.2.5 rule 7, 7.7.1: another port's logout ends none of the exchanges that the client's messages are on: ABTS
// still ends the message.
TEST_F(Strangers, receiving_otherPortLogsOut_abtsEndsTheMessage) {
  begin(Level::ReliableDelivery);
  faults.on_frame = support::to_frame(3, support::late(100 * runtime::millisecond));
  receive(), send();
  fabric.run_for(runtime::millisecond);
  ForgedFrame plogi{.header = support::els_request_header(server->port.n_port_id(), stranger, {0x4001}),
                    .data = support::bytes_of(client->port.login_parameters(wire::els::Command::plogi))};
  plogi.data[20 + 7] ^= 0x55;  // another Port_Name
  deliver(plogi);
  fc2::RemotePort& other = server->port.remote_port(stranger);
  ASSERT_TRUE(other.logged_in());
  other.implicit_logout();
  deliver({.header = {.r_ctl = RCtl::abts,
                      .d_id = server->port.n_port_id(),
                      .s_id = client->port.n_port_id(),
                      .type = wire::Type::bls,
                      .f_ctl = f_ctl::end_sequence | f_ctl::sequence_initiative,
                      .ox_id = data_frame().header.ox_id,
                      .rx_id = wire::RxId::unassigned},
           .data = {}});
  EXPECT_EQ(server_vi->state(), vi::State::Error);
}

// FC-VI D.1 rule 6, 6.12.2, 6.13.2: a set-up that the connection does not come from is aborted: no message counts as
// received by that, and the answer names none of ours either.
TEST_F(Strangers, awaitResponse_abortOfAnotherSetup_completesNothing) {
  begin(Level::ReliableReception);
  receive(), send(1, 100);
  fabric.run_for(runtime::millisecond);
  ASSERT_TRUE(arrived(0, 0, 100));
  faults.on_frame = [](support::MessageFrame& frame) { return frame.from_client ? pass : lose; };
  const auto own = server->descriptor(0, {{server->data, 100}});
  server_vi->post_send(own, server->handle);
  fabric.run_for(runtime::millisecond);
  at_server.clear();
  deliver(disconnect_rqst(client->port.n_port_id(), true, 0x4711, 1));
  EXPECT_EQ(server->status(own), 0u);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  ASSERT_EQ(disconnect_resps().size(), 1u);
  EXPECT_EQ(disconnect_resps()[0].msg_id.value, 0u);
}

// FC-VI 8.4.2 g), D.1 rule 3: a logout frees the handle, though its VI stays in Error until VipDisconnect: who asks
// under the next login to disconnect it hears that there is no such connection.
TEST_F(Strangers, loggedOut_disconnectUnderTheNextLogin_doesNotExist) {
  begin(Level::ReliableDelivery);
  client->port.remote_port(server->port.n_port_id()).log_out();
  fabric.run_for(runtime::millisecond);
  ASSERT_EQ(server_vi->state(), vi::State::Error);
  ASSERT_TRUE(fabric.log_in(0, 1));
  at_server.clear();
  deliver(disconnect_rqst(client->port.n_port_id(), false, 0));
  ASSERT_EQ(disconnect_resps().size(), 1u);
  EXPECT_EQ(disconnect_resps()[0].parameter >> 16,
            static_cast<unsigned>(wire::fcvi::Reason::connection_does_not_exist));
  EXPECT_EQ(disconnect(*server, *server_vi), vi::Return::Success);
}

/// As many handles as there are: a number serves again when its slot was used twice.
class HandleAgain : public Strangers {
 public:
  HandleAgain() : Strangers({.address = {}, .max_endpoints = 0xFFFFFFFF}), other(add_port(), 2) {
    fabric.attach(2);
    EXPECT_TRUE(fabric.run_until([&] { return other.resolver.ready(); }));
    EXPECT_TRUE(fabric.log_in(2, 1));
  }
  ~HandleAgain() override { fabric.detach(2); }
  void end() {
    disconnect(*client, *client_vi), disconnect(*server, *server_vi);
    fabric.run_for(20 * runtime::second);
  }
  void connect_other() {
    server_vi = &server->make_vi(Level::ReliableDelivery);
    other.attributes = server_vi->attributes();
    other.mode = wire::fcvi::ConnectMode::client_server;
    wait.result.reset(), accept.result.reset();
    server->provider.connect_wait(server->net("service of 16 by"), runtime::never, wait);
    other.send_rqst(server->port.n_port_id(), server->address, "service of 16 by");
    ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
    server->provider.connect_accept(wait.token, *server_vi, accept);
    ASSERT_TRUE(fabric.run_until([&] { return other.resp1.has_value(); }));
    other.send_resp2();
    ASSERT_TRUE(fabric.run_until([&] { return accept.result.has_value(); }));
    fabric.run_for(runtime::millisecond);
  }
  support::ScriptedPeer other;

 private:
  support::TestFabric& add_port() {
    fabric.add_port();
    return fabric;
  }
};
// FC-VI B.2.5 rule 7, 5.9.2: an Exchange is of its originator: its ABTS, late, means none of the port that has the
// handle now, though that one's message stands on an Exchange of the same OX_ID.
TEST_F(HandleAgain, receiving_abtsOfTheFormerPeer_endsNothing) {
  begin(Level::ReliableDelivery);
  receive(), send();
  fabric.run_for(runtime::millisecond);
  ASSERT_TRUE(arrived(0, 0));
  ForgedFrame first = like(data_frame(), 1);
  first.header.ox_id = data_frame().header.ox_id;
  first.eof = wire::Eof::n;
  first.header.s_id = other.port.n_port_id();
  end();
  begin(Level::ReliableDelivery, "again");
  end();
  ASSERT_NO_FATAL_FAILURE(connect_other());
  ASSERT_EQ(other.resp1->payload.handle, server_handle);
  receive();
  deliver(first);
  ASSERT_EQ(server_vi->state(), vi::State::Connected);
  deliver({.header = {.r_ctl = RCtl::abts,
                      .d_id = server->port.n_port_id(),
                      .s_id = client->port.n_port_id(),
                      .type = wire::Type::bls,
                      .f_ctl = f_ctl::end_sequence | f_ctl::sequence_initiative,
                      .ox_id = first.header.ox_id,
                      .rx_id = wire::RxId::unassigned},
           .data = {}});
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  deliver({.header = {.r_ctl = RCtl::abts,
                      .d_id = server->port.n_port_id(),
                      .s_id = other.port.n_port_id(),
                      .type = wire::Type::bls,
                      .f_ctl = f_ctl::end_sequence | f_ctl::sequence_initiative,
                      .ox_id = first.header.ox_id,
                      .rx_id = wire::RxId::unassigned},
           .data = {}});
  EXPECT_EQ(server_vi->state(), vi::State::Error) << "its own ends the message";
}

class StrangersInClass2 : public support::Class2Nodes {
 public:
  using Class2Nodes::Class2Nodes;
  /// What the server says of a frame for a handle that nobody has.
  [[nodiscard]] std::optional<wire::FcHeader> answer_to_message_for_nobody() {
    begin(Level::ReliableDelivery);
    receive(), send(1, 100);
    fabric.run_for(runtime::millisecond);
    ForgedFrame forged{
        .header = data_frame(0)->header, .data = data_frame(0)->data, .sof = wire::Sof::i2, .eof = wire::Eof::n};
    forged.set({.handle = wire::FcviHandle{0x7777}, .opcode = wire::fcvi::Opcode::send_rqst, .msg_id = {2}});
    forged.header.ox_id = {0x5555};
    log.clear();
    inject(client->port, forged.build(fabric.pool));
    fabric.run_for(runtime::millisecond);
    const LoggedFrame* ack =
        log.find([](const LoggedFrame& f) { return !f.outbound && wire::is_link_control(f.header.r_ctl); });
    return ack == nullptr ? std::nullopt : std::optional(ack->header);
  }
};
class StrangersInClass2Ack0 : public StrangersInClass2 {
 public:
  StrangersInClass2Ack0() : StrangersInClass2({.ack_0 = true}) {}
};

// FC-VI B.2.4 rule 1 a), 8.4.2 h): in class 2 a frame for a handle that nobody has is acknowledged with "perform ABTS",
// in the form that its sender asked for (FC-FS ACK_0).
TEST_F(StrangersInClass2, connected_messageForNobody_abtsIsDemanded) {
  const auto ack = answer_to_message_for_nobody();
  ASSERT_TRUE(ack && ack->r_ctl == RCtl::ack_1);
  EXPECT_EQ(ack->parameter, 1u);
  EXPECT_EQ(ack->f_ctl & f_ctl::abort_condition_mask, f_ctl::abort_perform_abts);
}
// FC-VI 5.5, 5.2.5: an answer that is none is missing in no message of its sender: it is acknowledged,
// and nothing demanded.
TEST_F(StrangersInClass2, connected_answerOfAnotherCategory_isAcknowledged) {
  begin(Level::ReliableDelivery);
  receive(), send(1, 100);
  fabric.run_for(runtime::millisecond);
  const LoggedFrame model = *data_frame(0);
  for (const bool answer : {true, false}) {
    SCOPED_TRACE(answer);
    ForgedFrame forged{.header = model.header, .data = model.data, .sof = wire::Sof::i2, .eof = wire::Eof::n};
    forged.set({.handle = wire::FcviHandle{0x7777}, .opcode = wire::fcvi::Opcode::send_rqst, .msg_id = {2}});
    forged.header.r_ctl = RCtl::unsolicited_command;
    forged.header.ox_id = {static_cast<std::uint16_t>(0x5555 + answer)};
    if (answer) forged.header.f_ctl |= f_ctl::exchange_responder;
    log.clear();
    inject(client->port, forged.build(fabric.pool));
    fabric.run_for(runtime::millisecond);
    const LoggedFrame* ack =
        log.find([](const LoggedFrame& f) { return !f.outbound && wire::is_link_control(f.header.r_ctl); });
    ASSERT_NE(ack, nullptr);
    EXPECT_EQ(ack->header.f_ctl & f_ctl::abort_condition_mask, answer ? 0u : f_ctl::abort_perform_abts);
  }
}
TEST_F(StrangersInClass2Ack0, connected_messageForNobody_abtsIsDemanded) {
  const auto ack = answer_to_message_for_nobody();
  ASSERT_TRUE(ack && ack->r_ctl == RCtl::ack_0);
  EXPECT_EQ(ack->parameter, 0u);
  EXPECT_EQ(ack->f_ctl & f_ctl::abort_condition_mask, f_ctl::abort_perform_abts);
}

}  // namespace
