// The twelve IUs on the wire, field by field (FC-VI 4.2, 5.1 Table 1, 5.2 to 5.6, 5.8, 5.9, 6.2 to 6.13).
#include "tests/fcvi/wire_fixture.hpp"

namespace {
using Level = vi::ReliabilityLevel;
using support::Expected;
using support::expect_frame;
using support::WireFrame;
using vi::Return;

class Wire : public support::WireNodes {
 public:
  using support::WireNodes::WireNodes;
  void connect_at(Level level) {
    connect(level);
    log.clear();
  }
  std::uint64_t send(std::uint16_t control, std::uint32_t length, std::uint64_t remote = 0,
                     std::uint32_t immediate = 0) {
    const auto at = client->descriptor(control, {{client->data, length}}, remote, server->handle, immediate);
    client_vi->post_send(at, client->handle);
    return at;
  }
  void receive(std::uint32_t length = 65536) {
    server_vi->post_receive(server->descriptor(0, {{server->data, length}}), server->handle);
  }
  std::vector<WireFrame> settled() {
    fabric.run_for(runtime::millisecond);
    return frames();
  }
  void TearDown() override { EXPECT_EQ(unexpected(), 0u); }
};

void expect_one_exchange(const std::vector<WireFrame>& frames) {
  for (const WireFrame& frame : frames) {
    EXPECT_EQ(frame.fc.ox_id, frames[0].fc.ox_id);
    EXPECT_EQ(frame.fc.cs_ctl, 0);  // 5.8.2: no preference asked for
  }
}

// FC-VI 5.3.2, 5.8.4, 6.8 to 6.11: the four IUs of a set-up.
TEST_F(Wire, connect_fields) {
  connect(Level::ReliableReception, "a discriminator of 25 byt");
  const auto iu = frames();
  ASSERT_EQ(iu.size(), 4u);
  expect_one_exchange(iu);
  // The client's discriminator is shorter than 16 bytes: connect info tells its length (ruling 21).
  const Expected rqst{true, 0x02, 0x290008, 2, 0x10, 0x09, nobody, 0, 0, 0, 0, connection_id, 596};
  const Expected resp1{false, 0x03, 0x890008, 2, 0x18, 0x00, nobody, 0, 0, 0, 0, connection_id, 340};
  const Expected resp2{true, 0x03, 0x090008, 2, 0x19, 0x00, server_handle, 0, 0, 0, 0, connection_id, 0, 1};
  const Expected resp3{false, 0x03, 0x980008, 2, 0x1A, 0x00, client_handle, 0, 0, 0, 0, connection_id, 0, 1};
  expect_frame(iu[0], rqst, "CONNECT_RQST");
  expect_frame(iu[1], resp1, "CONNECT_RESP1");
  expect_frame(iu[2], resp2, "CONNECT_RESP2");
  expect_frame(iu[3], resp3, "CONNECT_RESP3");
  for (const WireFrame& frame : iu) {
    EXPECT_EQ(frame.sof, wire::Sof::i3);
    EXPECT_EQ(frame.eof, wire::Eof::t);
  }
}

// FC-VI 6.8.3, 6.9.3, 7.2, 7.3: both payloads: revision, handle, addresses, attributes.
TEST_F(Wire, connect_payloads) {
  connect(Level::ReliableReception, "a discriminator of 25 byt");
  const auto iu = frames();
  ASSERT_EQ(iu.size(), 4u);
  for (const WireFrame& frame : {iu[0], iu[1]}) {
    const bool rqst = frame.from_client;
    EXPECT_EQ(frame.payload(0), 0u);
    EXPECT_EQ(frame.payload(1), 0x0001u);  // FCVI_REVISION
    EXPECT_EQ(frame.payload(2), rqst ? client_handle : server_handle);
    EXPECT_EQ(frame.payload(3), rqst ? 0x1010u : 0x1019u);  // HOST_ADD_LEN, DISCRIM_LEN of the sender
    EXPECT_EQ(frame.payload(7), rqst ? 0x0A000001u : 0x0A000002u);
    EXPECT_EQ(frame.payload(40), rqst ? 0x1019u : 0x1010u);  // ... of the receiver
    EXPECT_EQ(frame.payload(44), rqst ? 0x0A000002u : 0x0A000001u);
    EXPECT_EQ(frame.payload(77), 0x0303u);  // level 3 on the wire (ruling 16), RDMA both
    EXPECT_EQ(frame.payload(78), client_vi->attributes().max_transfer_size_bytes);
    EXPECT_EQ(frame.payload(79), 0u);                                          // FCVI_PREF
    EXPECT_EQ(frame.payload(80) | frame.payload(81) | frame.payload(82), 0u);  // bandwidths, delay: always zero
    EXPECT_EQ(frame.payload(83), 31u);                                         // FCVI_PIPELINE_DEPTH
    EXPECT_EQ(frame.payload(84), 0u);
  }
}

// FC-VI 5.3.5, 6.12, 6.13: a connection ends; last FCVI_MSG_ID of each side; connection id 0 (ruling 5).
TEST_F(Wire, disconnect_fields) {
  connect_at(Level::ReliableDelivery);
  receive();
  receive();
  send(0, 4), send(0, 4);
  EXPECT_EQ(settled().size(), 2u);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  const auto iu = frames();
  ASSERT_EQ(iu.size(), 2u);
  expect_one_exchange(iu);
  const Expected rqst{true, 0x02, 0x290008, 2, 0x12, 0x02, server_handle};
  const Expected resp{false, 0x03, 0x980008, 2, 0x1B, 0x03, client_handle, 2, 0x004B0000};  // Disconnect Accept
  expect_frame(iu[0], rqst, "DISCONNECT_RQST");
  expect_frame(iu[1], resp, "DISCONNECT_RESP");
}

// FC-VI 5.4, 5.9.6, 6.2: Sends without response: consecutive FCVI_MSG_IDs from 1, an exchange each, which ends
// with its IU.
TEST_F(Wire, send_fields) {
  connect_at(Level::ReliableDelivery);
  receive(), receive();
  send(0, 5);
  send(vi::control::immediate, 8, 0, 0xCAFE0042);
  const auto iu = settled();
  ASSERT_EQ(iu.size(), 2u);
  const Expected plain{true, 0x01, 0x380008, 2, 0x00, 0x00, server_handle, 1, 0, 0, 0, 5, 5};
  const Expected immediate{true, 0x01, 0x380008, 2, 0x00, 0x01, server_handle, 2, 0xCAFE0042, 0, 0, 8, 8};
  expect_frame(iu[0], plain, "SEND_RQST");
  EXPECT_EQ(iu[0].fc.fill_bytes(), 3u);
  expect_frame(iu[1], immediate, "SEND_RQST with immediate data");
}

// FC-VI 5.2.2, 6.3: Reliable Reception: the initiative passes, SEND_RESP of 16 bytes ends the exchange.
TEST_F(Wire, send_response_fields) {
  connect_at(Level::ReliableReception);
  receive();
  send(0, 4);
  const auto iu = settled();
  ASSERT_EQ(iu.size(), 2u);
  expect_one_exchange(iu);
  expect_frame(iu[0], {true, 0x01, 0x290008, 2, 0x00, 0x00, server_handle, 1, 0, 0, 0, 4, 4}, "SEND_RQST");
  expect_frame(iu[1], {false, 0x07, 0x980008, 1, 0x08, 0x00, client_handle, 1}, "SEND_RESP");
}

// FC-VI 5.9.4.3: a Send that nobody awaits: RESP_ERR, DESC_ERR; then the provider's own DISCONNECT_RQST with the cause.
TEST_F(Wire, send_refused_fields) {
  connect_at(Level::ReliableReception);
  send(0, 4);
  const auto iu = settled();
  ASSERT_GE(iu.size(), 3u);
  expect_frame(iu[1], {false, 0x07, 0x980008, 1, 0x08, 0x03, client_handle, 1}, "SEND_RESP");
  const auto disconnect =
      std::find_if(iu.begin(), iu.end(), [](const WireFrame& f) { return !f.from_client && f.opcode() == 0x12; });
  ASSERT_NE(disconnect, iu.end());
  expect_frame(*disconnect, {false, 0x02, 0x290008, 2, 0x12, 0x01, client_handle, 0, 0x00420000}, "DISCONNECT_RQST");
}

// FC-VI 5.3.5, 5.9.4.3: whoever refused the message tells why; the DISCONNECT_RQST of the one that was refused does
// not cross it.
TEST_F(Wire, refused_oneDisconnectRqst) {
  const auto is_rqst = [](const WireFrame& f) { return f.opcode() == 0x12; };
  for (const std::uint16_t control : {vi::control::op_rdma_write, vi::control::op_rdma_read}) {
    connect_at(Level::ReliableReception);
    frames();
    send(control, 100, server->base + server->memory_bytes - 50);
    const auto iu = settled();
    EXPECT_EQ(std::count_if(iu.begin(), iu.end(), is_rqst), 1);
    EXPECT_EQ(client_vi->state(), vi::State::Error);
    EXPECT_EQ(server_vi->state(), vi::State::Error);
    EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
    EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
    wait.result.reset(), request.result.reset(), accept.result.reset();
  }
}

// FC-VI 6.4, 6.5: RDMA Write: address, handle and length in every frame, whatever the offset; WRITE_RESP.
TEST_F(Wire, write_fields) {
  connect_at(Level::ReliableReception);
  const std::uint64_t target = server->data + 3;
  send(vi::control::op_rdma_write, 3000, target);
  const auto iu = settled();
  ASSERT_EQ(iu.size(), 3u);
  expect_one_exchange(iu);
  const std::uint32_t key = server->handle.value;
  expect_frame(iu[0], {true, 0x01, 0x200008, 2, 0x01, 0, server_handle, 1, 0, target, key, 3000, 2080}, "WRITE_RQST 1");
  expect_frame(iu[1], {true, 0x01, 0x290008, 2, 0x01, 0, server_handle, 1, 0, target, key, 3000, 920, 1, 2080},
               "WRITE_RQST 2");
  EXPECT_EQ(iu[0].sof, wire::Sof::i3);
  EXPECT_EQ(iu[0].eof, wire::Eof::n);
  EXPECT_EQ(iu[1].sof, wire::Sof::n3);
  EXPECT_EQ(iu[1].eof, wire::Eof::t);
  EXPECT_EQ(iu[0].fc.seq_id, iu[1].fc.seq_id);  // one IU is one Sequence (5.5)
  expect_frame(iu[2], {false, 0x07, 0x980008, 1, 0x09, 0, client_handle, 1}, "WRITE_RESP");
}

// FC-VI 5.2.4, 6.6, 6.7: RDMA Read: one frame asks, R_CTL 06h; READ_RESP brings data and repeats address and length.
TEST_F(Wire, read_fields) {
  connect_at(Level::ReliableDelivery);
  const std::uint64_t source = server->data + 8;
  send(vi::control::op_rdma_read, 2081, source);
  const auto iu = settled();
  ASSERT_EQ(iu.size(), 3u);
  expect_one_exchange(iu);
  const std::uint32_t key = server->handle.value;
  expect_frame(iu[0], {true, 0x06, 0x290008, 2, 0x02, 0, server_handle, 1, 0, source, key, 2081, 0}, "READ_RQST");
  expect_frame(iu[1], {false, 0x01, 0x800008, 2, 0x0A, 0, client_handle, 1, 0, source, key, 2081, 2080}, "READ_RESP 1");
  expect_frame(iu[2], {false, 0x01, 0x980008, 2, 0x0A, 0, client_handle, 1, 0, source, key, 2081, 1, 1, 2080},
               "READ_RESP 2");
}

// Ruling 18, FC-VI 6.7.2: a READ_RESP that refuses: one frame, no payload, RESP_ERR and PROT_ERR.
TEST_F(Wire, read_refused_fields) {
  connect_at(Level::ReliableDelivery);
  send(vi::control::op_rdma_read, 16, 0x1234);
  const auto iu = settled();
  ASSERT_GE(iu.size(), 2u);
  const std::uint32_t key = server->handle.value;
  expect_frame(iu[1], {false, 0x01, 0x980008, 2, 0x0A, 0x05, client_handle, 1, 0, 0x1234, key, 16, 0}, "READ_RESP");
}

class SmallIus : public Wire {
 public:
  SmallIus() : Wire({.address = {}, .max_iu_bytes = 5000}) {}  // two frames each
};

// FC-VI 5.2.1, 5.6, 5.8.6, 5.8.7: several IUs: whole frames, SEQ_CNT and relative offset go on, a SEQ_ID each; only the
// last IU ends the exchange.
TEST_F(SmallIus, write_in_several_ius) {
  connect_at(Level::UnreliableDelivery);
  send(vi::control::op_rdma_write, 5 * 2080, server->data);
  const auto iu = settled();
  ASSERT_EQ(iu.size(), 5u);
  const unsigned f_ctl[] = {0x200008, 0x280008, 0x000008, 0x080008, 0x180008};
  for (std::uint16_t i = 0; i < 5; ++i)
    expect_frame(iu[i],
                 {true, 0x01, f_ctl[i], 2, 0x01, 0, server_handle, 1, 0, server->data, server->handle.value, 5 * 2080,
                  2080, i, 2080u * i},
                 "WRITE_RQST");
  EXPECT_NE(iu[1].fc.seq_id, iu[2].fc.seq_id);
  EXPECT_EQ(iu[2].fc.seq_id, iu[3].fc.seq_id);
}

// ... and of a READ_RESP.
TEST_F(SmallIus, read_in_several_ius) {
  connect_at(Level::ReliableReception);
  send(vi::control::op_rdma_read, 3 * 2080, server->data);
  const auto iu = settled();
  ASSERT_EQ(iu.size(), 4u);
  const unsigned f_ctl[] = {0x800008, 0x880008, 0x980008};
  for (std::uint16_t i = 0; i < 3; ++i)
    expect_frame(iu[1u + i],
                 {false, 0x01, f_ctl[i], 2, 0x0A, 0, client_handle, 1, 0, server->data, server->handle.value, 3 * 2080,
                  2080, i, 2080u * i},
                 "READ_RESP");
}

// FC-VI 5.2.2: a zero-length message is one frame without payload.
TEST_F(Wire, zero_length_send) {
  connect_at(Level::ReliableDelivery);
  receive();
  client_vi->post_send(client->descriptor(0, {}), client->handle);
  const auto iu = settled();
  ASSERT_EQ(iu.size(), 1u);
  expect_frame(iu[0], {true, 0x01, 0x380008, 2, 0x00, 0, server_handle, 1}, "SEND_RQST");
}

class Preferred : public Wire {
 public:
  Preferred() : Wire({.address = {}, .preference = true}) {}
};

// FC-VI 5.8.2, 7.3: every frame for a message has PREF, responses too; the IUs of set-up and disconnect have not.
TEST_F(Preferred, messages_have_preference) {
  connect(Level::ReliableReception);
  for (const WireFrame& frame : frames()) {
    EXPECT_EQ(frame.fc.cs_ctl, 0);
    const bool tells = frame.opcode() == 0x10 || frame.opcode() == 0x18;
    EXPECT_TRUE(!tells || frame.payload(79) == 0x80000000u);
  }
  receive();
  send(0, 5000), send(vi::control::op_rdma_read, 5000, server->data), send(vi::control::op_rdma_write, 4, server->data);
  const auto iu = settled();
  EXPECT_EQ(iu.size(), 3u + 1 + 1 + 3 + 1 + 1);
  for (const WireFrame& frame : iu) EXPECT_EQ(frame.fc.cs_ctl, 0x80) << frame.opcode();
  disconnect(*client, *client_vi);
  for (const WireFrame& frame : frames()) EXPECT_EQ(frame.fc.cs_ctl, 0);
}
}  // namespace
