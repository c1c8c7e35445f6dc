// What a receiver's errors are told as, and what they leave alone (FC-VI 8.4.1, 8.4.2 e, B.2.4, B.2.5; VI-ARCH 2.5,
// 5.4; VI-DG 3.8.1, 6.3.1): the VI in Error, memory that goes away between two frames, many errored messages.
#include "tests/fcvi/class_2_nodes.hpp"
#include "tests/fcvi/own_memory.hpp"

namespace {
using support::AtLevel;
using support::Host;
using support::late;
using support::Level;
using support::lose;
using support::MessageFrame;
using support::pass;
using support::register_own;

class ErrorReports : public AtLevel {
 public:
  static constexpr std::uint64_t target = Host::data + (8u << 20);
};
class ReliableErrorReports : public ErrorReports {};
INSTANTIATE_TEST_SUITE_P(Level, ErrorReports, support::all_levels, support::level_name);
INSTANTIATE_TEST_SUITE_P(Level, ReliableErrorReports, support::reliable_levels, support::level_name);

// VI-DG 3.8.1, 6.2, FC-VI 8.4.2 e): an error that no descriptor reports is one asynchronous error of its own kind where
// it is found, and the loss of the connection is another, there and at the other end.
TEST_P(ReliableErrorReports, receiving_errorWithoutDescriptor_isToldOnce) {
  for (const bool write : {false, true}) {
    SCOPED_TRACE(write);
    server->errors.clear(), client->errors.clear();
    begin(GetParam(), write ? "write" : "send");
    const auto message = write
                             ? client->descriptor(vi::control::op_rdma_write, {{client->data, 100}}, 1, server->handle)
                             : client->descriptor(0, {{client->data, 100}});
    client_vi->post_send(message, client->handle);
    fabric.run_for(runtime::second);
    EXPECT_EQ(server_vi->state(), vi::State::Error);
    EXPECT_EQ(server->count(write ? vi::ErrorCode::RdmaWProt : vi::ErrorCode::RecvQEmpty), 1);
    EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), 1);
    EXPECT_EQ(server->errors.size(), 2u);
    EXPECT_EQ(client_vi->state(), vi::State::Error);
    EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 1);
    EXPECT_EQ(client->errors.size(), 1u);
  }
}

// VI-DG 3.8.1, FC-VI 5.9.7.3.2, rulings 253, 254: a part of an RDMA Write is here and the rest is lost, in the middle
// or at the end: a partial packet, told once. With Immediate Data the descriptor says so, and nothing else.
TEST_P(ErrorReports, receiving_writeEndsEarly_isAPacketAbort) {
  int name = 0;
  for (const std::uint16_t immediate : {std::uint16_t{0}, vi::control::immediate})
    for (const int missing : {1, 2}) {
      SCOPED_TRACE(name);
      server->errors.clear();
      begin(GetParam(), std::to_string(name++));
      const auto own = register_own(*server, target, slot);
      const auto posted = server->descriptor(0, {});
      server_vi->post_receive(posted, server->handle);
      faults.on_frame = support::to_frame(missing, lose);
      const auto control = static_cast<std::uint16_t>(vi::control::op_rdma_write | immediate);
      client_vi->post_send(client->descriptor(control, {{client->data, 3 * frame_bytes}}, target, own), client->handle);
      fabric.run_for(30 * runtime::second);
      EXPECT_EQ(server->count(vi::ErrorCode::RdmaWAbort), immediate == 0 ? 1 : 0);
      EXPECT_EQ(server->count(vi::ErrorCode::RdmaTransport), 0);
      EXPECT_EQ(server->count(vi::ErrorCode::RdmaWData), 0);
      const auto partial = vi::status::partial_error | vi::status::transport_error;
      EXPECT_EQ((server->status(posted) & partial) == partial, immediate != 0);
      EXPECT_EQ(server_vi->state(), unreliable() ? vi::State::Connected : vi::State::Error);
      faults.on_frame = nullptr;
      disconnect(*server, *server_vi), disconnect(*client, *client_vi);
    }
}

// VI-ARCH 3.2.2, 2.5, FC-VI 5.9.4.3, 8.4.2 e): the target of an RDMA Write goes away between two of its frames: the
// rest is not passed over in silence.
TEST_P(ErrorReports, receiving_writeTargetGoesAway_isAProtectionError) {
  begin(GetParam());
  const auto own = register_own(*server, target, slot);
  const auto write = client->descriptor(vi::control::op_rdma_write, {{client->data, slot / 2}}, target, own);
  client_vi->post_send(write, client->handle);
  fabric.run_for(100 * runtime::microsecond);  // of 330
  ASSERT_EQ(server->nic.memory().deregister(target, own), vi::Return::Success);
  fabric.run_for(runtime::second);
  EXPECT_EQ(server->count(vi::ErrorCode::RdmaWProt), 1);
  EXPECT_EQ(server_vi->state(), unreliable() ? vi::State::Connected : vi::State::Error);
  const auto failed = vi::status::done | vi::status::op_rdma_write | vi::status::rdma_protection_error;
  EXPECT_EQ(client->status(write) == failed, reception());
}

// VI-DG 3.8.1, 6.3.1: the memory of the descriptor itself is gone when its message is whole: Completion Protection
// Error, and the VI is in Error; a frame that comes in the same instant finds that.
TEST_P(ErrorReports, receiving_descriptorGoesAway_nextFrameIsDiscarded) {
  begin(GetParam());
  const std::uint64_t at = target;
  const auto own = register_own(*server, at, 4096);
  vi::ControlSegment control{};
  control.segment_count = 1, control.length_bytes = slot;
  server->put(at, control), server->put(at + sizeof control, vi::Segment{server->data, server->handle.value, slot});
  server_vi->post_receive(at, own);
  faults.on_frame = support::to_frame(1, lose);
  send(1, 2 * frame_bytes);
  fabric.run_for(100 * runtime::microsecond);
  ASSERT_EQ(server->nic.memory().deregister(at, own), vi::Return::Success);
  const support::LoggedFrame& second = log.frames()[1];
  const support::ForgedFrame again{.header = second.header, .data = second.data, .sof = second.sof, .eof = second.eof};
  server->port.receive(again.build(fabric.pool)), server->port.receive(again.build(fabric.pool));
  fabric.run_for(5 * runtime::millisecond);
  EXPECT_EQ(server->count(vi::ErrorCode::CompProt), 1);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(discarded(), 1u);
}

/// Posts what cannot be posted when it is due.
struct BadPost {
  void due() { vi.post_send(1, host.handle); }
  Host& host;
  vi::Vi& vi;
  runtime::Timer<BadPost, &BadPost::due> timer{*this};
};

// VI-ARCH 5.4, VI-DG 6.3.1: the VI goes to Error in the instant in which the link takes the next frame of its message:
// the descriptor is flushed, its memory the application's again, and nothing is sent from it any more.
TEST_P(ErrorReports, sending_viFailsInTheInstantOfAFrame_sendsNothingMore) {
  begin(GetParam());
  const auto data_frames = [](const support::LoggedFrame& f) { return f.outbound && f.is(wire::RCtl::solicited_data); };
  receive(2);
  const runtime::TimeNs begun = fabric.scheduler.now();
  send(1, 10 * frame_bytes);
  fabric.run_for(runtime::millisecond);
  ASSERT_EQ(log.count(data_frames), 10u);
  std::vector<runtime::TimeNs> left;
  for (const auto& f : log.frames())
    if (data_frames(f)) left.push_back(f.at - begun);
  log.clear();
  BadPost post{*client, *client_vi};
  fabric.scheduler.schedule(post.timer, fabric.scheduler.now() + left[5]);  // before the link's own event of that time
  send(1, 10 * frame_bytes);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(sent(1), send_flushed | vi::status::partial_error);
  EXPECT_EQ(log.count(data_frames), 5u);
}

class ManyErrors : public support::MessageNodes {};

// FC-VI B.2.4 rule 2 a), B.2.5 rules 4a, 5a: nine messages are lost, a second between them, and each has Merr for
// R_A_TOV of its own: the last one comes 9.5 s late, is discarded, and the connection goes on.
TEST_F(ManyErrors, expecting_ninthErroredMessageComesLate_isDiscarded) {
  begin(Level::UnreliableDelivery);
  faults.on_frame = [](MessageFrame& frame) {
    const bool odd = frame.from_client && frame.header.msg_id.value % 2 == 1;
    return !odd ? pass : frame.header.msg_id.value == 17 ? late(9500 * runtime::millisecond) : lose;
  };
  receive(10);
  for (int i = 0; i < 9; ++i) {
    send(2, 100);
    fabric.run_for(runtime::second);
    ASSERT_TRUE(arrived(2 * i + 1, i, 100));
  }
  EXPECT_EQ(discarded(), 0u);
  fabric.run_for(9 * runtime::second);
  EXPECT_EQ(discarded(), 1u);
  faults.on_frame = {};
  send(1, 100);
  fabric.run_for(runtime::millisecond);
  EXPECT_TRUE(arrived(18, 9, 100));
}
}  // namespace
