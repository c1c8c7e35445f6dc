// The book of read data that overtook each other: when it is kept, what it costs of the reorder pool, what is in it,
// and what happens where there is no room (FC-VI 5.2.4, 5.6, 5.8.6, 5.8.7, 8.4.1 c) d), ruling 131); and the frames of
// read data by number.
#include "tests/fcvi/class_2_nodes.hpp"
#include "tests/fcvi/own_memory.hpp"
#include "tests/support/operations.hpp"
#include "tests/support/times.hpp"

namespace {
using support::Fate;
using support::ForgedFrame;
using support::Host;
using support::late;
using support::Level;
using support::LoggedFrame;
using support::lose;
using support::MessageFrame;
using support::ms;
using support::pass;
using support::read_done;
using support::s;
using support::twice;
using wire::fcvi::DeviceHeader;
using wire::RCtl;
namespace f_ctl = wire::f_ctl;
constexpr std::uint64_t into = Host::data;  // at the client
/// Less than half of it is free beside one book: a share would be refused, what brings a message on is not. One book of
/// four ranges fits, to the byte (NarrowBook.fewRanges_haveRoom tells when that changes).
constexpr std::uint64_t narrow_pool = 288;

template <class Base>
class ReadBookOf : public Base {
 public:
  using Base::Base;
  std::uint64_t read(std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; ++i) this->server->bytes(this->server->data)[i] = Base::content(0, i);
    std::memset(this->client->bytes(into), 0xCC, bytes + 64);
    const auto read =
        this->client->descriptor(vi::control::op_rdma_read, {{into, bytes}}, this->server->data, this->server->handle);
    this->client_vi->post_send(read, this->client->handle);
    return read;
  }
  [[nodiscard]] bool came(std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; ++i)
      if (this->client->bytes(into)[i] != Base::content(0, i)) return false;
    return this->client->bytes(into)[bytes] == 0xCC;
  }
  void meet(std::function<Fate(MessageFrame&)> fate) {
    this->faults.on_frame = [=](MessageFrame& frame) { return frame.from_client ? pass : fate(frame); };
  }
  [[nodiscard]] std::uint64_t kept() const { return this->client->provider.reorder_bytes(); }
  [[nodiscard]] std::uint64_t full() const { return this->client->provider.counters().reorder_pool_full; }
  [[nodiscard]] std::uint64_t wrong() const {
    return this->client->port.counters().discarded(fc2::Discard::WrongSequence);
  }
};

class ReadBook : public ReadBookOf<support::MessageNodes> {
 public:
  explicit ReadBook(fcvi::ProviderConfig config = {}) : ReadBookOf(config, {}, support::fabric_order(false)) {}
  /// `bytes` of the server's data from `at` on, as an answer to the client's last request.
  void arrives(std::uint32_t at, std::uint32_t bytes, std::uint32_t seq_cnt, std::uint32_t whole) {
    const LoggedFrame* asked = nullptr;
    for (const LoggedFrame& frame : log.frames())
      if (frame.outbound && frame.is(RCtl::unsolicited_command)) asked = &frame;
    ASSERT_NE(asked, nullptr);
    DeviceHeader header = *DeviceHeader::parse(32, asked->data);
    header.handle = wire::FcviHandle{1};
    header.opcode = wire::fcvi::Opcode::read_resp;
    ForgedFrame frame{.header = asked->header, .data = {}, .sof = seq_cnt == 0 ? wire::Sof::i3 : wire::Sof::n3};
    std::swap(frame.header.s_id, frame.header.d_id);
    frame.header.r_ctl = RCtl::solicited_data;
    const bool last = at + bytes == whole;
    const std::uint32_t fill = (4 - bytes % 4) % 4;
    frame.header.f_ctl = f_ctl::exchange_responder | f_ctl::relative_offset_present | fill;
    if (last) frame.header.f_ctl |= f_ctl::last_sequence | f_ctl::end_sequence;
    frame.eof = last ? wire::Eof::t : wire::Eof::n;
    frame.header.seq_cnt = {static_cast<std::uint16_t>(seq_cnt)};
    frame.header.parameter = at;
    frame.set(header);
    frame.data.resize(32 + bytes + fill, 0);
    for (std::uint32_t i = 0; i < bytes; ++i) frame.data[32 + i] = content(0, at + i);
    client->port.receive(frame.build(fabric.pool));
  }
  /// A read whose data come from arrives() alone.
  std::uint64_t forged_read(std::uint32_t bytes) {
    meet([](MessageFrame&) { return lose; });
    const auto descriptor = read(bytes);
    fabric.run_for(ms);
    return descriptor;
  }
};
class NarrowBook : public ReadBook {
 public:
  NarrowBook() : ReadBook({.address = {}, .reorder_pool_bytes = narrow_pool}) {}
};
class NoBook : public ReadBook {
 public:
  NoBook() : ReadBook({.address = {}, .reorder_pool_bytes = 16}) {}
};
class NarrowClass2Book : public ReadBookOf<support::Class2Nodes> {
 public:
  NarrowClass2Book() : NarrowClass2Book(narrow_pool) {}
  explicit NarrowClass2Book(std::uint64_t pool) : ReadBookOf(Options{.in_order = false, .reorder_pool_bytes = pool}) {}
};
class NoClass2Book : public NarrowClass2Book {
 public:
  NoClass2Book() : NarrowClass2Book(16) {}
};

// FC-VI 8.4.1 d): frames that come twice in their order need no book: none is kept, and none is asked for where there
// is no room.
TEST_F(ReadBook, doubledInOrder_keepsNone) {
  begin(Level::ReliableDelivery);
  meet([](MessageFrame& frame) { return frame.number == 3 ? late(s) : twice; });
  const auto descriptor = read(length);
  fabric.run_for(10 * ms);
  EXPECT_EQ(wrong(), 3u);
  EXPECT_EQ(kept(), 0u);
  fabric.run_for(2 * s);
  EXPECT_EQ(client->status(descriptor), read_done);
  EXPECT_TRUE(came(length));
  EXPECT_EQ(client->provider.reorder_peak_bytes(), 0u);
}
TEST_F(NoBook, doubledInOrder_needsNone) {  // 8.4.1 d)
  begin(Level::ReliableDelivery);
  meet([](MessageFrame&) { return twice; });
  const auto descriptor = read(length);
  fabric.run_for(10 * ms);
  EXPECT_EQ(full(), 0u);
  EXPECT_EQ(client->status(descriptor), read_done);
}

// 8.4.1 d): a frame from before the gap comes once more: it is here already, whole, at its SEQ_CNT.
TEST_F(ReadBook, gap_earlierFrameAgain_isDropped) {
  begin(Level::ReliableDelivery);
  meet([](MessageFrame& frame) { return frame.number == 1 ? late(s) : pass; });
  const auto descriptor = read(length);
  fabric.run_for(10 * ms);
  ASSERT_NE(kept(), 0u);
  arrives(0, frame_bytes, 0, length);
  EXPECT_EQ(wrong(), 1u);
  EXPECT_EQ(client->status(descriptor), 0u);
  fabric.run_for(2 * s);
  EXPECT_EQ(client->status(descriptor), read_done);
  EXPECT_EQ(kept(), 0u);
}

// ... also where it is a byte.
TEST_F(ReadBook, gapBehindAByte_byteAgain_isDropped) {
  begin(Level::ReliableDelivery);
  const auto descriptor = forged_read(3);
  arrives(0, 1, 0, 3);
  arrives(2, 1, 2, 3);
  ASSERT_NE(kept(), 0u);
  arrives(0, 1, 0, 3);
  EXPECT_EQ(wrong(), 1u);
  EXPECT_EQ(client->status(descriptor), 0u) << "its second byte is missing";
  arrives(1, 1, 1, 3);
  EXPECT_EQ(client->status(descriptor), read_done);
  EXPECT_TRUE(came(3));
}

// The book has two ranges in itself; what is missing at the beginning is none.
TEST_F(ReadBook, twoRanges_costNoMoreThanOne) {
  begin(Level::ReliableDelivery);
  const auto descriptor = forged_read(8);
  arrives(2, 1, 2, 8);
  const auto one = kept();
  ASSERT_NE(one, 0u);
  arrives(4, 1, 4, 8);
  EXPECT_EQ(kept(), one);
  arrives(6, 1, 6, 8);
  EXPECT_GT(kept(), one);
  for (const std::uint32_t at : {0u, 1u, 3u, 5u, 7u}) arrives(at, 1, at, 8);
  EXPECT_EQ(client->status(descriptor), read_done);
  EXPECT_TRUE(came(8));
  EXPECT_EQ(kept(), 0u);
}

// 8.4.1 d): more ranges than a fabric makes of frames worth sending, one for 256 bytes and 64 more, find no room; what
// joins them does.
TEST_F(ReadBook, tooManyRanges_findNoRoom) {
  begin(Level::ReliableDelivery);
  constexpr std::uint32_t whole = 1024, most = whole / 256 + 64;
  const auto descriptor = forged_read(whole);
  for (std::uint32_t i = 1; i <= most; ++i) arrives(2 * i, 1, 2 * i, whole);
  EXPECT_EQ(full(), 0u);
  arrives(2 * (most + 1), 1, 2 * (most + 1), whole);
  EXPECT_EQ(full(), 1u);
  arrives(2 * most + 1, 1, 2 * most + 1, whole);
  EXPECT_EQ(full(), 1u);
  for (std::uint32_t at = 1; at < whole; ++at) arrives(at, 1, at, whole);
  arrives(0, 1, 0, whole);
  EXPECT_EQ(client->status(descriptor), read_done);
  EXPECT_TRUE(came(whole));
  EXPECT_EQ(kept(), 0u);
}

// Ruling 131: shares do not count for what brings a message on: one book takes more than half of the pool. One of more
// ranges finds no room: in class 3 the frame is lost, and missed.
TEST_F(NarrowBook, fewRanges_haveRoom) {
  begin(Level::ReliableDelivery);
  const auto descriptor = forged_read(12);
  for (const std::uint32_t at : {1u, 3u, 5u, 7u}) arrives(at, 1, at, 12);
  EXPECT_EQ(full(), 0u);
  EXPECT_EQ(kept(), narrow_pool);
  for (const std::uint32_t at : {9u, 11u}) arrives(at, 1, at, 12);
  EXPECT_EQ(full(), 2u);
  arrives(8, 1, 8, 12);
  EXPECT_EQ(full(), 2u) << "behind one that is here it needs nothing";
  arrives(4, 1, 4, 12);
  EXPECT_EQ(full(), 2u) << "nor in front of one";
  for (const std::uint32_t at : {0u, 2u, 6u, 9u, 10u}) arrives(at, 1, at, 12);
  EXPECT_EQ(client->status(descriptor), 0u);
  arrives(11, 1, 11, 12);
  EXPECT_EQ(client->status(descriptor), read_done);
  EXPECT_TRUE(came(12));
  EXPECT_EQ(kept(), 0u);
}

// VI-ARCH 2.5.2: the memory is gone when a frame comes for which the book would grow: nothing of the pool is kept.
TEST_F(ReadBook, growing_memoryLost_keepsNone) {
  begin(Level::ReliableDelivery);
  const auto own = support::register_own(*client, into, 8);
  const auto descriptor = client->descriptor(vi::control::op_rdma_read, {{into, 8}}, server->data, server->handle);
  client->put(descriptor + sizeof(vi::ControlSegment) + sizeof(vi::Segment), vi::Segment{into, own.value, 8});
  meet([](MessageFrame&) { return lose; });
  client_vi->post_send(descriptor, client->handle);
  fabric.run_for(ms);
  arrives(1, 1, 1, 8), arrives(3, 1, 3, 8);
  ASSERT_NE(kept(), 0u);
  ASSERT_EQ(client->nic.memory().deregister(into, own), vi::Return::Success);
  arrives(5, 1, 5, 8);
  EXPECT_EQ(client->status(descriptor), read_done | vi::status::protection_error);
  EXPECT_EQ(kept(), 0u);
}

// Ruling 131: in class 2 such a frame is busied, and comes again: all of it arrives.
TEST_F(NarrowClass2Book, manyRanges_areBusied) {
  begin(Level::ReliableDelivery);
  faults.on_frame = [](MessageFrame& frame) {
    return !frame.from_client && frame.number < 12 && frame.number % 2 == 0 ? late(ms) : pass;
  };
  const auto descriptor = read(12 * frame_bytes);
  fabric.run_for(100 * ms);
  EXPECT_EQ(client->status(descriptor), read_done);
  EXPECT_TRUE(came(12 * frame_bytes));
  EXPECT_EQ(kept(), 0u);
}
TEST_F(NoClass2Book, overtaken_isBusied) {  // ruling 131
  begin(Level::ReliableDelivery);
  faults.on_frame = [](MessageFrame& frame) { return !frame.from_client && frame.number == 1 ? late(ms) : pass; };
  const auto descriptor = read(length);
  fabric.run_for(500 * runtime::microsecond);
  EXPECT_EQ(full(), 2u) << "frames 2 and 3";
  EXPECT_EQ(log.count([](const LoggedFrame& f) { return f.outbound && f.is(RCtl::p_bsy); }), 2u);
  fabric.run_for(s);
  EXPECT_EQ(client->status(descriptor), read_done);
  EXPECT_TRUE(came(length));
  EXPECT_EQ(kept(), 0u);
}

// VI-ARCH 6.3.1.1: a read is complete, and waits for its turn behind another: its book is gone already.
TEST_F(ReadBook, waitsForItsTurn_keepsNone) {
  begin(Level::ReliableDelivery);
  meet([](MessageFrame& frame) { return frame.number == 0 ? late(s) : frame.number == 1 ? late(ms) : pass; });
  const auto first = read(100), second = read(length);
  fabric.run_for(500 * runtime::microsecond);
  EXPECT_NE(kept(), 0u);
  fabric.run_for(10 * ms);
  EXPECT_EQ(client->status(second), 0u);
  EXPECT_EQ(kept(), 0u);
  fabric.run_for(2 * s);
  EXPECT_EQ(client->status(first), read_done);
  EXPECT_EQ(client->status(second), read_done);
}

// --- 65,536 frames -----------------------------------------------------------------------------------------------

/// Frames of 224 bytes: 65,536 of them are 14 MiB.
class SmallFrames : public support::MessageNodes, public ::testing::WithParamInterface<bool> {
 public:
  SmallFrames()
      : MessageNodes({}, [](fc2::NPortConfig& config, std::size_t) { config.receive_data_field_bytes = 256; }) {}
};
INSTANTIATE_TEST_SUITE_P(ReadOrWrite, SmallFrames, ::testing::Bool());

// FC-VI 5.6: SEQ_CNT does not repeat within an IU: without another limit an IU has 65,536 frames, that of a RDMA Write
// or of read data.
TEST_P(SmallFrames, transferring_seqCntIsUsedUp_nextIuBegins) {
  begin(Level::ReliableDelivery);
  fabric.fabric.tap(client->port, nullptr);
  std::vector<int> ends;
  const bool reads = GetParam();
  faults.on_frame = [&](MessageFrame& frame) {
    if (frame.from_client != reads && frame.fc.has(f_ctl::end_sequence)) ends.push_back(frame.number);
    return pass;
  };
  const std::uint16_t operation = reads ? vi::control::op_rdma_read : vi::control::op_rdma_write;
  const auto descriptor =
      client->descriptor(operation, {{client->data, (65'536 + 3) * 224}}, server->data, server->handle);
  client_vi->post_send(descriptor, client->handle);
  fabric.run_for(s);
  EXPECT_EQ(client->status(descriptor),
            vi::status::done | (reads ? vi::status::op_rdma_read : vi::status::op_rdma_write));
  EXPECT_EQ(ends, (std::vector{65'535, 65'538}));
}

}  // namespace
