// Findings of a hostile review (WP 3, second): each test says what the text asks, and fails on what the code does. Not in CMake.
#include <random>

#include "fc2_fabric/class_2.hpp"
#include "fc2_fabric/remote_port.hpp"
#include "tests/fcvi/message_nodes.hpp"
#include "wire/bytes.hpp"

namespace {
using support::late;
using support::Level;
using support::LoggedFrame;
using support::lose;
using support::MessageFrame;
using support::pass;
using wire::RCtl;

constexpr std::uint16_t credit = 6;

fc2::SwitchConfig order(bool in_order) {
  fc2::SwitchConfig config;
  config.in_order = in_order;
  return config;
}

class Class2Nodes : public support::MessageNodes {
 public:
  explicit Class2Nodes(bool in_order = true, bool ack_0 = false, fc2::TimeNs e_d_tov = 2 * fc2::second)
      : MessageNodes({.address = {}, .class_2 = true},
                     [=](fc2::NPortConfig& config, std::size_t) { config.end_to_end_credit = credit, config.ack_0 = ack_0; },
                     [=] { auto c = order(in_order); c.e_d_tov = e_d_tov; return c; }()) {}
  void inject(fc2::NPort& from, fc2::FramePtr frame) { fabric.fabric.ingress_of(from)->receive(std::move(frame)); }
  const LoggedFrame* data_frame(std::uint16_t seq_cnt) {
    return log.find([=](const LoggedFrame& f) { return f.outbound && f.is(RCtl::solicited_data) && f.header.seq_cnt.value == seq_cnt; });
  }
};
class Class2InOrder : public Class2Nodes {};
class Class2OutOfOrder : public Class2Nodes { public: Class2OutOfOrder() : Class2Nodes(false) {} };
class Class2Ack0 : public Class2Nodes { public: Class2Ack0() : Class2Nodes(true, true, 400 * fc2::microsecond) {} };
class Class2Ack1Short : public Class2Nodes { public: Class2Ack1Short() : Class2Nodes(true, false, 400 * fc2::microsecond) {} };

// F1. Nothing from outside may crash a process: a peer that answers a Reliable Delivery Send by a FCVI_SEND_RESP before its ACK.
TEST_F(Class2InOrder, f01_unaskedResponseBeforeAck_doesNotCrash) {
  begin(Level::ReliableDelivery);
  faults.on_link_control = [](const wire::FcHeader&) { return late(500 * fc2::millisecond); };
  receive(), send(1, 100);
  fabric.run_for(fc2::millisecond);
  const LoggedFrame* data = data_frame(0);
  ASSERT_NE(data, nullptr);
  fc2::FramePtr frame = fabric.pool.take();
  wire::FcHeader fc = data->header;
  std::swap(fc.s_id, fc.d_id);
  fc.r_ctl = RCtl::command_status;
  fc.f_ctl = wire::f_ctl::exchange_responder | wire::f_ctl::last_sequence | wire::f_ctl::end_sequence;
  fc.df_ctl = wire::df_ctl::with_device_header(16);
  fc.seq_cnt = {0};
  wire::fcvi::DeviceHeader header{.handle = {0}, .opcode = wire::fcvi::Opcode::send_resp, .msg_id = {1}};
  header.handle = wire::FcviHandle{1};  // the client's
  fc.write(frame->bytes);
  header.write(std::span(frame->data_field()).first(header.size()));
  frame->size_bytes = static_cast<std::uint16_t>(24 + header.size());
  frame->sof = wire::Sof::i3;
  frame->eof = wire::Eof::t;
  inject(server->port, std::move(frame));
  fabric.run_for(fc2::second);
  EXPECT_EQ(sent(0), sent_well);
}

// F2. FC-VI 5.5: a class 2 sequence is closed when all ACKs for all its frames came. The ACK of frame 0 comes twice, that of frame 3
// never (the frame is lost): the message must not complete well.
TEST_F(Class2InOrder, f02_ackTwice_isNotCountedTwice) {
  begin(Level::ReliableDelivery);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client && frame.number == 3 ? lose : pass; };
  faults.on_link_control = [](const wire::FcHeader&) { return late(fc2::millisecond); };
  receive(), send();
  fabric.run_for(500 * fc2::microsecond);
  const LoggedFrame* data = data_frame(0);
  ASSERT_NE(data, nullptr);
  faults.on_link_control = {};
  inject(server->port, fc2::make_link_control(fabric.pool, data->header, RCtl::ack_1, 1));
  fabric.run_for(100 * fc2::millisecond);
  EXPECT_EQ(sent(0), 0u) << "frame 3 never arrived, and was never acknowledged";
  fabric.run_for(3 * fc2::second);
  EXPECT_EQ(sent(0), send_failed);  // B.2.6.1 rule 8e
}

// F2b. The same by an ACK for a SEQ_CNT that was never sent.
TEST_F(Class2InOrder, f02b_ackForFrameNeverSent_isIgnored) {
  begin(Level::ReliableDelivery);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? lose : pass; };
  receive(), send(1, 100);
  fabric.run_for(fc2::millisecond);
  wire::FcHeader never = data_frame(0)->header;
  never.seq_cnt = {0x4711};
  inject(server->port, fc2::make_link_control(fabric.pool, never, RCtl::ack_1, 1));
  fabric.run_for(fc2::millisecond);
  EXPECT_EQ(sent(0), 0u);
}

// F2c. ACK_0 where the sequence asked for ACK_1 closes it, and gives all credit back.
TEST_F(Class2InOrder, f02c_ack0WhereAck1WasAsked_isIgnored) {
  begin(Level::ReliableDelivery);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? lose : pass; };
  receive(), send();
  fabric.run_for(fc2::millisecond);
  inject(server->port, fc2::make_link_control(fabric.pool, data_frame(0)->header, RCtl::ack_0, 0));
  fabric.run_for(fc2::millisecond);
  EXPECT_EQ(sent(0), 0u);
}

// F3. B.2.6.1 rule 8e: E_D_TOV without any ACK ends the exchange, however often a peer says P_BSY in between.
TEST_F(Class2OutOfOrder, f03_busyFlood_doesNotStopTheTimeOut) {
  begin(Level::ReliableDelivery);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? lose : pass; };
  receive(), send(1, 100);
  fabric.run_for(fc2::millisecond);
  const wire::FcHeader data = data_frame(0)->header;
  for (int i = 0; i < 1000; ++i) {  // 10 s, five times E_D_TOV
    inject(server->port, fc2::make_link_control(fabric.pool, data, RCtl::p_bsy, 0x01010000));
    fabric.run_for(10 * fc2::millisecond);
  }
  EXPECT_EQ(sent(0), send_failed);
}

// F4. B.2.6.1 rule 8e: E_D_TOV waits for an ACK. With ACK_0 there is none before the last frame of the sequence: one that lasts longer
// than E_D_TOV (here 0.4 ms, 0.6 ms of frames; else 2 s on a slow or shared link) must not be given up while it is being sent.
void long_sequence(Class2Nodes& nodes) {
  nodes.begin(Level::ReliableDelivery);
  nodes.receive(), nodes.send(1, 60'000), nodes.receive(3), nodes.send(3, 60'000);
  nodes.fabric.run_for(fc2::second);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(nodes.sent(i), Class2Nodes::sent_well) << i;
  EXPECT_EQ(nodes.log.count(RCtl::abts), 0u);
}

// F7. B.2.5 rules 5b, 7a: message 1 loses a frame; messages 2 and 3 are whole. Its originator aborts message 1 (rule 8e, ABTS): messages 2
// and 3, which wait behind it, have to be delivered.
TEST_F(Class2OutOfOrder, f07_abortOfTheHole_deliversWhatWaits) {
  begin(Level::UnreliableDelivery);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client && frame.number == 1 ? lose : pass; };
  receive(3), send(3, 2 * frame_bytes);
  fabric.run_for(3 * fc2::second);  // E_D_TOV, ABTS
  EXPECT_EQ(received(0), receive_lost);
  EXPECT_TRUE(arrived(1, 1, 2 * frame_bytes)) << "whole, and nothing is missing before it";
  EXPECT_TRUE(arrived(2, 2, 2 * frame_bytes));
  fabric.run_for(20 * fc2::second);
  EXPECT_TRUE(arrived(1, 1, 2 * frame_bytes)) << "lost for good";
  EXPECT_TRUE(arrived(2, 2, 2 * frame_bytes));
}

class OutOfOrder : public support::MessageNodes { public: OutOfOrder() : MessageNodes({}, {}, order(false)) {} };

// F6. Annex E, VI-ARCH 2.5.3: message 2 fails at the responder; all before it have completed well at both ends. The response of message 1
// is overtaken by the refusal of message 2: message 1 was delivered, and must not be reported as flushed.
TEST_F(OutOfOrder, f06_refusalOvertakesResponse_earlierMessagesComplete) {
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) { return !frame.from_client && frame.number == 0 ? late(fc2::millisecond) : pass; };
  receive(1), send(2, 100);  // the second has no descriptor
  fabric.run_for(fc2::second);
  EXPECT_TRUE(arrived(0, 0, 100));
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(sent(1), sent_well | vi::status::remote_descriptor_error);
}

class InOrder : public support::MessageNodes {};

// F5. FC-VI 8.4.2 e), 5.3.5, VI-DG 6.2: the memory of an RDMA Read goes away at the target in the middle: ruling 18 tells the originator;
// the target's VI has to go to Error too, and one of the two has to say so (DISCONNECT_RQST).
TEST_F(InOrder, f05_readMemoryLostInTheMiddle_bothEndsKnow) {
  begin(Level::ReliableReception);
  wire::MemHandle own{};
  const vi::MemoryAttributes attributes{.ptag = {}, .enable_rdma_write = true, .enable_rdma_read = true};
  constexpr std::uint32_t large = 1u << 20;
  ASSERT_EQ(server->nic.register_memory(server->data + large, server->memory.data() + (server->data - support::Host::base) + large, large, attributes, own), vi::Return::Success);
  const auto read = client->descriptor(vi::control::op_rdma_read, {{client->data, large}}, server->data + large, own);
  client_vi->post_send(read, client->handle);
  fabric.run_for(2 * fc2::millisecond);  // of ten
  ASSERT_EQ(server->nic.memory().deregister(server->data + large, own), vi::Return::Success);
  fabric.run_for(fc2::second);
  EXPECT_EQ(client->status(read), vi::status::done | vi::status::rdma_protection_error | vi::status::op_rdma_read);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  fabric.run_for(60 * fc2::second);
  EXPECT_EQ(server_vi->state(), vi::State::Error) << "a minute later";
}

// F8. VI-ARCH 2.5.3, FC-VI 5.9.4.3, ruling 41: a message of several frames that is too long for its descriptor is refused by its
// response, and the originator's descriptor says why; as it is with a message of one frame.
TEST_F(InOrder, f08_tooLong_severalFrames_isRefusedByResponse) {
  for (const std::uint32_t bytes : {1000u, 4 * frame_bytes}) {
    SCOPED_TRACE(bytes);
    begin(Level::ReliableReception, bytes == 1000 ? "one" : "several");
    const auto small = server->descriptor(0, {{server->data, 500}});
    server_vi->post_receive(small, server->handle);
    const std::size_t at = sends.size();
    send(1, bytes);
    fabric.run_for(fc2::second);
    EXPECT_EQ(log.count(RCtl::command_status), 1u);
    EXPECT_EQ(sent(at), sent_well | vi::status::remote_descriptor_error);
  }
}
// F8b. The same when the receive's memory goes away in the middle.
TEST_F(InOrder, f08b_receiveMemoryLost_isRefusedByResponse) {
  begin(Level::ReliableReception);
  wire::MemHandle own{};
  const vi::MemoryAttributes attributes{.ptag = {}, .enable_rdma_write = true, .enable_rdma_read = true};
  constexpr std::uint32_t large = 1u << 20;
  ASSERT_EQ(server->nic.register_memory(server->data + large, server->memory.data() + (server->data - support::Host::base) + large, large, attributes, own), vi::Return::Success);
  const std::uint64_t at = server->descriptor(0, {});
  vi::ControlSegment control{};
  control.segment_count = 1;
  control.length_bytes = slot;
  server->put(at, control);
  server->put(at + sizeof control, vi::Segment{server->data + large, own.value, slot});
  server->next_descriptor += 64;
  server_vi->post_receive(at, server->handle);
  send(1, 60'000);
  fabric.run_for(200 * fc2::microsecond);
  ASSERT_EQ(server->nic.memory().deregister(server->data + large, own), vi::Return::Success);
  fabric.run_for(fc2::second);
  EXPECT_EQ(log.count(RCtl::command_status), 1u);
  EXPECT_EQ(sent(0), sent_well | vi::status::remote_descriptor_error);
}

// F9. FC-VI 8.2 b), C.5.5: RESP2 is lost, the client's first message (several frames) is half in when the server gives up by VipDisconnect:
// no unexpected event, the handle is returned, and the receive can be used again.
class LostResp2 : public support::MessageNodes, public fc2::FrameFault {
 public:
  void carry(fc2::Channel& channel, fc2::FramePtr frame) override {
    const auto fc = wire::FcHeader::parse(frame->content());
    if (fc->type == wire::Type::fc_vi && fc->r_ctl == RCtl::solicited_control && frame->data_field()[4] == 0x19) return;
    channel.deliver(std::move(frame));
  }
};
TEST_F(LostResp2, f09_disconnectInTheMiddleOfEarlyMessage_freesEverything) {
  fabric.fabric.set_fault(client->port, this);
  client_vi = &client->make_vi(Level::ReliableDelivery), server_vi = &server->make_vi(Level::ReliableDelivery);
  receive();
  server->provider.connect_wait(server->net("early"), fc2::second, wait);
  client->provider.connect_request(*client_vi, client->net("c"), server->net("early"), fc2::second, request);
  ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
  server->provider.connect_accept(wait.token, *server_vi, accept);
  ASSERT_TRUE(fabric.run_until([&] { return client_vi->can_transmit(); }));
  send(1, 60'000);
  fabric.run_for(200 * fc2::microsecond);  // of 600
  support::Done done;
  server->provider.disconnect(*server_vi, done);
  fabric.run_for(100 * fc2::second);
  EXPECT_EQ(unexpected(), 0u);
  EXPECT_TRUE(done.result.has_value());
  EXPECT_EQ(server->provider.handles_in_use(), 0u);
}

// F10. VI-ARCH 6.3.1.1: on a Reliable Reception connection the *receiving* provider must not complete a Send that bypasses an RDMA Read
// until all the read data have been transmitted. (Ours never bypasses; another vendor's sender may.)
TEST_F(InOrder, f10_sendBehindRead_waitsForTheReadData) {
  begin(Level::ReliableReception);
  receive();
  const auto from_client = [&](wire::fcvi::Opcode opcode, RCtl r_ctl, std::uint32_t msg_id, std::uint16_t ox_id, std::uint32_t total,
                               std::uint32_t payload) {
    fc2::FramePtr frame = fabric.pool.take();
    wire::FcHeader fc{.r_ctl = r_ctl, .d_id = server->port.n_port_id(), .s_id = client->port.n_port_id(), .type = wire::Type::fc_vi,
                      .f_ctl = wire::f_ctl::first_sequence | wire::f_ctl::end_sequence | wire::f_ctl::sequence_initiative |
                               wire::f_ctl::relative_offset_present,
                      .df_ctl = wire::df_ctl::device_header_32, .ox_id = {ox_id}, .rx_id = wire::RxId::unassigned};
    fc.write(frame->bytes);
    wire::fcvi::DeviceHeader header{.handle = wire::FcviHandle{0x1001}, .opcode = opcode, .msg_id = {msg_id}};
    if (opcode == wire::fcvi::Opcode::read_rqst) header.rmt_va = server->data + (1u << 20), header.rmt_va_handle = server->handle;
    header.tot_len_or_connection_id = total;
    header.write(std::span(frame->data_field()).first(32));
    frame->size_bytes = static_cast<std::uint16_t>(24 + 32 + payload);
    frame->sof = wire::Sof::i3;
    frame->eof = wire::Eof::t;
    fabric.fabric.ingress_of(client->port)->receive(std::move(frame));
  };
  from_client(wire::fcvi::Opcode::read_rqst, RCtl::unsolicited_command, 1, 0x5001, 1u << 20, 0);  // 10 ms
  from_client(wire::fcvi::Opcode::send_rqst, RCtl::solicited_data, 2, 0x5002, 100, 100);
  fabric.run_for(fc2::millisecond);
  EXPECT_EQ(received(0), 0u) << "the read data are not out yet";
}

// F11. One port that nobody is logged in with opens 4096 exchanges (first frames of IUs that never end): the limit is the port's, not the
// peer's, so that nobody gets a response any more, and every Reliable Reception connection breaks.
TEST_F(InOrder, f11_strangerHoldsExchanges_othersAreAnswered) {
  begin(Level::ReliableReception);
  fabric.add_port();
  fabric.attach(2);
  fabric.run_for(fc2::second);
  for (std::uint16_t i = 0; i < 5000; ++i) {
    fc2::FramePtr frame = fabric.pool.take();
    wire::FcHeader fc{.r_ctl = RCtl::unsolicited_control, .d_id = server->port.n_port_id(), .s_id = fabric.port(2).n_port_id(),
                      .type = wire::Type::fc_vi, .f_ctl = wire::f_ctl::first_sequence, .ox_id = {i}, .rx_id = wire::RxId::unassigned};
    fc.write(frame->bytes);
    frame->size_bytes = 24 + 32;
    frame->sof = wire::Sof::i3;
    frame->eof = wire::Eof::n;
    fabric.fabric.ingress_of(fabric.port(2))->receive(std::move(frame));
    if (i % 64 == 0) fabric.run_for(50 * fc2::microsecond);
  }
  receive(), send(1, 100);
  fabric.run_for(20 * fc2::second);
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  fabric.detach(2);
}

TEST_F(Class2Ack0, f04_longSequence_isNotGivenUp) { long_sequence(*this); }
TEST_F(Class2Ack1Short, f04_control_ack1_isNotGivenUp) { long_sequence(*this); }

// F6b. The same on an in-order fabric: the memory of message 2 goes away while it is sent; the response to message 1 is on its way.
TEST_F(InOrder, f06b_localErrorBeforeResponse_earlierMessagesComplete) {
  begin(Level::ReliableReception);
  wire::MemHandle own{};
  constexpr std::uint32_t at = 8u << 20;
  ASSERT_EQ(client->nic.register_memory(client->data + at, client->memory.data() + (client->data - support::Host::base) + at, slot,
                                        {.ptag = {}, .enable_rdma_write = true, .enable_rdma_read = true}, own), vi::Return::Success);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : late(fc2::millisecond); };
  receive(2), send(1, 100);
  const std::uint64_t second = client->next_descriptor;
  client->next_descriptor += 128;
  vi::ControlSegment control{};
  control.segment_count = 1;
  control.length_bytes = 60'000;
  client->put(second, control);
  client->put(second + sizeof control, vi::Segment{client->data + at, own.value, 60'000});
  client_vi->post_send(second, client->handle);
  fabric.run_for(100 * fc2::microsecond);
  ASSERT_EQ(client->nic.memory().deregister(client->data + at, own), vi::Return::Success);
  fabric.run_for(fc2::second);
  EXPECT_TRUE(arrived(0, 0, 100));
  EXPECT_EQ(client->status(second), sent_well | vi::status::protection_error);
  EXPECT_EQ(sent(0), sent_well);
}

// F12. B.2.5 rule 6e b), B.3.3.3: every frame of an epoch that arrives within R_A_TOV is processed. One frame is 50 ms late; 1800 overtake it.
TEST_F(OutOfOrder, f12_moreThan1024FramesOvertake_allArrive) {
  begin(Level::ReliableDelivery);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client && frame.number == 0 ? late(50 * fc2::millisecond) : pass; };
  receive(60), send(60, 60'000);
  fabric.run_for(30 * fc2::second);
  for (std::size_t i = 0; i < 60; ++i) ASSERT_TRUE(arrived(i, i, 60'000)) << i;
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

// F13. 8.4.2 g), 7.7.1: a logout in the middle of everything frees everything.
template <class Nodes> void logout_in_the_middle(Nodes& nodes, bool explicit_) {
  nodes.begin(Level::ReliableReception);
  nodes.receive(8), nodes.send(8, 60'000);
  for (auto [host, vi, peer] : {std::tuple(nodes.client.get(), nodes.client_vi, nodes.server.get()), std::tuple(nodes.server.get(), nodes.server_vi, nodes.client.get())})
    for (int i = 0; i < 4; ++i)
      vi->post_send(host->descriptor(vi::control::op_rdma_read, {{host->data + (20u << 20), 200'000}}, peer->data + (24u << 20), peer->handle), host->handle);
  nodes.fabric.run_for(900 * fc2::microsecond);
  if (explicit_) nodes.server->port.remote_port(nodes.client->port.n_port_id()).log_out();
  else nodes.fabric.detach(1);
  nodes.fabric.run_for(fc2::second);
  nodes.disconnect(*nodes.server, *nodes.server_vi), nodes.disconnect(*nodes.client, *nodes.client_vi);
  nodes.fabric.run_for(60 * fc2::second);
  EXPECT_EQ(nodes.server->provider.handles_in_use() + nodes.client->provider.handles_in_use(), 0u);
  EXPECT_EQ(nodes.server->port.open_exchanges() + nodes.client->port.open_exchanges(), 0u);
  EXPECT_EQ(nodes.fabric.pool.outstanding(), 0u);
}
TEST_F(InOrder, f13_explicitLogout) { logout_in_the_middle(*this, true); }
TEST_F(InOrder, f13_implicitLogout) { logout_in_the_middle(*this, false); }
TEST_F(OutOfOrder, f13_explicitLogout) { logout_in_the_middle(*this, true); }
TEST_F(Class2InOrder, f13_explicitLogout) { logout_in_the_middle(*this, true); }
TEST_F(Class2InOrder, f13_implicitLogout) { logout_in_the_middle(*this, false); }
TEST_F(Class2OutOfOrder, f13_explicitLogout) { logout_in_the_middle(*this, true); }
TEST_F(Class2OutOfOrder, f13_implicitLogout) { logout_in_the_middle(*this, false); }

// F14. 5.5, FC-FS: 300 sequences are aborted in the middle: SEQ_IDs and credit come back.
TEST_F(Class2InOrder, f14_manyAborted_nothingLeaks) {
  begin(Level::UnreliableDelivery);
  faults.on_frame = [&](MessageFrame& frame) {
    if (!frame.from_client || frame.header.msg_id.value > 300) return pass;
    if (frame.fc.seq_cnt.value == 1)
      fabric.fabric.ingress_of(server->port)->receive(fc2::make_link_control(fabric.pool, frame.fc, RCtl::p_rjt, 0x01010000));
    return lose;
  };
  for (int i = 0; i < 300; ++i) {
    client_vi->post_send(client->descriptor(0, {{client->data, 60'000}}), client->handle);
    fabric.run_for(5 * fc2::millisecond);
  }
  receive(), send(1, 60'000);
  fabric.run_for(fc2::second);
  EXPECT_EQ(sent(0), sent_well);
  const auto* remote = client->port.find_remote_port(server->port.n_port_id());
  EXPECT_TRUE(remote->has_credit());
}

// F15. 5.5: an SEQ_ID of a sequence that was aborted is used again only when it was recovered: not while its ABTS is unanswered.
TEST_F(Class2InOrder, f15_seqIdOfAbortedSequence_rests) {
  begin(Level::UnreliableDelivery);
  int seq_id = -1, again = 0;
  faults.on_frame = [&](MessageFrame& frame) {
    if (!frame.from_client) return pass;
    if (frame.header.msg_id.value == 1) {
      if (frame.fc.seq_cnt.value == 1)
        fabric.fabric.ingress_of(server->port)->receive(fc2::make_link_control(fabric.pool, frame.fc, RCtl::p_rjt, 0x01010000));
      seq_id = frame.fc.seq_id.value;
      return lose;
    }
    again += frame.fc.seq_id.value == seq_id && frame.fc.seq_cnt.value == 0;
    return pass;
  };
  client_vi->post_send(client->descriptor(0, {{client->data, 60'000}}), client->handle);
  fabric.run_for(fc2::millisecond);
  receive(300);
  for (int i = 0; i < 300; ++i) {
    client_vi->post_send(client->descriptor(0, {{client->data, 10}}), client->handle);
    fabric.run_for(100 * fc2::microsecond);
  }
  EXPECT_EQ(again, 0) << "within 31 ms of the ABTS; R_A_TOV is 10 s";
}

// F16. B.2.5 rules 5b, 7a: message 1 loses its end, message 2 (one frame) is here. When R_A_TOV is over, message 1 alone is lost. (The
// timer of note 1 and that of the epoch fall on the same moment, and each gives up one message.)
TEST_F(OutOfOrder, f16_bothTimersAtOnce_loseOneMessage) {
  begin(Level::UnreliableDelivery);
  faults.on_frame = [](MessageFrame& frame) {
    if (!frame.from_client) return pass;
    switch (frame.number) {
      case 1: return late(fc2::millisecond);
      case 3: case 4: case 5: return lose;
      case 6: return late(2 * fc2::millisecond);
      default: return pass;
    }
  };
  receive(2), send(1, 6 * frame_bytes), send(1, 100);
  fabric.run_for(25 * fc2::second);
  EXPECT_EQ(received(0), receive_lost);
  EXPECT_TRUE(arrived(1, 1, 100));
}

class Class2SmallIus : public support::MessageNodes {
 public:
  Class2SmallIus() : MessageNodes({.address = {}, .max_iu_bytes = 5000, .class_2 = true},
                                  [](fc2::NPortConfig& config, std::size_t) { config.end_to_end_credit = credit; }) {}
};
// F17. 5.2.1, 5.5 in class 2: messages of several IUs, all operations, both reliable levels.
TEST_F(Class2SmallIus, f17_severalIus_arrive) {
  for (const Level level : {Level::ReliableDelivery, Level::ReliableReception}) {
    begin(level, level == Level::ReliableDelivery ? "d" : "r");
    const std::size_t first = sends.size();
    receive(3), send(3, 60'000);
    const auto read = client->descriptor(vi::control::op_rdma_read, {{client->data + (20u << 20), 60'000}}, server->data, server->handle);
    client_vi->post_send(read, client->handle);
    fabric.run_for(fc2::second);
    for (std::size_t i = first; i < first + 3; ++i) EXPECT_TRUE(arrived(i, i, 60'000) && sent(i) == sent_well);
    EXPECT_EQ(client->status(read), vi::status::done | vi::status::op_rdma_read);
  }
  EXPECT_EQ(client->port.open_exchanges() + server->port.open_exchanges(), 0u);
}

// F18. 5.5: more class 2 sequences than there are SEQ_IDs (kills the mutant that never gives them back; passes).
TEST_F(Class2OutOfOrder, f18_manySequences_seqIdsComeBack) {
  begin(Level::UnreliableDelivery);
  receive(300);
  for (int i = 0; i < 300; ++i) send(1, 10), fabric.run_for(fc2::millisecond);
  for (std::size_t i = 0; i < 300; ++i) ASSERT_EQ(sent(i), sent_well) << i;
}

// F20. A peer that sends whatever it has seen, changed in a field or two, while messages are under way, in every class, order and level:
// no crash, no event that a machine holds to be impossible, and after a Disconnect of both everything is returned. (The matrix of
// hostile_test.cpp knows no message under way: its VIs are Unreliable, its messages have no bytes.)
struct World { bool class_2, in_order, ack_0; Level level; };
class Besieging : public support::MessageNodes {
 public:
  explicit Besieging(const World& world)
      : MessageNodes({.address = {}, .max_iu_bytes = 9000, .class_2 = world.class_2},
                     [=](fc2::NPortConfig& config, std::size_t) { config.end_to_end_credit = world.class_2 ? credit : std::uint16_t{0}, config.ack_0 = world.ack_0; },
                     order(world.in_order)), world_(world) {}
  void TestBody() override {}
  void run(std::uint32_t seed) {
    std::mt19937 random(seed);
    const auto pick = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    begin(world_.level);
    receive(6);
    for (int i = 0; i < 6; ++i) {
      send(1, pick(2) == 0 ? 100 : 20'000);
      if (world_.level != Level::UnreliableDelivery && pick(2) == 0)
        client_vi->post_send(client->descriptor(vi::control::op_rdma_read, {{client->data + (20u << 20), 20'000}}, server->data, server->handle), client->handle);
      if (pick(2) == 0)
        client_vi->post_send(client->descriptor(vi::control::op_rdma_write, {{client->data, 5'000}}, server->data + (20u << 20), server->handle), client->handle);
    }
    for (int step = 0; step < 40; ++step) {
      fabric.run_for(pick(60) * fc2::microsecond + pick(100) / 99 * fc2::second * pick(4));
      if (log.frames().empty()) continue;
      const LoggedFrame& from = log.frames()[log.frames().size() - 1 - pick(static_cast<std::uint32_t>(std::min<std::size_t>(log.frames().size(), 12)))];
      if (from.header.type == wire::Type::els) continue;
      LoggedFrame f = from;
      for (std::uint32_t changes = pick(4); changes != 0; --changes) switch (pick(14)) {
        case 0: std::swap(f.header.s_id, f.header.d_id), f.header.f_ctl ^= wire::f_ctl::exchange_responder; break;
        case 1: f.header.seq_cnt.value = static_cast<std::uint16_t>(f.header.seq_cnt.value + pick(5) - 2); break;
        case 2: f.header.parameter += (pick(5) - 2) * frame_bytes; break;
        case 3: f.header.f_ctl ^= wire::f_ctl::end_sequence; break;
        case 4: f.header.f_ctl ^= wire::f_ctl::last_sequence; break;
        case 5: f.header.f_ctl ^= wire::f_ctl::sequence_initiative; break;
        case 6: f.header.r_ctl = std::array{RCtl::ack_1, RCtl::ack_0, RCtl::p_bsy, RCtl::p_rjt, RCtl::abts, RCtl::ba_acc, RCtl::f_bsy_data, RCtl::ba_rjt}[pick(8)]; break;
        case 7: if (f.data.size() > 11) wire::store_big<4>(f.data.data() + 8, wire::load_big<4>(f.data.data() + 8) + pick(5) - 2); break;
        case 8: if (f.data.size() > 5) f.data[4] = std::array<std::uint8_t, 8>{0, 1, 2, 8, 9, 10, 0x12, 0x1B}[pick(8)]; break;
        case 9: if (f.data.size() > 5) f.data[5] = static_cast<std::uint8_t>(pick(16)); break;
        case 10: f.header.ox_id.value = static_cast<std::uint16_t>(f.header.ox_id.value + pick(5) - 2); break;
        case 11: f.header.f_ctl ^= wire::f_ctl::exchange_responder; break;
        case 12: f.header.seq_id.value ^= 1; break;
        case 13: f.header.f_ctl ^= wire::f_ctl::abort_perform_abts; break;
        default: break;
      }
      if (f.data.size() > 5 && pick(3) == 0) {  // the other kind of IU for the same message
        const bool response = f.data[4] >= 8;
        std::swap(f.header.s_id, f.header.d_id), f.header.f_ctl ^= wire::f_ctl::exchange_responder;
        f.data[4] = static_cast<std::uint8_t>(response ? f.data[4] - 8 : f.data[4] + 8);
        const bool to_client = f.header.d_id == client->port.n_port_id();
        wire::store_big<4>(f.data.data(), to_client ? 1u : 0x1001u);
        if (f.data[4] == 8 || f.data[4] == 9) f.data.resize(16), f.header.df_ctl = 1, f.header.r_ctl = RCtl::command_status;
        else f.data.resize(std::max<std::size_t>(f.data.size(), 32)), f.header.df_ctl = 2, f.header.r_ctl = f.data[4] == 2 ? RCtl::unsolicited_command : RCtl::solicited_data;
        f.header.f_ctl |= wire::f_ctl::end_sequence | wire::f_ctl::last_sequence;
        f.eof = wire::Eof::t;
        f.sof = wire::Sof::i3;
      }
      fc2::FramePtr frame = fabric.pool.take();
      if (std::getenv("LOUD") != nullptr) std::fprintf(stderr, "%ld us: to %x r_ctl %02x f_ctl %06x ox %x seq_id %x cnt %d par %u opc %02x flags %x msg %x sof %d\n", fabric.scheduler.now() / 1000 % 1000000000, f.header.d_id.value, (int)f.header.r_ctl, f.header.f_ctl, f.header.ox_id.value, f.header.seq_id.value, f.header.seq_cnt.value, f.header.parameter, f.data.size() > 5 ? f.data[4] : 255, f.data.size() > 5 ? f.data[5] : 255, f.data.size() > 11 ? wire::load_big<4>(f.data.data() + 8) : 0, (int)f.sof);
      f.header.write(frame->bytes);
      std::copy(f.data.begin(), f.data.end(), frame->data_field().begin());
      frame->size_bytes = static_cast<std::uint16_t>(24 + f.data.size());
      frame->sof = f.sof, frame->eof = f.eof;
      (f.header.d_id == client->port.n_port_id() ? client : server)->port.receive(std::move(frame));
    }
    fabric.run_for(15 * fc2::second);
    disconnect(*server, *server_vi), disconnect(*client, *client_vi);
    fabric.run_for(120 * fc2::second);
    EXPECT_EQ(unexpected(), 0u);
    EXPECT_EQ(client->port.open_exchanges() + server->port.open_exchanges(), 0u);
    EXPECT_EQ(client->provider.handles_in_use() + server->provider.handles_in_use(), 0u);
    EXPECT_EQ(fabric.pool.outstanding(), 0u);
  }
  World world_;
};
class Siege : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(World, Siege, ::testing::Range(0, 18));
TEST_P(Siege, f20_anythingAtAnyTime) {
  const int n = GetParam();
  const World world{n / 6 > 0, n / 3 % 2 == 0, n / 6 == 2, std::array{Level::UnreliableDelivery, Level::ReliableDelivery, Level::ReliableReception}[static_cast<std::size_t>(n % 3)]};
  const char* from = std::getenv("SEED");
  const int first = from != nullptr ? std::atoi(from) : 0, last = from != nullptr ? first + 1 : 300;
  for (int seed = first; seed < last && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << (world.class_2 ? " class 2" : " class 3") << (world.in_order ? "" : " out of order") << (world.ack_0 ? " ACK_0" : "") << " level " << n % 3);
    if (std::getenv("LOUD") != nullptr) std::fprintf(stderr, "world %d seed %d\n", n, seed);
    Besieging here(world);
    here.run(static_cast<std::uint32_t>(seed));
  }
}
}  // namespace
