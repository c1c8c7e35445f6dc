// Message requests that are not what they should be, and what they may reach (FC-VI 5.2, 5.8, 5.9.5, 6.2 to 6.6, 7.3,
// 8.4, C.5.10.1, Annex F; VI-ARCH 3.2.2).
#include "tests/fcvi/class_2_nodes.hpp"
#include "tests/support/times.hpp"
#include "wire/fcvi/reason.hpp"

namespace {
using support::AtLevel;
using support::ForgedFrame;
using support::Host;
using support::Level;
using support::LoggedFrame;
using support::lose;
using support::MessageFrame;
using support::pass;
using support::soon;
using wire::fcvi::Opcode;
using wire::RCtl;
namespace f_ctl = wire::f_ctl;

constexpr std::uint32_t ends = f_ctl::end_sequence | f_ctl::last_sequence | f_ctl::sequence_initiative;

/// A message of the client: four frames, one of which is changed on its way.
class Request : public AtLevel {
 public:
  explicit Request(bool in_order = true) : AtLevel({}, {}, support::fabric_order(in_order)) {}
  static constexpr std::uint32_t whole = 3 * frame_bytes + 100;
  static constexpr std::uint64_t target = Host::data + (8u << 20);  // of RDMA, at the server
  void change(int number, void (*how)(MessageFrame&)) {
    faults.on_frame = [=](MessageFrame& frame) {
      if (!frame.from_client || frame.number != number) return pass;
      how(frame);
      frame.rewrite();
      return pass;
    };
  }
  std::uint64_t rdma(std::uint16_t operation, wire::MemHandle handle, std::uint32_t bytes = whole) {
    const auto descriptor = client->descriptor(operation, {{client->data, bytes}}, target, handle);
    std::memset(client->bytes(client->data), 'c', bytes), std::memset(server->bytes(target), 's', slot);
    client_vi->post_send(descriptor, client->handle);
    fabric.run_for(soon);
    return descriptor;
  }
  /// Bytes of an RDMA Write that are in their place; behind them nothing has changed.
  [[nodiscard]] std::uint32_t written() {
    const std::uint8_t *first = server->bytes(target), *end = first + slot;
    const std::uint8_t* untouched = std::find(first, end, 's');
    EXPECT_EQ(std::find(untouched, end, 'c'), end) << "a hole in the data";
    return static_cast<std::uint32_t>(untouched - first);
  }
  wire::MemHandle register_for(bool write, bool read) {
    wire::MemHandle handle{};
    const vi::MemoryAttributes attributes{.ptag = {}, .enable_rdma_write = write, .enable_rdma_read = read};
    EXPECT_EQ(server->nic.register_memory(Host::base, server->memory.data(), server->memory.size(), attributes, handle),
              vi::Return::Success);
    return handle;
  }
  /// A frame of a request by the client that its sender knows nothing of: the first of its exchange, and all of it
  /// unless said otherwise.
  ForgedFrame forge(Opcode opcode, std::uint32_t msg_id, std::uint32_t total, std::uint32_t payload = 0) {
    wire::fcvi::DeviceHeader header{.handle = wire::FcviHandle{0x1001}, .opcode = opcode, .msg_id = {msg_id}};
    if (opcode != Opcode::send_rqst) header.rmt_va = target, header.rmt_va_handle = server->handle;
    header.tot_len_or_connection_id = total;
    return support::forged_message(
        server->port.n_port_id(), client->port.n_port_id(), header,
        {.bytes = payload, .answered = opcode == Opcode::read_rqst || reception(), .content = 'f'});
  }
  void inject(const ForgedFrame& frame) { server->port.receive(frame.build(fabric.pool)); }
};
INSTANTIATE_TEST_SUITE_P(Level, Request, support::all_levels, support::level_name);

// FC-VI 5.9.8, 6.4.2, B.2.5 rules 6a, 6b: FCVI_RMT_VA and FCVI_RMT_VA_HANDLE are the same in all frames of an RDMA
// Write; where they are not, no byte of that frame is placed.
TEST_P(Request, receiving_writeChangesItsTarget_isAnError) {
  constexpr void (*changes[])(MessageFrame&) = {[](MessageFrame& f) { f.header.rmt_va += 64; },
                                                [](MessageFrame& f) { f.header.rmt_va += frame_bytes; },
                                                [](MessageFrame& f) { f.header.rmt_va_handle.value += 1; }};
  const auto handle = register_for(true, true);
  register_for(true, true);  // another one of the same memory
  int number = 0;
  for (const auto how : changes) {
    SCOPED_TRACE(number);
    begin(GetParam(), std::to_string(number++));
    change(2, how);
    rdma(vi::control::op_rdma_write, handle);
    EXPECT_EQ(written(), 2 * frame_bytes);
    EXPECT_EQ(server_vi->state(), unreliable() ? vi::State::Connected : vi::State::Error);
    EXPECT_EQ(server->count(vi::ErrorCode::RdmaTransport), number);
    disconnect(*server, *server_vi), disconnect(*client, *client_vi);
  }
}

// FC-VI 5.9.5, 6.2.2: reserved fields and flags are ignored, also where they change in the middle.
TEST_P(Request, receiving_reservedFieldsChange_arrives) {
  begin(GetParam());
  change(1,
         [](MessageFrame& f) { f.header.flags |= 0xFE, f.header.rmt_va = 0x4711, f.header.rmt_va_handle.value = 7; });
  receive(), send(1, whole);
  fabric.run_for(soon);
  EXPECT_TRUE(arrived(0, 0, whole));
}

// FC-VI 5.9.9, 6.2.2, 8.4.1: the end comes when, and only when, FCVI_TOT_LEN bytes came. What is longer places none
// of its frame.
TEST_P(Request, receiving_endElsewhere_isAnErrorAtOnce) {
  constexpr void (*changes[])(MessageFrame&) = {
      [](MessageFrame& f) { f.fc.f_ctl &= ~ends, f.frame.eof = wire::Eof::n; },
      [](MessageFrame& f) { f.fc.f_ctl &= ~(ends & ~f_ctl::end_sequence); },
      [](MessageFrame& f) { f.frame.size_bytes += 4; },
      [](MessageFrame& f) { f.frame.size_bytes += 4, f.fc.f_ctl &= ~ends, f.frame.eof = wire::Eof::n; },
      [](MessageFrame& f) { f.frame.size_bytes += 4, f.fc.f_ctl &= ~(ends & ~f_ctl::end_sequence); },
  };
  int number = 0;
  for (const auto how : changes) {
    SCOPED_TRACE(number);
    begin(GetParam(), std::to_string(number++));
    change(3, how);
    const std::size_t first = receives.size();
    receive(2), send(1, whole);
    fabric.run_for(soon);
    EXPECT_EQ(received(first), receive_lost);
    EXPECT_EQ(server->bytes(server->data + first * slot)[3 * frame_bytes], 0) << "placed";
    EXPECT_EQ(server_vi->state(), unreliable() ? vi::State::Connected : vi::State::Error);
    disconnect(*server, *server_vi), disconnect(*client, *client_vi);
    sends.resize(receives.size());  // buffers go by these
  }
}

// FC-VI 5.8.6, B.2.5 rules 6a to 6d: SEQ_CNT is the next one, too: a frame with another one is not the next, though its
// relative offset is.
TEST_P(Request, receiving_otherSeqCnt_isAnError) {
  for (const int number : {0, 1, 3}) {
    SCOPED_TRACE(number);
    begin(GetParam(), std::to_string(number));
    change(number, [](MessageFrame& f) { f.fc.seq_cnt.value += 1; });
    const std::size_t first = receives.size();
    receive(2), send(1, whole);
    fabric.run_for(soon);
    EXPECT_EQ(received(first), number == 0 ? (unreliable() ? 0u : receive_flushed) : receive_lost)
        << "no descriptor is claimed before frame 0";
    EXPECT_EQ(server_vi->state(), unreliable() ? vi::State::Connected : vi::State::Error);
    disconnect(*server, *server_vi), disconnect(*client, *client_vi);
    sends.resize(receives.size());  // buffers go by these
  }
}

// VI-DG 5.2 bit 3, FC-VI 5.7: a Send that is longer than the VI's MaxTransferSize is too long, however much the
// descriptor has room for.
TEST_P(Request, expecting_longerThanMaxTransferSize_isTooLong) {
  constexpr std::uint32_t most = 32'000;
  const auto make = [](Host& host) {
    vi::Vi* made = nullptr;
    EXPECT_EQ(host.nic.create_vi({.reliability = GetParam(),
                                  .max_transfer_size_bytes = most,
                                  .ptag = {},
                                  .enable_rdma_write = true,
                                  .enable_rdma_read = true},
                                 nullptr, nullptr, made),
              vi::Return::Success);
    return made;
  };
  client_vi = make(*client), server_vi = make(*server);
  server->provider.connect_wait(server->net("x"), runtime::second, wait);
  client->provider.connect_request(*client_vi, client->net("c"), server->net("x"), runtime::second, request);
  ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
  server->provider.connect_accept(wait.token, *server_vi, accept);
  ASSERT_TRUE(fabric.run_until([&] { return accept.result && request.result; }));
  fabric.run_for(runtime::millisecond);
  receive(2);
  const auto right = server->bytes(server->data)[0];
  ForgedFrame longest = forge(Opcode::send_rqst, 1, most + 1, frame_bytes);
  longest.header.f_ctl &= ~ends, longest.eof = wire::Eof::n;
  inject(longest);
  const bool waits_for_the_rest = reception();  // its response comes after its last frame
  EXPECT_EQ(received(0),
            waits_for_the_rest ? 0u : vi::status::done | vi::status::op_receive | vi::status::length_error);
  EXPECT_EQ(server->bytes(server->data)[0], right);
  fabric.run_for(11 * runtime::second);  // R_A_TOV: the rest never comes
  EXPECT_EQ(received(0), vi::status::done | vi::status::op_receive | vi::status::length_error);
}

// VI-DG 5.2, VI-ARCH 2.5: a receive descriptor that is bad is not used: not for a Send without data, nor for the
// immediate data of an RDMA Write. It tells what is wrong with it.
TEST_P(Request, expecting_badDescriptor_isNotUsed) {
  for (const bool write : {false, true}) {
    SCOPED_TRACE(write);
    begin(GetParam(), write ? "write" : "send");
    const auto bad = server->descriptor(vi::control::op_rdma_write, {{server->data, slot}}, 0, {});
    server_vi->post_receive(bad, server->handle);
    const auto control = static_cast<std::uint16_t>(vi::control::immediate | (write ? vi::control::op_rdma_write : 0));
    const auto message = write ? client->descriptor(control, {{client->data, 100}}, target, server->handle, 5)
                               : client->descriptor(control, {});
    client_vi->post_send(message, client->handle);
    fabric.run_for(soon);
    const auto op = write ? vi::status::op_remote_rdma_write : vi::status::op_receive;
    EXPECT_EQ(server->status(bad), vi::status::done | op | vi::status::format_error);
    EXPECT_EQ(server_vi->state(), unreliable() ? vi::State::Connected : vi::State::Error);
    disconnect(*server, *server_vi), disconnect(*client, *client_vi);
  }
}

// FC-VI 5.9.4.3, VI-ARCH 3.2.2, VI-DG 3.8.1: memory that is enabled for RDMA Write alone is written and not read, and
// the other way round.
TEST_P(Request, expecting_rdma_needsItsOwnRight) {
  const auto for_write = register_for(true, false), for_read = register_for(false, true);
  begin(GetParam(), "right write");
  EXPECT_EQ(client->status(rdma(vi::control::op_rdma_write, for_write)) & vi::status::error_mask, 0u);
  EXPECT_EQ(written(), whole);
  begin(GetParam(), "wrong write");
  rdma(vi::control::op_rdma_write, for_read);
  EXPECT_EQ(written(), 0u);
  EXPECT_EQ(server->count(vi::ErrorCode::RdmaWProt), 1);
  if (unreliable()) return;
  begin(GetParam(), "right read");
  EXPECT_EQ(client->status(rdma(vi::control::op_rdma_read, for_read)), vi::status::done | vi::status::op_rdma_read);
  begin(GetParam(), "wrong read");
  EXPECT_EQ(client->status(rdma(vi::control::op_rdma_read, for_write)),
            vi::status::done | vi::status::op_rdma_read | vi::status::rdma_protection_error);
  EXPECT_EQ(server->count(vi::ErrorCode::RdmaRProt), 1);
}

// FC-VI 8.4.2 b), FC-FS: the ABTS of another exchange takes nothing from the message that is open.
TEST_P(Request, receiving_otherExchangeAborted_arrives) {
  begin(GetParam());
  receive(), send(1, 60'000);
  fabric.run_for(200 * runtime::microsecond);  // of 600
  inject(support::as_abts(forge(Opcode::send_rqst, 77, 0)));
  fabric.run_for(soon);
  EXPECT_TRUE(arrived(0, 0, 60'000));
}

class UnreliableRequest : public Request {};
INSTANTIATE_TEST_SUITE_P(Level, UnreliableRequest, ::testing::Values(Level::UnreliableDelivery), support::level_name);

// FC-VI 6.6.1, 8.4.1: an RDMA Read is not allowed on a VI of Unreliable Delivery: nothing is read, nothing ends but the
// message that it is, whose FCVI_MSG_ID is used.
TEST_P(UnreliableRequest, expecting_read_isDiscarded) {
  begin(GetParam());
  const auto before = discarded();
  inject(forge(Opcode::read_rqst, 1, 100));
  fabric.run_for(soon);
  EXPECT_EQ(discarded(), before + 1);
  EXPECT_EQ(log.count([](const LoggedFrame& f) { return !f.outbound && f.header.type == wire::Type::fc_vi; }), 0u);
  EXPECT_EQ(server->port.open_exchanges(), 0u);
  receive(), send(2, 100);
  fabric.run_for(soon);
  EXPECT_TRUE(arrived(1, 0, 100)) << "the first had the number of the read";
}

class Reads : public Request {};
INSTANTIATE_TEST_SUITE_P(Level, Reads, support::reliable_levels, support::level_name);

// FC-VI 7.3: no FCVI_PIPELINE_DEPTH that we tell lets more than 4,096 RDMA Reads be open. So many wait for their turn;
// one more ends the connection, and nothing of them is left.
TEST_P(Reads, expecting_readFlood_endsTheConnection) {
  begin(GetParam());
  constexpr std::uint32_t most = 4096;
  for (std::uint32_t id = 1; id <= most; ++id) inject(forge(Opcode::read_rqst, id, 1u << 20));
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  inject(forge(Opcode::read_rqst, most + 1, 1u << 20));
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  fabric.run_for(soon);
  const auto* told = log.find([](const LoggedFrame& f) { return !f.outbound && f.is(RCtl::unsolicited_control); });
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(wire::fcvi::DeviceHeader::parse(32, told->data)->parameter >> 16,
            static_cast<unsigned>(wire::fcvi::Reason::protocol_error));
  EXPECT_EQ(fcvi::Provider::end_cause(*server_vi).text,
            std::string("frames or answers of the peer did not come in time, or not as they should (transport error)"));
  disconnect(*server, *server_vi), disconnect(*client, *client_vi);
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(server->port.open_exchanges(), 0u);
  EXPECT_EQ(server->provider.handles_in_use(), 0u);
}

// FC-VI 8.4.2 b) e), VI-ARCH 6.3.1.1: the ABTS of an RDMA Read that waits for its turn, or whose turn has just come,
// breaks the connection; nothing behind it has an effect.
TEST_P(Reads, reading_waitingReadAborted_breaks) {
  for (const std::uint32_t aborted : {1u, 2u}) {
    SCOPED_TRACE(aborted);
    begin(GetParam(), std::to_string(aborted));
    const auto abts = support::as_abts(forge(Opcode::read_rqst, aborted, 0));
    for (const std::uint32_t id : {1u, 2u, 3u}) {
      auto read = forge(Opcode::read_rqst, id, 1u << 20);
      read.data[3] = static_cast<std::uint8_t>(aborted);  // FCVI_HANDLE
      inject(read);
    }
    if (aborted == 2) fabric.run_for(runtime::millisecond);  // of ten: the first is being sent
    ASSERT_EQ(server_vi->state(), vi::State::Connected);
    inject(abts);
    EXPECT_EQ(server_vi->state(), vi::State::Error);
    disconnect(*server, *server_vi), disconnect(*client, *client_vi);
  }
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(server->port.open_exchanges(), 0u);
}

// FC-VI 8.4.2 g), 7.7.1: a logout while read data, and a message, go out: the connection is lost, and nothing is sent
// for that: no Disconnect, and no ABTS of what ended with the login.
TEST_P(Reads, reading_portLoggedOut_isLostWithoutDisconnect) {
  begin(GetParam());
  inject(forge(Opcode::read_rqst, 1, 1u << 20));
  fabric.run_for(runtime::microsecond);  // its exchange is the first
  client_vi->post_receive(client->descriptor(0, {{client->data, 1u << 20}}), client->handle);
  const auto own = server->descriptor(0, {{server->data, 1u << 20}});
  server_vi->post_send(own, server->handle);
  fabric.run_for(runtime::millisecond);  // of twenty
  log.clear();
  server->port.remote_port(client->port.n_port_id()).implicit_logout();
  fabric.run_for(runtime::second);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), 1);
  EXPECT_EQ(server->status(own), send_flushed | vi::status::partial_error);
  EXPECT_EQ(log.count([](const LoggedFrame& f) {
    return !f.outbound && (f.is(RCtl::unsolicited_control) || f.is(RCtl::abts));
  }),
            0u);
}

/// At Reliable Reception nothing passes a read.
class PassedReads : public Request {};
INSTANTIATE_TEST_SUITE_P(Level, PassedReads, ::testing::Values(Level::ReliableDelivery), support::level_name);

// FC-VI 6.12.2: the last message that was completed: a Send that passed the data of the RDMA Read before it
// stays the last.
TEST_P(PassedReads, disconnect_sendPassedRead_tellsTheSend) {
  begin(GetParam());
  receive();
  const auto read = client->descriptor(vi::control::op_rdma_read, {{client->data + (8u << 20), 1u << 20}}, server->data,
                                       server->handle);
  client_vi->post_send(read, client->handle);
  send(1, 100);
  fabric.run_for(runtime::millisecond);
  ASSERT_TRUE(arrived(0, 0, 100));
  ASSERT_EQ(client->status(read), 0u);
  fabric.run_for(runtime::second);
  ASSERT_EQ(client->status(read), vi::status::done | vi::status::op_rdma_read);
  log.clear();
  disconnect(*server, *server_vi);
  const auto* told = log.find([](const LoggedFrame& f) { return !f.outbound && f.is(RCtl::unsolicited_control); });
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(wire::fcvi::DeviceHeader::parse(32, told->data)->msg_id.value, 2u);
}

class AnyOrder : public Request {
 public:
  AnyOrder() : Request(false) {}
};
INSTANTIATE_TEST_SUITE_P(Level, AnyOrder, support::all_levels, support::level_name);

// FC-VI 8.4.2 f): what waits for a frame that it overtook, the end of an RDMA Write (ruling 193), is not kept as long
// as the handle rests.
TEST_P(AnyOrder, waiting_disconnected_keepsNoFrames) {
  begin(GetParam());
  faults.on_frame = support::to_frame(0, lose);
  rdma(vi::control::op_rdma_write, register_for(true, true), 10 * frame_bytes);
  ASSERT_EQ(fabric.pool.outstanding(), 1u);
  const auto before = discarded();
  disconnect(*server, *server_vi);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(fabric.pool.outstanding(), 0u);
  EXPECT_EQ(server->provider.reorder_bytes(), 0u);
  EXPECT_EQ(discarded(), before + 1) << "FC-VI B.2.4 rule 1 a)";
}

// FC-VI 8.4.2 b) d), FC-FS ABTS, B.2.4 rule 3a: message 2, of which three frames came, is aborted while of message 1
// nothing or only the end has come. Unreliable Delivery: message 2 alone is lost, with the descriptor that is next
// (ruling 192), and message 1 arrives. Reliable: the connection ends, by the message whose turn it is (ruling 196).
TEST_P(AnyOrder, waiting_laterMessageAborted_isLost) {
  for (const std::uint32_t bytes : {100u, whole}) {
    SCOPED_TRACE(bytes);
    begin(GetParam(), std::to_string(bytes));
    const std::size_t first = sends.size();
    const int frames = bytes == 100 ? 1 : 4;
    faults.on_frame = [=](MessageFrame& frame) {
      if (!frame.from_client) return pass;
      return frame.number == 0 ? support::late(5 * runtime::millisecond) : frame.number == frames + 3 ? lose : pass;
    };
    receive(2), send(1, bytes), send(1, whole);
    fabric.run_for(runtime::millisecond);
    const auto* second =
        log.find([](const LoggedFrame& f) { return f.outbound && f.is(RCtl::solicited_data) && f.data[11] == 2; });
    ASSERT_NE(second, nullptr);
    inject(support::as_abts({.header = second->header}));
    EXPECT_EQ(server_vi->state(), unreliable() ? vi::State::Connected : vi::State::Error);
    fabric.run_for(soon);
    const bool nothing = bytes == 100;  // came of message 1
    if (unreliable()) {
      EXPECT_TRUE(arrived(first, nothing ? first + 1 : first, bytes));
      EXPECT_EQ(received(nothing ? first : first + 1), receive_lost);
    } else {
      EXPECT_EQ(received(first), nothing ? receive_flushed : receive_lost);
    }
    disconnect(*server, *server_vi), disconnect(*client, *client_vi);
  }
}

// FC-VI 5.8.7, 5.9.9, B.2.5 rule 6b, ruling 202: an offset that the message does not have is a Protocol Error, here
// where it overtakes the message too. Unreliable Delivery: that message is lost, no descriptor is, for nothing of it
// was placed (B.2.4 rule 3a).
TEST_P(AnyOrder, waiting_frameBeyondTheEnd_isAnError) {
  begin(GetParam());
  faults.on_frame = support::to_frame(0, support::late(runtime::millisecond));
  receive(2), send(1, whole);
  ForgedFrame beyond = forge(Opcode::send_rqst, 1, whole, 100);
  beyond.header.parameter = 10 * frame_bytes, beyond.header.seq_cnt = {10};
  inject(beyond);
  fabric.run_for(soon);
  if (!unreliable()) {
    EXPECT_EQ(server_vi->state(), vi::State::Error);
    EXPECT_EQ(received(0), receive_flushed);
    const auto* told = log.find([](const LoggedFrame& f) { return !f.outbound && f.is(RCtl::unsolicited_control); });
    ASSERT_NE(told, nullptr);
    EXPECT_EQ(wire::fcvi::DeviceHeader::parse(32, told->data)->parameter >> 16,
              static_cast<unsigned>(wire::fcvi::Reason::protocol_error));
    return;
  }
  EXPECT_EQ(discarded(), 5u);
  send(1, whole);
  fabric.run_for(soon);
  EXPECT_TRUE(arrived(1, 0, whole));
  EXPECT_EQ(received(1), 0u);
}

/// RESP3 is lost.
class NoResp3 : public AtLevel, public fc2::FrameFault {
 public:
  void carry(fc2::Channel& channel, fc2::FramePtr frame) override {
    const auto fc = wire::FcHeader::parse(frame->content());
    if (fc->type == wire::Type::fc_vi && fc->r_ctl == RCtl::solicited_control && frame->data_field()[4] == 0x1A) return;
    channel.deliver(std::move(frame));
  }
};
INSTANTIATE_TEST_SUITE_P(Level, NoResp3, support::all_levels, support::level_name);

// FC-VI C.5.10.1, F.1: on an in-order fabric a message that comes before RESP3 tells that it is lost. One that asks
// for a response must not have one: the connection breaks, and no descriptor is consumed by it. One that asks for
// none is received.
TEST_P(NoResp3, awaitResp3_messageComesFirst_isAnswerable) {
  fabric.fabric.set_fault(client->port, this);
  client_vi = &client->make_vi(GetParam()), server_vi = &server->make_vi(GetParam());
  const auto to_client = client->descriptor(0, {{client->data, slot}});
  client_vi->post_receive(to_client, client->handle);
  server->provider.connect_wait(server->net("lost"), runtime::second, wait);
  client->provider.connect_request(*client_vi, client->net("c"), server->net("lost"), runtime::second, request);
  ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
  server->provider.connect_accept(wait.token, *server_vi, accept);
  ASSERT_TRUE(fabric.run_until([&] { return accept.result.has_value(); }));
  server_vi->post_send(server->descriptor(0, {{server->data, 100}}), server->handle);
  fabric.run_for(soon);
  EXPECT_EQ(log.count([](const LoggedFrame& f) { return f.is(RCtl::command_status); }), 0u);
  EXPECT_EQ(client_vi->state(), reception() ? vi::State::Error : vi::State::Connected);
  EXPECT_EQ(client->status(to_client),
            vi::status::done | vi::status::op_receive | (reception() ? vi::status::flushed : 0u));
}

}  // namespace
