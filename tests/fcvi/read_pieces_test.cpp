// Read data on a fabric that does not keep the order, from the frame on that overtakes another (FC-VI 5.2.4, 5.8.6,
// 5.8.7, 6.7.2, 8.4.1 c) d), B.2.6): what is placed, what ends the read, and what of the reorder pool is left.
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
using support::lose;
using support::MessageFrame;
using support::pass;
using support::read_done;
using support::soon;
using support::twice;
namespace f_ctl = wire::f_ctl;

class ReadPieces : public support::AtLevel {
 public:
  explicit ReadPieces(fcvi::ProviderConfig config = {}) : AtLevel(config, {}, support::fabric_order(false)) {}
  static constexpr std::uint32_t whole = 3 * frame_bytes + 100;  // four frames: 0 to 3
  static constexpr std::uint64_t into = Host::data;              // at the client
  std::uint64_t read(std::uint32_t bytes = whole) {
    for (std::uint32_t i = 0; i < bytes; ++i) server->bytes(server->data)[i] = content(0, i);
    std::memset(client->bytes(into), 0xCC, bytes + 64);
    const auto read = client->descriptor(vi::control::op_rdma_read, {{into, bytes}}, server->data, server->handle);
    client_vi->post_send(read, client->handle);
    return read;
  }
  /// Bytes [begin, end) came as they should.
  [[nodiscard]] bool came(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin; i < end; ++i)
      if (client->bytes(into)[i] != content(0, i)) return false;
    return true;
  }
  [[nodiscard]] bool untouched(std::uint32_t begin, std::uint32_t end) {
    return std::count(client->bytes(into) + begin, client->bytes(into) + end, 0xCC) ==
           static_cast<std::ptrdiff_t>(end - begin);
  }
  /// Of the server's frames.
  void meet(std::function<Fate(MessageFrame&)> fate) {
    faults.on_frame = [=](MessageFrame& frame) { return frame.from_client ? pass : fate(frame); };
  }
  /// The frame of that number comes a second late, another is changed.
  void change(int late_one, int number, void (*how)(MessageFrame&)) {
    meet([=](MessageFrame& frame) {
      if (frame.number == late_one) return late(runtime::second);
      if (frame.number == number) how(frame), frame.rewrite();
      return pass;
    });
  }
  [[nodiscard]] std::uint64_t wrong() const { return client->port.counters().discarded(fc2::Discard::WrongSequence); }
  void expect_nothing_is_kept() {
    EXPECT_EQ(client->provider.reorder_bytes(), 0u);
    EXPECT_EQ(fabric.pool.outstanding(), 0u);
  }
};
INSTANTIATE_TEST_SUITE_P(Level, ReadPieces, support::reliable_levels, support::level_name);

// FC-VI 8.4.1 d): any one frame comes last, the first, one between or the last: all of it is placed as it comes, and
// completes with it; the book of what is here is gone then.
TEST_P(ReadPieces, awaitReadData_oneFrameLate_isPlacedAsItComes) {
  for (const int number : {0, 1, 2, 3}) {
    SCOPED_TRACE(number);
    begin(GetParam(), std::to_string(number));
    meet([=](MessageFrame& frame) { return frame.number == number ? late(runtime::second) : pass; });
    const auto descriptor = read();
    fabric.run_for(soon);
    const auto at = static_cast<std::uint32_t>(number) * frame_bytes, end = std::min(at + frame_bytes, whole);
    EXPECT_TRUE(came(0, at));
    EXPECT_TRUE(untouched(at, end));
    EXPECT_TRUE(came(end, whole));
    EXPECT_EQ(client->status(descriptor), 0u);
    EXPECT_GT(client->provider.reorder_bytes() + (number == 3), 0u);
    fabric.run_for(2 * runtime::second);
    EXPECT_EQ(client->status(descriptor), read_done);
    EXPECT_TRUE(came(0, whole));
    EXPECT_TRUE(untouched(whole, whole + 64));
    expect_nothing_is_kept();
    disconnect(*client, *client_vi), disconnect(*server, *server_vi);
  }
}

// FC-VI 5.8.6, 5.8.7, 6.7.2, 8.4.1 c): once frames overtook each other, each is still one of those that were asked for:
// what is not is a sequence error at once, no byte of it is placed, and the connection breaks.
TEST_P(ReadPieces, awaitReadData_wrongField_isAnError) {
  struct Wrong {
    const char* name;
    int number;
    void (*change)(MessageFrame&);
    bool shows_later = false;  // by the frame behind it
  };
  constexpr Wrong wrongs[] = {
      {"FCVI_RMT_VA", 2, [](MessageFrame& f) { f.header.rmt_va += 8; }},
      {"FCVI_RMT_VA_HANDLE", 2, [](MessageFrame& f) { f.header.rmt_va_handle.value ^= 1; }},
      {"FCVI_TOT_LEN", 2, [](MessageFrame& f) { f.header.tot_len_or_connection_id += 1; }},
      {"SEQ_CNT of the one before", 2, [](MessageFrame& f) { f.fc.seq_cnt = {1}; }},
      {"SEQ_CNT of the first", 2, [](MessageFrame& f) { f.fc.seq_cnt = {0}; }},
      {"relative offset too low", 2, [](MessageFrame& f) { f.fc.parameter -= 4; }, true},
      {"end too early", 2,
       [](MessageFrame& f) { f.fc.f_ctl |= f_ctl::end_sequence | f_ctl::last_sequence, f.frame.eof = wire::Eof::t; }},
      {"no end", 3,
       [](MessageFrame& f) {
         f.fc.f_ctl &= ~(f_ctl::end_sequence | f_ctl::last_sequence), f.frame.eof = wire::Eof::n;
       }},
      {"beyond the end", 3, [](MessageFrame& f) { f.fc.parameter += 4; }},
  };
  for (const Wrong& wrong : wrongs) {
    SCOPED_TRACE(wrong.name);
    begin(GetParam(), wrong.name);
    change(1, wrong.number, wrong.change);
    const auto descriptor = read();
    fabric.run_for(soon);
    EXPECT_EQ(client->status(descriptor), read_done | vi::status::transport_error);
    EXPECT_EQ(client_vi->state(), vi::State::Error);
    EXPECT_TRUE(came(0, frame_bytes));
    EXPECT_TRUE(untouched(frame_bytes, 2 * frame_bytes - 4));
    EXPECT_EQ(untouched(2 * frame_bytes, whole), wrong.number == 2 && !wrong.shows_later);
    fabric.run_for(2 * runtime::second);
    expect_nothing_is_kept();
    disconnect(*server, *server_vi), disconnect(*client, *client_vi);
  }
}

// VI-ARCH 2.5.2: while a frame is missing, others come twice, what is in front of the gap and what is behind it: each
// is placed once, and nothing ends.
TEST_P(ReadPieces, awaitReadData_doubledAroundAGap_isPlacedOnce) {
  begin(GetParam());
  meet([](MessageFrame& frame) { return frame.number == 1 ? late(runtime::second) : twice; });
  const auto descriptor = read();
  fabric.run_for(soon);
  EXPECT_EQ(wrong(), 3u) << "0, 2 and 3 came twice";
  EXPECT_EQ(client->status(descriptor), 0u);
  fabric.run_for(2 * runtime::second);
  EXPECT_EQ(client->status(descriptor), read_done);
  EXPECT_TRUE(came(0, whole));
  EXPECT_EQ(client->provider.counters().data_bytes_received, whole);
  EXPECT_EQ(client->provider.counters().data_frames_received, 4u);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
}

// FC-VI 5.8.7: a frame without data brings nothing: it does not end a read that lacks data, nor stand for any of it.
TEST_P(ReadPieces, awaitReadData_frameWithoutData_isDropped) {
  begin(GetParam());
  change(1, 2, [](MessageFrame& f) { f.frame.size_bytes = static_cast<std::uint16_t>(24 + 32); });
  const auto descriptor = read();
  fabric.run_for(3 * runtime::second);
  EXPECT_EQ(wrong(), 1u);
  EXPECT_EQ(client->status(descriptor), 0u) << "its data is missing";
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  EXPECT_TRUE(came(0, 2 * frame_bytes));
  EXPECT_TRUE(untouched(2 * frame_bytes, 3 * frame_bytes));
}

// VI-ARCH 2.5.2, VI-DG 5.2: the memory goes away while a frame is missing: what comes then finds a protection error
// of the descriptor.
TEST_P(ReadPieces, awaitReadData_memoryLostInAGap_isLocalProtectionError) {
  begin(GetParam());
  const auto own = support::register_own(*client, into, whole);
  const auto descriptor = client->descriptor(vi::control::op_rdma_read, {{into, whole}}, server->data, server->handle);
  constexpr auto at = sizeof(vi::ControlSegment) + sizeof(vi::Segment);
  auto segment = client->get<vi::Segment>(descriptor + at);
  segment.handle = own.value;
  client->put(descriptor + at, segment);
  meet([](MessageFrame& frame) { return frame.number == 1 ? late(runtime::second) : pass; });
  client_vi->post_send(descriptor, client->handle);
  fabric.run_for(soon);
  ASSERT_EQ(client->status(descriptor), 0u);
  ASSERT_EQ(client->nic.memory().deregister(into, own), vi::Return::Success);
  fabric.run_for(2 * runtime::second);
  EXPECT_EQ(client->status(descriptor), read_done | vi::status::protection_error);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  expect_nothing_is_kept();
}

// VI-ARCH 5.4: the VI stopped while a frame was missing; that frame comes in this very moment and is not placed.
TEST_P(ReadPieces, awaitReadData_flushedInAGap_placesNothing) {
  begin(GetParam());
  meet([](MessageFrame& frame) { return frame.number == 1 ? lose : pass; });
  const auto descriptor = read();
  fabric.run_for(soon);
  const auto* first =
      log.find([](const support::LoggedFrame& f) { return !f.outbound && f.is(wire::RCtl::solicited_data); });
  ASSERT_NE(first, nullptr);
  ForgedFrame missing{.header = first->header, .data = first->data, .sof = wire::Sof::n3, .eof = wire::Eof::n};
  missing.header.seq_cnt = {1};
  missing.header.parameter = frame_bytes;
  client_vi->post_send(client->data + 1, client->handle);  // not a descriptor: the VI stops
  ASSERT_EQ(client->status(descriptor), read_done | vi::status::flushed);
  client->port.receive(missing.build(fabric.pool));
  EXPECT_TRUE(untouched(frame_bytes, 2 * frame_bytes));
}

/// Room for no book at all.
class ReadPiecesNoRoom : public ReadPieces {
 public:
  ReadPiecesNoRoom() : ReadPieces({.address = {}, .reorder_pool_bytes = 16}) {}
};
INSTANTIATE_TEST_SUITE_P(Level, ReadPiecesNoRoom, support::reliable_levels, support::level_name);

// Ruling 131: where there is no room, a frame that overtook another is lost and counted; it is missed when
// FCVI_ULP_TIMEOUT is over (8.4.1 a).
TEST_P(ReadPiecesNoRoom, awaitReadData_overtaken_isLost) {
  begin(GetParam());
  meet([](MessageFrame& frame) { return frame.number == 1 ? late(runtime::millisecond) : pass; });
  const auto descriptor = read();
  fabric.run_for(soon);
  EXPECT_EQ(client->provider.counters().reorder_pool_full, 2u) << "frames 2 and 3";
  EXPECT_TRUE(came(0, 2 * frame_bytes));
  EXPECT_TRUE(untouched(2 * frame_bytes, whole));
  EXPECT_EQ(client->status(descriptor), 0u);
  fabric.run_for(100 * runtime::second);
  EXPECT_EQ(client->status(descriptor), read_done | vi::status::transport_error);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
}
}  // namespace
