// MPA's start-up between two ends, and of each end against a peer that does it wrong (RFC 5044 7.1, RFC 6581).
#include "tests/iwarp/two_ends.hpp"

namespace iwarp::testing {
namespace {
using machines::iwarp::Failure;
using wire::mpa::EnhancedData;
using wire::mpa::FrameKind;
using wire::mpa::StartupFrame;

const streams::Address server_address{streams::test::server_ip, 4420};

/// A peer that writes what it is told, and collects what it reads.
class RawPeer final : public streams::StreamUser, public streams::ListenerUser {
 public:
  std::unique_ptr<streams::Stream> stream;
  std::unique_ptr<streams::Listener> listener;
  std::vector<std::uint8_t> octets;
  std::vector<std::vector<std::uint8_t>> answers;  // one for each stream that is accepted
  bool ended = false, closes = false;
  int accepts = 0;

  void connect(streams::Streams& streams, std::vector<std::uint8_t> first) {
    first_ = std::move(first);
    stream = streams.connect(server_address, {}, *this);
  }
  void listen(streams::Streams& streams) { listener = std::move(*streams.listen(server_address, *this)); }
  void connected() override {
    stream->write(wire::Bytes(first_));
    if (closes) stream->shut_down();
    stream->ask_readable();
  }
  void readable() override {
    std::array<std::uint8_t, 4096> room;
    const streams::ReadResult result = stream->read(wire::MutableBytes(room));
    octets.insert(octets.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(result.octets));
    if (!answers.empty() && octets.size() >= StartupFrame::header_bytes) {
      stream->write(wire::Bytes(answers.front()));
      answers.erase(answers.begin());
      if (closes && accepts == 1) return stream.reset();
    }
    if (result.end)
      ended = true;
    else
      stream->ask_readable();
  }
  void closed(streams::Reason) override { ended = true; }
  void accepted(std::unique_ptr<streams::Stream> from) override {
    ++accepts;
    octets.clear();
    stream = std::move(from);
    stream->set_user(*this);
    stream->ask_readable();
  }

 private:
  std::vector<std::uint8_t> first_;
};

std::vector<std::uint8_t> octets_of(const StartupFrame& frame) {
  std::vector<std::uint8_t> octets(frame.size());
  frame.write(octets);
  return octets;
}
const StartupFrame plain_request{.kind = FrameKind::request, .crc = true, .revision = 1};
const StartupFrame plain_reply{.kind = FrameKind::reply, .crc = true, .revision = 1};

Settings patient() {
  Settings settings;
  settings.accepts = false;
  return settings;
}

// Revision 2, peer to peer: private data, IRD and ORD are told; the server may send first.
// RFC 5044 3; RFC 6581 9.1, 9.2.
TEST(StartupTest, revision_2_server_sends_first) {
  Settings settings;
  settings.request.private_data = {1, 2, 3};
  settings.answer_data = {4, 5};
  settings.client.ird = 3, settings.client.ord = 20;
  settings.server.ird = 7, settings.server.ord = 9;
  TwoEnds ends(settings);
  ends.connect();
  EXPECT_EQ(ends.offers.at(0).private_data, settings.request.private_data);
  EXPECT_EQ(ends.offers.at(0).enhanced->ird, 3);
  EXPECT_EQ(ends.offers.at(0).enhanced->ord, 20);
  EXPECT_TRUE(ends.offers.at(0).enhanced->peer_to_peer);
  EXPECT_EQ(ends.client->peer->private_data, settings.answer_data);
  EXPECT_EQ(ends.client->stream->ord(), 7u);
  EXPECT_EQ(ends.server->stream->ord(), 3u);
  std::vector<std::uint8_t> octets(10);
  const STag to = ends.client->add(octets), from = ends.server->add(octets);
  EXPECT_EQ(ends.client->receive(1, to, 10), RdmapStream::Posted::taken);
  EXPECT_EQ(ends.server->send(2, from, 10), RdmapStream::Posted::taken);
  ends.run(runtime::second);
  EXPECT_EQ(ends.client->completed_ids(), std::vector<std::uint64_t>{1});
  EXPECT_EQ(ends.server->completed_ids(), std::vector<std::uint64_t>{2});
}

// Each RTR indication: its ULP sees nothing of it, and a posted receive stays (RFC 6581 9.2).
TEST(StartupTest, rtr_indications) {
  for (int kind = 0; kind < 3; ++kind) {
    Settings settings;
    settings.request.rdma_write_rtr = kind == 0;
    settings.request.send_rtr = kind == 1;
    settings.request.rdma_read_rtr = kind == 2;
    TwoEnds ends(settings);
    ends.connect();
    ends.run(runtime::second);
    EXPECT_TRUE(ends.client->completions.empty() && ends.server->completions.empty()) << kind;
    std::vector<std::uint8_t> octets(10);
    const STag to = ends.server->add(octets), from = ends.client->add(octets);
    EXPECT_EQ(ends.server->receive(1, to, 10), RdmapStream::Posted::taken);
    EXPECT_EQ(ends.client->send(2, from, 0), RdmapStream::Posted::taken);
    ends.run(runtime::second);
    EXPECT_EQ(ends.server->completed_ids(), std::vector<std::uint64_t>{1}) << kind;
  }
}

// Client-server: what the server submits waits for the client's first FPDU (RFC 5044 7.1.2 rule 4).
TEST(StartupTest, client_server_waits) {
  Settings settings;
  settings.request.peer_to_peer = false;
  TwoEnds ends(settings);
  ends.connect();
  std::vector<std::uint8_t> octets(10);
  const STag to = ends.client->add(octets), from = ends.server->add(octets);
  EXPECT_EQ(ends.client->receive(1, to, 10), RdmapStream::Posted::taken);
  EXPECT_EQ(ends.server->send(2, from, 10), RdmapStream::Posted::taken);
  ends.run(runtime::second);
  EXPECT_TRUE(ends.client->completions.empty() && ends.server->completions.empty());
  EXPECT_EQ(ends.client->post({.id = 3, .operation = Operation::rdma_write}), RdmapStream::Posted::taken);
  ends.run(runtime::second);
  EXPECT_EQ(ends.client->completed_ids(), (std::vector<std::uint64_t>{3, 1}));
  EXPECT_EQ(ends.server->completed_ids(), std::vector<std::uint64_t>{2});
}

// Ruling M-5: the RTR indication waits; before it neither end's user is told, and the time for the start-up goes on.
TEST(StartupTest, rtr_delayed) {
  for (const bool too_long : {false, true}) {
    Settings settings;
    settings.request.rtr_delay = too_long ? 11 * runtime::second : 300 * runtime::millisecond;
    TwoEnds ends(settings);
    ends.ask();
    ends.run(200 * runtime::millisecond);
    EXPECT_EQ(ends.client->connects + ends.server->connects, 0);
    EXPECT_EQ(ends.client->stream->counts().sent, 0U);
    ends.run(200 * runtime::millisecond);
    EXPECT_EQ(ends.client->connects + ends.server->connects, too_long ? 0 : 2);
    ends.run(30 * runtime::second);
    EXPECT_EQ(ends.client->failure.has_value(), too_long);
    EXPECT_EQ(ends.client->stream->counts().sent, too_long ? 0U : 1U);
  }
}

// Ruling M-28, against RFC 5044 7.1.2 rule 4 by the user's choice: the server sends behind its Reply.
TEST(StartupTest, server_that_does_not_wait) {
  for (const bool peer_to_peer : {false, true}) {
    Settings settings;
    settings.request.peer_to_peer = peer_to_peer;
    settings.answer.awaits_first_fpdu = false;
    TwoEnds ends(settings);
    ends.connect();
    std::vector<std::uint8_t> octets(10);
    const STag to = ends.client->add(octets), from = ends.server->add(octets);
    EXPECT_EQ(ends.client->receive(1, to, 10), RdmapStream::Posted::taken);
    EXPECT_EQ(ends.server->send(2, from, 10), RdmapStream::Posted::taken);
    ends.run(runtime::second);
    EXPECT_EQ(ends.client->completed_ids(), std::vector<std::uint64_t>{1}) << peer_to_peer;
    EXPECT_EQ(ends.client->post({.id = 3, .operation = Operation::rdma_write}), RdmapStream::Posted::taken);
    ends.run(runtime::second);
    EXPECT_TRUE(ends.client->stream->is_operational() && ends.server->stream->is_operational());
  }
}

// Revision 1 is asked for: no enhanced data either way. RFC 5044 3; RFC 6581 6; RFC 6581 10.
TEST(StartupTest, revision_1) {
  Settings settings;
  settings.request.revision = 1;
  TwoEnds ends(settings);
  ends.connect();
  EXPECT_EQ(ends.offers.at(0).revision, 1);
  EXPECT_FALSE(ends.offers.at(0).enhanced);
  EXPECT_EQ(ends.client->peer->revision, 1);
}

// Rejected by the ULP: with its private data.
TEST(StartupTest, reject) {
  Settings settings = patient();
  settings.answer_data = {9, 9};
  TwoEnds ends(settings);
  ends.ask();
  ends.run(runtime::second);
  ASSERT_NE(ends.waiting, nullptr);
  ends.reject();
  ends.run(runtime::second);
  EXPECT_EQ(ends.client->failure, Failure::Rejected);
  EXPECT_EQ(ends.client->peer->private_data, settings.answer_data);
  EXPECT_EQ(ends.listener->size(), 0u);
  EXPECT_EQ(ends.world.network.stream_count(), 0u);
}

// Nobody decides: the initiator's time is over, and the offer is withdrawn.
TEST(StartupTest, no_decision) {
  TwoEnds ends(patient());
  ends.ask();
  ends.run(9 * runtime::second);
  EXPECT_FALSE(ends.client->failure);
  ends.run(2 * runtime::second);
  EXPECT_EQ(ends.client->failure, Failure::TimedOut);
  EXPECT_EQ(ends.withdrawals, 1);
  EXPECT_EQ(ends.world.network.stream_count(), 0u);
}

// Nobody listens.
TEST(StartupTest, not_reachable) {
  TwoEnds ends;
  ends.listener.reset();
  ends.ask();
  ends.run(runtime::second);
  EXPECT_EQ(ends.client->failure, Failure::NotReachable);
}

// A responder that closes at revision 2, or answers in revision 1, is asked again in 1 once (rulings M-3, M-13).
TEST(StartupTest, fall_back) {
  for (const bool closes : {false, true}) {
    TwoEnds ends;
    ends.listener.reset();
    RawPeer peer;
    peer.listen(ends.world.server);
    peer.closes = closes;
    peer.answers = {closes ? std::vector<std::uint8_t>{} : octets_of(plain_reply), octets_of(plain_reply)};
    ends.ask();
    ends.run(runtime::second);
    EXPECT_EQ(peer.accepts, 2) << closes;
    EXPECT_EQ(ends.client->connects, 1) << closes;
    const auto asked = StartupFrame::parse(peer.octets);
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->revision, 1);
    EXPECT_FALSE(asked->enhanced);
    peer.stream.reset();
    ends.run(runtime::second);
  }
}

// What is no reply: the initiator fails, and says why.
TEST(StartupTest, initiator_bad_reply) {
  StartupFrame enhanced{.kind = FrameKind::reply, .crc = true, .revision = 2};
  enhanced.enhanced = EnhancedData{.ird = 1, .ord = 1};
  const std::vector<std::uint8_t> good = octets_of(enhanced);
  struct Bad {
    std::vector<std::uint8_t> octets;
    Failure failure;
  };
  std::vector<Bad> bad{{octets_of(plain_request), Failure::Crossing}};
  for (const auto& [at, value] : {std::pair<std::size_t, std::uint8_t>{0, 'm'}, {15, 'x'}, {17, 3}, {18, 2}, {19, 3}}) {
    bad.push_back({good, Failure::Invalid});
    bad.back().octets[at] = value;
  }
  for (const Bad& one : bad) {
    TwoEnds ends;
    ends.listener.reset();
    RawPeer peer;
    peer.listen(ends.world.server);
    peer.answers = {one.octets};
    ends.ask();
    ends.run(runtime::second);
    EXPECT_EQ(ends.client->failure, one.failure);
    EXPECT_TRUE(peer.ended);
    peer.stream.reset();
  }
}

// The other end's ORD is more than this end can have as IRD, or none of its RTR indications is had here: it is told by
// a Terminate Message of layer 2, type 0 (RFC 6581 9.1, 9.2).
TEST(StartupTest, initiator_cannot_agree) {
  for (const bool ird : {false, true}) {
    StartupFrame reply{.kind = FrameKind::reply, .revision = 2};
    reply.enhanced =
        EnhancedData{.peer_to_peer = true, .rdma_read_rtr = true, .ord = static_cast<std::uint16_t>(ird ? 17 : 1)};
    Settings settings;
    settings.request.options.crc = false;
    TwoEnds ends(settings);
    ends.listener.reset();
    RawPeer peer;
    peer.listen(ends.world.server);
    peer.answers = {octets_of(reply)};
    ends.ask();
    ends.run(runtime::second);
    EXPECT_EQ(ends.client->failure, Failure::NotAgreed);
    const std::size_t request = StartupFrame::header_bytes + EnhancedData::size();
    ASSERT_EQ(peer.octets.size(), request + wire::mpa::fpdu_bytes(18 + 4));
    const wire::Bytes terminate = wire::Bytes(peer.octets).subspan(request + 2 + 18);
    EXPECT_EQ(
        wire::rdmap::Terminate::cause_of(terminate),
        wire::rdmap::Cause::of(ird ? wire::mpa::ErrorCode::insufficient_ird : wire::mpa::ErrorCode::no_matching_rtr));
    peer.stream.reset();
    ends.run(runtime::second);
    EXPECT_EQ(ends.client->ends, 1);
  }
}

// What is no request, or a request with octets behind it: the responder closes, and offers nothing, or withdraws.
TEST(StartupTest, responder_bad_request) {
  const std::vector<std::uint8_t> good = octets_of(plain_request);
  std::vector<std::vector<std::uint8_t>> bad{octets_of(plain_reply)};
  for (const auto& [at, value] : {std::pair<std::size_t, std::uint8_t>{0, 'm'}, {15, 'x'}, {17, 3}, {18, 3}}) {
    bad.push_back(good);
    bad.back()[at] = value;
  }
  bad.push_back(good);
  bad.back().push_back(0);
  for (std::size_t cut = 0; cut < good.size(); ++cut)
    bad.emplace_back(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(cut));
  for (const auto& octets : bad) {
    TwoEnds ends(patient());
    RawPeer peer;
    peer.closes = octets.size() < good.size();
    peer.connect(ends.world.client, octets);
    ends.run(runtime::second);
    EXPECT_EQ(ends.waiting, nullptr);
    EXPECT_EQ(ends.offers.size(), octets.size() > good.size() ? 1u : 0u);
    EXPECT_EQ(ends.server_core.counters.startups_failed, 1u) << octets.size();
    EXPECT_EQ(ends.server_core.counters.failures.of(octets.empty() ? Failure::PeerClosed : Failure::Invalid), 1u);
    EXPECT_EQ(ends.listener->size(), 0u);
    EXPECT_TRUE(peer.ended);
    peer.stream.reset();
  }
}

// Start-ups that send nothing are limited in number and time; one that is in time is served all the same.
TEST(StartupTest, half_open_limit) {
  TwoEnds ends;
  ends.server_core.config.half_open = 3;
  std::vector<RawPeer> peers(10);
  for (RawPeer& peer : peers) peer.connect(ends.world.client, {'M'});
  ends.run(runtime::second);
  EXPECT_EQ(ends.listener->half_open(), 3u);
  EXPECT_EQ(ends.server_core.counters.half_open_dropped, 7u);
  EXPECT_EQ(std::count_if(peers.begin(), peers.end(), [](const RawPeer& peer) { return peer.ended; }), 7);
  ends.connect();
  ends.run(10 * runtime::second);
  EXPECT_EQ(ends.listener->half_open(), 0u);
  EXPECT_TRUE(std::all_of(peers.begin(), peers.end(), [](const RawPeer& peer) { return peer.ended; }));
}

// Requests beyond the backlog are closed at once.
TEST(StartupTest, backlog) {
  Settings settings = patient();
  settings.backlog = 2;
  TwoEnds ends(settings);
  std::vector<RawPeer> peers(3);
  for (RawPeer& peer : peers) peer.connect(ends.world.client, octets_of(plain_request));
  ends.run(runtime::second);
  EXPECT_EQ(ends.offers.size(), 2u);
  EXPECT_EQ(std::count_if(peers.begin(), peers.end(), [](const RawPeer& peer) { return peer.ended; }), 1);
  for (RawPeer& peer : peers) peer.stream.reset();
  ends.run(runtime::second);
  EXPECT_EQ(ends.withdrawals, 2);
}

// The ULP gives up while it waits.
TEST(StartupTest, withdraw) {
  TwoEnds ends(patient());
  ends.ask();
  ends.run(runtime::second);
  ends.initiator->withdraw();
  EXPECT_EQ(ends.client->failure, Failure::Withdrawn);
  ends.run(runtime::second);
  EXPECT_EQ(ends.withdrawals, 1);
  EXPECT_EQ(ends.world.network.stream_count(), 0u);
}

// --- what the frames say -------------------------------------------------------------------------------------------

/// What a server answers to a Request of octets.
StartupFrame reply_to(const StartupFrame& request, const Settings& settings = {}) {
  TwoEnds ends(settings);
  ends.server = std::make_unique<End>(ends.server_core, settings.server);
  RawPeer peer;
  peer.connect(ends.world.client, octets_of(request));
  ends.run(runtime::second);
  if (!settings.accepts) {
    ends.reject();
    ends.run(runtime::second);
  }
  const auto reply = StartupFrame::parse(peer.octets);
  EXPECT_TRUE(reply.has_value());
  peer.stream.reset();
  return reply ? *reply : StartupFrame{};
}
/// What a client asks.
StartupFrame request_of(const Settings& settings) {
  TwoEnds ends(settings);
  ends.listener.reset();
  RawPeer peer;
  peer.listen(ends.world.server);
  ends.ask();
  ends.run(runtime::second);
  const auto request = StartupFrame::parse(peer.octets);
  EXPECT_TRUE(request.has_value());
  peer.stream.reset();
  return request ? *request : StartupFrame{};
}

// RFC 5044 1.2, 4.4, rulings M-1, M-2: an end that is not told otherwise wants CRCs and no markers.
TEST(StartupTest, crc_is_the_default) {
  EXPECT_TRUE(request_of({}).crc);
  EXPECT_FALSE(request_of({}).markers);
  StartupFrame request = plain_request;
  request.crc = false;
  EXPECT_TRUE(reply_to(request).crc);
  EXPECT_FALSE(reply_to(request).markers);
}

// RFC 5044 4.4, 7.1.1, C.1: C in either frame is enough for both directions; in neither, none are checked. A peer of
// revision 0 has it set.
TEST(StartupTest, crc_if_either_end_asks) {
  for (const bool ours : {false, true})
    for (const bool theirs : {false, true}) {
      const MpaTerms terms = terms_of({.crc = ours}, {.crc = theirs}, 1460);
      EXPECT_EQ(terms.in.crc, ours || theirs);
      EXPECT_EQ(terms.out.crc, ours || theirs);
    }
  Settings settings;
  settings.answer.crc = false;
  const StartupFrame consortium{.kind = FrameKind::request, .markers = true, .crc = true, .revision = 0};
  const StartupFrame reply = reply_to(consortium, settings);
  EXPECT_EQ(reply.revision, 0);
  EXPECT_TRUE(reply.crc);
  settings.answer.crc = settings.request.options.crc = false;
  TwoEnds ends(settings);
  ends.connect();
  EXPECT_EQ(ends.server_core.counters.crc_errors, 0u);
}

// RFC 5044 7.1.1: M is about what the end that sets it receives, whatever the other end wants.
TEST(StartupTest, markers_as_the_receiver_asks) {
  for (const bool ours : {false, true})
    for (const bool theirs : {false, true}) {
      const MpaTerms terms = terms_of({.markers = ours}, {.markers = theirs}, 1460);
      EXPECT_EQ(terms.in.markers, ours);
      EXPECT_EQ(terms.out.markers, theirs);
      Settings settings;
      settings.request.options.wants_markers = ours;
      settings.answer.wants_markers = theirs;
      TwoEnds ends(settings);
      ends.connect();
      std::vector<std::uint8_t> octets(3000);
      const STag to = ends.server->add(octets), from = ends.client->add(octets);
      EXPECT_EQ(ends.server->receive(1, to, 3000), RdmapStream::Posted::taken);
      EXPECT_EQ(ends.client->send(2, from, 3000), RdmapStream::Posted::taken);
      ends.run(runtime::second);
      EXPECT_EQ(ends.server->completed_ids(), std::vector<std::uint64_t>{1});
    }
}

// RFC 5044 7.1.2 rule 9: Private Data of 512 octets, of which four are the enhanced data of revision 2.
TEST(StartupTest, longest_private_data) {
  for (const std::uint8_t revision : {std::uint8_t{1}, std::uint8_t{2}}) {
    Settings settings;
    settings.request.revision = revision;
    settings.request.private_data = octets_of_seed(revision == 1 ? 512 : 508, 3);
    settings.answer_data = octets_of_seed(revision == 1 ? 512 : 508, 4);
    TwoEnds ends(settings);
    ends.connect();
    EXPECT_EQ(ends.offers.at(0).private_data, settings.request.private_data);
    EXPECT_EQ(ends.client->peer->private_data, settings.answer_data);
  }
}

// RFC 6581 9.1: 3FFFh leaves IRD and ORD to the ULP: each end keeps its own, and says so; the ULP is told what the
// other end said, of a reject as well.
TEST(StartupTest, depths_left_to_the_ulp) {
  constexpr std::uint16_t left = EnhancedData::not_negotiated;
  StartupFrame request{.kind = FrameKind::request, .crc = true, .revision = 2};
  request.enhanced = EnhancedData{.ird = left, .ord = left};
  Settings settings;
  settings.server.ird = 5, settings.server.ord = 6;
  EXPECT_EQ(reply_to(request, settings).enhanced, request.enhanced);
  request.enhanced = EnhancedData{.ird = 4, .ord = 9};
  EXPECT_EQ(reply_to(request, settings).enhanced, (EnhancedData{.ird = 5, .ord = 4}));

  for (const bool rejected : {false, true}) {
    StartupFrame reply{.kind = FrameKind::reply, .crc = true, .rejected = rejected, .revision = 2};
    reply.enhanced = EnhancedData{.ird = left, .ord = left};
    TwoEnds ends;
    ends.listener.reset();
    RawPeer peer;
    peer.listen(ends.world.server);
    peer.answers = {octets_of(reply)};
    ends.ask();
    ends.run(runtime::second);
    EXPECT_EQ(ends.client->connects, rejected ? 0 : 1);
    EXPECT_EQ(ends.client->peer->enhanced, reply.enhanced);
    EXPECT_EQ(ends.client->stream->ird(), 16u);
    EXPECT_EQ(ends.client->stream->ord(), 16u);
    peer.stream.reset();
  }
}

// RFC 6581 10, 9.2: a Reply to a Request with A has A, and the RTR indications that were asked for; of none, all that
// this end takes.
TEST(StartupTest, reply_names_an_rtr_indication) {
  for (int flags = 0; flags < 8; ++flags) {
    StartupFrame request{.kind = FrameKind::request, .crc = true, .revision = 2};
    request.enhanced = EnhancedData{.peer_to_peer = true,
                                    .send_rtr = (flags & 1) != 0,
                                    .ird = 1,
                                    .rdma_write_rtr = (flags & 2) != 0,
                                    .rdma_read_rtr = (flags & 4) != 0,
                                    .ord = 1};
    const StartupFrame reply = reply_to(request);
    EXPECT_EQ(reply.revision, 2);
    ASSERT_TRUE(reply.enhanced);
    EXPECT_TRUE(reply.enhanced->peer_to_peer);
    EXPECT_EQ(reply.enhanced->send_rtr, flags == 0 || (flags & 1) != 0);
    EXPECT_EQ(reply.enhanced->rdma_write_rtr, flags == 0 || (flags & 2) != 0);
    EXPECT_EQ(reply.enhanced->rdma_read_rtr, flags == 0 || (flags & 4) != 0);
  }
}

// RFC 6581 9.2: client-server: A, B, C and D are clear in the Request, whatever else is configured, and in the Reply.
TEST(StartupTest, client_server_flags) {
  Settings settings;
  settings.request.peer_to_peer = false;
  settings.request.send_rtr = settings.request.rdma_read_rtr = true;
  const EnhancedData none{.ird = 16, .ord = 16};
  const StartupFrame request = request_of(settings);
  EXPECT_EQ(request.enhanced, none);
  EXPECT_EQ(reply_to(request).enhanced, none);
}

// RFC 6581 10: a Request without S gets a Reply without it, of its revision.
TEST(StartupTest, unenhanced_request_of_revision_2) {
  StartupFrame request = plain_request;
  request.revision = 2;
  const StartupFrame reply = reply_to(request);
  EXPECT_EQ(reply.revision, 2);
  EXPECT_FALSE(reply.enhanced);
}

}  // namespace
}  // namespace iwarp::testing
