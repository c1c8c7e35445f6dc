// What a message's originator promises: response time-out, order of completions, pipeline depth, FCVI_MSG_ID (FC-VI
// 5.9.6, 7.3, 8.4.1 a, B.2.6.2, Annex E).
#include "fcvi/message_numbers.hpp"
#include "tests/fcvi/message_nodes.hpp"
#include "tests/support/times.hpp"

namespace {
using support::late;
using support::Level;
using support::LoggedFrame;
using support::lose;
using support::MessageFrame;
using support::MessageNodes;
using support::pass;
using support::r_a_tov;
using wire::fcvi::DeviceHeader;
using wire::fcvi::Opcode;

class Response : public MessageNodes {
 public:
  using MessageNodes::MessageNodes;
  /// Responses by their number: lost, or late.
  void to_response(int number, support::Fate fate) {
    faults.on_frame = [=](MessageFrame& frame) { return !frame.from_client && frame.number == number ? fate : pass; };
  }
  [[nodiscard]] std::size_t aborts() const { return log.count(wire::RCtl::abts); }
};

// FC-VI 8.4.1 a), 8.4.2 a), B.2.6.2 rule 9 a) b): the response is lost. Just before FCVI_ULP_TIMEOUT nothing has
// happened; just after it the exchange is aborted, the descriptor tells it, the VI is in Error.
TEST_F(Response, awaitResponse_lost_timesOut) {
  begin(Level::ReliableReception);
  to_response(0, lose);
  runtime::TimeNs passed_at = 0;  // when the last frame, with the initiative, went
  receive(), send(1, 100);
  passed_at = fabric.scheduler.now();
  fabric.scheduler.run_until(passed_at + r_a_tov - runtime::millisecond);
  EXPECT_EQ(sent(0), 0u);
  EXPECT_EQ(aborts(), 0u);
  EXPECT_TRUE(arrived(0, 0, 100));
  fabric.scheduler.run_until(passed_at + r_a_tov + runtime::millisecond);
  EXPECT_EQ(sent(0), send_failed);
  EXPECT_EQ(aborts(), 1u);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 1);
}

// ... just before it, the response still counts.
TEST_F(Response, awaitResponse_justInTime_completes) {
  begin(Level::ReliableReception);
  to_response(0, late(r_a_tov - runtime::millisecond));
  receive(), send(1, 100);
  fabric.run_for(2 * r_a_tov);
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
}

// FC-VI B.2.6.2 rule 9 c), B.2.4 rule 1 a): Herr is set at the originator too: a response that comes after the time-out
// changes nothing, and neither does a message of the peer.
TEST_F(Response, awaitResponse_late_isDiscarded) {
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : late(r_a_tov + runtime::second); };
  receive(), send(1, 100);
  const auto from_server = server->descriptor(0, {{server->data, 50}});
  const auto to_client = client->descriptor(0, {{client->data, 50}});
  client_vi->post_receive(to_client, client->handle);
  fabric.run_for(runtime::second);
  server_vi->post_send(from_server, server->handle);  // comes late as well
  fabric.run_for(r_a_tov - 500 * runtime::millisecond);
  const auto& counters = client->port.counters();
  const auto stale = counters.discarded(fc2::Discard::UnexpectedIu),
             refused = client->provider.counters().discarded(fcvi::Discard::NotReceiving);
  fabric.run_for(5 * runtime::second);
  EXPECT_EQ(counters.discarded(fc2::Discard::UnexpectedIu), stale + 1);
  EXPECT_EQ(client->provider.counters().discarded(fcvi::Discard::NotReceiving), refused + 1);
  EXPECT_EQ(sent(0), send_failed);
  EXPECT_EQ(client->status(to_client), vi::status::done | vi::status::flushed | vi::status::op_receive);
}

// VI-ARCH 2.5.3, 6.3.1.1, FC-VI E.1: of five streamed messages, the response to the second is lost. The responder
// completed all; at the originator the first is well, the second has the error, and none behind it completes well,
// before or after.
TEST_F(Response, awaitResponse_oneOfManyLost_noneBehindCompletes) {
  begin(Level::ReliableReception);
  to_response(1, lose);
  receive(5), send(5);
  fabric.run_for(runtime::second);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_TRUE(arrived(i, i));
  EXPECT_EQ(sent(0), sent_well);
  for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(sent(i), 0u) << i;
  fabric.run_for(r_a_tov);
  EXPECT_EQ(sent(1), send_failed);
  for (std::size_t i = 2; i < 5; ++i) EXPECT_EQ(sent(i), send_flushed) << i;
}

// ... and one that is only late holds the others up, no more.
TEST_F(Response, awaitResponse_overtaken_completesInOrder) {
  begin(Level::ReliableReception);
  to_response(1, late(runtime::second));
  receive(5), send(5);
  fabric.run_for(500 * runtime::millisecond);
  EXPECT_EQ(sent(2), 0u);
  fabric.run_for(runtime::second);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(sent(i), sent_well) << i;
  EXPECT_EQ(client->port.open_exchanges(), 0u);
}

// FC-VI 5.2.2: a message has one response: the same once more, while the message waits for its turn to
// complete, is discarded.
TEST_F(Response, awaitResponse_overtakenTwice_countsOnce) {
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) {
    return frame.from_client ? pass : frame.number == 0 ? late(runtime::second) : support::twice;
  };
  receive(2), send(2);
  const auto ignored = client->port.counters().discarded(fc2::Discard::UnexpectedIu);
  fabric.run_for(500 * runtime::millisecond);
  EXPECT_EQ(sent(1), 0u);
  EXPECT_EQ(client->port.counters().discarded(fc2::Discard::UnexpectedIu), ignored + 1);
  fabric.run_for(runtime::second);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(sent(i), sent_well) << i;
}

// FC-VI E.1, 6.12.2, 6.13.2, D.1 rule 1 a): both sides tell the FCVI_MSG_ID of the last message that they completed.
TEST_F(Response, disconnect_tellsLastCompletedMessage) {
  begin(Level::ReliableReception);
  receive(3), send(3);
  fabric.run_for(runtime::second);
  log.clear();
  EXPECT_EQ(disconnect(*server, *server_vi), vi::Return::Success);
  fabric.run_for(runtime::millisecond);
  std::vector<std::uint32_t> told;
  for (const LoggedFrame& frame : log.frames())
    if (frame.header.type == wire::Type::fc_vi) told.push_back(DeviceHeader::parse(32, frame.data)->msg_id.value);
  EXPECT_EQ(told, (std::vector<std::uint32_t>{3, 0}));  // the client received nothing
}

// FC-VI 5.9.4.3, VI-ARCH 2.5.3, ruling 41: a refused message of four frames: its last one brings the initiative, and
// the response tells the cause; what follows it is not delivered.
TEST_F(Response, refusing_severalFrames_answersAfterTheLast) {
  begin(Level::ReliableReception);
  send(3);
  fabric.run_for(runtime::second);
  EXPECT_EQ(sent(0), vi::status::done | vi::status::remote_descriptor_error | vi::status::op_send);
  EXPECT_EQ(sent(1), send_flushed | vi::status::partial_error);
  EXPECT_EQ(server->count(vi::ErrorCode::RecvQEmpty), 1);
}

// --- pipeline depth ----------------------------------------------------------------------------------------------

struct Depths {
  std::uint32_t client, server, open;
};
class Pipeline : public MessageNodes, public ::testing::WithParamInterface<Depths> {
 public:
  Pipeline() : MessageNodes({.address = {}, .pipeline_depth = GetParam().client}) {
    server.reset();
    server = std::make_unique<support::Host>(fabric, 1,
                                             fcvi::ProviderConfig{.address = {}, .pipeline_depth = GetParam().server});
    fabric.run_until([&] { return server->resolver.ready(); });
  }
};
INSTANTIATE_TEST_SUITE_P(Depths, Pipeline,
                         ::testing::Values(Depths{0, 31, 1}, Depths{3, 31, 4}, Depths{31, 2, 3}, Depths{7, 7, 8}),
                         [](const auto& depths) {
                           return "N" + std::to_string(depths.param.client) + "and" +
                                  std::to_string(depths.param.server);
                         });

// FC-VI 7.3: with the smaller FCVI_PIPELINE_DEPTH N of both ends, N + 1 messages are open at once, and never more.
TEST_P(Pipeline, connected_sendsAWindow_countsOpenMessages) {
  begin(Level::ReliableReception);
  int open = 0, most = 0;
  faults.on_frame = [&](MessageFrame& frame) {
    open += frame.from_client ? 1 : -1;
    most = std::max(most, open);
    return frame.from_client ? late(runtime::millisecond) : pass;
  };
  receive(20), send(20, 100);
  fabric.run_for(runtime::second);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(sent(i), sent_well);
  EXPECT_EQ(most, static_cast<int>(GetParam().open));
  EXPECT_EQ(open, 0);
}

constexpr std::uint32_t unbounded = 0xFFFFFFFF;
class UnboundedPipeline : public MessageNodes {
 public:
  UnboundedPipeline() : MessageNodes({.address = {}, .pipeline_depth = unbounded}) {}
};

// FC-VI 7.3: the largest FCVI_PIPELINE_DEPTH that can be told, at both ends: as many messages are open as a queue
// has room for.
TEST_F(UnboundedPipeline, connected_sends_countsOpenMessages) {
  begin(Level::ReliableReception);
  int open = 0;
  faults.on_frame = [&](MessageFrame& frame) {
    if (frame.from_client) ++open;
    return frame.from_client ? late(runtime::second) : pass;
  };
  for (int i = 0; i < 4096; ++i) client_vi->post_send(client->descriptor(0, {}), client->handle);
  fabric.run_for(500 * runtime::millisecond);
  EXPECT_EQ(open, 4096);
}

// --- FCVI_MSG_ID -------------------------------------------------------------------------------------------------

class Wrap : public MessageNodes, public ::testing::WithParamInterface<Level> {
 public:
  Wrap() : MessageNodes({.address = {}, .first_msg_id = {0xFFFFFFFD}}) {}
  /// FCVI_MSG_IDs of the client's messages of one frame, in order.
  [[nodiscard]] std::vector<std::uint32_t> ids() const {
    std::vector<std::uint32_t> result;
    for (const LoggedFrame& frame : log.frames())
      if (frame.outbound && frame.is(wire::RCtl::solicited_data))
        result.push_back(DeviceHeader::parse(32, frame.data)->msg_id.value);
    return result;
  }
};
INSTANTIATE_TEST_SUITE_P(Level, Wrap, support::all_levels, support::level_name);

// FC-VI 5.9.6: after FFFFFFFFh comes 0; order, responses and completions go on across it.
TEST_P(Wrap, connected_msgIdWraps) {
  begin(GetParam());
  receive(6), send(6, 100);
  fabric.run_for(20 * runtime::second);
  EXPECT_EQ(ids(), (std::vector<std::uint32_t>{0xFFFFFFFD, 0xFFFFFFFE, 0xFFFFFFFF, 0, 1, 2}));
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_TRUE(arrived(i, i, 100)) << i;
    EXPECT_EQ(sent(i), sent_well);
  }
}

// FC-VI 5.9.5: what is reserved is ignored: every reserved bit and field of a Send is set, and it arrives as
// if none were.
TEST_F(Response, receiving_reservedBitsSet_areIgnored) {
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) {
    frame.header.flags |= frame.from_client ? 0xFE : 0xF0;  // Tables 5 and 6
    frame.header.parameter = 0xFFFFFFFF;                    // no Immediate Data
    frame.header.rmt_va = ~std::uint64_t{0};
    frame.header.rmt_va_handle.value = 0xFFFFFFFF;
    frame.rewrite();
    frame.frame.data_field()[6] = frame.frame.data_field()[7] = 0xFF;
    return pass;
  };
  receive(2), send(2);
  fabric.run_for(runtime::second);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(arrived(i, i));
    EXPECT_EQ(sent(i), sent_well);
  }
  EXPECT_EQ(client->discarded() + server->discarded(), 0u);
}

// FC-VI 5.9.6: FCVI_MSG_ID does not wrap within R_A_TOV: who would send so fast waits until it is over.
TEST_P(Wrap, connected_msgIdWrapsWithinRaTov_waits) {
  begin(GetParam());
  const runtime::TimeNs begun = fabric.scheduler.now();
  receive(6), send(6, 100);
  fabric.scheduler.run_until(begun + r_a_tov - 20 * runtime::millisecond);
  EXPECT_EQ(ids().size(), 3u);
  fabric.scheduler.run_until(begun + r_a_tov + fcvi::MessageNumbers::late + 20 * runtime::millisecond);
  EXPECT_EQ(ids().size(), 6u);
}

// FC-VI B.2.5 rules 4a, 4b: messages lost around the wrap: FFFFFFFFh < 0 there.
TEST_P(Wrap, connected_messageLostAtTheWrap) {
  begin(GetParam());
  faults.on_frame = [](MessageFrame& frame) {
    return frame.from_client && (frame.header.msg_id.value == 0xFFFFFFFF || frame.header.msg_id.value == 0) ? lose
                                                                                                            : pass;
  };
  receive(6), send(6, 100);
  fabric.run_for(20 * runtime::second);
  EXPECT_TRUE(arrived(0, 0, 100) && arrived(1, 1, 100));
  if (GetParam() != Level::UnreliableDelivery) return expect_broken();
  EXPECT_TRUE(arrived(4, 2, 100) && arrived(5, 3, 100));
}

// --- SEQ_CNT -----------------------------------------------------------------------------------------------------

class Synonyms : public MessageNodes, public ::testing::WithParamInterface<Level> {
 public:
  Synonyms() : MessageNodes({}, [](fc2::NPortConfig& config, std::size_t) { config.receive_data_field_bytes = 256; }) {}
};
INSTANTIATE_TEST_SUITE_P(Level, Synonyms, support::all_levels, support::level_name);

// FC-VI 5.2.1, 5.6, 5.8.7: SEQ_CNT wraps within one exchange, and in place of a frame comes one of 65,536 frames ago,
// with the same SEQ_CNT: its relative offset gives it away, and no byte of it is placed.
TEST_P(Synonyms, receiving_frameOf65536FramesAgo) {
  constexpr std::uint32_t whole = 66'000 * 224;
  begin(GetParam());
  fc2::FramePtr old;
  int fakes = 0;
  faults.on_frame = [&](MessageFrame& frame) {
    if (frame.from_client && frame.number == 5) old = fabric.pool.copy(frame.frame);
    if (!frame.from_client || frame.number != 65'541) return pass;
    ++fakes;
    EXPECT_EQ(frame.fc.seq_cnt.value, 5);
    const auto seq_id = frame.fc.seq_id;
    std::ranges::copy(old->bytes, frame.frame.bytes.begin());
    frame.fc = *wire::FcHeader::parse(old->content());
    frame.fc.seq_id = seq_id;
    frame.rewrite();
    return pass;
  };
  const auto to = server->descriptor(0, {{server->data, whole}}), from = client->descriptor(0, {{client->data, whole}});
  std::memset(client->bytes(client->data), 0x11, whole);
  std::memset(server->bytes(server->data), 0x22, whole);
  server_vi->post_receive(to, server->handle);
  client_vi->post_send(from, client->handle);
  fabric.run_for(2 * runtime::second);
  EXPECT_EQ(fakes, 1);
  EXPECT_EQ(server->status(to), receive_lost);
  EXPECT_EQ(*server->bytes(server->data + 65'541 * 224 - 1), 0x11);
  EXPECT_EQ(*server->bytes(server->data + 65'541 * 224), 0x22);
  EXPECT_EQ(server_vi->state(), GetParam() == Level::UnreliableDelivery ? vi::State::Connected : vi::State::Error);
}

// --- preference --------------------------------------------------------------------------------------------------

// FC-VI 5.8.2: preference is each connection's own: of two connections of one port one uses it, and each
// end for itself.
TEST_F(Response, connected_preference_isPerConnection) {
  client_vi = &client->make_vi(Level::ReliableReception), server_vi = &server->make_vi(Level::ReliableReception);
  vi::Vi &plain_client = *client_vi, &plain_server = *server_vi;
  begin(Level::ReliableReception, "plain");
  vi::Vi &client_without = *client_vi, &server_without = *server_vi;
  wait.result.reset(), request.result.reset(), accept.result.reset();
  client->provider.set_options(plain_client, {.preference = true});
  server->provider.connect_wait(server->net("with"), runtime::second, wait);
  client->provider.connect_request(plain_client, client->net("c"), server->net("with"), runtime::second, request);
  ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
  server->provider.connect_accept(wait.token, plain_server, accept);
  ASSERT_TRUE(fabric.run_until([&] { return accept.result && request.result; }));
  fabric.run_for(runtime::millisecond);
  log.clear();
  const auto send_one = [&](vi::Vi& from, vi::Vi& to) {
    to.post_receive(server->descriptor(0, {{server->data, slot}}), server->handle);
    from.post_send(client->descriptor(0, {{client->data, 100}}), client->handle);
    fabric.run_for(runtime::millisecond);
  };
  send_one(plain_client, plain_server);
  send_one(client_without, server_without);
  std::vector<unsigned> preferences;
  for (const LoggedFrame& frame : log.frames())
    if (frame.header.type == wire::Type::fc_vi) preferences.push_back(frame.header.cs_ctl);
  EXPECT_EQ(preferences, (std::vector<unsigned>{0x80, 0, 0, 0}));
}
}  // namespace
