// Rules of RFC 5040, 5041 and 5044 of which the other tests here show nothing: what an end sends, octet by octet, and
// what it makes of a peer's segments.
#include <set>

#include "iwarp/mpa_framing.hpp"
#include "tests/iwarp/raw_client.hpp"

namespace iwarp::testing {
namespace {

/// A server, and a peer of octets that has sent its first FPDU.
class RulesTest : public ::testing::Test {
 protected:
  RulesTest() { client.send_nothing(); }
  [[nodiscard]] std::vector<Opcode> opcodes() const {
    std::vector<Opcode> all;
    for (const Header& header : client.headers()) all.push_back(Control::of(header.rsvd_ulp).opcode);
    return all;
  }
  [[nodiscard]] std::vector<std::uint8_t> payload_of(std::size_t index) const {
    const auto ulpdu = client.ulpdus().at(index);
    return {ulpdu.begin() + static_cast<std::ptrdiff_t>(Header::parse(ulpdu)->size()), ulpdu.end()};
  }
  void post(const SendRequest& request) { EXPECT_EQ(server.post(request), RdmapStream::Posted::taken); }
  void post_read(std::uint64_t id, std::uint32_t octets) {
    post({.id = id, .operation = Operation::rdma_read, .pieces = {{stag, 0, octets}}, .remote_stag = {0x77}});
  }
  void run() { ends.run(runtime::second); }
  static void append(std::vector<std::uint8_t>& to, const std::vector<std::uint8_t>& octets) {
    to.insert(to.end(), octets.begin(), octets.end());
  }

  std::vector<std::uint8_t> memory = octets_of_seed(9000, 1);
  TwoEnds ends;
  RawClient client{ends, true, {.domain = domain, .scope = {5}, .ird = 2, .ord = 3}};
  End& server = *ends.server;
  const STag stag = server.add(memory);
};

// --- what is sent --------------------------------------------------------------------------------------------------

// RFC 5040 3.1, 4.1, 4.4, 5.1, 5.2.1, 5.3, 6.1; RFC 5041 4.1, 4.2, 4.3, 5.2: each message has its Tagged flag, opcode,
// versions, queue, and what the ULP said.
TEST_F(RulesTest, each_message_has_its_ddp_fields) {
  const LocalPieces pieces{{stag, 0, 10}};
  post({.id = 1, .pieces = pieces});
  post({.id = 2, .pieces = pieces, .solicited_event = true});
  post({.id = 3, .pieces = pieces, .invalidates = STag{0x1234}});
  post({.id = 4, .pieces = pieces, .invalidates = STag{0x5678}, .solicited_event = true});
  post({.id = 5, .operation = Operation::rdma_write, .pieces = pieces, .remote_stag = {0x99}, .remote_offset = 7});
  post({.id = 6,
        .operation = Operation::rdma_read,
        .pieces = {{stag, 3, 20}},
        .remote_stag = {0x9A},
        .remote_offset = 8});
  run();
  const auto send = [](Opcode opcode, std::uint32_t msn, std::uint32_t invalidates = 0) {
    Header header = send_header(msn);
    header.rsvd_ulp = control(opcode);
    header.rsvd_ulp_untagged = invalidates;
    return header;
  };
  const std::vector<Header> expected{
      send(Opcode::send, 1),
      send(Opcode::send_with_se, 2),
      send(Opcode::send_with_invalidate, 3, 0x1234),
      send(Opcode::send_with_se_and_invalidate, 4, 0x5678),
      {.tagged = true, .last = true, .rsvd_ulp = control(Opcode::rdma_write), .stag = {0x99}, .tagged_offset = 7},
      read_header(1)};
  EXPECT_EQ(client.headers(), expected);
  EXPECT_EQ(payload_of(5), request_octets(ReadRequest{stag, 3, 20, {0x9A}, 8}));
}

// RFC 5040 5.1, 5.2.1, 5.3, 5.5 rule 13; RFC 5041 4.3, 5.3: in the order of their submission; each queue counts its
// messages from one.
TEST_F(RulesTest, messages_go_out_in_order) {
  const auto write = [this](std::uint64_t id) {
    post({.id = id, .operation = Operation::rdma_write, .pieces = {{stag, 0, 5}}, .remote_stag = {0x99}});
  };
  EXPECT_EQ(server.send(1, stag, 10), RdmapStream::Posted::taken);
  write(2);
  post_read(3, 8);
  EXPECT_EQ(server.send(4, stag, 10), RdmapStream::Posted::taken);
  post_read(5, 8);
  write(6);
  EXPECT_EQ(server.send(7, stag, 10), RdmapStream::Posted::taken);
  run();
  EXPECT_EQ(opcodes(), (std::vector<Opcode>{Opcode::send, Opcode::rdma_write, Opcode::rdma_read_request, Opcode::send,
                                            Opcode::rdma_read_request, Opcode::rdma_write, Opcode::send}));
  std::array<std::vector<std::uint32_t>, 2> numbers;
  for (const Header& header : client.headers())
    if (!header.tagged) numbers.at(header.queue_number).push_back(header.msn.value);
  EXPECT_EQ(numbers[0], (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(numbers[1], (std::vector<std::uint32_t>{1, 2}));
}

// RFC 5041 4.1, 4.2, 4.3, 5.2: the segments of one message: none larger than MULPDU, all with the same RsvdULP, STag,
// queue and MSN, L on the last alone, MO and TO by the octets before.
TEST_F(RulesTest, segments_of_one_message) {
  EXPECT_EQ(server.send(1, stag, 4000), RdmapStream::Posted::taken);
  post({.id = 2,
        .operation = Operation::rdma_write,
        .pieces = {{stag, 0, 4000}},
        .remote_stag = {0x99},
        .remote_offset = 70});
  run();
  const auto all = client.ulpdus();
  std::array<std::uint32_t, 2> octets{};
  std::array<int, 2> segments{};
  for (const auto& ulpdu : all) {
    const Header header = *Header::parse(ulpdu);
    std::uint32_t& before = octets.at(header.tagged);
    EXPECT_LE(ulpdu.size(), wire::mpa::mulpdu(1460, false));
    EXPECT_TRUE(
        std::equal(ulpdu.begin() + static_cast<std::ptrdiff_t>(header.size()), ulpdu.end(), memory.begin() + before));
    Header expected = header.tagged ? Header{.tagged = true,
                                             .rsvd_ulp = control(Opcode::rdma_write),
                                             .stag = {0x99},
                                             .tagged_offset = 70 + before}
                                    : send_header(1, before);
    before += static_cast<std::uint32_t>(ulpdu.size() - header.size());
    expected.last = before == 4000;
    EXPECT_EQ(header, expected);
    ++segments.at(header.tagged);
  }
  EXPECT_EQ(segments, (std::array<int, 2>{3, 3}));
}

// RFC 5041 5.2: a message of no octets is one segment. One that comes is not asked for its STag and TO.
TEST_F(RulesTest, messages_of_no_octets) {
  EXPECT_EQ(server.send(1, stag, 0), RdmapStream::Posted::taken);
  post({.id = 2, .operation = Operation::rdma_write, .remote_stag = {0x99}});
  client.send(
      {.tagged = true, .last = true, .rsvd_ulp = control(Opcode::rdma_write), .stag = {0xBAD}, .tagged_offset = ~0ULL},
      0);
  run();
  EXPECT_EQ(opcodes(), (std::vector<Opcode>{Opcode::send, Opcode::rdma_write}));
  for (const auto& ulpdu : client.ulpdus()) EXPECT_EQ(ulpdu.size(), Header::parse(ulpdu)->size());
  EXPECT_FALSE(server.error);
}

// RFC 5041 3, 5.2: MULPDU becomes smaller, and larger again, within a message.
TEST_F(RulesTest, mulpdu_changes) {
  for (const std::size_t emss : {600, 9000, 300}) {
    const std::size_t before = client.ulpdus().size();
    server.stream->set_emss(emss);
    EXPECT_EQ(server.send(emss, stag, 5000), RdmapStream::Posted::taken);
    run();
    const auto all = client.ulpdus();
    std::size_t octets = 0, longest = 0;
    for (std::size_t i = before; i < all.size(); ++i)
      octets += all[i].size() - 18, longest = std::max(longest, all[i].size());
    EXPECT_EQ(octets, 5000u);
    EXPECT_EQ(longest, std::min<std::size_t>(wire::mpa::mulpdu(emss, false), 5018)) << emss;
  }
}

// RFC 5044 3, 4.5: MULPDU is between 128 and 64768 octets, whatever the segment.
TEST(MpaMulpduTest, mulpdu_range) {
  Workspace workspace;
  MemoryTable memory;
  for (const bool markers : {false, true})
    for (const std::size_t emss : {0, 1, 100, 128, 134, 1460, 65'000, 65'535, 1'000'000}) {
      struct NoUser final : ReceiverUser {
        void send_received(const Completion&) override {}
        void read_request_received(const ReadRequest&, const CapturedError&) override {}
        void read_response_received() override {}
        void terminate_received(wire::Bytes, bool) override {}
        bool first_ulpdu_received() override { return false; }
        void segment_refused(const CapturedError&) override {}
        void framing_refused(wire::mpa::ErrorCode) override {}
      } user;
      Receiver sink(memory, user, {});
      const MpaFraming framing(workspace, sink, {.out = {.markers = markers, .crc = true}, .emss = emss});
      EXPECT_GE(framing.mulpdu(), 128u) << emss;
      EXPECT_LE(framing.mulpdu(), 64'768u) << emss;
    }
}

// RFC 5041 5.2: a message has less than 2^32 octets.
TEST_F(RulesTest, message_of_too_many_octets) {
  post({.id = 1, .pieces = {{stag, 0, 0xFFFFFFFF}, {stag, 0, 1}}});
  run();
  ASSERT_EQ(server.completed_ids(), std::vector<std::uint64_t>{1});
  EXPECT_EQ(server.completions[0].status, Status::local_length);
  EXPECT_EQ(client.ulpdus().size(), 1u);
  EXPECT_EQ(client.terminate().cause, Cause::local_catastrophic(wire::rdmap::Layer::rdma));
}

// RFC 5040 5.5 rule 14: a Send is complete once DDP has it, and not while it may not be sent yet.
TEST(ClientServerTest, complete_when_written) {
  TwoEnds ends;
  RawClient client(ends);
  std::vector<std::uint8_t> octets(10);
  const STag stag = ends.server->add(octets);
  EXPECT_EQ(ends.server->send(1, stag, 10), RdmapStream::Posted::taken);
  ends.run(runtime::second);
  EXPECT_TRUE(ends.server->completions.empty());
  client.send_nothing();
  EXPECT_EQ(ends.server->completed_ids(), std::vector<std::uint64_t>{1});
}

// RFC 5040 6.1: no more RDMA Read Requests than ORD are outstanding.
TEST_F(RulesTest, reads_up_to_ord) {
  for (std::uint64_t id = 1; id <= 5; ++id) post_read(id, 8);
  run();
  EXPECT_EQ(client.ulpdus().size(), 3u);
  client.send({.tagged = true, .last = true, .rsvd_ulp = control(Opcode::rdma_read_response), .stag = stag}, 8);
  EXPECT_EQ(client.ulpdus().size(), 4u);
}

// --- RDMA Reads ----------------------------------------------------------------------------------------------------

// RFC 5040 4.4, 5.2, 5.2.1, 5.2.2: one request, one response: Tagged, to the Data Sink's STag and TO, whatever they
// are. The ULP hears nothing.
TEST_F(RulesTest, response_copies_the_sink) {
  const ReadRequest request{{0xDEADBEEF}, 0xFFFF'0000'0000'0010, 3000, stag, 5};
  client.send(read_header(), request_octets(request));
  run();
  std::uint64_t octets = 0;
  for (const auto& ulpdu : client.ulpdus()) {
    const Header header = *Header::parse(ulpdu);
    EXPECT_TRUE(std::equal(ulpdu.begin() + 14, ulpdu.end(), memory.begin() + 5 + static_cast<std::ptrdiff_t>(octets)));
    const std::uint64_t end = octets + ulpdu.size() - 14;
    EXPECT_EQ(header, (Header{.tagged = true,
                              .last = end == 3000,
                              .rsvd_ulp = control(Opcode::rdma_read_response),
                              .stag = {0xDEADBEEF},
                              .tagged_offset = 0xFFFF'0000'0000'0010 + octets}));
    octets = end;
  }
  EXPECT_EQ(octets, 3000u);
  EXPECT_TRUE(server.completions.empty());
}

// RFC 5040 5.2.1: of no octets: the source is not looked at, and the response has none.
TEST_F(RulesTest, read_of_no_octets) {
  client.send(read_header(), request_octets(ReadRequest{{1}, 2, 0, {0xBAD}, ~0ULL}));
  run();
  const Header expected{
      .tagged = true, .last = true, .rsvd_ulp = control(Opcode::rdma_read_response), .stag = {1}, .tagged_offset = 2};
  EXPECT_EQ(client.headers(), std::vector<Header>{expected});
  EXPECT_EQ(client.ulpdus().at(0).size(), 14u);
  EXPECT_FALSE(server.error);
}

// RFC 5040 5.2.1, 5.2.2, 5.5 rule 20: two requests at once are answered one after the other.
TEST_F(RulesTest, responses_come_in_order) {
  std::vector<std::uint8_t> octets =
      client.fpdu_of(ulpdu_of(read_header(1), request_octets(ReadRequest{{1}, 0, 3000, stag, 0})));
  append(octets, client.fpdu_of(ulpdu_of(read_header(2), request_octets(ReadRequest{{2}, 0, 100, stag, 0}))));
  client.write(octets);
  run();
  std::vector<std::uint32_t> sinks;
  for (const Header& header : client.headers()) sinks.push_back(header.stag.value);
  EXPECT_EQ(sinks, (std::vector<std::uint32_t>{1, 1, 1, 2}));
}

// RFC 5040 5.2.1, 5.2.2, 6.1, 8.1.2 rule 7: each stream has a buffer for each of IRD requests; one more is an error.
TEST_F(RulesTest, requests_beyond_ird) {
  std::vector<std::uint8_t> octets;
  for (std::uint32_t msn = 1; msn <= 3; ++msn)
    append(octets, client.fpdu_of(ulpdu_of(read_header(msn), request_octets(ReadRequest{{1}, 0, 3000, stag, 0}))));
  client.write(octets);
  run();
  EXPECT_EQ(client.terminate().cause, Cause::of(UntaggedError::no_buffer));
  EXPECT_EQ(client.terminate().ddp_header, read_header(3));
}

// RFC 5040 5.5 rules 12, 17: what was written before a request is what it reads.
TEST_F(RulesTest, read_what_was_written) {
  const Header write{
      .tagged = true, .last = true, .rsvd_ulp = control(Opcode::rdma_write), .stag = stag, .tagged_offset = 100};
  std::vector<std::uint8_t> octets = client.fpdu_of(ulpdu_of(write, {9, 8, 7}));
  append(octets, client.fpdu_of(ulpdu_of(read_header(), request_octets(ReadRequest{{1}, 0, 3, stag, 100}))));
  client.write(octets);
  EXPECT_EQ(payload_of(0), (std::vector<std::uint8_t>{9, 8, 7}));
}

// RFC 5040 5.2.2, RFC 5041 4.2, ruling M-22: a response to another STag or place, or of another length.
TEST(ReadResponseTest, response_to_another_place) {
  struct Wrong {
    std::uint32_t stag_offset, octets;
    std::uint64_t offset;
    bool last;
    TaggedError error;
  };
  for (const Wrong& wrong :
       {Wrong{1, 8, 0, true, TaggedError::invalid_stag}, Wrong{0, 8, 1, true, TaggedError::base_or_bounds},
        Wrong{0, 9, 0, true, TaggedError::base_or_bounds}, Wrong{0, 7, 0, true, TaggedError::base_or_bounds},
        Wrong{0, 9, 0, false, TaggedError::base_or_bounds}}) {
    TwoEnds ends;
    RawClient client(ends);
    client.send_nothing();
    std::vector<std::uint8_t> memory(100, 0xEE);
    const STag stag = ends.server->add(memory);
    EXPECT_EQ(
        ends.server->post({.id = 1, .operation = Operation::rdma_read, .pieces = {{stag, 0, 8}}, .remote_stag = {1}}),
        RdmapStream::Posted::taken);
    client.send({.tagged = true,
                 .last = wrong.last,
                 .rsvd_ulp = control(Opcode::rdma_read_response),
                 .stag = {stag.value + wrong.stag_offset},
                 .tagged_offset = wrong.offset},
                wrong.octets);
    EXPECT_EQ(client.terminate().cause, Cause::of(wrong.error));
    EXPECT_EQ(ends.server->completions.at(0).status, Status::flushed);
    EXPECT_EQ(std::count(memory.begin(), memory.end(), 0xEE), 100);
  }
}

// --- what is received ----------------------------------------------------------------------------------------------

// RFC 5040 4.1, RFC 5041 4.1: reserved bits, and an Invalidate STag where there is none, are zero in what is sent, and
// ignored in what comes.
TEST_F(RulesTest, reserved_fields_are_zero_and_ignored) {
  EXPECT_EQ(server.receive(1, stag, 100), RdmapStream::Posted::taken);
  std::vector<std::uint8_t> ulpdu = ulpdu_of(send_header(), {1, 2, 3});
  ulpdu[0] |= 0x3C;
  ulpdu[1] |= 0x30;
  wire::store_big<4>(ulpdu.data() + 2, stag.value);
  client.write(client.fpdu_of(ulpdu));
  ASSERT_EQ(server.completed_ids(), std::vector<std::uint64_t>{1});
  EXPECT_FALSE(server.completions[0].invalidated);
  EXPECT_EQ(server.send(2, stag, 10), RdmapStream::Posted::taken);
  post_read(3, 8);
  server.stream->terminate({.cause = Cause::of(OperationError::catastrophic_stream)});
  run();
  ASSERT_EQ(client.ulpdus().size(), 3u);
  for (const auto& each : client.ulpdus()) {
    EXPECT_EQ(each[0] & 0x3C, 0);
    EXPECT_EQ(each[1] & 0x30, 0);
    EXPECT_EQ(wire::load_big<4>(each.data() + 2), 0u);
  }
}

// RFC 5040 5.5 rules 16, 19, RFC 5041 4.1, 5.4: a Send, and a response, are delivered with their last segment, and not
// before.
TEST_F(RulesTest, delivered_when_whole) {
  EXPECT_EQ(server.receive(1, stag, 100), RdmapStream::Posted::taken);
  Header header = send_header();
  header.last = false;
  client.send(header);
  EXPECT_TRUE(server.completions.empty());
  client.send(send_header(1, 10));
  ASSERT_EQ(server.completed_ids(), std::vector<std::uint64_t>{1});
  EXPECT_EQ(server.completions[0].octets, 20u);
  post_read(2, 20);
  Header response{.tagged = true, .rsvd_ulp = control(Opcode::rdma_read_response), .stag = stag};
  client.send(response);
  EXPECT_EQ(server.completions.size(), 1u);
  response.last = true;
  response.tagged_offset = 10;
  client.send(response);
  ASSERT_EQ(server.completed_ids(), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(server.completions[1].octets, 20u);
}

// RFC 5041 4.3, ruling M-23: another kind of Send within a message.
TEST_F(RulesTest, opcode_changes_within_a_message) {
  EXPECT_EQ(server.receive(1, stag, 100), RdmapStream::Posted::taken);
  Header header = send_header();
  header.last = false;
  client.send(header);
  header = send_header(1, 10);
  header.rsvd_ulp = control(Opcode::send_with_se);
  client.send(header);
  EXPECT_EQ(client.terminate().cause, Cause::of(OperationError::unexpected_opcode));
}

// RFC 5040 5.4: the Terminate Message is Untagged, of queue 2, the last one; what was submitted or asked for is not
// sent behind it.
TEST_F(RulesTest, terminate_is_the_last_message) {
  std::vector<std::uint8_t> octets =
      client.fpdu_of(ulpdu_of(read_header(1), request_octets(ReadRequest{{1}, 0, 3000, stag, 0})));
  append(octets, client.fpdu_of(ulpdu_of(read_header(9), request_octets(ReadRequest{{1}, 0, 3000, stag, 0}))));
  client.write(octets);
  EXPECT_EQ(server.send(1, stag, 10), RdmapStream::Posted::refused);
  run();
  Header expected{.last = true, .rsvd_ulp = control(Opcode::terminate), .queue_number = 2, .msn = {1}};
  EXPECT_EQ(client.headers(), std::vector<Header>{expected});
}

// RFC 5044 4.1, 4.4: PAD is ignored but for the CRC; without CRCs their field may have any value.
TEST(PadTest, pad_and_crc_that_are_ignored) {
  for (const bool crc : {false, true}) {
    Settings settings;
    settings.answer.crc = crc;
    TwoEnds ends(settings);
    RawClient client(ends, crc);
    std::vector<std::uint8_t> memory(100);
    const STag stag = ends.server->add(memory);
    EXPECT_EQ(ends.server->receive(1, stag, 100), RdmapStream::Posted::taken);
    std::vector<std::uint8_t> octets = client.fpdu_of(ulpdu_of(send_header(), {1, 2, 3}));
    ASSERT_EQ(octets.size(), 2u + 18 + 3 + 1 + 4);
    octets[23] = 0xFF;
    const wire::Bytes covered = wire::Bytes(octets).first(24);
    wire::iwarp::store_crc(octets.data() + 24, crc ? wire::iwarp::crc32c(covered) : 0x12345678);
    client.write(octets);
    EXPECT_EQ(ends.server->completed_ids(), std::vector<std::uint64_t>{1}) << crc;
  }
}

// --- memory --------------------------------------------------------------------------------------------------------

// RFC 5040 7.2, 8.1.1 rule 2, RFC 5041 4.2, 8.2, 8.3: an STag that is limited to one stream is none of another's.
TEST_F(RulesTest, stag_of_another_stream) {
  const STag own = *server.core.memory.add(domain, memory, 0, {true, true, true, true}, 0, {5});
  const STag other = *server.core.memory.add(domain, memory, 0, {true, true, true, true}, 0, {6});
  Header write{.tagged = true, .last = true, .rsvd_ulp = control(Opcode::rdma_write), .stag = own};
  client.send(write, std::vector<std::uint8_t>{42});
  client.send(read_header(1), request_octets(ReadRequest{{1}, 0, 1, own, 0}));
  EXPECT_EQ(memory[0], 42);
  EXPECT_EQ(payload_of(0), std::vector<std::uint8_t>{42});
  EXPECT_FALSE(server.core.memory.reach(other, domain, 0, 1, Right::remote_read));
  write.stag = other;
  client.send(write, std::vector<std::uint8_t>{43});
  EXPECT_EQ(client.terminate().cause, Cause::of(TaggedError::stag_not_associated));
  EXPECT_EQ(memory[0], 42);
  ASSERT_TRUE(server.error);
}

// RFC 5040 7.2, 8.1.1 rule 7, ruling M-24: nor can its peer invalidate one.
TEST_F(RulesTest, invalidate_of_another_stream) {
  const STag other = *server.core.memory.add(domain, memory, 0, {true, true, true, true}, 0, {6});
  EXPECT_EQ(server.receive(1, stag, 100), RdmapStream::Posted::taken);
  Header header = send_header();
  header.rsvd_ulp = control(Opcode::send_with_invalidate);
  header.rsvd_ulp_untagged = other.value;
  client.send(header);
  EXPECT_EQ(client.terminate().cause, Cause::of(ProtectionError::stag_not_associated));
  EXPECT_TRUE(server.core.memory.reach(other, {domain, {6}}, 0, 1, Right::remote_read));
  EXPECT_EQ(server.completions.at(0).status, Status::flushed);
}

// RFC 5040 8.1.1 rules 4, 6, RFC 5041 8.3, 8.3.1: once its region is revoked memory is not written any more, in the
// middle of a message, too.
TEST_F(RulesTest, revoked_region) {
  std::vector<std::uint8_t> target(100, 0xEE);
  const STag to = server.add(target);
  Header write{.tagged = true, .rsvd_ulp = control(Opcode::rdma_write), .stag = to};
  client.send(write, {1, 2});
  EXPECT_EQ(target[1], 2);
  EXPECT_TRUE(server.core.memory.remove(to));
  write.tagged_offset = 2;
  client.send(write, {3, 4});
  EXPECT_EQ(client.terminate().cause, Cause::of(TaggedError::invalid_stag));
  EXPECT_EQ(target[2], 0xEE);
}

// Ruling M-27: memory of a receive went before its Send came: no fault of the other end's.
TEST_F(RulesTest, receive_without_memory) {
  std::vector<std::uint8_t> target(100, 0xEE);
  const STag to = server.add(target);
  EXPECT_EQ(server.receive(1, to, 100), RdmapStream::Posted::taken);
  EXPECT_TRUE(server.core.memory.remove(to));
  client.send(send_header());
  EXPECT_EQ(client.terminate().cause, Cause::local_catastrophic(wire::rdmap::Layer::ddp));
  EXPECT_FALSE(client.terminate().ddp_header);
  EXPECT_EQ(target[0], 0xEE);
  EXPECT_EQ(server.completions.at(0).status, Status::flushed);
}

// WARP 8: TO of the first octet is what was chosen, 0 or any other: for a Write, and for a Read.
TEST(BaseTest, any_base) {
  for (const std::uint64_t base : {std::uint64_t{0}, std::uint64_t{0x1001}, std::uint64_t{0xFFFF'FFFF'FFFF'FF00}}) {
    TwoEnds ends;
    RawClient client(ends);
    client.send_nothing();
    std::vector<std::uint8_t> memory(100, 0xEE);
    const STag stag = *ends.server->core.memory.add(domain, memory, base, {true, true, true, true});
    const Header write{.tagged = true,
                       .last = true,
                       .rsvd_ulp = control(Opcode::rdma_write),
                       .stag = stag,
                       .tagged_offset = base + 90};
    client.send(write, 10);
    EXPECT_EQ(memory[90], 0x55);
    client.send(read_header(), request_octets(ReadRequest{{1}, 0, 1, stag, base + 99}));
    EXPECT_EQ(client.ulpdus().at(0).back(), 0x55);
    Header below = write;
    below.tagged_offset = base - 1;
    client.send(below, 10);
    EXPECT_EQ(client.terminate().cause, Cause::of(base == 0 ? TaggedError::to_wrap : TaggedError::base_or_bounds));
  }
}

// RFC 5040 8.1.1 rule 8, ruling M-9: STags are drawn from the whole range: none is twice there, none is 0, and seeds
// give different ones.
TEST(StagTest, stags_are_drawn) {
  std::vector<std::uint8_t> octets(1);
  std::set<std::uint32_t> all;
  std::array<int, 16> parts{};
  int in_sequence = 0;
  MemoryTable table(1), other(2);
  std::uint32_t last = 0, equal = 0;
  for (int i = 0; i < 1600; ++i) {
    const std::uint32_t value = table.add(domain, octets, 0, {}, 7)->value;
    EXPECT_EQ(value & 0xFF, 7u);
    EXPECT_NE(value >> 8, 0u);
    EXPECT_TRUE(all.insert(value).second);
    ++parts.at(value >> 28);
    in_sequence += value == last + 0x100;
    equal += value == other.add(domain, octets, 0, {}, 7)->value;
    last = value;
  }
  EXPECT_LE(in_sequence, 1);
  EXPECT_LE(equal, 1u);
  for (const int part : parts) EXPECT_GT(part, 50);
}

// --- receives of several streams -----------------------------------------------------------------------------------

struct Shared final : ReceiveSource {
  std::vector<ReceiveRequest> waiting;
  std::size_t taken = 0;
  std::optional<ReceiveRequest> take_receive() override {
    return taken == waiting.size() ? std::nullopt : std::optional(waiting[taken++]);
  }
};

// A Send takes one buffer, when its first segment comes; Immediate Data, too. Without one the stream ends (RFC 5041
// 7.1, ruling M-8); one that was taken for a message that is not whole is flushed (RFC 5040 5.5 rule 15).
TEST(SharedReceivesTest, one_for_each_message) {
  Shared source;
  Settings settings;
  settings.client.immediate_data = settings.server.immediate_data = true;
  settings.server.shared_receives = &source;
  TwoEnds ends(settings);
  ends.connect();
  std::vector<std::uint8_t> octets = octets_of_seed(5000, 1), inbox(15'000);
  const STag from = ends.client->add(octets), in = ends.server->add(inbox);
  for (std::uint64_t id = 0; id < 3; ++id) source.waiting.push_back({10 + id, {{in, id * 5000, 5000}}});
  EXPECT_EQ(source.taken, 0u);
  EXPECT_EQ(ends.client->send(1, from, 5000), RdmapStream::Posted::taken);
  EXPECT_EQ(ends.client->post({.id = 2, .operation = Operation::immediate_data}), RdmapStream::Posted::taken);
  EXPECT_EQ(ends.client->send(3, from, 5000), RdmapStream::Posted::taken);
  ends.run(runtime::second);
  EXPECT_EQ(ends.server->completed_ids(), (std::vector<std::uint64_t>{10, 11, 12}));
  EXPECT_TRUE(std::equal(octets.begin(), octets.end(), inbox.begin() + 10'000));
  EXPECT_EQ(ends.client->send(4, from, 5), RdmapStream::Posted::taken);
  ends.run(runtime::second);
  ASSERT_TRUE(ends.server->error);
  EXPECT_EQ(ends.server->error->cause, Cause::of(UntaggedError::no_buffer));
}

TEST(SharedReceivesTest, flushed_within_a_message) {
  Shared source;
  Settings settings;
  settings.server.shared_receives = &source;
  TwoEnds ends(settings);
  ends.connect();
  std::vector<std::uint8_t> octets(5000);
  const STag from = ends.client->add(octets), in = ends.server->add(octets);
  source.waiting = {{1, {{in, 0, 100}}}, {2, {{in, 0, 5000}}}};
  EXPECT_EQ(ends.client->send(1, from, 5000), RdmapStream::Posted::taken);  // too long for the first one
  ends.run(runtime::second);
  ASSERT_EQ(ends.server->completed_ids(), std::vector<std::uint64_t>{1});
  EXPECT_EQ(ends.server->completions.front().status, Status::flushed);
  EXPECT_EQ(source.taken, 1u);
}

// --- Immediate Data ------------------------------------------------------------------------------------------------

// WARP 15, WARP 25; RFC 7306 6.1, 6.3, 6.4: it is of queue 0 and in the order of Sends, consumes a receive, places
// nothing, and is told with its 8 octets; with Solicited Event or without.
TEST(ImmediateDataTest, behind_a_write) {
  Settings settings;
  settings.client.immediate_data = settings.server.immediate_data = true;
  TwoEnds ends(settings);
  ends.connect();
  std::vector<std::uint8_t> source = octets_of_seed(5000, 1), target(5000), inbox(30, 0xEE);
  const STag from = ends.client->add(source), to = ends.server->add(target), in = ends.server->add(inbox);
  for (std::uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(ends.server->receive(id, in, 10), RdmapStream::Posted::taken);
  const auto post = [&](const SendRequest& request) {
    EXPECT_EQ(ends.client->post(request), RdmapStream::Posted::taken);
  };
  post({.id = 1, .operation = Operation::rdma_write, .pieces = {{from, 0, 5000}}, .remote_stag = to});
  post({.id = 2, .operation = Operation::immediate_data, .immediate = 0x0102030405060708});
  post({.id = 3, .operation = Operation::immediate_data, .solicited_event = true, .immediate = ~0ULL});
  post({.id = 4, .pieces = {{from, 0, 5}}});
  ends.run(runtime::second);
  EXPECT_EQ(ends.client->completed_ids(), (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(target, source);
  ASSERT_EQ(ends.server->completed_ids(), (std::vector<std::uint64_t>{1, 2, 3}));
  const std::vector<Completion>& told = ends.server->completions;
  EXPECT_EQ(told[0].immediate, 0x0102030405060708U);
  EXPECT_FALSE(told[0].solicited_event);
  EXPECT_EQ(told[0].octets, 5000u);  // of the RDMA Write (ruling M-30)
  EXPECT_EQ(told[1].octets, 0u);     // of none
  EXPECT_EQ(told[1].immediate, ~0ULL);
  EXPECT_TRUE(told[1].solicited_event);
  EXPECT_FALSE(told[2].immediate);
  EXPECT_EQ(told[2].octets, 5u);
  EXPECT_EQ(inbox[5], 0xEE);
}

// RFC 7306 6.3, 8.2, rulings M-10, M-20: exactly 8 octets, and a receive; a stream that does not have it refuses it.
TEST(ImmediateDataTest, wrong) {
  Header header = send_header();
  header.rsvd_ulp = control(Opcode::immediate_data);
  struct Wrong {
    bool has, receives;
    std::size_t octets;
    Cause cause;
  };
  for (const Wrong& wrong : {Wrong{true, true, 7, Cause::of(OperationError::unspecified)},
                             Wrong{true, true, 9, Cause::of(UntaggedError::message_too_long)},
                             Wrong{true, false, 8, Cause::of(UntaggedError::no_buffer)},
                             Wrong{false, true, 8, Cause::of(OperationError::unexpected_opcode)}}) {
    TwoEnds ends;
    RawClient client(ends, true, {.domain = domain, .immediate_data = wrong.has});
    std::vector<std::uint8_t> inbox(10, 0xEE);
    const STag in = ends.server->add(inbox);
    if (wrong.receives) {
      EXPECT_EQ(ends.server->receive(1, in, 10), RdmapStream::Posted::taken);
    }
    client.send_nothing();
    EXPECT_EQ(ends.server->post({.id = 2, .operation = Operation::immediate_data}),
              wrong.has ? RdmapStream::Posted::taken : RdmapStream::Posted::refused);
    client.send(header, wrong.octets);
    EXPECT_EQ(client.terminate().cause, wrong.cause);
    EXPECT_EQ(std::count(inbox.begin(), inbox.end(), 0xEE), 10);
  }
}

}  // namespace
}  // namespace iwarp::testing
