// Two ends of RDMA over TCP on emulated hosts, and shorthand for what their ULPs do.
#pragma once
#include <map>

#include "iwarp/ift_adaption.hpp"
#include "iwarp/mpa_initiator.hpp"
#include "iwarp/mpa_listener.hpp"
#include "iwarp/sctp_startup.hpp"
#include "tests/iwarp/emulated_associations.hpp"
#include "tests/streams/worlds.hpp"

namespace iwarp::testing {

inline constexpr ProtectionDomain domain{7}, other_domain{8};

/// What a core has once.
class Core {
 public:
  Core(streams::Streams& streams, runtime::Scheduler& scheduler, std::uint64_t seed)
      : memory(seed), services{streams, scheduler, config, counters, *workspace, memory} {}
  Config config;
  Counters counters;
  std::unique_ptr<Workspace> workspace = std::make_unique<Workspace>();
  MemoryTable memory;
  Services services;
};

/// One end: a stream, its memory, and all that it was told.
class End final : public StreamListener, public StartupListener {
 public:
  explicit End(Core& of, const StreamConfig& config = {.domain = domain})
      : core(of), stream(std::make_unique<RdmapStream>(of.services, *this, config)) {}

  Core& core;
  std::unique_ptr<RdmapStream> stream;
  std::vector<Completion> completions;
  std::optional<CapturedError> error;
  std::optional<wire::rdmap::Cause> terminate;
  std::optional<PeerOffer> peer;
  std::optional<machines::iwarp::Failure> failure;
  int connects = 0, disconnects = 0, losses = 0, ends = 0, terminates = 0;

  void completed(const Completion& completion) override { completions.push_back(completion); }
  void error_found(const CapturedError& found) override { error = found; }
  void terminate_received(const wire::rdmap::Cause& cause, wire::Bytes) override { ++terminates, terminate = cause; }
  void disconnected() override { ++disconnects; }
  void lost() override { ++losses; }
  void closed() override { ++ends; }
  void connected(const PeerOffer& offer) override { ++connects, peer = offer; }
  void startup_failed(machines::iwarp::Failure why, const PeerOffer& offer) override { failure = why, peer = offer; }

  STag add(std::vector<std::uint8_t>& octets, Rights rights = {true, true, true, true}, ProtectionDomain of = domain) {
    return *core.memory.add(of, octets, 0, rights);
  }
  RdmapStream::Posted post(SendRequest request) { return stream->post_send(request); }
  RdmapStream::Posted send(std::uint64_t id, STag stag, std::uint32_t octets, std::uint64_t offset = 0) {
    return post({.id = id, .pieces = {{stag, offset, octets}}});
  }
  RdmapStream::Posted receive(std::uint64_t id, STag stag, std::uint32_t octets, std::uint64_t offset = 0) {
    return stream->post_receive({id, {{stag, offset, octets}}});
  }
  [[nodiscard]] std::vector<std::uint64_t> completed_ids() const {
    std::vector<std::uint64_t> ids;
    for (const Completion& one : completions) ids.push_back(one.id);
    return ids;
  }
};

struct Settings {
  MpaRequest request{};
  std::optional<IftOptions> ift{};         // over IFT, and not over MPA: of both ends, but for the VTag
  std::optional<AssociationRules> sctp{};  // over SCTP, and not over MPA
  MpaOptions answer{};
  std::size_t backlog = 16;
  StreamConfig client{.domain = domain}, server{.domain = domain};
  std::size_t client_emss = 1460, server_emss = 1460;
  bool accepts = true;
  std::vector<std::uint8_t> answer_data{};
};

/// Node B of IFT: at most one start-up, which is accepted.
class NodeB final : public streams::ListenerUser, public PassiveStartupOwner {
 public:
  NodeB(Core& core, const streams::Address& at, const IftOptions& options) : core_(core), options_(options) {
    listener_ = std::move(*core.services.streams.listen(at, *this));
  }
  std::unique_ptr<IftAdaption> adaption;
  End* end = nullptr;

  void accepted(std::unique_ptr<streams::Stream> stream) override {
    adaption = std::make_unique<IftAdaption>(core_.services, options_);
    adaption->await(std::move(stream), *this);
  }
  void offered(PassiveStartup&, const PeerOffer&) override {
    core_.services.scheduler.schedule(decide_, core_.services.scheduler.now());
  }
  void offer_withdrawn(PassiveStartup&) override { core_.services.scheduler.cancel(decide_); }
  [[nodiscard]] bool has_room() const override { return true; }
  void startup_over() override {}

 private:
  void decide() { adaption->accept(*end->stream, *end, {}); }
  Core& core_;
  const IftOptions options_;
  std::unique_ptr<streams::Listener> listener_;
  runtime::Timer<NodeB, &NodeB::decide> decide_{*this};
};

/// What two ends over SCTP have besides: a listener at port 4422, one association.
struct TwoSctpEnds {
  TwoSctpEnds(runtime::Scheduler& scheduler, Core& client, Core& server, StartupPortUser& user,
              const AssociationRules& rules)
      : associations(scheduler), client_peers(client.services, associations),
        server_peers(server.services, associations), listener(server.services, server_peers, user, 16) {
    associations.rules = rules;
    EXPECT_EQ(listener.listen(address), std::nullopt);
  }
  [[nodiscard]] bool is_consistent() const {
    return client_peers.is_consistent() && server_peers.is_consistent() && listener.is_consistent();
  }
  static inline const streams::Address address{streams::test::server_ip, 4422};
  EmulatedAssociations associations;
  SctpPeers client_peers, server_peers;
  SctpListener listener;
  std::unique_ptr<SctpInitiator> initiator;
};

/// A client that asks, a server that listens.
class TwoEnds final : public StartupPortUser {
 public:
  explicit TwoEnds(const Settings& settings = {}) : settings_(settings) {
    client_core.config.emss = settings.client_emss;
    server_core.config.emss = settings.server_emss;
    if (settings.ift && settings.ift->places_speculatively)
      client_core.memory.track_writes(), server_core.memory.track_writes();
    EXPECT_EQ(listener->listen({streams::test::server_ip, 4420}), std::nullopt);
    settings_.request.to = {streams::test::server_ip, 4420};
    if (settings_.sctp)
      sctp = std::make_unique<TwoSctpEnds>(world.scheduler, client_core, server_core, *this, *settings_.sctp);
    if (!settings_.ift) return;
    settings_.ift->vtag = {0x2222};
    node_b = std::make_unique<NodeB>(server_core, streams::Address{streams::test::server_ip, 4421}, *settings_.ift);
  }
  ~TwoEnds() {
    initiator.reset();
    if (sctp) sctp->initiator.reset();
    for (const auto& end : {&client, &server})
      if (*end && !(*end)->stream->is_closed() && (*end)->stream->state_name() != "Idle") (*end)->stream->abort();
    for (const auto& end : retired)
      if (!end->stream->is_closed()) end->stream->abort();
    settle();
    node_a.reset();
    node_b.reset();
    listener.reset();
    if (sctp) sctp->listener.stop();
    settle();
    sctp.reset();
    EXPECT_EQ(client_core.counters.unexpected_events, 0u);
    EXPECT_EQ(server_core.counters.unexpected_events, 0u);
  }

  void run(runtime::TimeNs time) {
    const runtime::TimeNs limit = world.scheduler.now() + time;
    while (world.scheduler.run_next(limit)) ASSERT_TRUE(is_consistent());
    world.scheduler.run_until(limit);
  }
  void settle() { run(30 * runtime::second); }
  bool run_until(const std::function<bool()>& done) { return world.run_until(done); }
  [[nodiscard]] bool is_consistent() const {
    return (!client || client->stream->is_consistent()) && (!server || server->stream->is_consistent()) &&
           (!initiator || initiator->is_consistent()) && (!listener || listener->is_consistent()) &&
           (!sctp || sctp->is_consistent()) && (!node_a || node_a->is_consistent()) &&
           (!node_b || !node_b->adaption || node_b->adaption->is_consistent());
  }
  /// The one that asks gives up.
  void withdraw() {
    if (initiator) initiator->withdraw();
    if (node_a) node_a->withdraw();
    if (sctp) sctp->initiator->withdraw();
  }
  void ask() {
    client = std::make_unique<End>(client_core, settings_.client);
    server = std::make_unique<End>(server_core, settings_.server);
    if (settings_.ift) return ask_over_ift();
    if (sctp) return ask_over_sctp();
    initiator = std::make_unique<MpaInitiator>(client_core.services, *client, *client->stream, settings_.request);
    initiator->start();
  }
  void connect() {
    ask();
    run(runtime::second);
    ASSERT_EQ(client->connects, 1);
    ASSERT_EQ(server->connects, 1);
  }

  void offered(PassiveStartup& responder, const PeerOffer& offer) override {
    offers.push_back(offer);
    waiting = &responder;
    if (settings_.accepts) world.scheduler.schedule(decide_, world.scheduler.now());
  }
  void offer_withdrawn(PassiveStartup&) override { ++withdrawals, waiting = nullptr; }
  /// Each start-up gets an end of its own: a client that falls back asks twice.
  void accept() {
    if (server->stream->state_name() != "Idle") {
      retired.push_back(std::move(server));
      server = std::make_unique<End>(server_core, settings_.server);
    }
    std::exchange(waiting, nullptr)->accept(*server->stream, *server, settings_.answer_data);
  }
  void reject() { std::exchange(waiting, nullptr)->reject(settings_.answer_data); }

  streams::test::EmulatedWorld world;
  Core client_core{world.client, world.scheduler, 1}, server_core{world.server, world.scheduler, 2};
  std::unique_ptr<End> client, server;
  std::vector<std::unique_ptr<End>> retired;  // of earlier start-ups
  std::unique_ptr<MpaInitiator> initiator;
  std::unique_ptr<IftAdaption> node_a;
  std::unique_ptr<NodeB> node_b;
  std::unique_ptr<TwoSctpEnds> sctp;
  std::vector<PeerOffer> offers;
  PassiveStartup* waiting = nullptr;
  int withdrawals = 0;

 private:
  void decide() {
    if (waiting != nullptr) accept();
  }
  void ask_over_ift() {
    node_b->end = server.get();
    IftOptions options = *settings_.ift;
    options.vtag = {0x1111};
    node_a = std::make_unique<IftAdaption>(client_core.services, options);
    node_a->connect({streams::test::server_ip, 4421}, {}, *client->stream, *client);
  }
  void ask_over_sctp() {
    sctp->initiator = std::make_unique<SctpInitiator>(client_core.services, sctp->client_peers, *client,
                                                      *client->stream, SctpRequest{.to = TwoSctpEnds::address});
    sctp->initiator->start();
  }
  Settings settings_;
  runtime::Timer<TwoEnds, &TwoEnds::decide> decide_{*this};

 public:
  std::unique_ptr<MpaListener> listener =
      std::make_unique<MpaListener>(server_core.services, *this, settings_.answer, settings_.backlog);
};

/// IFT with these CRCs, which either end can do without.
inline IftOptions ift_with(bool header_crc, bool payload_crc) {
  return {.header_crc = header_crc, .payload_crc = payload_crc, .requires_crcs = false};
}

/// The same, and speculative placement if both ends want it.
inline IftOptions speculative_ift_with(bool header_crc, bool payload_crc) {
  IftOptions options = ift_with(header_crc, payload_crc);
  options.permits_speculation = options.places_speculatively = true;
  return options;
}

inline std::vector<std::uint8_t> octets_of_seed(std::size_t octets, std::uint8_t seed) {
  std::vector<std::uint8_t> all(octets);
  for (std::size_t i = 0; i < octets; ++i) all[i] = static_cast<std::uint8_t>(i * 13 + i / 251 + seed);
  return all;
}

}  // namespace iwarp::testing
