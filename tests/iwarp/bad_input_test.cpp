// Bad input of issue 19 that terminate_test.cpp and startup_test.cpp do not have: wrong segments in every state of a
// stream, a second Terminate Message, a peer that never reads, indications of IFT from a wrong node B.
#include "iwarp/ift_adaption.hpp"
#include "tests/iwarp/raw_client.hpp"

namespace iwarp::testing {
namespace {
using machines::iwarp::Failure;
using wire::ift::AdaptionIndication;

/// Where the wrong segment comes.
enum class Where : std::uint8_t { first, operational, within_send, within_response, within_read, closing, terminating };

struct WrongSegment {
  Header header;
  std::size_t octets;
};
std::vector<WrongSegment> wrong_segments(STag stag) {
  const auto changed = [](Header header, auto change) {
    change(header);
    return header;
  };
  const Header write{.tagged = true, .last = true, .rsvd_ulp = control(Opcode::rdma_write), .stag = stag};
  return {{changed(write, [](Header& h) { h.version = 2; }), 10},
          {changed(write, [](Header& h) { h.rsvd_ulp = control(Opcode::rdma_write, 3); }), 10},
          {changed(write, [](Header& h) { h.rsvd_ulp = control(Opcode::send); }), 10},
          {changed(write, [](Header& h) { h.rsvd_ulp = 0x4F; }), 10},
          {changed(write, [](Header& h) { h.stag.value ^= 1; }), 10},
          {changed(write, [](Header& h) { h.tagged_offset = ~0ULL; }), 10},
          {changed(write, [](Header& h) { h.tagged_offset = 5000; }), 10},
          {changed(send_header(), [](Header& h) { h.version = 3; }), 10},
          {changed(send_header(), [](Header& h) { h.queue_number = 7; }), 10},
          {send_header(77), 10},
          {send_header(1, 500), 10},
          {send_header(), 1000},
          {read_header(5), 28},
          {read_header(1), 27},
          {changed(read_header(1), [](Header& h) { h.last = false; }), 28}};
}

// Every header field wrong in every state: one Terminate Message at the most, none where
// the stream is closing; nothing is placed behind it; each receive completes once; the stream ends. RFC 5040 7.1,
// RFC 5041 7.1.
TEST(BadInputTest, wrong_segment_in_every_state) {
  for (const Where where : {Where::first, Where::operational, Where::within_send, Where::within_response,
                            Where::within_read, Where::closing, Where::terminating})
    for (std::size_t i = 0; i < wrong_segments({1}).size(); ++i) {
      SCOPED_TRACE(::testing::Message() << "state " << static_cast<int>(where) << ", segment " << i);
      TwoEnds ends;
      RawClient client(ends);
      End& server = *ends.server;
      std::vector<std::uint8_t> memory(1000, 0xEE), source(100'000);
      const STag stag = server.add(memory), from = server.add(source);
      EXPECT_EQ(server.receive(1, stag, 100, 0), RdmapStream::Posted::taken);
      if (where != Where::first) client.send_nothing();
      Header part = send_header();
      part.last = false;
      if (where == Where::within_send) client.send(part, std::vector<std::uint8_t>(10, 0xEE));
      if (where == Where::within_response)
        client.write(client.fpdu_of(ulpdu_of(read_header(), request_octets(ReadRequest{{1}, 0, 100'000, from, 0}))));
      if (where == Where::within_read) {
        EXPECT_EQ(
            server.post({.id = 9, .operation = Operation::rdma_read, .pieces = {{stag, 0, 8}}, .remote_stag = {1}}),
            RdmapStream::Posted::taken);
        ends.run(runtime::millisecond);
      }
      if (where == Where::closing) server.stream->close();
      if (where == Where::terminating) server.stream->terminate({.cause = Cause::of(OperationError::unspecified)});
      const WrongSegment wrong = wrong_segments(stag)[i];
      if (where == Where::within_response && wrong.header.queue_number == 1 && wrong.header.msn.value == 1) continue;
      client.send(wrong.header, wrong.octets);
      client.send(send_header(), 10);  // behind it
      ends.run(runtime::second);
      const bool ends_already = where == Where::closing || where == Where::terminating;
      EXPECT_EQ(server.core.counters.terminates_sent, where == Where::closing ? 0u : 1u);
      EXPECT_EQ(server.error.has_value(), where != Where::closing);
      EXPECT_EQ(server.core.counters.segments_refused, ends_already ? 0u : 1u);
      client.shut_down();
      ends.run(runtime::second);
      EXPECT_EQ(server.ends, 1);
      EXPECT_EQ(std::count(memory.begin(), memory.end(), 0xEE), 1000);
      EXPECT_EQ(server.completions.size(), where == Where::within_read ? 2u : 1u);
      for (const Completion& one : server.completions) EXPECT_EQ(one.status, Status::flushed);
    }
}

// One stream on a TCP connection: a second start-up is none, but octets of an FPDU, which is wrong. WARP 13.
TEST(BadInputTest, second_startup) {
  TwoEnds ends;
  RawClient client(ends);
  client.send_nothing();
  const StartupFrame request{.kind = wire::mpa::FrameKind::request, .crc = true, .revision = 1};
  std::vector<std::uint8_t> octets(request.size());
  request.write(octets);
  octets.resize(20'000);  // "MP" is a length of 19,792
  client.write(octets);
  EXPECT_EQ(ends.offers.size(), 1U);
  EXPECT_EQ(ends.server_core.counters.streams_enabled, 1U);
  ASSERT_TRUE(ends.server->error);
  EXPECT_EQ(ends.server->error->cause, Cause::of(wire::mpa::ErrorCode::crc_mismatch));
  EXPECT_EQ(ends.server_core.counters.terminates_sent, 1U);
}

// A second Terminate Message is counted, and no more (ruling M-17). RFC 5040 5.4.
TEST(BadInputTest, terminate_twice) {
  TwoEnds ends;
  RawClient client(ends);
  Header header{.last = true, .rsvd_ulp = control(Opcode::terminate), .queue_number = 2, .msn = {1}};
  for (int i = 0; i < 2; ++i) {
    client.send(header, std::vector<std::uint8_t>{0x12, 0x03, 0, 0});
    ++header.msn.value;
  }
  EXPECT_EQ(ends.server->terminates, 1);
  EXPECT_EQ(ends.server_core.counters.terminates_received, 2u);
  EXPECT_EQ(ends.server_core.counters.stale, 1u);
  EXPECT_TRUE(client.ulpdus().empty());
  client.shut_down();
  ends.run(runtime::second);
  EXPECT_EQ(ends.server->ends, 1);
}

// A peer that never reads: what is submitted waits, without more memory than one batch; a close is bounded in time.
TEST(BadInputTest, peer_never_reads) {
  TwoEnds ends;
  RawClient client(ends);
  client.send_nothing();
  client.reads = false;
  ends.run(runtime::second);
  std::vector<std::uint8_t> memory(1'000'000);
  const STag stag = ends.server->add(memory);
  for (std::uint64_t id = 0; id < 20; ++id)
    EXPECT_EQ(ends.server->send(id, stag, 1'000'000), RdmapStream::Posted::taken);
  ends.run(10 * runtime::second);
  EXPECT_LT(ends.server->completions.size(), 2u);
  ends.server->stream->close();
  ends.run(9 * runtime::second);
  EXPECT_EQ(ends.server->ends, 0);
  ends.run(2 * runtime::second);
  EXPECT_EQ(ends.server->ends, 1);
  EXPECT_EQ(ends.server->completions.size(), 20u);
}

// --- IFT -----------------------------------------------------------------------------------------------------------

/// A node B of octets.
class RawNodeB final : public streams::StreamUser, public streams::ListenerUser {
 public:
  RawNodeB(TwoEnds& ends, std::vector<std::uint8_t> answer, bool closes) : answer_(std::move(answer)), closes_(closes) {
    listener_ = std::move(*ends.world.server.listen({streams::test::server_ip, 4422}, *this));
  }
  void accepted(std::unique_ptr<streams::Stream> from) override {
    stream_ = std::move(from);
    stream_->set_user(*this);
    stream_->write(wire::Bytes(answer_));
    if (closes_) stream_->shut_down();
  }
  void readable() override {}
  void closed(streams::Reason) override {}

 private:
  const std::vector<std::uint8_t> answer_;
  const bool closes_;
  std::unique_ptr<streams::Listener> listener_;
  std::unique_ptr<streams::Stream> stream_;
};

/// How node A takes such an answer.
std::optional<Failure> failure_of(const std::vector<std::uint8_t>& answer, bool closes = false) {
  TwoEnds ends;
  RawNodeB node_b(ends, answer, closes);
  ends.client = std::make_unique<End>(ends.client_core);
  ends.node_a = std::make_unique<IftAdaption>(ends.client_core.services, IftOptions{.vtag = {0x1111}});
  ends.node_a->connect({streams::test::server_ip, 4422}, {}, *ends.client->stream, *ends.client);
  ends.run(runtime::second);
  EXPECT_EQ(ends.client->connects, ends.client->failure ? 0 : 1);
  if (ends.client->failure) {
    EXPECT_EQ(ends.client_core.counters.failures.of(*ends.client->failure), 1u);
  }
  return ends.client->failure;
}
std::vector<std::uint8_t> octets_of_indication(const AdaptionIndication& indication) {
  std::vector<std::uint8_t> octets(AdaptionIndication::size());
  indication.write(octets);
  return octets;
}

// IFT 4.2, rulings I-3, I-15: an answer that is phase 0, too; one that is cut anywhere; one of which a bit is wrong;
// modes and CRCs that do not agree.
TEST(BadInputTest, node_b_answers_wrong) {
  const AdaptionIndication good{.phase_1 = true, .header_crc = true, .payload_crc = true, .vtag = {0x2222}};
  const std::vector<std::uint8_t> octets = octets_of_indication(good);
  EXPECT_EQ(failure_of(octets), std::nullopt);
  AdaptionIndication other = good;
  other.phase_1 = false;
  EXPECT_EQ(failure_of(octets_of_indication(other)), Failure::Crossing);
  other = good;
  other.rdma_mode = false;
  EXPECT_EQ(failure_of(octets_of_indication(other)), Failure::NotAgreed);
  other = good;
  other.payload_crc = false;
  EXPECT_EQ(failure_of(octets_of_indication(other)), Failure::NotAgreed);
  for (std::size_t cut = 0; cut < octets.size(); ++cut)
    EXPECT_EQ(failure_of({octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(cut)}, true),
              cut == 0 ? Failure::PeerClosed : Failure::Invalid)
        << cut;
  for (std::size_t at = 0; at < octets.size(); ++at) {
    std::vector<std::uint8_t> damaged = octets;
    damaged[at] ^= 0x04;
    EXPECT_EQ(failure_of(damaged), Failure::Invalid) << at;
  }
}

}  // namespace
}  // namespace iwarp::testing
