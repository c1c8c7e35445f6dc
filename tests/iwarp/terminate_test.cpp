// Wrong segments: the Terminate Message that answers each (RFC 5040 4.8, 7; RFC 5041 7; RFC 5044 8), and that nothing
// is placed.
#include "iwarp/mpa_framing.hpp"
#include "tests/iwarp/raw_client.hpp"

namespace iwarp::testing {
namespace {
using wire::mpa::Fpdu;
using wire::rdmap::Layer;

constexpr wire::mpa::Framing framing{.markers = false, .crc = true};

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
    EXPECT_EQ(ends.server_core.counters.errors.of(cause), 1u);
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
    client.send(read_header(), request_octets(request));
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

// No such STag; a right one with another key. RFC 5040 7.2; RFC 5041 4.2, 7.1, 7.2, 8.3.
TEST_P(TerminateTest, write_invalid_stag) { write_refused({stag.value ^ 0x100}, 0, TaggedError::invalid_stag); }
TEST_P(TerminateTest, write_other_key) { write_refused({stag.value ^ 1}, 0, TaggedError::invalid_stag); }
// One that was invalidated.
TEST_P(TerminateTest, write_invalidated_stag) {
  EXPECT_EQ(server.core.memory.invalidate(read_only, domain, Right::local_read), std::nullopt);
  write_refused(read_only, 0, TaggedError::invalid_stag);
}
// No right to write: DDP has no code for it. RFC 5040 8.1.1 rule 5; RFC 5041 8.3.1.
TEST_P(TerminateTest, write_without_right) { write_refused(read_only, 0, TaggedError::invalid_stag); }
// Of another protection domain. RFC 5040 8.1.1 rule 1; RFC 5041 7.1, 8.2, 8.3.1.
TEST_P(TerminateTest, write_other_domain) { write_refused(foreign, 0, TaggedError::stag_not_associated); }
// One octet beyond the end, and far beyond. RFC 5040 7, 7.1, 7.1 rule 2, 7.2, 8.1.1 rule 3; RFC 5041 7.1, 8.3.1.
TEST_P(TerminateTest, write_beyond) { write_refused(stag, 8991, TaggedError::base_or_bounds); }
// RFC 5040 8.1.1 rule 3.
TEST_P(TerminateTest, write_far_beyond) { write_refused(stag, 1ULL << 40, TaggedError::base_or_bounds); }
// A large one, of which most lies within. RFC 5041 7.1.
TEST_P(TerminateTest, write_large_beyond) { write_refused(stag, 1, TaggedError::base_or_bounds, 9000); }
// Offset and length wrap. RFC 5041 7.1.
TEST_P(TerminateTest, write_wrap) { write_refused(stag, ~0ULL - 3, TaggedError::to_wrap); }
// DV 2; and DV 0 in a stream that had 1 (ruling I-2). RFC 5041 4.1.
TEST_P(TerminateTest, tagged_version) {
  refused({.tagged = true, .version = 2, .rsvd_ulp = control(Opcode::rdma_write), .stag = stag},
          Cause::of(TaggedError::invalid_version));
}
// RFC 5041 4.1.
TEST_P(TerminateTest, tagged_version_changes) {
  client.send({.tagged = true, .rsvd_ulp = control(Opcode::rdma_write), .stag = stag}, 0);
  refused({.tagged = true, .version = 0, .rsvd_ulp = control(Opcode::rdma_write), .stag = stag},
          Cause::of(TaggedError::invalid_version));
}

// --- DDP, untagged -------------------------------------------------------------------------------------------------

// RFC 5041 4.1.
TEST_P(TerminateTest, untagged_version) {
  Header header = send_header();
  header.version = 3;
  refused(header, Cause::of(UntaggedError::invalid_version));
}
// QN 3 and above. RFC 5041 7.1.
TEST_P(TerminateTest, invalid_qn) {
  Header header = send_header();
  header.queue_number = 3;
  refused(header, Cause::of(UntaggedError::invalid_qn));
}
// An MSN that is used already, or leaves one out. RFC 5041 4.3, 5.3.
TEST_P(TerminateTest, msn_before) { refused(send_header(0), Cause::of(UntaggedError::msn_range)); }
// RFC 5040 7.2; RFC 5041 4.3, 7.1, 7.2.
TEST_P(TerminateTest, msn_gap) { refused(send_header(2), Cause::of(UntaggedError::msn_range)); }
// RFC 5040 7.2.
TEST_P(TerminateTest, msn_gap_of_requests) {
  client.send(read_header(3), request_octets(ReadRequest{}));
  expect(Cause::of(UntaggedError::msn_range), read_header(3), 18 + 28);
}
// A message that does not begin at its beginning. RFC 5040 7.2; RFC 5041 4.3, 7.1.
TEST_P(TerminateTest, mo_gap) { refused(send_header(1, 1), Cause::of(UntaggedError::invalid_mo)); }
// More than the buffer takes. RFC 5040 7.1 rule 2; RFC 5041 7.1.
TEST_P(TerminateTest, too_long) { refused(send_header(), Cause::of(UntaggedError::message_too_long), 101); }
// An RDMA Read Request that is longer than its header, or shorter. RFC 5040 4.2, 7.2.
TEST_P(TerminateTest, request_too_long) { refused(read_header(), Cause::of(UntaggedError::message_too_long), 29); }
TEST_P(TerminateTest, request_too_short) { refused(read_header(), Cause::of(OperationError::unspecified), 27); }

// --- RDMAP (RFC 5040 7.2) ------------------------------------------------------------------------------------------

// RFC 5040 4.1, 7.2.
TEST_P(TerminateTest, rdmap_version) {
  Header header = send_header();
  header.rsvd_ulp = control(Opcode::send, 2);
  refused(header, Cause::of(OperationError::invalid_version));
}
// Each opcode that is reserved, unknown to this end, of the other buffer model, or of another queue.
// RFC 5040 4.1, 7.2; RFC 5041 4.2.
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
// A response that nobody asked for. RFC 5040 7.2.
TEST_P(TerminateTest, response_unasked) {
  refused({.tagged = true, .last = true, .rsvd_ulp = control(Opcode::rdma_read_response), .stag = stag},
          Cause::of(OperationError::unexpected_opcode));
}

// --- RDMA Read Requests (RFC 5040 7.2) -----------------------------------------------------------------------------

// RFC 5040 5.2.1, 7.2.
TEST_P(TerminateTest, read_invalid_stag) {
  read_refused({.sink_stag = {1}, .size_bytes = 1, .source_stag = {stag.value ^ 1}}, ProtectionError::invalid_stag);
}
// RFC 5040 7.2, 8.1.1 rule 1.
TEST_P(TerminateTest, read_other_domain) {
  read_refused({.size_bytes = 1, .source_stag = foreign}, ProtectionError::stag_not_associated);
}
// RFC 5040 5.2.1, 7.1 rule 3, 7.2, 8.1.1 rule 3.
TEST_P(TerminateTest, read_beyond) {
  read_refused({.size_bytes = 2, .source_stag = stag, .source_offset = 8999}, ProtectionError::base_or_bounds);
}
// RFC 5040 7.2.
TEST_P(TerminateTest, read_wrap) {
  read_refused({.size_bytes = 5, .source_stag = stag, .source_offset = ~0ULL - 3}, ProtectionError::to_wrap);
}
// RFC 5040 8.1.1 rule 5; RFC 5041 8.3.1.
TEST_P(TerminateTest, read_without_right) {
  const STag secret = server.add(memory, {.local_write = true, .remote_write = true});
  read_refused({.size_bytes = 1, .source_stag = secret}, ProtectionError::access_rights);
}

// --- LLP -----------------------------------------------------------------------------------------------------------

// A ULPDU that is no DDP segment: MPA's error 3, without headers (RFC 5040 Figure 10). RFC 5041 4.4.
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

// A wrong CRC: MPA's error 2; the other half still answers, and what comes behind is dropped. RFC 5044 4.4.
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

// In the first FPDU: no Terminate Message can go, the stream is given up (ruling M-15). RFC 5044 7.1.2 rule 4.
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
// not complete. RFC 5040 5.3, 7.1 rule 2, 7.2, 8.1.1 rule 7.
TEST_P(CrcTerminateTest, invalidate_refused) {
  Header header = send_header();
  header.rsvd_ulp = control(Opcode::send_with_invalidate);
  header.rsvd_ulp_untagged = read_only.value;
  refused(header, Cause::of(ProtectionError::stag_cannot_be_invalidated), 0);
}
// RFC 5040 7.2.
TEST_P(CrcTerminateTest, invalidate_unknown) {
  Header header = send_header();
  header.rsvd_ulp = control(Opcode::send_with_se_and_invalidate);
  header.rsvd_ulp_untagged = 5;
  refused(header, Cause::of(ProtectionError::invalid_stag), 0);
}

// More Sends than receives are posted (ruling M-8). RFC 5040 5.3; RFC 5041 7.1.
TEST_P(CrcTerminateTest, no_buffer) {
  client.send(send_header(1), 0);
  client.send(send_header(2), 0);
  client.send(send_header(3), 0);
  EXPECT_EQ(client.terminate().cause, Cause::of(UntaggedError::no_buffer));
  EXPECT_EQ(server.completed_ids(), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(server.completions[1].status, Status::success);
}

// Errors that come together: one Terminate Message, of the first (RFC 5040 7.1 rule 4). RFC 5041 7.1.
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
// RFC 5040 5.4.
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
// RFC 5040 5.4.
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
