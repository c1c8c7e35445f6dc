// Reliable Reception, a fabric that keeps the order: what comes behind an RDMA Read whose data are still going out has
// no effect before they are out (VI-ARCH 6.3.1.1), from a sender that does not wait by itself as ours does.
#include "fcvi/early_frames.hpp"
#include "tests/fcvi/class_2_nodes.hpp"

namespace {
using support::ForgedFrame;
using support::Host;
using support::Level;
using support::LoggedFrame;
using wire::RCtl;
using wire::fcvi::Opcode;
namespace f_ctl = wire::f_ctl;

class Waiting : public support::MessageNodes {
 public:
  static constexpr std::uint32_t large = 1u << 20;  // ten milliseconds
  static constexpr std::uint64_t source = Host::data + (4u << 20), target = Host::data + (8u << 20);

  explicit Waiting(std::uint64_t pool_bytes = 64u << 20)
      : MessageNodes({.address = {}, .reorder_pool_bytes = pool_bytes}) {}
  /// Frame `number` of a message of `total` bytes by the client, which knows nothing of it.
  ForgedFrame forge(Opcode opcode, std::uint32_t msg_id, std::uint32_t total, std::uint32_t number = 0) {
    const bool read = opcode == Opcode::read_rqst;
    const std::uint32_t offset = number * frame_bytes, payload = read ? 0 : std::min(frame_bytes, total - offset);
    const bool last = read || offset + payload == total;
    wire::fcvi::DeviceHeader header{.handle = wire::FcviHandle{0x1001}, .opcode = opcode, .msg_id = {msg_id}};
    if (opcode != Opcode::send_rqst) header.rmt_va = read ? source : target, header.rmt_va_handle = server->handle;
    header.tot_len_or_connection_id = total;
    return support::forged_message(server->port.n_port_id(), client->port.n_port_id(), header,
                                   {.offset = offset,
                                    .bytes = payload,
                                    .number = number,
                                    .last = last,
                                    .answered = answered,
                                    .content = static_cast<std::uint8_t>('a' + msg_id)});
  }
  void inject(const ForgedFrame& frame) { server->port.receive(frame.build(fabric.pool)); }
  void begin_behind_a_read(Level level) {
    begin(level);
    answered = true;
    inject(forge(Opcode::read_rqst, 1, large));
    answered = level == Level::ReliableReception;
    fabric.run_for(runtime::millisecond);  // of ten
  }
  /// Bytes of this message at the server's `at`.
  [[nodiscard]] std::ptrdiff_t placed(std::uint64_t at, std::uint32_t msg_id) {
    return std::count(server->bytes(at), server->bytes(at) + slot, static_cast<std::uint8_t>('a' + msg_id));
  }
  /// FCVI_MSG_IDs of the answers, in their order; each once.
  [[nodiscard]] std::vector<std::uint32_t> answers() const {
    std::vector<std::uint32_t> ids;
    for (const LoggedFrame& frame : log.frames()) {
      if (frame.outbound || !(frame.is(RCtl::command_status) || frame.is(RCtl::solicited_data))) continue;
      const std::uint32_t id =
          wire::fcvi::DeviceHeader::parse(frame.header.device_header_size(), frame.data)->msg_id.value;
      if (ids.empty() || ids.back() != id) ids.push_back(id);
    }
    return ids;
  }
  bool answered = true;
};

// A Send of two frames, an RDMA Write, and another Send: all wait, and then come in their order.
TEST_F(Waiting, reading_messagesBehind_waitForItsData) {
  begin_behind_a_read(Level::ReliableReception);
  receive(2);
  inject(forge(Opcode::send_rqst, 2, 3000, 0)), inject(forge(Opcode::send_rqst, 2, 3000, 1));
  inject(forge(Opcode::write_rqst, 3, 500));
  inject(forge(Opcode::send_rqst, 4, 700));
  EXPECT_EQ(received(0), 0u);
  EXPECT_EQ(placed(server->data, 2) + placed(target, 3) + placed(server->data + slot, 4), 0);
  EXPECT_EQ(server->provider.reorder_bytes(), 4 * fcvi::EarlyFrames::frame_bytes);
  fabric.run_for(runtime::second);
  EXPECT_EQ(answers(), (std::vector<std::uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(received(0), vi::status::done | vi::status::op_receive);
  EXPECT_EQ(received(1), vi::status::done | vi::status::op_receive);
  EXPECT_EQ(placed(server->data, 2), 3000);
  EXPECT_EQ(placed(target, 3), 500);
  EXPECT_EQ(placed(server->data + slot, 4), 700);
  EXPECT_EQ(server->provider.reorder_bytes(), 0u);
  EXPECT_EQ(fabric.pool.outstanding(), 0u);
  EXPECT_EQ(discarded(), 0u);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

// Many messages wait: none is lost, and none overtakes another.
TEST_F(Waiting, reading_manyMessagesBehind_allArrive) {
  constexpr std::uint32_t many = 50;
  begin_behind_a_read(Level::ReliableReception);
  receive(many);
  for (std::uint32_t i = 0; i < many; ++i) inject(forge(Opcode::send_rqst, 2 + i, 64));
  EXPECT_EQ(server->provider.reorder_bytes(), many * fcvi::EarlyFrames::frame_bytes);
  fabric.run_for(runtime::second);
  for (std::uint32_t i = 0; i < many; ++i) EXPECT_EQ(placed(server->data + i * slot, 2 + i), 64) << i;
  EXPECT_EQ(answers().size(), 1U + many);
}

// An RDMA Read behind what waits is itself one of them, and what comes behind that waits for its data, too.
TEST_F(Waiting, reading_readBehindASend_waitsInItsTurn) {
  begin_behind_a_read(Level::ReliableReception);
  receive(2);
  inject(forge(Opcode::send_rqst, 2, 100));
  inject(forge(Opcode::read_rqst, 3, large));
  inject(forge(Opcode::send_rqst, 4, 100));
  fabric.run_for(15 * runtime::millisecond);
  EXPECT_EQ(placed(server->data, 2), 100);
  EXPECT_EQ(placed(server->data + slot, 4), 0) << "the data of read 3 are going out";
  fabric.run_for(runtime::second);
  EXPECT_EQ(placed(server->data + slot, 4), 100);
  EXPECT_EQ(answers(), (std::vector<std::uint32_t>{1, 2, 3, 4}));
}

// VI-ARCH 6.3.1.1: at Reliable Delivery nothing waits for a read.
TEST_F(Waiting, reading_reliableDelivery_nothingWaits) {
  begin_behind_a_read(Level::ReliableDelivery);
  receive();
  inject(forge(Opcode::send_rqst, 2, 100));
  EXPECT_EQ(received(0), vi::status::done | vi::status::op_receive);
  EXPECT_EQ(server->provider.reorder_bytes(), 0u);
}

// A frame that waits comes twice: the second is of the past when its turn has come, and changes nothing.
TEST_F(Waiting, reading_waitingFrameDoubled_isTakenOnce) {
  begin_behind_a_read(Level::ReliableReception);
  receive(2);
  inject(forge(Opcode::send_rqst, 2, 3000, 0)), inject(forge(Opcode::send_rqst, 2, 3000, 0));
  inject(forge(Opcode::send_rqst, 2, 3000, 1));
  fabric.run_for(runtime::second);
  EXPECT_EQ(received(0), vi::status::done | vi::status::op_receive);
  EXPECT_EQ(received(1), 0u);
  EXPECT_EQ(discarded(), 1u);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

// FC-VI 8.4.2 f), B.2.4 rule 1 a): the connection ends: what waited is discarded, and kept no longer.
TEST_F(Waiting, reading_disconnected_isDiscarded) {
  begin_behind_a_read(Level::ReliableReception);
  receive();
  inject(forge(Opcode::send_rqst, 2, 3000, 0)), inject(forge(Opcode::send_rqst, 2, 3000, 1));
  disconnect(*server, *server_vi);
  EXPECT_EQ(discarded(), 2u);
  EXPECT_EQ(received(0), receive_flushed);
  EXPECT_EQ(server->provider.reorder_bytes(), 0u);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(fabric.pool.outstanding(), 0u);
}

// FC-VI 8.4.2 b) d): the ABTS of the message that is next, and waits, ends the connection; that of an exchange that
// nobody knows does not.
TEST_F(Waiting, reading_waitingMessageAborted_breaks) {
  begin_behind_a_read(Level::ReliableReception);
  receive();
  inject(forge(Opcode::send_rqst, 2, 100));
  auto abts = support::as_abts(forge(Opcode::send_rqst, 2, 100));
  abts.header.ox_id.value += 50;
  inject(abts);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  abts.header.ox_id.value -= 50;
  inject(abts);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(received(0), receive_flushed);
  EXPECT_EQ(placed(server->data, 2), 0);
}

// Room for two frames that wait.
class WaitingSmallPool : public Waiting {
 public:
  WaitingSmallPool() : Waiting(3 * 2 * fcvi::EarlyFrames::frame_bytes) {}
};

// Ruling 131: what finds no room is lost in class 3, and counted. The message behind the gap is missed (FC-VI B.2.5
// rule 6d) when the read is over.
TEST_F(WaitingSmallPool, reading_noRoom_isLost) {
  begin_behind_a_read(Level::ReliableReception);
  receive(2);
  inject(forge(Opcode::send_rqst, 2, 100)), inject(forge(Opcode::send_rqst, 3, 3000, 0)),
      inject(forge(Opcode::send_rqst, 3, 3000, 1));
  EXPECT_EQ(server->provider.counters().reorder_pool_full, 1u);
  EXPECT_EQ(server->provider.reorder_bytes(), 2 * fcvi::EarlyFrames::frame_bytes);
  fabric.run_for(runtime::second);
  EXPECT_EQ(placed(server->data, 2), 100);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  fabric.run_for(30 * runtime::second);  // R_A_TOV: the rest of message 3
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(received(1), receive_lost);
}
}  // namespace
