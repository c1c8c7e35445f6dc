// RDMAP streams over SCTP: sessions of emulated associations between two ends, and of each end against a peer that does
// it wrong (RFC 5043, RFC 6581 7).
#include <deque>

#include "iwarp/sctp_startup.hpp"
#include "tests/iwarp/emulated_associations.hpp"
#include "tests/iwarp/raw_client.hpp"
#include "tests/iwarp/two_ends.hpp"
#include "wire/iwarp/sctp/session_control.hpp"

namespace iwarp::testing {
namespace {
using machines::iwarp::Failure;
using wire::mpa::EnhancedData;
using wire::sctp::FunctionCode;
using wire::sctp::SessionControl;

const streams::Address sctp_server{streams::test::server_ip, 4422};

/// A server that listens, and clients.
class SctpTest : public ::testing::Test, public StartupPortUser {
 protected:
  SctpTest() { EXPECT_EQ(listener->listen(sctp_server), std::nullopt); }
  ~SctpTest() override {
    initiators.clear();
    listener.reset();
    for (const auto& all : {&clients, &servers})
      for (const auto& end : *all)
        if (!end->stream->is_closed() && !end->stream->is_idle()) end->stream->abort();
    settle();
    EXPECT_EQ(client_peers.size() + server_peers.size(), 0U);
    EXPECT_EQ(associations.alive, 0U);
    EXPECT_EQ(client_core.counters.unexpected_events + server_core.counters.unexpected_events, 0U);
  }
  void run(runtime::TimeNs time) {
    const runtime::TimeNs limit = scheduler.now() + time;
    while (scheduler.run_next(limit)) ASSERT_TRUE(client_peers.is_consistent() && server_peers.is_consistent());
    scheduler.run_until(limit);
  }
  void settle() { run(60 * runtime::second); }
  End& ask(SctpRequest request = {}, const StreamConfig& config = {.domain = domain}) {
    request.to = sctp_server;
    End& end = *clients.emplace_back(std::make_unique<End>(client_core, config));
    initiators.push_back(
        std::make_unique<SctpInitiator>(client_core.services, client_peers, end, *end.stream, request));
    initiators.back()->start();
    return end;
  }
  std::pair<End*, End*> connect(SctpRequest request = {}, const StreamConfig& config = {.domain = domain}) {
    End& client = ask(std::move(request), config);
    run(runtime::second);
    EXPECT_EQ(client.connects, 1);
    return {&client, servers.empty() ? nullptr : servers.back().get()};
  }
  void offered(PassiveStartup& responder, const PeerOffer& offer) override {
    offers.push_back(offer);
    waiting.push_back(&responder);
    scheduler.schedule(decide_, scheduler.now());
  }
  void offer_withdrawn(PassiveStartup& responder) override { ++withdrawals, std::erase(waiting, &responder); }
  void decide() {
    if (!decides) return;
    for (PassiveStartup* const one : std::exchange(waiting, {})) {
      if (rejects) {
        one->reject(answer);
        continue;
      }
      End& end = *servers.emplace_back(std::make_unique<End>(server_core, server_config));
      one->accept(*end.stream, end, answer);
    }
  }

  runtime::Scheduler scheduler;
  streams::EmulatedNetwork network{scheduler};
  streams::Streams& streams = network.add_host({streams::test::server_ip});
  EmulatedAssociations associations{scheduler};
  Core client_core{streams, scheduler, 1}, server_core{streams, scheduler, 2};
  SctpPeers client_peers{client_core.services, associations}, server_peers{server_core.services, associations};
  std::vector<std::unique_ptr<End>> clients, servers;
  std::vector<std::unique_ptr<SctpInitiator>> initiators;
  std::vector<PeerOffer> offers;
  std::vector<PassiveStartup*> waiting;
  StreamConfig server_config{.domain = domain};
  std::vector<std::uint8_t> answer{};
  bool decides = true, rejects = false;
  int withdrawals = 0;
  runtime::Timer<SctpTest, &SctpTest::decide> decide_{*this};
  std::unique_ptr<SctpListener> listener =
      std::make_unique<SctpListener>(server_core.services, server_peers, *this, 16);
};

// --- the start-up --------------------------------------------------------------------------------------------------

// RFC 5043 5.2.3, 6.2; RFC 6581 7 and 9.1.
TEST_F(SctpTest, private_data_and_depths_travel) {
  server_config.ird = 4, server_config.ord = 30;
  answer = {4, 5};
  const auto [client, server] = connect({.private_data = {1, 2, 3}}, {.domain = domain, .ird = 3, .ord = 20});
  ASSERT_EQ(offers.size(), 1U);
  EXPECT_EQ(offers[0].private_data, (std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_EQ(offers[0].enhanced->ird, 3);
  EXPECT_EQ(offers[0].enhanced->ord, 20);
  EXPECT_EQ(client->peer->private_data, (std::vector<std::uint8_t>{4, 5}));
  EXPECT_EQ(client->peer->enhanced->ird, 4);
  EXPECT_EQ(client->peer->enhanced->ord, 3);
  EXPECT_EQ(client->stream->ord(), 4U);
  EXPECT_EQ(server->stream->ord(), 3U);
}

// RFC 5043 6.2: without RFC 6581 there are no depths.
TEST_F(SctpTest, a_session_that_is_not_enhanced) {
  answer = {9};
  const auto [client, server] = connect({.private_data = {1}, .enhanced = false});
  EXPECT_FALSE(offers[0].enhanced);
  EXPECT_FALSE(client->peer->enhanced);
  EXPECT_EQ(client->peer->private_data, std::vector<std::uint8_t>{9});
  EXPECT_EQ(server->connects, 1);
}

// RFC 5043 6.3; RFC 6581 7: an Enhanced Reject, its private data is the ULP's.
TEST_F(SctpTest, a_reject_brings_its_private_data) {
  rejects = true;
  answer = {7, 8};
  for (const bool enhanced : {true, false}) {
    const End& client = ask({.enhanced = enhanced});
    run(runtime::second);
    EXPECT_EQ(client.failure, Failure::Rejected);
    EXPECT_EQ(client.peer->private_data, (std::vector<std::uint8_t>{7, 8}));
    EXPECT_EQ(client.peer->enhanced.has_value(), enhanced);
  }
}

// RFC 5043 5.2.3, 6.4: a finite limit of requests.
TEST_F(SctpTest, more_requests_than_the_backlog_are_not_admitted) {
  associations.rules.streams = 32;
  decides = false;
  for (int i = 0; i < 17; ++i) {
    ask();
    run(runtime::millisecond);
  }
  run(runtime::second);
  EXPECT_EQ(waiting.size(), 16U);
  EXPECT_EQ(std::count_if(clients.begin(), clients.end(),
                          [](const auto& one) { return one->failure == Failure::NotAdmitted; }),
            1);
}

TEST_F(SctpTest, where_nobody_listens) {
  listener.reset();
  const End& client = ask();
  run(runtime::second);
  EXPECT_EQ(client.failure, Failure::NotReachable);
  EXPECT_EQ(initiators.back()->stream_failure(), streams::Reason::refused);
}

// The association stays for its sessions; who listens anew gets the later ones of it.
TEST_F(SctpTest, a_listener_that_is_gone_admits_nobody_and_a_new_one_does) {
  connect();
  listener->stop();
  const End& second = ask();
  run(runtime::second);
  EXPECT_EQ(second.failure, Failure::NotAdmitted);
  EXPECT_EQ(listener->listen(sctp_server), std::nullopt);
  const End& third = ask();
  run(runtime::second);
  EXPECT_EQ(third.connects, 1);
  EXPECT_EQ(associations.begun, 1U);
}

TEST_F(SctpTest, nobody_answers_in_time) {
  decides = false;
  const End& client = ask();
  run(11 * runtime::second);
  EXPECT_EQ(client.failure, Failure::TimedOut);
  EXPECT_EQ(withdrawals, 1);
}

TEST_F(SctpTest, who_gives_up_withdraws_the_request) {
  decides = false;
  const End& client = ask();
  run(runtime::second);
  ASSERT_EQ(waiting.size(), 1U);
  initiators.back()->withdraw();
  EXPECT_EQ(client.failure, Failure::Withdrawn);
  run(runtime::second);
  EXPECT_EQ(withdrawals, 1);
}

// --- many streams --------------------------------------------------------------------------------------------------

// RFC 5043 8: an association for the pair of peers, a session for each pair of SCTP streams.
TEST_F(SctpTest, many_rdmap_streams_share_an_association) {
  associations.rules.streams = 20;
  std::vector<std::uint8_t> octets = octets_of_seed(5000, 1);
  for (int i = 0; i < 20; ++i) {
    ask();
    run(runtime::millisecond);
  }
  ASSERT_EQ(servers.size(), 20U);
  EXPECT_EQ(associations.begun, 1U);
  EXPECT_EQ(client_peers.session_count(), 20U);
  std::vector<std::vector<std::uint8_t>> targets(20, std::vector<std::uint8_t>(5000));
  for (std::size_t i = 0; i < 20; ++i) {
    servers[i]->receive(i, servers[i]->add(targets[i]), 5000);
    clients[i]->send(i, clients[i]->add(octets), 5000);
  }
  run(runtime::second);
  for (const auto& target : targets) EXPECT_EQ(target, octets);
}

// RFC 5043 8: no more sessions than streams; another association has the next one.
TEST_F(SctpTest, an_association_that_is_full_is_not_asked) {
  associations.rules.streams = 2;
  for (int i = 0; i < 5; ++i) {
    ask();
    run(runtime::millisecond);
  }
  EXPECT_EQ(servers.size(), 5U);
  EXPECT_EQ(associations.begun, 3U);
}

// Nor are those refused that asked before it was known how many it has.
TEST_F(SctpTest, more_than_an_association_has_ask_at_once) {
  associations.rules.streams = 2;
  for (int i = 0; i < 5; ++i) ask();
  run(runtime::second);
  EXPECT_EQ(servers.size(), 5U);
  EXPECT_EQ(associations.begun, 3U);
}

// RFC 5043 6.6: they wait together until all is acknowledged, not one behind the other.
TEST_F(SctpTest, the_sessions_of_an_association_end_together) {
  associations.rules.streams = 20;
  for (int i = 0; i < 16; ++i) ask();
  run(runtime::second);
  ASSERT_EQ(servers.size(), 16U);
  for (const auto& client : clients) client->stream->close();
  run(12 * EmulatedAssociations::delay);
  EXPECT_EQ(std::count_if(servers.begin(), servers.end(), [](const auto& one) { return one->disconnects == 1; }), 16);
}

// RFC 5043 6.6: an identifier serves again once both ends' last chunks are acknowledged.
TEST_F(SctpTest, identifiers_serve_again_after_a_graceful_end) {
  associations.rules.streams = 1;
  for (int i = 0; i < 5; ++i) {
    const auto [client, server] = connect();
    client->stream->close();
    run(100 * runtime::millisecond);
    EXPECT_EQ(server->disconnects, 1);
    server->stream->close();
    run(100 * runtime::millisecond);
    EXPECT_EQ(client->ends, 1);
    EXPECT_EQ(server->ends, 1);
  }
  EXPECT_EQ(associations.begun, 1U);
  EXPECT_EQ(client_peers.session_count() + server_peers.session_count(), 0U);
}

// RFC 5043 6.6, ruling M-18: and not if that was not seen.
TEST_F(SctpTest, identifiers_are_retired_if_chunks_may_be_outstanding) {
  associations.rules.streams = 1;
  const auto [client, server] = connect();
  associations.rules.silent = true;
  client->stream->close();
  run(11 * runtime::second);
  EXPECT_EQ(client->ends, 1);
  server->stream->close();
  run(11 * runtime::second);
  associations.rules.silent = false;
  ask();
  run(100 * runtime::millisecond);
  EXPECT_EQ(associations.begun, 2U);
}

// RFC 5043 11.3: all consumers hear of it.
TEST_F(SctpTest, the_loss_of_the_association_ends_all_its_streams) {
  for (int i = 0; i < 3; ++i) ask();
  run(runtime::second);
  decides = false;
  const End& half = ask();
  run(runtime::second);
  associations.break_all();
  run(runtime::second);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(clients[i]->losses, 1);
    EXPECT_EQ(servers[i]->losses, 1);
  }
  EXPECT_EQ(half.failure, Failure::PeerClosed);
  EXPECT_EQ(withdrawals, 1);
}

TEST_F(SctpTest, an_association_without_sessions_is_ended) {
  const auto [client, server] = connect();
  client->stream->close();
  run(100 * runtime::millisecond);
  server->stream->close();
  run(100 * runtime::millisecond);
  EXPECT_EQ(associations.alive, 2U);
  run(3 * runtime::second);
  EXPECT_EQ(associations.alive, 0U);
}

// --- messages ------------------------------------------------------------------------------------------------------

class SctpOrders : public SctpTest, public ::testing::WithParamInterface<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, SctpOrders, ::testing::Range<std::uint64_t>(0, 12));

// RFC 5043 5.2, 6.1: chunks are unordered, and considered in the order of their DDP-SSN. 0: they come in order.
TEST_P(SctpOrders, every_operation_with_chunks_in_any_order) {
  associations.rules.seed = GetParam() * 1000;
  associations.rules.messages_under_way = GetParam() % 2 == 0 ? 1000 : 5;
  const auto [client, server] = connect();
  std::vector<std::uint8_t> source = octets_of_seed(100'000, 1), sink(100'000), far(100'000), read(100'000);
  const STag from = client->add(source), to = server->add(sink), there = server->add(far), back = client->add(read);
  server->receive(1, to, 100'000);
  client->post({.id = 2, .operation = Operation::rdma_write, .pieces = {{from, 0, 100'000}}, .remote_stag = there});
  client->send(3, from, 100'000);
  client->post({.id = 4, .operation = Operation::rdma_read, .pieces = {{back, 0, 100'000}}, .remote_stag = there});
  run(runtime::second);
  EXPECT_EQ(client->completed_ids(), (std::vector<std::uint64_t>{2, 3, 4}));
  EXPECT_EQ(server->completed_ids(), std::vector<std::uint64_t>{1});
  EXPECT_EQ(sink, source);
  EXPECT_EQ(far, source);
  EXPECT_EQ(read, source);
}

// What was submitted arrives before the Terminate of the session (RFC 5043 6.2, 6.6; RFC 6581 7).
TEST_P(SctpOrders, a_close_comes_behind_what_was_sent) {
  associations.rules.seed = GetParam() * 77;
  associations.rules.messages_under_way = GetParam() % 2 == 0 ? 1000 : 3;
  const auto [client, server] = connect();
  std::vector<std::uint8_t> source = octets_of_seed(50'000, 3), sink(50'000);
  server->receive(1, server->add(sink), 50'000);
  client->send(2, client->add(source), 50'000);
  client->stream->close();
  run(runtime::second);
  EXPECT_EQ(sink, source);
  EXPECT_EQ(server->disconnects, 1);
  EXPECT_EQ(server->losses, 0);
  server->stream->close();
  run(runtime::second);
  EXPECT_EQ(client->losses, 0);
  EXPECT_EQ(client->ends + server->ends, 2);
}

// RFC 5043 9: a segment is one message, which fits into a packet.
TEST_F(SctpTest, segments_fit_into_the_largest_message) {
  associations.rules.max_message = 516;
  const auto [client, server] = connect();
  std::vector<std::uint8_t> source = octets_of_seed(5'000, 3), sink(5'000);
  server->receive(1, server->add(sink), 5'000);
  client->send(2, client->add(source), 5'000);
  run(runtime::second);
  EXPECT_EQ(sink, source);
  EXPECT_EQ(client->stream->counts().sent, 11U);  // 516 less the DDP-SSN and 18 of DDP: 496 each
  EXPECT_EQ(server->stream->counts().received, 11U);
}

// --- bad input -----------------------------------------------------------------------------------------------------

/// A client of chunks, against the server.
class SctpRawClient : public SctpTest, public AssociationUser {
 protected:
  SctpRawClient() {
    association = associations.connect(sctp_server, {}, *this);
    run(runtime::millisecond);
  }
  ~SctpRawClient() override { association.reset(); }
  void message_received(std::uint16_t, std::uint32_t protocol, wire::Bytes octets) override {
    received.emplace_back(octets.begin(), octets.end());
    if (protocol != wire::sctp::session_control_chunk) return;
    const auto message = SessionControl::parse(octets);
    ASSERT_TRUE(message);
    controls.push_back(message->function);
  }
  void room_again() override {}
  void acknowledged() override {}
  void association_lost(streams::Reason) override { lost = true; }

  void send(std::vector<std::uint8_t> chunk, std::uint32_t protocol = wire::sctp::segment_chunk) {
    EXPECT_TRUE(association->send(0, protocol, chunk));
    run(runtime::millisecond);
  }
  void send(SessionControl message) {
    std::vector<std::uint8_t> octets(message.size());
    message.write(octets);
    send(octets, wire::sctp::session_control_chunk);
  }
  void initiate() {
    send({.ssn = 0, .function = FunctionCode::initiate});
    ASSERT_EQ(controls, std::vector{FunctionCode::accept});
  }
  void send_segment(std::uint16_t ssn, const Header& header, std::size_t payload = 10) {
    std::vector<std::uint8_t> chunk{static_cast<std::uint8_t>(ssn >> 8), static_cast<std::uint8_t>(ssn)};
    const auto ulpdu = ulpdu_of(header, std::vector<std::uint8_t>(payload, 0x55));
    chunk.insert(chunk.end(), ulpdu.begin(), ulpdu.end());
    send(chunk);
  }
  /// The session was ended for what came.
  void expect_invalid_start(std::size_t failures = 1) {
    run(runtime::second);
    EXPECT_EQ(server_core.counters.failures.of(Failure::Invalid), failures);
    ASSERT_FALSE(controls.empty());
    EXPECT_EQ(controls.back(), FunctionCode::terminate);
    EXPECT_TRUE(servers.empty());
  }
  void expect_loss() {
    run(runtime::second);
    EXPECT_EQ(servers.at(0)->losses, 1);
    EXPECT_EQ(controls.back(), FunctionCode::terminate);
  }

  std::unique_ptr<Association> association;
  std::vector<std::vector<std::uint8_t>> received;
  std::vector<FunctionCode> controls;
  bool lost = false;
};

// RFC 5043 6.1: none of the legal patterns. Each first chunk that is no Initiate.
TEST_F(SctpRawClient, a_chunk_without_a_whole_ssn) { send(std::vector<std::uint8_t>(1)), expect_invalid_start(); }
TEST_F(SctpRawClient, a_chunk_of_nothing) { send(std::vector<std::uint8_t>()), expect_invalid_start(); }
// RFC 5043 6.1.
TEST_F(SctpRawClient, a_segment_before_the_initiate) { send_segment(0, send_header()), expect_invalid_start(); }
TEST_F(SctpRawClient, a_chunk_of_another_protocol) { send({0, 0, 0, 1}, 18), expect_invalid_start(); }
TEST_F(SctpRawClient, a_control_message_that_is_cut) {
  send({0, 0, 0}, wire::sctp::session_control_chunk), expect_invalid_start();
}
TEST_F(SctpRawClient, an_unknown_function_code) {
  send({0, 0, 0, 8}, wire::sctp::session_control_chunk), expect_invalid_start();
}
TEST_F(SctpRawClient, an_enhanced_initiate_without_its_data) {
  send({0, 0, 0, 5, 0, 1, 0}, wire::sctp::session_control_chunk), expect_invalid_start();
}
TEST_F(SctpRawClient, private_data_that_is_too_long) {  // RFC 5043 5.2.3: 512 octets
  std::vector<std::uint8_t> chunk(4 + 513, 0);
  chunk[3] = 1;
  send(chunk, wire::sctp::session_control_chunk), expect_invalid_start();
}
TEST_F(SctpRawClient, an_accept_that_nobody_asked_for) {
  send({.ssn = 0, .function = FunctionCode::accept}), expect_invalid_start();
}
TEST_F(SctpRawClient, private_data_of_512_octets_is_taken) {
  send({.ssn = 0, .function = FunctionCode::initiate, .private_data = octets_of_seed(512, 1)});
  ASSERT_EQ(offers.size(), 1U);
  EXPECT_EQ(offers[0].private_data.size(), 512U);
}

// RFC 5043 6.6: nothing may come before the Initiate.
TEST_F(SctpRawClient, a_gap_before_the_initiate) {
  send({.ssn = 1, .function = FunctionCode::initiate}), expect_invalid_start();
}
// RFC 5043 10: DDP-SSNs that can be accounted for, and those that cannot.
TEST_F(SctpRawClient, a_gap_is_waited_for) {
  initiate();
  const std::vector<std::uint8_t> none(10), come(10, 0x55);
  std::vector<std::uint8_t> first(10), second(10);
  servers.at(0)->receive(1, servers.at(0)->add(first), 10);
  servers.at(0)->receive(2, servers.at(0)->add(second), 10);
  send_segment(2, send_header(2));
  run(runtime::second);
  EXPECT_EQ(first, none);
  EXPECT_EQ(second, none);
  EXPECT_EQ(servers.at(0)->losses, 0);
  send_segment(1, send_header(1));
  EXPECT_EQ(first, come);
  EXPECT_EQ(second, come);
  EXPECT_EQ(servers.at(0)->losses, 0);
}
TEST_F(SctpRawClient, a_gap_that_is_too_large) {
  send({.ssn = 8193, .function = FunctionCode::initiate}), expect_invalid_start();
}
TEST_F(SctpRawClient, an_ssn_of_the_past) {
  send({.ssn = 0xFFFF, .function = FunctionCode::initiate}), expect_invalid_start();
}
TEST_F(SctpRawClient, an_ssn_that_came_already) {
  initiate();
  send_segment(2, send_header(2));
  send_segment(2, send_header(2)), expect_loss();
}
TEST_F(SctpRawClient, what_waits_for_a_gap_is_bounded) {
  initiate();
  association->send(0, wire::sctp::segment_chunk, std::vector<std::uint8_t>{0, 2});
  std::vector<std::uint8_t> large(1U << 20, 0);
  for (std::uint8_t i = 3; i < 3 + 17; ++i) {
    large[1] = i;
    association->send(0, wire::sctp::segment_chunk, large);
  }
  expect_loss();
}

// So are chunks without octets, of all sessions of an association, for each takes memory.
TEST(ChunkOrder, what_waits_of_all_sessions_is_bounded) {
  WaitingOctets waiting;
  std::deque<ChunkOrder> sessions;
  std::size_t chunks = 0;
  for (bool fits = true; fits && chunks <= WaitingOctets::most / 64;) {
    ChunkOrder& session = sessions.emplace_back(waiting);
    for (std::uint16_t ssn = 1; fits && ssn <= ChunkOrder::most_chunks; ++ssn)
      if ((fits = session.receive(ssn, 16, {}) == ChunkOrder::Place::early)) ++chunks;
  }
  EXPECT_LE(chunks, WaitingOctets::most / 100);
  EXPECT_GT(sessions.size(), 1U);
  sessions.clear();
  EXPECT_EQ(waiting.count, 0U);
}

// Before the ULP has decided: the active side may send once it has the Accept (RFC 5043 6.1).
TEST_F(SctpRawClient, a_segment_before_the_accept) {
  decides = false;
  send({.ssn = 0, .function = FunctionCode::initiate});
  ASSERT_EQ(waiting.size(), 1U);
  send_segment(1, send_header()), expect_invalid_start();
  EXPECT_EQ(withdrawals, 1);
}

// RFC 5043 6.1: behind the start-up.
TEST_F(SctpRawClient, a_second_initiate) {
  initiate();
  send({.ssn = 1, .function = FunctionCode::initiate}), expect_loss();
}
TEST_F(SctpRawClient, a_segment_shorter_than_its_header) {
  initiate();
  send({0, 1, 0x41, 0, 0, 0}), expect_loss();
}
TEST_F(SctpRawClient, a_segment_of_nothing) {
  initiate();
  send({0, 1}), expect_loss();
}
TEST_F(SctpRawClient, a_segment_behind_the_terminate) {
  initiate();
  send({.ssn = 1, .function = FunctionCode::terminate});
  EXPECT_EQ(servers.at(0)->disconnects, 1);
  send_segment(2, send_header());
  run(runtime::second);
  EXPECT_EQ(servers.at(0)->losses, 1);
}
TEST_F(SctpRawClient, terminate_twice) {
  initiate();
  send({.ssn = 1, .function = FunctionCode::terminate});
  send({.ssn = 2, .function = FunctionCode::terminate});
  run(runtime::second);
  EXPECT_EQ(servers.at(0)->losses, 1);
}

// An end amid a DDP Message is a loss.
TEST_F(SctpRawClient, terminate_amid_a_message) {
  initiate();
  std::vector<std::uint8_t> sink(100);
  servers.at(0)->receive(1, servers.at(0)->add(sink), 100);
  Header first = send_header();
  first.last = false;
  send_segment(1, first);
  send({.ssn = 2, .function = FunctionCode::terminate});
  run(runtime::second);
  EXPECT_EQ(servers.at(0)->losses, 1);
  EXPECT_EQ(servers.at(0)->disconnects, 0);
}

// RFC 5040 7.1, RFC 5041 7.1, RFC 5043 11.3: an error of DDP is answered by a Terminate Message, then the session ends.
TEST_F(SctpRawClient, an_error_of_ddp_is_answered) {
  initiate();
  send_segment(1, send_header(7));
  run(runtime::second);
  EXPECT_EQ(servers.at(0)->error->cause, Cause::of(UntaggedError::msn_range));
  ASSERT_GE(received.size(), 3U);
  EXPECT_EQ(received[1].at(3), control(Opcode::terminate));
  EXPECT_EQ(controls.back(), FunctionCode::terminate);
}

/// A server of chunks, against a client.
class SctpRawServer : public SctpTest, public AssociationListenerUser, public AssociationUser {
 protected:
  SctpRawServer() {
    listener->stop();
    raw_listener = std::move(*associations.listen(sctp_server, *this));
  }
  ~SctpRawServer() override { association.reset(), raw_listener.reset(); }
  void accepted(std::unique_ptr<Association> made) override {
    association = std::move(made);
    association->set_user(*this);
  }
  /// Of the client's chunks the first is answered, and the Terminate acknowledged.
  void message_received(std::uint16_t stream, std::uint32_t protocol, wire::Bytes octets) override {
    received.emplace_back(octets.begin(), octets.end());
    protocols.push_back(protocol);
    if (received.size() > 1) return;
    std::vector<std::uint8_t> chunk(answer_message.size());
    answer_message.write(chunk);
    association->send(stream, wire::sctp::session_control_chunk, chunk);
  }
  void room_again() override {}
  void acknowledged() override {}
  void association_lost(streams::Reason) override { association.reset(); }
  End& ask_and_run(const StreamConfig& config = {.domain = domain}) {
    End& end = ask({}, config);
    run(runtime::second);
    return end;
  }

  std::unique_ptr<AssociationListener> raw_listener;
  std::unique_ptr<Association> association;
  SessionControl answer_message{};
  std::vector<std::vector<std::uint8_t>> received;
  std::vector<std::uint32_t> protocols;
};

// RFC 6581 9.1, 8: the server reads more at once than this end has room for.
TEST_F(SctpRawServer, an_accept_that_reads_too_much_is_terminated) {
  answer_message = {.function = FunctionCode::enhanced_accept, .enhanced = EnhancedData{.ird = 1, .ord = 3}};
  const End& client = ask_and_run({.domain = domain, .ird = 2});
  EXPECT_EQ(client.failure, Failure::NotAgreed);
  ASSERT_GE(received.size(), 2U);
  EXPECT_EQ(protocols[1], wire::sctp::segment_chunk);
  EXPECT_EQ(received[1].at(3), control(Opcode::terminate));
  EXPECT_EQ(received[1].at(2 + 18), 0x20);  // layer 2: LLP, type 0
  EXPECT_EQ(received[1].at(2 + 19), 6);     // insufficient IRD
}

// RFC 5043 6.1, RFC 6581 7: an Accept that is not of the Initiate's kind.
TEST_F(SctpRawServer, an_accept_of_the_wrong_kind_is_none) {
  answer_message = {.function = FunctionCode::accept};
  EXPECT_EQ(ask_and_run().failure, Failure::Invalid);
}

// RFC 6581 7: who does not know the enhanced Initiate may reject it so.
TEST_F(SctpRawServer, a_plain_reject_of_an_enhanced_initiate) {
  answer_message = {.function = FunctionCode::reject, .private_data = {5}};
  const End& client = ask_and_run();
  EXPECT_EQ(client.failure, Failure::Rejected);
  EXPECT_EQ(client.peer->private_data, std::vector<std::uint8_t>{5});
}

// RFC 5043 6.1: two active sides.
TEST_F(SctpRawServer, an_initiate_crosses) {
  answer_message = {.function = FunctionCode::initiate};
  EXPECT_EQ(ask_and_run().failure, Failure::Crossing);
}

// RFC 5043 6.4.
TEST_F(SctpRawServer, a_terminate_admits_nobody) {
  answer_message = {.function = FunctionCode::terminate};
  EXPECT_EQ(ask_and_run().failure, Failure::NotAdmitted);
}

// Those in use are bounded, too: a peer may begin as many associations as it likes, with a session on each.
TEST_F(SctpRawClient, associations_with_a_session_are_bounded) {
  initiate();
  struct Busy final : AssociationUser {
    bool lost = false;
    void message_received(std::uint16_t, std::uint32_t, wire::Bytes) override {}
    void room_again() override {}
    void acknowledged() override {}
    void association_lost(streams::Reason) override { lost = true; }
  };
  std::vector<Busy> users(SctpPeers::most_accepted);
  std::vector<std::unique_ptr<Association>> all;
  const std::vector<std::uint8_t> initiates{0, 0, 0, 1};
  for (Busy& user : users) {
    all.push_back(associations.connect(sctp_server, {}, user));
    run(runtime::millisecond);
    if (!user.lost) all.back()->send(0, wire::sctp::session_control_chunk, initiates);
    run(runtime::millisecond);
  }
  EXPECT_EQ(servers.size(), SctpPeers::most_accepted);
  EXPECT_EQ(std::count_if(users.begin(), users.end(), [](const Busy& user) { return user.lost; }), 1);
  EXPECT_TRUE(users.back().lost);
  EXPECT_EQ(server_core.counters.half_open_dropped, 1U);
}

// A peer that associates and says nothing holds little, for a while; the oldest goes for a new one (RFC 5043 6.4).
TEST_F(SctpRawClient, associations_without_a_session_are_bounded) {
  server_core.config.half_open = 2;
  struct Quiet final : AssociationUser {
    bool lost = false;
    void message_received(std::uint16_t, std::uint32_t, wire::Bytes) override {}
    void room_again() override {}
    void acknowledged() override {}
    void association_lost(streams::Reason) override { lost = true; }
  } first, second;
  const auto one = associations.connect(sctp_server, {}, first);
  run(runtime::millisecond);
  EXPECT_FALSE(lost);
  const auto other = associations.connect(sctp_server, {}, second);
  run(runtime::millisecond);
  EXPECT_TRUE(lost);
  EXPECT_FALSE(first.lost);
  EXPECT_EQ(server_core.counters.half_open_dropped, 1U);
  run(31 * runtime::second);
  EXPECT_TRUE(first.lost && second.lost);
}

}  // namespace
}  // namespace iwarp::testing
