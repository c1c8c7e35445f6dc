// FCVI_READ_RESP frames that are not what was asked for, and read data that finds no place (FC-VI 5.2.4, 5.8.6, 5.8.7,
// 6.7, 8.4.1, B.2.6).
#include "tests/fcvi/class_2_nodes.hpp"
#include "tests/support/operations.hpp"
#include "tests/support/times.hpp"
#include "wire/fcvi/message_status.hpp"

namespace {
using support::AtLevel;
using support::ForgedFrame;
using support::late;
using support::Level;
using support::MessageFrame;
using support::pass;
using support::read_done;
using support::soon;
using support::twice;
using wire::fcvi::Opcode;
using wire::RCtl;
namespace f_ctl = wire::f_ctl;

class ReadData : public AtLevel {
 public:
  explicit ReadData(bool in_order = true) : AtLevel({}, {}, support::fabric_order(in_order)) {}
  static constexpr std::uint32_t whole = 3 * frame_bytes + 100;  // four frames
  static constexpr std::uint64_t into = support::Host::data;     // at the client
  /// Descriptor of a read of the server's data, which says 's' everywhere; the client's says 'c'.
  std::uint64_t read(std::uint32_t bytes = whole) {
    std::memset(server->bytes(server->data), 's', slot);
    std::memset(client->bytes(into), 'c', slot);
    const auto read = client->descriptor(vi::control::op_rdma_read, {{into, bytes}}, server->data, server->handle);
    client_vi->post_send(read, client->handle);
    return read;
  }
  /// How much of what was read is in its place; behind it nothing has changed.
  [[nodiscard]] std::uint32_t placed() {
    const std::uint8_t *first = client->bytes(into), *end = first + slot;
    const std::uint8_t* untouched = std::find(first, end, 'c');
    EXPECT_EQ(std::find(untouched, end, 's'), end) << "a hole in the data";
    return static_cast<std::uint32_t>(untouched - first);
  }
  /// Of the server's frames that of this number is changed.
  void change(int number, void (*how)(MessageFrame&)) {
    faults.on_frame = [=](MessageFrame& frame) {
      if (frame.from_client || frame.number != number) return pass;
      how(frame);
      frame.rewrite();
      return pass;
    };
  }
  void end_both() {
    disconnect(*server, *server_vi), disconnect(*client, *client_vi);
    fabric.run_for(60 * runtime::second);
    EXPECT_EQ(client->port.open_exchanges() + server->port.open_exchanges(), 0u);
  }
};
class ReadDataAnyOrder : public ReadData {
 public:
  ReadDataAnyOrder() : ReadData(false) {}
};
INSTANTIATE_TEST_SUITE_P(Level, ReadData, support::reliable_levels, support::level_name);
INSTANTIATE_TEST_SUITE_P(Level, ReadDataAnyOrder, support::reliable_levels, support::level_name);

void end_here(MessageFrame& frame) {
  frame.fc.f_ctl |= f_ctl::end_sequence | f_ctl::last_sequence;
  frame.frame.eof = wire::Eof::t;
}
void do_not_end(MessageFrame& frame) {
  frame.fc.f_ctl &= ~(f_ctl::end_sequence | f_ctl::last_sequence);
  frame.frame.eof = wire::Eof::n;
}

struct Wrong {
  const char* name;
  int number;  // of the frame, 0 to 3
  void (*change)(MessageFrame&);
};

// FC-VI 5.8.4, 5.8.6, 5.8.7, 6.7.2, 8.4.1 c), 8.4.2 e), B.2.6.1: each frame repeats what was asked for, and is the next
// one; the end comes when, and only when, all is here. What is not so is a sequence error: at once, no byte of it is
// placed, and the connection breaks.
TEST_P(ReadData, awaitReadData_wrongField_isAnError) {
  constexpr Wrong wrongs[] = {
      {"FCVI_RMT_VA", 2, [](MessageFrame& f) { f.header.rmt_va += 8; }},
      {"FCVI_RMT_VA_HANDLE", 2, [](MessageFrame& f) { f.header.rmt_va_handle.value ^= 1; }},
      {"FCVI_TOT_LEN", 2, [](MessageFrame& f) { f.header.tot_len_or_connection_id += 1; }},
      {"SEQ_CNT", 2, [](MessageFrame& f) { ++f.fc.seq_cnt.value; }},
      {"relative offset too high", 2, [](MessageFrame& f) { f.fc.parameter += 4; }},
      {"relative offset too low", 2, [](MessageFrame& f) { f.fc.parameter -= 4; }},
      {"end too early", 2, end_here},
      {"no end", 3, do_not_end},
      {"no Last_Sequence at the end", 3, [](MessageFrame& f) { f.fc.f_ctl &= ~f_ctl::last_sequence; }},
      {"no End_Sequence at the end", 3, [](MessageFrame& f) { f.frame.eof = wire::Eof::n; }},
      {"too long", 3, [](MessageFrame& f) { f.frame.size_bytes += 4, do_not_end(f); }},
  };
  for (const Wrong& wrong : wrongs) {
    SCOPED_TRACE(wrong.name);
    begin(GetParam(), wrong.name);
    change(wrong.number, wrong.change);
    const auto descriptor = read();
    fabric.run_for(soon);
    EXPECT_EQ(client->status(descriptor), read_done | vi::status::transport_error);
    EXPECT_EQ(client_vi->state(), vi::State::Error);
    EXPECT_EQ(placed(), static_cast<std::uint32_t>(wrong.number) * frame_bytes);
    end_both();
  }
}

// FC-FS: F_CTL says Last_Sequence for a sequence in its last frame; in others it tells nothing.
TEST_P(ReadData, awaitReadData_lastSequenceBeforeTheEnd_isIgnored) {
  begin(GetParam());
  change(1, [](MessageFrame& f) { f.fc.f_ctl |= f_ctl::last_sequence; });
  const auto descriptor = read();
  fabric.run_for(soon);
  EXPECT_EQ(client->status(descriptor), read_done);
  EXPECT_EQ(placed(), whole);
}

// VI-ARCH 2.5.2, VI-DG 5.2: the memory goes away while read data comes: a protection error of the descriptor, which
// ends the connection.
TEST_P(ReadData, awaitReadData_memoryLost_isLocalProtectionError) {
  begin(GetParam());
  constexpr std::uint32_t large = 1u << 20;
  const std::uint64_t data = client->data + (8u << 20);
  wire::MemHandle own{};
  ASSERT_EQ(client->nic.register_memory(data, client->memory.data() + (data - support::Host::base), large, {}, own),
            vi::Return::Success);
  const auto descriptor = client->descriptor(vi::control::op_rdma_read, {{data, large}}, server->data, server->handle);
  auto segment = client->get<vi::Segment>(descriptor + sizeof(vi::ControlSegment) + sizeof(vi::Segment));
  segment.handle = own.value;
  client->put(descriptor + sizeof(vi::ControlSegment) + sizeof(vi::Segment), segment);
  client_vi->post_send(descriptor, client->handle);
  fabric.run_for(2 * runtime::millisecond);  // of ten
  ASSERT_EQ(client->status(descriptor), 0u);
  ASSERT_EQ(client->nic.memory().deregister(data, own), vi::Return::Success);
  fabric.run_for(soon);
  EXPECT_EQ(client->status(descriptor), read_done | vi::status::protection_error);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  end_both();
}

// VI-ARCH 5.4: the VI has stopped, and its descriptors are flushed; read data that comes at that very moment
// is not placed.
TEST_P(ReadData, awaitReadData_flushed_placesNothing) {
  begin(GetParam());
  faults.on_frame = [](MessageFrame& frame) { return !frame.from_client && frame.number > 0 ? support::lose : pass; };
  const auto descriptor = read();
  fabric.run_for(soon);
  ASSERT_EQ(placed(), frame_bytes);
  const auto* first = log.find([](const support::LoggedFrame& f) { return !f.outbound && f.is(RCtl::solicited_data); });
  ASSERT_NE(first, nullptr);
  ForgedFrame next{.header = first->header, .data = first->data, .sof = wire::Sof::n3, .eof = wire::Eof::n};
  next.header.seq_cnt = {1};
  next.header.parameter = frame_bytes;
  client_vi->post_send(client->data + 1, client->handle);  // not a descriptor: the VI stops
  ASSERT_EQ(client->status(descriptor), read_done | vi::status::flushed);
  client->port.receive(next.build(fabric.pool));
  EXPECT_EQ(placed(), frame_bytes);
  EXPECT_EQ(client->status(descriptor), read_done | vi::status::flushed);
  end_both();
}

// FC-VI 5.8.4, ruling 18: a READ_RESP that refuses ends the exchange, whether it says Last_Sequence or not.
TEST_P(ReadData, awaitReadData_refused_endsTheExchange) {
  begin(GetParam());
  change(0, [](MessageFrame& f) { f.fc.f_ctl &= ~f_ctl::last_sequence; });
  const auto refused = client->descriptor(vi::control::op_rdma_read, {{into, 100}},
                                          server->base + server->memory_bytes - 50, server->handle);
  client_vi->post_send(refused, client->handle);
  fabric.run_for(soon);
  EXPECT_EQ(client->status(refused), read_done | vi::status::rdma_protection_error);
  end_both();
}

// --- out of order ------------------------------------------------------------------------------------------------

// VI-ARCH 2.5.2, FC-VI 8.4.1 d): read data that comes twice is placed once.
TEST_P(ReadDataAnyOrder, awaitReadData_doubled_isPlacedOnce) {
  begin(GetParam());
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : twice; };
  const auto descriptor = read();
  fabric.run_for(soon);
  EXPECT_EQ(client->status(descriptor), read_done);
  EXPECT_EQ(placed(), whole);
  EXPECT_EQ(client->port.counters().discarded(fc2::Discard::WrongSequence), 3u);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
}

// FC-VI 8.4.1 d), 5.9.4.3: a READ_RESP that refuses has no data, and may overtake the data that went before it: it
// counts at once.
TEST_P(ReadDataAnyOrder, awaitReadData_refusalOvertakesData_counts) {
  begin(GetParam());
  faults.on_frame = [](MessageFrame& frame) {
    if (frame.from_client || frame.number == 0) return pass;
    if (frame.number != 2) return late(runtime::second);
    frame.header.flags = wire::fcvi::MessageStatus{.resp_err = true, .prot_err = true}.to_flags();
    frame.rewrite();
    return pass;
  };
  const auto descriptor = read();
  fabric.run_for(soon);
  EXPECT_EQ(client->status(descriptor), read_done | vi::status::rdma_protection_error);
}

/// At Reliable Reception reads go one at a time.
class ConcurrentReadData : public ReadDataAnyOrder {};
INSTANTIATE_TEST_SUITE_P(Level, ConcurrentReadData, ::testing::Values(Level::ReliableDelivery), support::level_name);

// FC-VI 6.7.2, 8.4.1 d): a frame behind the end of a read comes before its data, and waits. When the read is complete,
// and only waits for its turn, that frame is dropped.
TEST_P(ConcurrentReadData, awaitReadData_behindTheEnd_isDropped) {
  begin(GetParam());
  faults.on_frame = [](MessageFrame& frame) {
    return frame.from_client ? pass : late((2 - frame.number) * runtime::millisecond);
  };
  const auto first = read(100), second = read(100);
  fabric.run_for(100 * runtime::microsecond);
  const auto* asked_by = log.find([](const support::LoggedFrame& f) {
    return f.outbound && f.is(RCtl::unsolicited_command) &&
           wire::fcvi::DeviceHeader::parse(32, f.data)->msg_id.value == 2;
  });
  ASSERT_NE(asked_by, nullptr);
  auto header = *wire::fcvi::DeviceHeader::parse(32, asked_by->data);
  header.handle = wire::FcviHandle{1};
  header.opcode = Opcode::read_resp;
  ForgedFrame behind{.header = asked_by->header, .data = {}, .sof = wire::Sof::n3};
  std::swap(behind.header.s_id, behind.header.d_id);
  behind.set(header);
  behind.header.r_ctl = RCtl::solicited_data;
  behind.header.f_ctl =
      f_ctl::exchange_responder | f_ctl::last_sequence | f_ctl::end_sequence | f_ctl::relative_offset_present;
  behind.header.seq_cnt = {1};
  behind.header.parameter = 100;
  client->port.receive(behind.build(fabric.pool));
  fabric.run_for(soon);
  for (const auto descriptor : {first, second}) EXPECT_EQ(client->status(descriptor), read_done);
  EXPECT_EQ(fabric.pool.outstanding(), 0u);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
}

// --- answers to other questions ----------------------------------------------------------------------------------

class Answers : public AtLevel {
 public:
  /// A response of the server to the client's message 1, whose request is in the log.
  void answer(Opcode opcode, std::uint16_t ox_id_difference = 0) {
    const auto* asked_by =
        log.find([](const support::LoggedFrame& f) { return f.outbound && f.header.type == wire::Type::fc_vi; });
    ASSERT_NE(asked_by, nullptr);
    const auto asked = *wire::fcvi::DeviceHeader::parse(32, asked_by->data);
    ForgedFrame response{.header = asked_by->header, .data = {}};
    std::swap(response.header.s_id, response.header.d_id);
    response.header.ox_id.value = static_cast<std::uint16_t>(asked_by->header.ox_id.value + ox_id_difference);
    response.header.r_ctl = wire::fcvi::find_iu(opcode)->r_ctl;
    response.header.f_ctl =
        f_ctl::exchange_responder | f_ctl::last_sequence | f_ctl::end_sequence | f_ctl::relative_offset_present;
    response.header.seq_cnt = {0};
    auto header = asked;
    header.handle.value -= 0x1000;  // both ends count alike (TwoNodes)
    header.opcode = opcode;
    header.flags = 0;
    response.set(header);
    if (opcode == Opcode::read_resp) response.data.resize(32 + 100, 's');
    client->port.receive(response.build(fabric.pool));
  }
  [[nodiscard]] std::uint64_t ignored() const { return client->port.counters().discarded(fc2::Discard::UnexpectedIu); }
};
INSTANTIATE_TEST_SUITE_P(Level, Answers, support::reliable_levels, support::level_name);

// FC-VI 5.2.2 to 5.2.4, 6.3, 6.5, 6.7: a request is answered by its own kind of response, on its exchange, and by none
// where none is asked for. Anything else is counted, and ends nothing.
TEST_P(Answers, awaitResponse_otherKind_isIgnored) {
  struct Asked {
    std::uint16_t operation;
    Opcode right;
  };
  constexpr Asked all[] = {{0, Opcode::send_resp},
                           {vi::control::op_rdma_write, Opcode::write_resp},
                           {vi::control::op_rdma_read, Opcode::read_resp}};
  for (const Asked& asked : all) {
    SCOPED_TRACE(to_string(asked.right));
    if (!reception() && asked.right != Opcode::read_resp) continue;  // class_2_ack_test: nothing is asked for
    begin(GetParam(), to_string(asked.right));
    faults.on_frame = [](MessageFrame&) { return support::lose; };
    const auto descriptor = client->descriptor(asked.operation, {{client->data, 100}}, server->data, server->handle);
    client_vi->post_send(descriptor, client->handle);
    fabric.run_for(soon);
    const auto before = ignored();
    std::uint64_t wrong = 0;
    for (const Opcode opcode : {Opcode::send_resp, Opcode::write_resp, Opcode::read_resp})
      if (opcode != asked.right) answer(opcode), ++wrong;
    answer(asked.right, 1), ++wrong;
    EXPECT_EQ(ignored(), before + wrong);
    EXPECT_EQ(client->status(descriptor), 0u);
    answer(asked.right);
    EXPECT_EQ(client->status(descriptor) & ~vi::status::op_mask, vi::status::done);
    EXPECT_EQ(ignored(), before + wrong);
    answer(asked.right);  // once more
    EXPECT_EQ(ignored(), before + wrong + 1);
    disconnect(*client, *client_vi), disconnect(*server, *server_vi);
  }
}

// FC-VI 5.2.2, 5.8.4: while the request is being sent, the initiative is ours: a response to it is of no interest, and
// the request goes on.
TEST_P(Answers, sending_responseBeforeTheEnd_isIgnored) {
  begin(GetParam());
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : support::lose; };
  receive(), send(1, 60'000);
  fabric.run_for(200 * runtime::microsecond);  // of 600
  const auto before = ignored();
  answer(Opcode::send_resp);
  EXPECT_EQ(ignored(), before + 1);
  fabric.run_for(soon);
  EXPECT_TRUE(arrived(0, 0, 60'000));
  EXPECT_EQ(sent(0), reception() ? 0u : sent_well);
  if (reception()) answer(Opcode::send_resp);
  EXPECT_EQ(sent(0), sent_well);
}

}  // namespace
