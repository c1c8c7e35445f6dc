// Wrong segments: the Terminate Message that answers each (RFC 5040 4.8, 7; RFC 5041 7; RFC 5044 8), and that nothing
// is placed.
#include "iwarp/mpa_framing.hpp"
#include "tests/iwarp/two_ends.hpp"

namespace iwarp::testing {
namespace {
using wire::ddp::Header;
using wire::ddp::TaggedError;
using wire::ddp::UntaggedError;
using wire::mpa::Fpdu;
using wire::mpa::StartupFrame;
using wire::rdmap::Cause;
using wire::rdmap::Control;
using wire::rdmap::Layer;
using wire::rdmap::Opcode;
using wire::rdmap::OperationError;
using wire::rdmap::ProtectionError;
using wire::rdmap::ReadRequest;

constexpr wire::mpa::Framing framing{.markers = false, .crc = true};

std::uint8_t control(Opcode opcode, std::uint8_t version = 1) { return Control{version, opcode}.to_rsvd_ulp(); }
Header send_header(std::uint32_t msn = 1, std::uint32_t offset = 0) {
  return {.last = true, .rsvd_ulp = control(Opcode::send), .msn = {msn}, .message_offset = offset};
}
Header read_header(std::uint32_t msn = 1) {
  return {.last = true, .rsvd_ulp = control(Opcode::rdma_read_request), .queue_number = 1, .msn = {msn}};
}
std::vector<std::uint8_t> octets_of(const ReadRequest& request) {
  std::vector<std::uint8_t> octets(ReadRequest::size());
  request.write(octets);
  return octets;
}

/// A peer of octets against a server, behind a start-up of revision 1.
class RawClient final : public streams::StreamUser {
 public:
  explicit RawClient(TwoEnds& of, bool crc = true) : ends_(of), crc_(crc) {
    ends_.server = std::make_unique<End>(ends_.server_core, StreamConfig{.domain = domain, .ird = 2});
    stream_ = ends_.world.client.connect({streams::test::server_ip, 4420}, {}, *this);
    ends_.run(runtime::second);
    EXPECT_EQ(ends_.server->connects, 1);
    reply_octets_ = StartupFrame::header_bytes;
  }
  ~RawClient() {
    stream_.reset();
    ends_.settle();
  }
  void send(const Header& header, std::size_t payload_octets = 10) {
    send(header, std::vector<std::uint8_t>(payload_octets, 0x55));
  }
  void send(const Header& header, const std::vector<std::uint8_t>& payload) {
    Fpdu fpdu{std::vector<std::uint8_t>(header.size())};
    header.write(fpdu.ulpdu);
    fpdu.ulpdu.insert(fpdu.ulpdu.end(), payload.begin(), payload.end());
    std::vector<std::uint8_t> octets(fpdu.size(in(), 0));
    fpdu.write(octets, in(), 0);
    write(octets);
  }
  /// A valid FPDU, after which the other end may send (RFC 5044 7.1.2 rule 4).
  void send_nothing() { send({.tagged = true, .last = true, .rsvd_ulp = control(Opcode::rdma_write)}, 0); }
  void write(const std::vector<std::uint8_t>& octets) {
    ASSERT_EQ(stream_->write(wire::Bytes(octets)), octets.size());
    ends_.run(100 * runtime::millisecond);
  }
  /// ULPDUs that came.
  [[nodiscard]] std::vector<std::vector<std::uint8_t>> ulpdus() const {
    std::vector<std::vector<std::uint8_t>> all;
    for (wire::Bytes rest = wire::Bytes(octets_).subspan(reply_octets_); !rest.empty();) {
      const auto fpdu = Fpdu::parse(rest, in(), 0);
      EXPECT_TRUE(fpdu.has_value());
      if (!fpdu) break;
      all.push_back(fpdu->ulpdu);
      rest = rest.subspan(fpdu->size(in(), 0));
    }
    return all;
  }
  /// The last thing that came is a Terminate Message, and then the end.
  [[nodiscard]] wire::rdmap::Terminate terminate() const {
    EXPECT_TRUE(ended);
    const auto all = ulpdus();
    EXPECT_FALSE(all.empty());
    if (all.empty()) return {};
    const Header header = *Header::parse(all.back());
    EXPECT_EQ(Control::of(header.rsvd_ulp).opcode, Opcode::terminate);
    EXPECT_EQ(header.queue_number, wire::rdmap::terminate_queue);
    EXPECT_EQ(header.msn.value, 1u);
    EXPECT_TRUE(header.last);
    const auto parsed = wire::rdmap::Terminate::parse(wire::Bytes(all.back()).subspan(header.size()));
    EXPECT_TRUE(parsed.has_value());
    return parsed ? *parsed : wire::rdmap::Terminate{};
  }
  void shut_down() { stream_->shut_down(); }
  bool ended = false;

 private:
  [[nodiscard]] wire::mpa::Framing in() const { return {.markers = false, .crc = crc_}; }
  void connected() override {
    const StartupFrame request{.kind = wire::mpa::FrameKind::request, .crc = crc_, .revision = 1};
    std::vector<std::uint8_t> octets(request.size());
    request.write(octets);
    stream_->write(wire::Bytes(octets));
    stream_->ask_readable();
  }
  void readable() override {
    std::array<std::uint8_t, 4096> room;
    const streams::ReadResult result = stream_->read(wire::MutableBytes(room));
    octets_.insert(octets_.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(result.octets));
    ended = ended || result.end;
    if (!result.end) stream_->ask_readable();
  }
  void closed(streams::Reason) override { ended = true; }

  TwoEnds& ends_;
  const bool crc_;
  std::unique_ptr<streams::Stream> stream_;
  std::vector<std::uint8_t> octets_;
  std::size_t reply_octets_ = 0;
};

Settings answers(bool crc) {
  Settings settings;
  settings.answer.crc = crc;
  return settings;
}

/// With the CRC, and without: then payload is read straight into its target.
class TerminateTest : public ::testing::TestWithParam<bool> {
 protected:
  TerminateTest()
      : server(*ends.server), stag(server.add(memory)), read_only(server.add(memory, {.remote_read = true})),
        foreign(server.add(memory, {true, true, true, true}, other_domain)) {
    EXPECT_EQ(server.receive(1, stag, 100, 0), RdmapStream::Posted::taken);
    EXPECT_EQ(server.receive(2, stag, 100, 100), RdmapStream::Posted::taken);
  }
  /// It is answered so, nothing was placed, and all is flushed.
  void expect(const Cause& cause, const std::optional<Header>& header, std::size_t segment_octets,
              const std::optional<ReadRequest>& request = std::nullopt) {
    ends.run(runtime::second);
    const wire::rdmap::Terminate terminate = client.terminate();
    EXPECT_EQ(to_string(terminate.cause), to_string(cause));
    EXPECT_EQ(terminate.cause, cause);
    EXPECT_EQ(terminate.ddp_header, header);
    EXPECT_EQ(terminate.segment_length,
              header ? std::optional(static_cast<std::uint16_t>(segment_octets)) : std::nullopt);
    EXPECT_EQ(terminate.read_request, request);
    ASSERT_TRUE(server.error);
    EXPECT_EQ(server.error->cause, cause);
    EXPECT_EQ(std::count(memory.begin(), memory.end(), 0xEE), std::ssize(memory)) << "something was placed";
    for (const Completion& one : server.completions) EXPECT_EQ(one.status, Status::flushed);
    EXPECT_EQ(server.completions.size(), 2u);
    EXPECT_EQ(server.ends, 0) << "a graceful teardown waits for the other half";
    client.shut_down();
    ends.run(runtime::second);
    EXPECT_EQ(server.ends, 1);
    EXPECT_EQ(ends.server_core.counters.terminates_sent, 1u);
  }
  void refused(const Header& header, const Cause& cause, std::size_t payload_octets = 10) {
    client.send(header, payload_octets);
    expect(cause, header, header.size() + payload_octets);
  }
  void write_refused(STag to, std::uint64_t offset, TaggedError error, std::size_t octets = 10) {
    refused(
        {.tagged = true, .last = true, .rsvd_ulp = control(Opcode::rdma_write), .stag = to, .tagged_offset = offset},
        Cause::of(error), octets);
  }
  void read_refused(const ReadRequest& request, ProtectionError error) {
    client.send(read_header(), octets_of(request));
    expect(Cause::of(error), read_header(), 18 + 28, request);
  }

  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(9000, 0xEE);
  TwoEnds ends{answers(GetParam())};
  RawClient client{ends, GetParam()};
  End& server;
  const STag stag, read_only, foreign;
};
INSTANTIATE_TEST_SUITE_P(Crc, TerminateTest, ::testing::Bool());

// --- DDP, tagged (RFC 5041 7.1, 7.2) -------------------------------------------------------------------------------

// No such STag; a right one with another key.
TEST_P(TerminateTest, write_invalid_stag) { write_refused({stag.value ^ 0x100}, 0, TaggedError::invalid_stag); }
TEST_P(TerminateTest, write_other_key) { write_refused({stag.value ^ 1}, 0, TaggedError::invalid_stag); }
// One that was invalidated.
TEST_P(TerminateTest, write_invalidated_stag) {
  EXPECT_EQ(server.core.memory.invalidate(read_only, domain, Right::local_read), std::nullopt);
  write_refused(read_only, 0, TaggedError::invalid_stag);
}
// No right to write: DDP has no code for it.
TEST_P(TerminateTest, write_without_right) { write_refused(read_only, 0, TaggedError::invalid_stag); }
// Of another protection domain.
TEST_P(TerminateTest, write_other_domain) { write_refused(foreign, 0, TaggedError::stag_not_associated); }
// One octet beyond the end, and far beyond.
TEST_P(TerminateTest, write_beyond) { write_refused(stag, 8991, TaggedError::base_or_bounds); }
TEST_P(TerminateTest, write_far_beyond) { write_refused(stag, 1ULL << 40, TaggedError::base_or_bounds); }
// A large one, of which most lies within.
TEST_P(TerminateTest, write_large_beyond) { write_refused(stag, 1, TaggedError::base_or_bounds, 9000); }
// Offset and length wrap.
TEST_P(TerminateTest, write_wrap) { write_refused(stag, ~0ULL - 3, TaggedError::to_wrap); }
// DV 2; and DV 0 in a stream that had 1 (ruling I-2).
TEST_P(TerminateTest, tagged_version) {
  refused({.tagged = true, .version = 2, .rsvd_ulp = control(Opcode::rdma_write), .stag = stag},
          Cause::of(TaggedError::invalid_version));
}
TEST_P(TerminateTest, tagged_version_changes) {
  client.send({.tagged = true, .rsvd_ulp = control(Opcode::rdma_write), .stag = stag}, 0);
  refused({.tagged = true, .version = 0, .rsvd_ulp = control(Opcode::rdma_write), .stag = stag},
          Cause::of(TaggedError::invalid_version));
}

// --- DDP, untagged -------------------------------------------------------------------------------------------------

TEST_P(TerminateTest, untagged_version) {
  Header header = send_header();
  header.version = 3;
  refused(header, Cause::of(UntaggedError::invalid_version));
}
// QN 3 and above.
TEST_P(TerminateTest, invalid_qn) {
  Header header = send_header();
  header.queue_number = 3;
  refused(header, Cause::of(UntaggedError::invalid_qn));
}
// An MSN that is used already, or leaves one out.
TEST_P(TerminateTest, msn_before) { refused(send_header(0), Cause::of(UntaggedError::msn_range)); }
TEST_P(TerminateTest, msn_gap) { refused(send_header(2), Cause::of(UntaggedError::msn_range)); }
TEST_P(TerminateTest, msn_gap_of_requests) {
  client.send(read_header(3), octets_of(ReadRequest{}));
  expect(Cause::of(UntaggedError::msn_range), read_header(3), 18 + 28);
}
// A message that does not begin at its beginning.
TEST_P(TerminateTest, mo_gap) { refused(send_header(1, 1), Cause::of(UntaggedError::invalid_mo)); }
// More than the buffer takes.
TEST_P(TerminateTest, too_long) { refused(send_header(), Cause::of(UntaggedError::message_too_long), 101); }
// An RDMA Read Request that is longer than its header, or shorter.
TEST_P(TerminateTest, request_too_long) { refused(read_header(), Cause::of(UntaggedError::message_too_long), 29); }
TEST_P(TerminateTest, request_too_short) { refused(read_header(), Cause::of(OperationError::unspecified), 27); }

// --- RDMAP (RFC 5040 7.2) ------------------------------------------------------------------------------------------

TEST_P(TerminateTest, rdmap_version) {
  Header header = send_header();
  header.rsvd_ulp = control(Opcode::send, 2);
  refused(header, Cause::of(OperationError::invalid_version));
}
// Each opcode that is reserved, unknown to this end, of the other buffer model, or of another queue.
TEST_P(TerminateTest, unexpected_opcode) {
  for (const int opcode : {0, 1, 2, 8, 9, 10, 11, 12, 15}) {
    TwoEnds others{answers(GetParam())};
    RawClient raw(others, GetParam());
    Header header = send_header();
    header.rsvd_ulp = control(static_cast<Opcode>(opcode));
    raw.send(header);
    EXPECT_EQ(raw.terminate().cause, Cause::of(OperationError::unexpected_opcode)) << opcode;
  }
}
// A response that nobody asked for.
TEST_P(TerminateTest, response_unasked) {
  refused({.tagged = true, .last = true, .rsvd_ulp = control(Opcode::rdma_read_response), .stag = stag},
          Cause::of(OperationError::unexpected_opcode));
}

// --- RDMA Read Requests (RFC 5040 7.2) -----------------------------------------------------------------------------

TEST_P(TerminateTest, read_invalid_stag) {
  read_refused({.sink_stag = {1}, .size_bytes = 1, .source_stag = {stag.value ^ 1}}, ProtectionError::invalid_stag);
}
TEST_P(TerminateTest, read_other_domain) {
  read_refused({.size_bytes = 1, .source_stag = foreign}, ProtectionError::stag_not_associated);
}
TEST_P(TerminateTest, read_beyond) {
  read_refused({.size_bytes = 2, .source_stag = stag, .source_offset = 8999}, ProtectionError::base_or_bounds);
}
TEST_P(TerminateTest, read_wrap) {
  read_refused({.size_bytes = 5, .source_stag = stag, .source_offset = ~0ULL - 3}, ProtectionError::to_wrap);
}
TEST_P(TerminateTest, read_without_right) {
  const STag secret = server.add(memory, {.local_write = true, .remote_write = true});
  read_refused({.size_bytes = 1, .source_stag = secret}, ProtectionError::access_rights);
}

// --- LLP -----------------------------------------------------------------------------------------------------------

// A ULPDU that is no DDP segment: MPA's error 3, without headers (RFC 5040 Figure 10).
TEST_P(TerminateTest, no_segment) {
  client.send_nothing();
  Fpdu fpdu{{0x40, 0x43, 0}};
  const wire::mpa::Framing own{.markers = false, .crc = GetParam()};
  std::vector<std::uint8_t> octets(fpdu.size(own, 0));
  fpdu.write(octets, own, 0);
  client.write(octets);
  expect(Cause::of(wire::mpa::ErrorCode::marker_and_length_disagree), std::nullopt, 0);
}

// --- without a parameter -------------------------------------------------------------------------------------------

class CrcTerminateTest : public TerminateTest {};
INSTANTIATE_TEST_SUITE_P(Crc, CrcTerminateTest, ::testing::Values(true));

// A wrong CRC: MPA's error 2; the other half still answers, and what comes behind is dropped.
TEST_P(CrcTerminateTest, wrong_crc) {
  client.send_nothing();
  Fpdu fpdu{std::vector<std::uint8_t>(18 + 10)};
  send_header().write(fpdu.ulpdu);
  std::vector<std::uint8_t> octets(fpdu.size(framing, 0));
  fpdu.write(octets, framing, 0);
  octets[25] ^= 1;
  client.write(octets);
  client.send(send_header());
  EXPECT_EQ(ends.server_core.counters.crc_errors, 1u);
  expect(Cause::of(wire::mpa::ErrorCode::crc_mismatch), std::nullopt, 0);
}

// In the first FPDU: no Terminate Message can go, the stream is given up (ruling M-15).
TEST_P(CrcTerminateTest, wrong_crc_of_the_first) {
  client.write(std::vector<std::uint8_t>(72));
  ends.run(runtime::second);
  EXPECT_TRUE(client.ended);
  EXPECT_TRUE(client.ulpdus().empty());
  ASSERT_TRUE(server.error);
  EXPECT_EQ(server.error->cause, Cause::of(wire::mpa::ErrorCode::crc_mismatch));
  EXPECT_EQ(server.ends, 1);
}

// An STag that cannot be invalidated: known, of another domain, or not for the other end to invalidate. The receive is
// not complete.
TEST_P(CrcTerminateTest, invalidate_refused) {
  Header header = send_header();
  header.rsvd_ulp = control(Opcode::send_with_invalidate);
  header.rsvd_ulp_untagged = read_only.value;
  refused(header, Cause::of(ProtectionError::stag_cannot_be_invalidated), 0);
}
TEST_P(CrcTerminateTest, invalidate_unknown) {
  Header header = send_header();
  header.rsvd_ulp = control(Opcode::send_with_se_and_invalidate);
  header.rsvd_ulp_untagged = 5;
  refused(header, Cause::of(ProtectionError::invalid_stag), 0);
}

// More Sends than receives are posted (ruling M-8).
TEST_P(CrcTerminateTest, no_buffer) {
  client.send(send_header(1), 0);
  client.send(send_header(2), 0);
  client.send(send_header(3), 0);
  EXPECT_EQ(client.terminate().cause, Cause::of(UntaggedError::no_buffer));
  EXPECT_EQ(server.completed_ids(), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(server.completions[1].status, Status::success);
}

// Errors that come together: one Terminate Message, of the first (RFC 5040 7.1 rule 4).
TEST_P(CrcTerminateTest, two_errors) {
  Header header = send_header();
  header.queue_number = 9;
  client.send(header);
  client.send(send_header(5));
  client.send(read_header(5));
  EXPECT_EQ(client.terminate().cause, Cause::of(UntaggedError::invalid_qn));
  EXPECT_EQ(client.ulpdus().size(), 1u);
}

// A Terminate Message that comes, well formed or not: it is told, none answers, and the stream ends (ruling M-6).
TEST_P(CrcTerminateTest, terminate_received) {
  for (const std::size_t octets : {0, 3, 4, 22, 60, 300}) {
    TwoEnds others{answers(true)};
    RawClient raw(others);
    Header header{.last = true, .rsvd_ulp = control(Opcode::terminate), .queue_number = 2};
    header.msn = {1};
    std::vector<std::uint8_t> payload(octets);
    if (octets >= 4) payload[0] = 0x12, payload[1] = 0x03, payload[2] = octets == 4 ? 0 : 0xC0;
    raw.send(header, payload);
    ASSERT_TRUE(others.server->terminate) << octets;
    if (octets >= 4) {
      EXPECT_EQ(*others.server->terminate, Cause::of(UntaggedError::msn_range));
    }
    EXPECT_EQ(others.server_core.counters.terminates_malformed, octets < 4 || octets == 22 ? 1u : 0u) << octets;
    EXPECT_TRUE(raw.ended);
    EXPECT_TRUE(raw.ulpdus().empty());
    raw.shut_down();
    others.run(runtime::second);
    EXPECT_EQ(others.server->ends, 1);
  }
}

// --- this end's own operations -------------------------------------------------------------------------------------

// A Send of memory that is not its own: it completes in error, the rest is flushed, and the other end is told (RFC 5040
// 7.1 rule 1).
TEST(LocalErrorTest, send_foreign_memory) {
  TwoEnds ends;
  ends.connect();
  std::vector<std::uint8_t> octets(10);
  const STag foreign = ends.client->add(octets, {true, true, true, true}, other_domain);
  EXPECT_EQ(ends.client->send(1, foreign, 10), RdmapStream::Posted::taken);
  ends.run(runtime::second);
  ASSERT_EQ(ends.client->completed_ids(), std::vector<std::uint64_t>{1});
  EXPECT_EQ(ends.client->completions[0].status, Status::local_protection);
  EXPECT_EQ(ends.server->terminate, Cause::local_catastrophic(Layer::rdma));
  EXPECT_EQ(ends.client->ends + ends.server->ends, 2);
}

// Memory of a response goes while it is sent: the request as it stands then is in the Terminate Message (RFC 5040 4.8).
TEST(LocalErrorTest, read_source_lost) {
  TwoEnds ends;
  ends.connect();
  std::vector<std::uint8_t> source(1'000'000), target(1'000'000);
  const STag from = ends.server->add(source), to = ends.client->add(target);
  EXPECT_EQ(ends.client->post(
                {.id = 1, .operation = Operation::rdma_read, .pieces = {{to, 0, 1'000'000}}, .remote_stag = from}),
            RdmapStream::Posted::taken);
  ends.run(300 * runtime::microsecond);
  EXPECT_TRUE(ends.server->core.memory.remove(from));
  ends.run(runtime::second);
  EXPECT_EQ(ends.client->terminate, Cause::of(ProtectionError::invalid_stag));
  ASSERT_TRUE(ends.server->error && ends.server->error->read_request);
  const ReadRequest& left = *ends.server->error->read_request;
  EXPECT_GT(left.source_offset, 0u);
  EXPECT_EQ(left.source_offset, left.sink_offset);
  EXPECT_EQ(left.size_bytes, 1'000'000 - left.source_offset);
  EXPECT_EQ(ends.client->completions.at(0).status, Status::flushed);
}

// Both ends find an error at once: each gets the other's Terminate Message, and neither answers it (ruling M-17).
TEST(LocalErrorTest, terminates_cross) {
  TwoEnds ends;
  ends.connect();
  for (End* const end : {ends.client.get(), ends.server.get()})
    end->stream->terminate({.cause = Cause::of(OperationError::catastrophic_stream)});
  ends.run(runtime::second);
  for (End* const end : {ends.client.get(), ends.server.get()}) {
    EXPECT_EQ(end->terminate, Cause::of(OperationError::catastrophic_stream));
    EXPECT_EQ(end->core.counters.terminates_sent, 1u);
    EXPECT_EQ(end->ends, 1);
  }
}

}  // namespace
}  // namespace iwarp::testing
