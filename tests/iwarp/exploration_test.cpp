// Each start-up, messages and the end of a stream, with K faults: a fault of each kind before each event, and each pair
// of those. Faults are of the network, of octets, and of the ULPs at either end. RFC 5043 6.2 to 6.6, RFC 5044
// 7.1.2, RFC 6581 9, IFT 4; RFC 5040 5.4, 6.2.1, 7.1.
//
// Whatever happens: no event is unexpected, at most one Terminate Message goes each way, each operation completes once,
// what completes in success is right where it can be (CRC), each start-up is answered once, and nothing is left behind.
//
// K is 1; FCVI_IWARP_FAULTS=2 for pairs (tests/iwarp/CMakeLists.txt).
#include "tests/iwarp/two_ends.hpp"

namespace iwarp::testing {
namespace {

enum class Fault : std::uint8_t {
  // of the network, in each direction
  reset,
  end_to_server,  // over SCTP: the server alone hears that the association is lost
  end_to_client,
  silence_to_server,
  silence_to_client,
  octet_to_server,  // the first octet that passes next; over SCTP the message is lost once, and sent again
  octet_to_client,
  late_to_server,  // what would pass waits for 11 s: longer than a start-up may take
  late_to_client,
  // of the ULPs
  client_closes,
  server_closes,
  client_aborts,
  server_aborts,
  client_terminates,
  server_terminates,
  withdrawn,
};
constexpr std::size_t fault_kinds = 16;

/// Before event number `at` of a run.
struct Placed {
  std::size_t at;
  Fault fault;
};

struct Story {
  const char* name;
  Settings settings;
  bool terminates;  // the server finds an error; else the client closes
  bool rejects = false;
};

/// What is to befall one direction.
class Way final : public streams::Gate {
 public:
  streams::Cut cut = streams::Cut::none;
  bool flips = false;
  runtime::TimeNs waits_until = 0;
  streams::Passage pass(runtime::TimeNs now, std::uint64_t, wire::MutableBytes first,
                        wire::MutableBytes rest) override {
    if (cut != streams::Cut::none) return {0, cut};
    if (now < waits_until) return {0, streams::Cut::none, waits_until};
    if (std::exchange(flips, flips && first.empty()) && !first.empty()) first[0] ^= 0x10;
    return {first.size() + rest.size(), streams::Cut::none};
  }
};

/// Prints what an end's machines do, for a run that failed.
class Told final : public fsm::RowListener {
 public:
  explicit Told(const char* end) : end_(end) {}
  void row_fired(const fsm::Row& row) override {
    std::printf("  %s %.*s: %.*s, %.*s -> %.*s\n", end_, static_cast<int>(row.machine.size()), row.machine.data(),
                static_cast<int>(row.source.size()), row.source.data(), static_cast<int>(row.event.size()),
                row.event.data(), static_cast<int>(row.target.size()), row.target.data());
  }

 private:
  const char* const end_;
};

class Journey {
 public:
  explicit Journey(const Story& story, bool tells = false) : story_(story), ends_(story.settings) {
    if (tells) ends_.client_core.services.row_listener = &told_of_client_;
    if (tells) ends_.server_core.services.row_listener = &told_of_server_;
    ends_.world.network.set_rules([this](const streams::Address&, const streams::Address&) {
      to_server_ = std::make_shared<Way>();
      to_client_ = std::make_shared<Way>();
      streams::StreamRules rules;
      rules.to_acceptor.gate = to_server_;
      rules.to_connector.gate = to_client_;
      return rules;
    });
  }
  /// The events of it.
  std::size_t run(std::span<const Placed> faults) {
    ends_.ask();
    inbox_stag_ = ends_.server->add(inbox_);
    receive(*ends_.client, 2, ends_.client->add(answer_), 100);
    served_stag_ = ends_.server->add(served_);
    std::size_t events = 0;
    for (const runtime::TimeNs limit = ends_.world.scheduler.now() + 60 * runtime::second;; ++events) {
      for (const Placed& one : faults)
        if (one.at == events) befall(one.fault);
      go_on();
      if (!ends_.world.scheduler.run_next(limit)) break;
      if (!ends_.is_consistent()) ADD_FAILURE() << "not consistent";
    }
    check();
    return events;
  }

 private:
  [[nodiscard]] static bool is_open(const End& end) {
    return end.stream->is_operational() || end.stream->state_name() == "HalfClosed";
  }
  /// What the ULPs do as soon as they can.
  void go_on() {
    if (std::exchange(receiver_, ends_.server.get()) != ends_.server.get()) {
      receive(*ends_.server, 1, inbox_stag_, 3000);
      server_began_ = false;
    }
    if (story_.rejects && ends_.waiting != nullptr) return ends_.reject();
    if (ends_.client->connects != 0 && !std::exchange(client_began_, true)) {
      stag_ = ends_.client->add(memory_);
      post(*ends_.client, {.id = 11, .pieces = {{stag_, 0, 3000}}});
      post(*ends_.client,
           {.id = 12, .operation = Operation::rdma_read, .pieces = {{stag_, 5000, 100}}, .remote_stag = served_stag_});
    }
    if (ends_.server->connects != 0 && !std::exchange(server_began_, true))
      post(*ends_.server, {.id = 13, .pieces = {{served_stag_, 0, 100}}});
    if (ends_.client->completions.size() < 3 || std::exchange(ending_, true)) return;
    if (story_.terminates)
      befall(Fault::server_terminates);
    else
      befall(Fault::client_closes);
  }
  void receive(End& end, std::uint64_t id, STag stag, std::uint32_t octets) {
    if (end.receive(id, stag, octets) == RdmapStream::Posted::taken) receivers_.push_back(&end);
  }
  void post(End& end, const SendRequest& request) {
    if (end.post(request) == RdmapStream::Posted::taken) ++posted_;
  }
  void befall(Fault fault) {
    if (ends_.sctp && befalls_association(fault)) return;
    switch (fault) {
      case Fault::reset: return cut(to_server_, streams::Cut::reset);
      case Fault::end_to_server: return cut(to_server_, streams::Cut::end);
      case Fault::end_to_client: return cut(to_client_, streams::Cut::end);
      case Fault::silence_to_server: return cut(to_server_, streams::Cut::silence);
      case Fault::silence_to_client: return cut(to_client_, streams::Cut::silence);
      case Fault::octet_to_server: return flip(to_server_);
      case Fault::octet_to_client: return flip(to_client_);
      case Fault::late_to_server: return delay(to_server_);
      case Fault::late_to_client: return delay(to_client_);
      case Fault::client_closes:
        if (is_open(*ends_.client)) ends_.client->stream->close();
        return;
      case Fault::server_closes:
        if (is_open(*ends_.server)) ends_.server->stream->close();
        return;
      case Fault::client_aborts:
        if (is_open(*ends_.client)) ends_.client->stream->abort();
        return;
      case Fault::server_aborts:
        if (is_open(*ends_.server)) ends_.server->stream->abort();
        return;
      case Fault::client_terminates: return terminate(*ends_.client);
      case Fault::server_terminates: return terminate(*ends_.server);
      case Fault::withdrawn:
        if (ends_.client->connects != 0 || ends_.client->failure) return;
        ends_.withdraw();
    }
  }
  /// False: the fault is the ULPs'.
  bool befalls_association(Fault fault) {
    EmulatedAssociations& all = ends_.sctp->associations;
    const auto late = [this](AssociationWay& way) {
      way.waits_until = ends_.world.scheduler.now() + 11 * runtime::second;
    };
    switch (fault) {
      case Fault::reset:
        std::ranges::copy_if(all_ends(), std::back_inserter(broken_), [](const End* end) { return is_open(*end); });
        return all.break_all(), true;
      case Fault::end_to_server: return all.break_one(true), true;
      case Fault::end_to_client: return all.break_one(false), true;
      case Fault::silence_to_server: return all.to_acceptor.silent = true;
      case Fault::silence_to_client: return all.to_connector.silent = true;
      case Fault::octet_to_server: return all.to_acceptor.loses = true;
      case Fault::octet_to_client: return all.to_connector.loses = true;
      case Fault::late_to_server: return late(all.to_acceptor), true;
      case Fault::late_to_client: return late(all.to_connector), true;
      case Fault::client_closes:
      case Fault::server_closes:
      case Fault::client_aborts:
      case Fault::server_aborts:
      case Fault::client_terminates:
      case Fault::server_terminates:
      case Fault::withdrawn: break;
    }
    return false;
  }
  void cut(const std::shared_ptr<Way>& way, streams::Cut cut) {
    if (way) way->cut = cut;
    ends_.world.network.ask_gates();
  }
  static void flip(const std::shared_ptr<Way>& way) {
    if (way) way->flips = true;
  }
  void delay(const std::shared_ptr<Way>& way) {
    if (way) way->waits_until = ends_.world.scheduler.now() + 11 * runtime::second;
  }
  static void terminate(End& end) {
    if (is_open(end))
      end.stream->terminate({.cause = wire::rdmap::Cause::of(wire::rdmap::OperationError::unspecified)});
  }

  [[nodiscard]] std::vector<End*> all_ends() const {
    std::vector<End*> all{ends_.client.get(), ends_.server.get()};
    for (const auto& end : ends_.retired) all.push_back(end.get());
    return all;
  }
  void check() {
    EXPECT_EQ(ends_.client->connects + (ends_.client->failure ? 1 : 0), 1) << "the start-up is answered once";
    EXPECT_LE(ends_.server->connects, 1);
    for (const End* const end : broken_) EXPECT_FALSE(is_open(*end)) << "the loss is told";
    for (End* const end : all_ends())
      if (is_open(*end)) end->stream->abort();
    ends_.settle();
    for (const End* const end : all_ends()) {
      EXPECT_LE(end->core.counters.terminates_sent, 1u);
      EXPECT_EQ(end->core.counters.unexpected_events, 0u);
      EXPECT_TRUE(end->stream->is_closed() ? end->ends == 1 : end->stream->state_name() == "Idle")
          << end->stream->state_name();
      EXPECT_TRUE(end->connects == 0 || end->ends == 1);
    }
    EXPECT_EQ(ends_.world.network.stream_count(), 0u);
    if (ends_.sctp) {
      EXPECT_EQ(ends_.sctp->client_peers.session_count() + ends_.sctp->server_peers.session_count(), 0u);
    }
    check_completions();
  }
  void check_completions() {
    std::size_t completions = 0;
    for (const End* const end : all_ends()) {
      std::map<std::uint64_t, int> times;
      for (const Completion& one : end->completions) {
        EXPECT_EQ(++times[one.id], 1) << "completes once";
        if (one.status == Status::success) check_octets(one.id);
      }
      completions += times.size();
    }
    const auto receives =
        std::count_if(receivers_.begin(), receivers_.end(), [](const End* end) { return end->ends != 0; });
    EXPECT_EQ(completions, posted_ + static_cast<std::size_t>(receives));
  }
  void check_octets(std::uint64_t id) const {
    if (id == 1) {
      EXPECT_TRUE(std::equal(inbox_.begin(), inbox_.end(), memory_.begin()));
    } else if (id == 2) {
      EXPECT_TRUE(std::equal(answer_.begin(), answer_.end(), served_.begin()));
    } else if (id == 12) {
      EXPECT_TRUE(std::equal(memory_.begin() + 5000, memory_.begin() + 5100, served_.begin()));
    }
  }

  const Story& story_;
  Told told_of_client_{"client"}, told_of_server_{"server"};
  std::vector<std::uint8_t> memory_ = octets_of_seed(6000, 1), served_ = octets_of_seed(3000, 2),
                            inbox_ = std::vector<std::uint8_t>(3000), answer_ = std::vector<std::uint8_t>(100);
  std::shared_ptr<Way> to_server_, to_client_;
  TwoEnds ends_;
  STag stag_{}, served_stag_{}, inbox_stag_{};
  End* receiver_ = nullptr;
  std::vector<const End*> broken_;     // that were open when their association was lost
  std::vector<const End*> receivers_;  // whose receive was taken
  bool client_began_ = false, server_began_ = false, ending_ = false;
  std::size_t posted_ = 0;
};

Story mpa(const char* name, std::uint8_t revision, bool peer_to_peer, bool terminates) {
  Story story{name, {}, terminates};
  story.settings.request.revision = revision;
  story.settings.request.peer_to_peer = peer_to_peer;
  return story;
}
std::vector<Story> stories() {
  std::vector<Story> all{mpa("MpaPeerToPeer", 2, true, false), mpa("MpaClientServer", 1, false, false),
                         mpa("MpaTerminate", 2, true, true)};
  all.push_back(mpa("MpaReject", 2, true, false));
  all.back().rejects = true;
  all.back().settings.accepts = false;
  all.push_back({"Ift", {}, false});
  all.back().settings.ift = IftOptions{};
  all.push_back({"IftTerminate", {}, true});
  all.back().settings.ift = IftOptions{};
  for (const char* const name : {"Sctp", "SctpAnyOrder", "SctpTerminate", "SctpReject"}) {
    all.push_back({name, {}, std::string_view(name) == "SctpTerminate"});
    all.back().settings.sctp = AssociationRules{.seed = std::string_view(name) == "SctpAnyOrder" ? 5U : 0U};
  }
  all.back().rejects = true;
  all.back().settings.accepts = false;
  return all;
}

class IwarpExploration : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Each, IwarpExploration, ::testing::Range<std::size_t>(0, stories().size()),
                         [](const auto& index) { return stories()[index.param].name; });

std::string text_of(std::span<const Placed> faults) {
  std::string text;
  for (const Placed& one : faults)
    text += "fault " + std::to_string(static_cast<int>(one.fault)) + " before event " + std::to_string(one.at) + "; ";
  return text;
}

TEST_P(IwarpExploration, faults) {
  const char* const asked = std::getenv("FCVI_IWARP_FAULTS");
  const bool pairs = asked != nullptr && std::string_view(asked) == "2";
  const Story story = stories()[GetParam()];
  const std::size_t events = Journey(story).run({});
  ASSERT_FALSE(HasFailure());
  ASSERT_GT(events, 10u);
  std::size_t runs = 0;
  const auto explore = [&](std::span<const Placed> faults) {
    ++runs;
    const std::size_t long_run = Journey(story).run(faults);
    if (!HasFailure()) return long_run;
    ADD_FAILURE() << text_of(faults);
    Journey(story, true).run(faults);
    return long_run;
  };
  for (std::size_t at = 0; at < events && !HasFailure(); ++at)
    for (std::size_t kind = 0; kind < fault_kinds && !HasFailure(); ++kind) {
      const Placed first{at, static_cast<Fault>(kind)};
      const std::size_t longest = explore(std::array{first});
      for (std::size_t next = at; pairs && next < longest && !HasFailure(); ++next)
        for (std::size_t other = 0; other < fault_kinds && !HasFailure(); ++other)
          explore(std::array{first, Placed{next, static_cast<Fault>(other)}});
    }
  RecordProperty("events", static_cast<int>(events));
  RecordProperty("runs", static_cast<int>(runs));
  std::printf("%s: %zu events, %zu runs\n", story.name, events, runs);
}

}  // namespace
}  // namespace iwarp::testing
