// Bad input of issue 19, over each framing and in each state of a stream: the one Terminate Message that answers it,
// with its layer, type and code, the graceful end, nothing placed, and its count (RFC 5040 7, RFC 5041 7, RFC 5043
// 11.3, RFC 5044 8, IFT 7).
#include "tests/iwarp/framed_client.hpp"

namespace iwarp::testing {
namespace {

/// What the server is about when the wrong thing comes.
enum class State : std::uint8_t {
  first,  // nothing came yet
  operational,
  within_send,      // the first segment of a Send came
  within_response,  // it answers a large RDMA Read
  within_read,      // its own RDMA Read is outstanding
  closing,          // its ULP has closed
  terminating,      // its ULP found an error
};
constexpr std::array<State, 7> states{State::first,           State::operational, State::within_send,
                                      State::within_response, State::within_read, State::closing,
                                      State::terminating};
std::string_view to_string(State state) {
  switch (state) {
    case State::first: return "first";
    case State::operational: return "operational";
    case State::within_send: return "within a Send";
    case State::within_response: return "within a response";
    case State::within_read: return "within an RDMA Read";
    case State::closing: return "closing";
    case State::terminating: return "terminating";
  }
  return "unknown";
}

constexpr std::uint8_t untouched = 0xEE;
constexpr std::uint32_t response_octets = 1'000'000;

/// A server in a state: two receives of 100 octets, and a client.
class Scene {
 public:
  Scene(Carrier carrier, State state) : ends(settings_for(carrier)), client(client_over(carrier, ends)), state_(state) {
    EXPECT_EQ(server.receive(1, stag, 100, 0), RdmapStream::Posted::taken);
    EXPECT_EQ(server.receive(2, stag, 100, 100), RdmapStream::Posted::taken);
    EXPECT_EQ(server.core.memory.invalidate(invalidated, domain, Right::local_read), std::nullopt);
    if (state != State::first) client->send_nothing();
    reach();
  }
  /// Whether the wrong thing is looked at: not behind a close or an error.
  [[nodiscard]] bool looks() const { return state_ != State::closing && state_ != State::terminating; }
  [[nodiscard]] std::uint32_t next_send() const { return 1; }
  [[nodiscard]] std::uint32_t next_request() const { return state_ == State::within_response ? 2 : 1; }
  /// How far the Send is that came in part.
  [[nodiscard]] std::uint32_t send_offset() const { return state_ == State::within_send ? 10 : 0; }

  /// It was answered so; nothing was placed, what was posted is flushed, the stream ends.
  /// `counted`: also behind a close or an error, where octets are still taken as frames, and no more.
  void expect(const Cause& cause, const std::optional<Header>& header, bool counted) {
    ends.run(runtime::second);
    const Cause own = Cause::of(OperationError::unspecified);  // of State::terminating
    const auto terminates = client->terminates();
    EXPECT_EQ(terminates.size(), state_ == State::closing ? 0u : 1u);
    if (!terminates.empty()) {
      EXPECT_EQ(to_string(terminates[0].second.cause), to_string(looks() ? cause : own));
      EXPECT_EQ(terminates[0].first + 1, client->ulpdus().size()) << "nothing comes behind it";
      if (looks()) {
        EXPECT_EQ(terminates[0].second.ddp_header, header);
      }
    }
    EXPECT_EQ(server.core.counters.errors.of(cause), counted ? 1u : 0u);
    EXPECT_TRUE(client->server_ended());
    expect_end();
  }
  void expect_end() {
    EXPECT_EQ(std::count(memory.begin(), memory.end(), untouched), std::ssize(memory)) << "something was placed";
    client->finish();
    ends.run(runtime::second);
    EXPECT_EQ(server.ends, 1);
    EXPECT_EQ(server.completions.size(), state_ == State::within_read ? 3u : 2u);
    for (const Completion& one : server.completions) EXPECT_EQ(one.status, Status::flushed);
  }

  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(1000, untouched),
                            source = std::vector<std::uint8_t>(response_octets);
  TwoEnds ends;
  std::unique_ptr<FramedClient> client;
  End& server = *ends.server;
  const STag stag = server.add(memory), from = server.add(source),
             read_only = server.add(memory, {.remote_read = true}),
             write_only = server.add(memory, {.remote_write = true}),
             foreign = server.add(memory, {true, true, true, true}, other_domain), invalidated = server.add(memory);

 private:
  void reach() {
    Header part = send_header();
    part.last = false;
    switch (state_) {
      case State::first:
      case State::operational: return;
      case State::within_send: return client->send(part, std::vector<std::uint8_t>(10, untouched));
      case State::within_response:
        client->set_pause(200 * runtime::microsecond);
        client->send(read_header(), request_octets({{1}, 0, response_octets, from, 0}));
        EXPECT_GT(client->octets_received(), 1000U);
        EXPECT_LT(client->octets_received(), response_octets / 2) << "the response is not complete";
        return;
      case State::within_read:
        EXPECT_EQ(
            server.post({.id = 9, .operation = Operation::rdma_read, .pieces = {{stag, 0, 8}}, .remote_stag = {1}}),
            RdmapStream::Posted::taken);
        return ends.run(runtime::millisecond);
      case State::closing: return server.stream->close();
      case State::terminating: return server.stream->terminate({.cause = Cause::of(OperationError::unspecified)});
    }
  }
  const State state_;
};

/// A segment that is wrong, as it stands in a scene.
struct Wrong {
  const char* name;
  Cause cause;
  std::function<Header(const Scene&)> header;
  std::function<std::vector<std::uint8_t>(const Scene&)> payload = [](const Scene&) {
    return std::vector<std::uint8_t>(10, 0x55);
  };
};

Header write_to(STag stag, std::uint64_t offset = 0) {
  return {.tagged = true, .last = true, .rsvd_ulp = control(Opcode::rdma_write), .stag = stag, .tagged_offset = offset};
}
Header next_send(const Scene& scene) { return send_header(scene.next_send(), scene.send_offset()); }
/// A right one, changed.
template <class Change>
auto changed_write(Change change) {
  return [change](const Scene& scene) {
    Header header = write_to(scene.stag);
    change(header, scene);
    return header;
  };
}
template <class Change>
auto changed_send(Change change) {
  return [change](const Scene& scene) {
    Header header = next_send(scene);
    change(header, scene);
    return header;
  };
}
auto octets_of(std::size_t count) {
  return [count](const Scene&) { return std::vector<std::uint8_t>(count, 0x55); };
}

void add_tagged(std::vector<Wrong>& to) {
  const auto add = [&to](const char* name, const Cause& cause, auto change) {
    to.push_back({name, cause, changed_write(change)});
  };
  add("DV of a tagged segment", Cause::of(TaggedError::invalid_version), [](Header& h, auto&) { h.version = 2; });
  add("RV of an RDMA Write", Cause::of(OperationError::invalid_version),
      [](Header& h, auto&) { h.rsvd_ulp = control(Opcode::rdma_write, 3); });
  add("a Send that is tagged", Cause::of(OperationError::unexpected_opcode),
      [](Header& h, auto&) { h.rsvd_ulp = control(Opcode::send); });
  add("a reserved opcode", Cause::of(OperationError::unexpected_opcode),
      [](Header& h, auto&) { h.rsvd_ulp = control(static_cast<Opcode>(15)); });
  add("an unknown STag", Cause::of(TaggedError::invalid_stag), [](Header& h, auto&) { h.stag.value ^= 0x10000; });
  add("another key", Cause::of(TaggedError::invalid_stag), [](Header& h, auto&) { h.stag.value ^= 1; });
  add("an STag of another domain", Cause::of(TaggedError::stag_not_associated),
      [](Header& h, const Scene& scene) { h.stag = scene.foreign; });
  add("an invalidated STag", Cause::of(TaggedError::invalid_stag),
      [](Header& h, const Scene& scene) { h.stag = scene.invalidated; });
  add("an STag without the right", Cause::of(TaggedError::invalid_stag),
      [](Header& h, const Scene& scene) { h.stag = scene.read_only; });
  add("one octet out of bounds", Cause::of(TaggedError::base_or_bounds),
      [](Header& h, auto&) { h.tagged_offset = 991; });
  add("far out of bounds", Cause::of(TaggedError::base_or_bounds),
      [](Header& h, auto&) { h.tagged_offset = 1ULL << 40; });
  add("a TO that wraps", Cause::of(TaggedError::to_wrap), [](Header& h, auto&) { h.tagged_offset = ~0ULL - 3; });
}

void add_untagged(std::vector<Wrong>& to) {
  const auto add = [&to](const char* name, const Cause& cause, auto change) {
    to.push_back({name, cause, changed_send(change)});
  };
  add("DV of an untagged segment", Cause::of(UntaggedError::invalid_version), [](Header& h, auto&) { h.version = 3; });
  add("RV of a Send", Cause::of(OperationError::invalid_version),
      [](Header& h, auto&) { h.rsvd_ulp = control(Opcode::send, 2); });
  add("a QN that there is not", Cause::of(UntaggedError::invalid_qn), [](Header& h, auto&) { h.queue_number = 3; });
  add("a QN of the first octet", Cause::of(UntaggedError::invalid_qn),
      [](Header& h, auto&) { h.queue_number = 0x01000000; });
  add("a Send to the queue of requests", Cause::of(OperationError::unexpected_opcode),
      [](Header& h, auto&) { h.queue_number = 1; });
  add("a Send to the queue of Terminates", Cause::of(OperationError::unexpected_opcode),
      [](Header& h, auto&) { h.queue_number = 2; });
  add("a Terminate to the queue of Sends", Cause::of(OperationError::unexpected_opcode),
      [](Header& h, auto&) { h.rsvd_ulp = control(Opcode::terminate); });
  add("an RDMA Write that is untagged", Cause::of(OperationError::unexpected_opcode),
      [](Header& h, auto&) { h.rsvd_ulp = control(Opcode::rdma_write); });
  add("an MSN that was", Cause::of(UntaggedError::msn_range), [](Header& h, auto&) { h.msn.value = 0; });
  add("a gap of the MSN", Cause::of(UntaggedError::msn_range), [](Header& h, auto&) { ++h.msn.value; });
  add("a gap of the MO", Cause::of(UntaggedError::invalid_mo), [](Header& h, auto&) { ++h.message_offset; });
  add("an MO far away", Cause::of(UntaggedError::invalid_mo), [](Header& h, auto&) { h.message_offset = ~0U; });
  to.push_back({"more than the buffer takes", Cause::of(UntaggedError::message_too_long), next_send, octets_of(101)});
}

void add_requests(std::vector<Wrong>& to) {
  const auto next = [](const Scene& scene) { return read_header(scene.next_request()); };
  const auto add = [&to, next](const char* name, ProtectionError error, auto request) {
    to.push_back(
        {name, Cause::of(error), next, [request](const Scene& scene) { return request_octets(request(scene)); }});
  };
  add("a read of an unknown STag", ProtectionError::invalid_stag,
      [](const Scene& scene) { return ReadRequest{.size_bytes = 1, .source_stag = {scene.stag.value ^ 1}}; });
  add("a read of another domain", ProtectionError::stag_not_associated,
      [](const Scene& scene) { return ReadRequest{.size_bytes = 1, .source_stag = scene.foreign}; });
  add("a read without the right", ProtectionError::access_rights,
      [](const Scene& scene) { return ReadRequest{.size_bytes = 1, .source_stag = scene.write_only}; });
  add("a read out of bounds", ProtectionError::base_or_bounds,
      [](const Scene& scene) { return ReadRequest{.size_bytes = 2, .source_stag = scene.stag, .source_offset = 999}; });
  add("a read that wraps", ProtectionError::to_wrap, [](const Scene& scene) {
    return ReadRequest{.size_bytes = 5, .source_stag = scene.stag, .source_offset = ~0ULL - 3};
  });
  to.push_back({"a gap of requests", Cause::of(UntaggedError::msn_range),
                [](const Scene& scene) { return read_header(scene.next_request() + 1); }, octets_of(28)});
  to.push_back({"a request that is too long", Cause::of(UntaggedError::message_too_long), next, octets_of(29)});
  to.push_back({"a request that is too short", Cause::of(OperationError::unspecified), next, octets_of(27)});
  to.push_back({"a request in two segments", Cause::of(OperationError::unspecified),
                [next](const Scene& scene) {
                  Header header = next(scene);
                  header.last = false;
                  return header;
                },
                octets_of(28)});
}

std::vector<Wrong> wrong_segments() {
  std::vector<Wrong> all;
  add_tagged(all);
  add_untagged(all);
  add_requests(all);
  return all;
}

/// A framing, and a state.
class EveryFraming : public ::testing::TestWithParam<std::tuple<Carrier, State>> {
 protected:
  [[nodiscard]] Carrier carrier() const { return std::get<0>(GetParam()); }
  [[nodiscard]] State state() const { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Each, EveryFraming,
                         ::testing::Combine(::testing::ValuesIn(carriers), ::testing::ValuesIn(states)));

// RFC 5040 4.1, 4.8, 7.1, 7.2; RFC 5041 4, 7.1, 7.2, 8.3: each field of a header.
TEST_P(EveryFraming, each_field_of_a_segment_wrong) {
  for (const Wrong& wrong : wrong_segments()) {
    SCOPED_TRACE(::testing::Message() << to_string(carrier()) << ", " << to_string(state()) << ": " << wrong.name);
    Scene scene(carrier(), state());
    const Header header = wrong.header(scene);
    scene.client->send(header, wrong.payload(scene));
    scene.client->send(send_header(), 10);  // behind it
    scene.expect(wrong.cause, header, scene.looks());
  }
}

class EveryCarrier : public ::testing::TestWithParam<Carrier> {};
INSTANTIATE_TEST_SUITE_P(Each, EveryCarrier, ::testing::ValuesIn(carriers),
                         [](const auto& carrier) { return std::string(to_string(carrier.param)); });

// RFC 5040 6.1, 8.1.2 rule 7: more requests than IRD at once.
TEST_P(EveryCarrier, one_request_more_than_ird) {
  Scene scene(GetParam(), State::within_response);
  for (std::uint32_t msn = 2; msn <= 3; ++msn)
    scene.client->send(read_header(msn), request_octets({{1}, 0, 100'000, scene.from, 0}));
  scene.expect(Cause::of(UntaggedError::no_buffer), read_header(3), true);
}

// RFC 5040 5.4, rulings M-6, M-17: a Terminate Message ends the stream however it is formed, and is not answered; a
// second one changes nothing.
TEST_P(EveryCarrier, terminate_messages_that_come) {
  for (const std::size_t octets : {0, 3, 4, 22, 60, 300}) {
    SCOPED_TRACE(octets);
    Scene scene(GetParam(), State::operational);
    Header header{.last = true, .rsvd_ulp = control(Opcode::terminate), .queue_number = 2, .msn = {1}};
    std::vector<std::uint8_t> payload(octets);
    if (octets >= 4) payload[0] = 0x12, payload[1] = 0x03, payload[2] = octets == 4 ? 0 : 0xC0;
    for (int i = 0; i < 2; ++i, ++header.msn.value) scene.client->send(header, payload);
    ASSERT_TRUE(scene.server.terminate);
    EXPECT_EQ(scene.server.terminates, 1);
    if (octets >= 4) {
      EXPECT_EQ(*scene.server.terminate, Cause::of(UntaggedError::msn_range));
    }
    const Counters& counters = scene.server.core.counters;
    EXPECT_EQ(counters.terminates_received, GetParam() == Carrier::sctp ? 1U : 2U) << "the session is over then";
    EXPECT_EQ(counters.terminates_malformed, octets < 4 || octets == 22 ? 1U : 0U);
    EXPECT_EQ(counters.terminates_sent, 0U);
    EXPECT_TRUE(scene.client->ulpdus().empty());
    scene.expect_end();
  }
}

// A peer that never reads: what is submitted waits where it is; a close is bounded in time.
TEST_P(EveryCarrier, a_peer_that_never_reads) {
  Scene scene(GetParam(), State::operational);
  scene.client->stop_reading();
  scene.ends.run(runtime::second);
  for (std::uint64_t id = 10; id < 30; ++id)
    EXPECT_EQ(scene.server.send(id, scene.from, response_octets), RdmapStream::Posted::taken);
  scene.ends.run(8 * runtime::second);
  EXPECT_LT(scene.server.completions.size(), 2U);
  scene.server.stream->close();
  scene.ends.run(9 * runtime::second);
  EXPECT_EQ(scene.server.ends, 0);
  scene.ends.run(2 * runtime::second);
  EXPECT_EQ(scene.server.ends, 1);
  EXPECT_EQ(scene.server.completions.size(), 22U);
}

// --- below DDP -----------------------------------------------------------------------------------------------------

using wire::mpa::ErrorCode;

std::vector<std::uint8_t> segment_of(const Scene& scene, std::size_t octets = 10) {
  return ulpdu_of(next_send(scene), std::vector<std::uint8_t>(octets, 0x55));
}
/// A right frame, changed.
struct WrongFrame {
  const char* name;
  ErrorCode error;
  std::function<void(std::vector<std::uint8_t>&)> change;
};

/// A change that the header CRC of IFT covers: it is right again.
auto with_header_crc(std::size_t at, std::uint8_t value, std::size_t covered = 6 + 18) {
  return [=](std::vector<std::uint8_t>& octets) {
    octets.at(at) = value;
    wire::iwarp::store_crc(octets.data() + covered, wire::iwarp::crc32c(wire::Bytes(octets).first(covered)));
  };
}
auto flipped(std::size_t at) {
  return [at](std::vector<std::uint8_t>& octets) { octets.at(at) ^= 1; };
}
std::vector<WrongFrame> wrong_frames(Carrier carrier) {
  const auto agree = ErrorCode::marker_and_length_disagree, crc = ErrorCode::crc_mismatch;
  if (carrier == Carrier::mpa)
    return {{"the CRC", crc, flipped(2 + 18 + 10 + 2)},
            {"an octet of the payload", crc, flipped(2 + 18 + 5)},
            {"an octet of the header", crc, flipped(2 + 7)},
            {"a length that is less", crc, flipped(1)}};
  return {{"the VTag", agree, with_header_crc(5, 0x23)},
          {"a header_size of none", agree, with_header_crc(1, 17)},
          {"the header_size of the other", agree, with_header_crc(1, 14, 6 + 14)},
          {"T", agree, with_header_crc(6, 0xC1)},
          {"the header CRC", crc, flipped(6 + 18 + 1)},
          {"an octet of the header", crc, flipped(6 + 9)},
          {"an octet of the payload", crc, flipped(6 + 18 + 4 + 3)},
          {"the payload CRC", crc, flipped(6 + 18 + 4 + 10 + 1)}};
}

// RFC 5044 8, IFT 7, ruling I-10: a frame that is wrong, in each state. MPA's first FPDU is not answered (ruling M-15).
TEST_P(EveryFraming, a_frame_wrong) {
  if (carrier() == Carrier::sctp) return;  // see SctpState
  for (const WrongFrame& wrong : wrong_frames(carrier())) {
    SCOPED_TRACE(::testing::Message() << to_string(carrier()) << ", " << to_string(state()) << ": " << wrong.name);
    Scene scene(carrier(), state());
    if (carrier() == Carrier::mpa && state() == State::first) scene.client->send_nothing();
    auto* const mpa = dynamic_cast<MpaClient*>(scene.client.get());
    std::vector<std::uint8_t> octets = mpa ? mpa->fpdu_of(segment_of(scene)) : IftClient::frame_of(segment_of(scene));
    wrong.change(octets);
    mpa ? mpa->send_octets(octets) : dynamic_cast<IftClient&>(*scene.client).send_octets(octets);
    scene.client->send(next_send(scene), 10);  // behind it
    const Counters& counters = scene.server.core.counters;
    EXPECT_EQ(counters.crc_errors + counters.framing_errors, 1U);
    EXPECT_EQ(counters.crc_errors, wrong.error == ErrorCode::crc_mismatch ? 1U : 0U);
    scene.expect(Cause::of(wrong.error), std::nullopt, true);
  }
}

/// Over SCTP.
class SctpState : public ::testing::TestWithParam<State> {};
INSTANTIATE_TEST_SUITE_P(Each, SctpState, ::testing::ValuesIn(states));

// RFC 5043 6.1, 10: a chunk that conforms to no pattern ends the session. No Terminate Message: no order is known any
// more. It is no loss for who ended already.
TEST_P(SctpState, a_chunk_wrong) {
  struct WrongChunk {
    std::vector<std::uint8_t> octets;  // behind the DDP-SSN
    std::uint32_t protocol;
  };
  const std::uint32_t segment = wire::sctp::segment_chunk, control_chunk = wire::sctp::session_control_chunk;
  for (const WrongChunk& wrong : std::vector<WrongChunk>{{{}, segment},
                                                         {std::vector<std::uint8_t>(17, 0x41), segment},
                                                         {std::vector<std::uint8_t>(13, 0xC1), segment},
                                                         {std::vector<std::uint8_t>(30), 18},
                                                         {{0, 1}, control_chunk},   // Initiate
                                                         {{0, 2}, control_chunk},   // Accept
                                                         {{0, 3}, control_chunk},   // Reject
                                                         {{0, 99}, control_chunk},  // none
                                                         {{0}, control_chunk}}) {
    SCOPED_TRACE(::testing::Message() << to_string(GetParam()) << ", " << wrong.octets.size() << " octets, protocol "
                                      << wrong.protocol);
    Scene scene(Carrier::sctp, GetParam());
    dynamic_cast<SctpClient&>(*scene.client).send_octets(wrong.octets, wrong.protocol);
    scene.ends.run(runtime::second);
    EXPECT_EQ(scene.server.losses, scene.looks() ? 1 : 0);
    EXPECT_EQ(scene.server.core.counters.terminates_sent, GetParam() == State::terminating ? 1U : 0U);
    EXPECT_TRUE(scene.client->server_ended());
    scene.expect_end();
  }
}

}  // namespace
}  // namespace iwarp::testing
