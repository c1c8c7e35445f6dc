// The ports of FC-VI as the fabric's Name Server knows them.
#include "farp/directory.hpp"

#include <algorithm>
#include <optional>

#include "fc2_fabric/switch/name_server.hpp"
#include "tests/farp/resolver_fixture.hpp"
#include "wire/ct/accept.hpp"
#include "wire/ct/preamble.hpp"

namespace farp_test {
namespace {

struct Reader final : farp::DirectoryListener {
  void directory_listed(std::span<const farp::DirectoryEntry> list) override {
    ++listings;
    ports.assign(list.begin(), list.end());
    if (then) then();
  }
  void directory_failed(farp::DirectoryFailure why) override {
    ++failures;
    failure = why;
    if (then) then();
  }
  [[nodiscard]] bool wants_addresses_of(const std::string& node) const override { return !wanted || *wanted == node; }
  [[nodiscard]] bool told() const { return listings + failures > 0; }
  int listings = 0, failures = 0;
  farp::DirectoryFailure failure{};
  std::vector<farp::DirectoryEntry> ports;
  std::function<void()> then;
  std::optional<std::string> wanted;  // all
};

class DirectoryTest : public ResolverTest {
 protected:
  ~DirectoryTest() override { EXPECT_EQ(unexpected_events(), 0U); }
  /// Node `index` is "nodeI" at ip(index).
  static void name(farp::ResolverConfig& config, std::size_t index) {
    config.symbolic_node_name = "node" + std::to_string(index);
    config.symbolic_port_name = "test[1] NIC" + std::to_string(index);
  }
  Reader read(farp::Directory& directory, runtime::TimeNs limit = 1000 * runtime::second) {
    Reader reader;
    directory.list(reader);
    fabric.run_until([&] { return reader.told(); }, limit);
    directory.forget(reader);
    return reader;
  }
  farp::DirectoryEntry entry(std::size_t index) {
    const fc2::NPortConfig& config = fabric.port(index).config();
    return {id(index), config.port_name, config.node_name, "node" + std::to_string(index), {ip(index)}};
  }
  fc2::NPort& server() { return fabric.fabric.service_port(wire::well_known::name_server); }
};

/// Stands in the Name Server's place: answers as a test tells it.
class Impostor final : public fc2::ExchangeUser {
 public:
  using Answer = std::function<std::vector<std::uint8_t>(wire::ct::Command)>;
  Impostor(fc2::NPort& port, Answer answer) : port_(port), answer_(std::move(answer)) {
    port.set_user(wire::Type::ct, *this);
  }
  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t> iu) override {
    const auto command = wire::ct::CtHeader::parse(iu)->command;
    ++requests;
    const auto answer = answer_(command);
    if (answer.empty()) return port_.release(exchange);
    port_.send(exchange, wire::RCtl::solicited_control, {}, answer,
               {.last_of_exchange = true, .transfer_initiative = true});
  }
  void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure) override {}
  int requests = 0;

 private:
  fc2::NPort& port_;
  Answer answer_;
};

// --- registration of names ---------------------------------------------------------------------------------------

// RNN_ID, RSNN_NN, RSPN_ID stand between RIPP_ID and RFT_ID where names are configured.
TEST_F(DirectoryTest, registration_with_names) {
  build(1, name);
  support::FrameLog log;
  fabric.attach(0);
  fabric.fabric.tap(fabric.port(0), &log);
  fabric.run_for(runtime::second);
  const auto& database = fabric.fabric.name_server().database();
  ASSERT_NE(database.find(id(0)), nullptr);
  EXPECT_EQ(database.find(id(0))->symbolic_name, "test[1] NIC0");
  EXPECT_EQ(database.find_node(entry(0).node_name)->symbolic_name, "node0");
  EXPECT_EQ(log.count(wire::RCtl::unsolicited_control), 5U);
  EXPECT_TRUE(resolvers[0]->ready());
}

// Only what is configured; a port without an address is found by its names.
TEST_F(DirectoryTest, registration_of_one_name_only) {
  bring_up(1, [](farp::ResolverConfig& config, std::size_t) {
    config.own_addresses.clear();
    config.symbolic_node_name = "lonely";
  });
  farp::Directory directory(fabric.port(0));
  const Reader reader = read(directory);
  ASSERT_EQ(reader.ports.size(), 1U);
  EXPECT_EQ(reader.ports[0].symbolic_node_name, "lonely");
  EXPECT_TRUE(reader.ports[0].addresses.empty());
}

// FC-GS: a symbolic name has at most 255 bytes.
TEST_F(DirectoryTest, registration_of_a_long_name_is_cut) {
  bring_up(1, [](farp::ResolverConfig& config, std::size_t) { config.symbolic_node_name = std::string(300, 'x'); });
  farp::Directory directory(fabric.port(0));
  EXPECT_EQ(read(directory).ports.at(0).symbolic_node_name, std::string(255, 'x'));
}

// --- listings ----------------------------------------------------------------------------------------------------

TEST_F(DirectoryTest, listing_of_a_few) {
  bring_up(3, name);
  farp::Directory directory(fabric.port(1));
  const Reader reader = read(directory);
  EXPECT_EQ(reader.listings, 1);
  EXPECT_EQ(reader.ports, (std::vector{entry(0), entry(1), entry(2)}));
}

// Not listed: what does not speak FC-VI. Listed without more: what registered nothing but its type.
TEST_F(DirectoryTest, listing_of_ports_without_names) {
  bring_up(2);
  fabric.add_port();
  fabric.attach(2);  // no resolver: registers nothing
  fabric.run_for(runtime::second);
  farp::Directory directory(fabric.port(0));
  const Reader reader = read(directory);
  ASSERT_EQ(reader.ports.size(), 2U);
  EXPECT_EQ(reader.ports[1].symbolic_node_name, "");
  EXPECT_EQ(reader.ports[1].addresses, std::vector{ip(1)});
}

// Two processes of one node, and a port with several addresses.
TEST_F(DirectoryTest, listing_of_ports_of_one_node) {
  for (std::size_t i = 0; i < 2; ++i) add_port([](fc2::NPortConfig& config, std::size_t) { config.node_name = {7}; });
  for (std::size_t i = 0; i < 2; ++i)
    resolvers.push_back(std::make_unique<farp::Resolver>(
        fabric.port(i), farp::ResolverConfig{.own_addresses = {ip(3), ip(4)}, .symbolic_node_name = "shared"}));
  fabric.bring_up();
  support::FrameLog log;
  fabric.fabric.tap(fabric.port(0), &log);
  farp::Directory directory(fabric.port(0));
  const Reader reader = read(directory);
  ASSERT_EQ(reader.ports.size(), 2U);
  for (const farp::DirectoryEntry& port : reader.ports) {
    EXPECT_EQ(port.node_name.value, 7U);
    EXPECT_EQ(port.symbolic_node_name, "shared");
    EXPECT_EQ(port.addresses, (std::vector{ip(3), ip(4)}));
  }
  EXPECT_EQ(log.size(), 2U * (1 + 1 + 1 + 2));  // the nodes are asked for once, and so is the node's name
}

TEST_F(DirectoryTest, listing_of_many) {
  constexpr std::size_t count = 200;
  bring_up(count, name);
  fabric.run_for(10 * runtime::second);
  farp::Directory directory(fabric.port(0));
  const Reader reader = read(directory);
  ASSERT_EQ(reader.ports.size(), count);
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(reader.ports[i], entry(i)) << i;
}

// Who looks for one node asks for the addresses of that one: few requests, however many ports the fabric has.
TEST_F(DirectoryTest, listing_for_one_node) {
  constexpr std::size_t count = 40;
  bring_up(count, name);
  farp::Directory directory(fabric.port(0));
  support::FrameLog log;
  fabric.fabric.tap(fabric.port(0), &log);
  Reader reader;
  reader.wanted = "node7";
  directory.list(reader);
  fabric.run_for(runtime::second);
  ASSERT_EQ(reader.ports.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    farp::DirectoryEntry expected = entry(i);
    if (i != 7) expected.addresses.clear();
    EXPECT_EQ(reader.ports[i], expected) << i;
  }
  EXPECT_EQ(log.count(wire::RCtl::unsolicited_control), 2 + count + 1);  // GPN_FT, GNN_FT, GSNN_NN each, one GIPP_ID
}

// One listing for several who ask: the addresses that any of them wants.
TEST_F(DirectoryTest, listing_for_several_nodes) {
  bring_up(4, name);
  farp::Directory directory(fabric.port(0));
  Reader one, another, none, all;
  one.wanted = "node1";
  another.wanted = "node2";
  none.wanted = "nobody";
  const auto with_addresses = [&](std::vector<Reader*> readers) {
    for (Reader* reader : readers) directory.list(*reader);
    fabric.run_for(runtime::second);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < 4; ++i)
      if (!readers[0]->ports.at(i).addresses.empty()) found.push_back(i);
    return found;
  };
  directory.list(one);
  directory.forget(one);  // wants nothing any more
  EXPECT_EQ(with_addresses({&none}), std::vector<std::size_t>{});
  EXPECT_EQ(with_addresses({&one, &another, &none}), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(with_addresses({&one, &all}), (std::vector<std::size_t>{0, 1, 2, 3}));
}

// FC-GS-4: a server that has no GNN_FT, or leaves a port out of its answer, is asked for the node of each port.
TEST_F(DirectoryTest, name_server_without_gnn_ft) {
  bring_up(1, name);
  const auto bytes_of = [](const auto& message) {
    std::vector<std::uint8_t> bytes(message.size());
    message.write(bytes);
    return bytes;
  };
  wire::ct::GpnFtAccept ports, nodes;
  ports.entries = {{.port_id = {0x010100}, .world_wide_name = {5}}, {.port_id = {0x010200}, .world_wide_name = {6}}};
  nodes.entries = {{.port_id = {0x010200}, .world_wide_name = {9}}};
  using Bytes = std::vector<std::uint8_t>;
  struct Case {
    const char* what;
    Bytes gnn_ft;
    int asked_for_each;
  };
  wire::ct::CtHeader refused = wire::ct::CtHeader::of(wire::ct::Command::reject);
  refused.reason = wire::ct::RejectReason::invalid_command;
  wire::ct::GpnFtAccept twice = nodes, cut = nodes;
  twice.entries = {nodes.entries[0], nodes.entries[0]};
  cut.preamble.max_residual_size = 4;
  const Case cases[] = {{"refused", bytes_of(refused), 2},
                        {"silent", {}, 2},
                        {"junk", Bytes(200, 0xFF), 2},
                        {"an empty accept", bytes_of(wire::ct::CtAccept{}), 2},
                        {"one left out", bytes_of(nodes), 1},
                        {"one twice", bytes_of(twice), 1},
                        {"cut", bytes_of(cut), 1}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    std::vector<wire::ct::Command> asked;
    Impostor impostor(server(), [&](wire::ct::Command command) {
      asked.push_back(command);
      if (command == wire::ct::Command::gpn_ft) return bytes_of(ports);
      if (command == wire::ct::Command::gnn_ft) return one.gnn_ft;
      if (command == wire::ct::Command::gnn_id) return bytes_of(wire::ct::NameAccept{.world_wide_name = {9}});
      wire::ct::CtHeader reject = wire::ct::CtHeader::of(wire::ct::Command::reject);
      reject.reason = wire::ct::RejectReason::invalid_command;
      return bytes_of(reject);
    });
    farp::Directory directory(fabric.port(0));
    const Reader reader = read(directory);
    ASSERT_EQ(reader.ports.size(), 2U);
    EXPECT_EQ(reader.ports[0].node_name.value, 9U);
    EXPECT_EQ(reader.ports[1].node_name.value, 9U);
    EXPECT_EQ(std::count(asked.begin(), asked.end(), wire::ct::Command::gnn_id), one.asked_for_each);
    EXPECT_EQ(std::count(asked.begin(), asked.end(), wire::ct::Command::gnn_ft), 1);
  }
}

// At most max_requests under way, whatever the number of ports.
TEST_F(DirectoryTest, listing_has_few_requests_under_way) {
  bring_up(40, name);
  farp::Directory directory(fabric.port(0), {.max_requests = 3});
  const std::size_t before = fabric.port(0).open_exchanges();
  Reader reader;
  std::size_t most = 0;
  directory.list(reader);
  fabric.run_until([&] {
    most = std::max(most, fabric.port(0).open_exchanges() - before);
    return reader.told();
  });
  EXPECT_EQ(reader.ports.size(), 40U);
  EXPECT_EQ(most, 3U);
}

// Who asks while a listing is under way hears of what registered before it asked.
TEST_F(DirectoryTest, askers_share_and_see_what_was_there_when_they_asked) {
  build(3, name);
  fabric.attach(0);
  fabric.attach(1);
  fabric.run_for(runtime::second);
  farp::Directory directory(fabric.port(0));
  Reader early, late, also_late;
  directory.list(early);
  EXPECT_FALSE(early.told());                // never from inside
  fabric.run_for(3 * runtime::microsecond);  // the first request is on its way
  fabric.attach(2);
  fabric.run_for(runtime::second);
  directory.list(late);
  directory.list(also_late);
  fabric.run_for(runtime::second);
  EXPECT_EQ(early.listings, 1);
  EXPECT_EQ(late.ports.size(), 3U);
  EXPECT_EQ(also_late.ports.size(), 3U);
}

TEST_F(DirectoryTest, asker_during_a_listing_waits_for_the_next) {
  bring_up(2, name);
  farp::Directory directory(fabric.port(0));
  support::FrameLog log;
  fabric.fabric.tap(fabric.port(0), &log);
  Reader first, second;
  directory.list(first);
  fabric.run_until([&] { return log.size() > 0; });
  directory.list(second);
  fabric.run_for(runtime::second);
  EXPECT_EQ(first.listings, 1);
  EXPECT_EQ(second.listings, 1);
  EXPECT_EQ(log.size(), 2U * 2U * (1 + 1 + 2 + 2));
}

// A listener asks again, and forgets another, from inside its call.
TEST_F(DirectoryTest, listener_calls_back_in) {
  bring_up(2, name);
  farp::Directory directory(fabric.port(0));
  Reader first, second, third;
  first.then = [&] {
    directory.forget(second);
    if (first.listings == 1) directory.list(first);
  };
  directory.list(first);
  directory.list(second);
  directory.list(third);
  fabric.run_for(runtime::second);
  EXPECT_EQ(first.listings, 2);
  EXPECT_EQ(second.listings, 0);
  EXPECT_EQ(third.listings, 1);
}

// Forgotten before the listing began: not told.
TEST_F(DirectoryTest, listing_forgotten_before_it_begins) {
  bring_up(1, name);
  farp::Directory directory(fabric.port(0));
  Reader reader, other;
  directory.list(reader);
  directory.list(other);
  directory.forget(reader);
  fabric.run_for(runtime::second);
  EXPECT_FALSE(reader.told());
  EXPECT_EQ(other.listings, 1);
}

// --- what can go wrong -------------------------------------------------------------------------------------------

TEST_F(DirectoryTest, offline_fails_at_once) {
  build(1, name);
  farp::Directory directory(fabric.port(0));
  const Reader reader = read(directory, runtime::millisecond);
  EXPECT_EQ(reader.failures, 1);
  EXPECT_EQ(reader.failure, farp::DirectoryFailure::NoNameServer);
}

TEST_F(DirectoryTest, link_down_meanwhile) {
  bring_up(30, name);
  farp::Directory directory(fabric.port(0));
  Reader reader;
  directory.list(reader);
  fabric.run_for(10 * runtime::microsecond);
  ASSERT_FALSE(reader.told());
  fabric.detach(0);
  EXPECT_EQ(reader.failures, 1);
  EXPECT_EQ(reader.failure, farp::DirectoryFailure::NoNameServer);
  fabric.attach(0);
  fabric.run_for(runtime::second);
  EXPECT_EQ(read(directory).ports.size(), 30U);  // works again
}

// A port that goes away between GPN_FT and the questions about it is left out.
TEST_F(DirectoryTest, port_goes_away_meanwhile) {
  bring_up(30, name);
  farp::Directory directory(fabric.port(0), {.max_requests = 1});
  Reader reader;
  directory.list(reader);
  fabric.run_for(20 * runtime::microsecond);
  ASSERT_FALSE(reader.told());
  fabric.detach(29);
  fabric.run_for(runtime::second);
  EXPECT_EQ(reader.ports.size(), 29U);
}

// Lost requests are repeated; at last the whole listing ends.
TEST_F(DirectoryTest, silent_name_server) {
  bring_up(1, name);
  int ignored = 2;
  Impostor impostor(server(), [&](wire::ct::Command command) {
    if (ignored-- > 0) return std::vector<std::uint8_t>{};
    wire::ct::CtHeader reject = wire::ct::CtHeader::of(wire::ct::Command::reject);
    EXPECT_EQ(command, wire::ct::Command::gpn_ft);
    reject.reason = wire::ct::RejectReason::unable_to_perform;
    reject.explanation = wire::ct::RejectExplanation::fc4_types_not_registered;
    std::vector<std::uint8_t> bytes(16);
    reject.write(bytes);
    return bytes;
  });
  farp::Directory directory(fabric.port(0));
  const Reader patient = read(directory);
  EXPECT_EQ(patient.listings, 1);  // the third request was answered: nobody speaks FC-VI
  EXPECT_TRUE(patient.ports.empty());
  ignored = 1000;
  const runtime::TimeNs before = fabric.scheduler.now();
  const Reader reader = read(directory);
  EXPECT_EQ(reader.failure, farp::DirectoryFailure::NoAnswer);
  EXPECT_EQ(reader.failures, 1);
  EXPECT_EQ(fabric.scheduler.now() - before, 3 * runtime::second);
}

TEST_F(DirectoryTest, listing_takes_no_longer_than_its_timeout) {
  bring_up(1, name);
  Impostor impostor(server(), [](wire::ct::Command) { return std::vector<std::uint8_t>{}; });
  farp::Directory directory(fabric.port(0), {.timeout = 1500 * runtime::millisecond, .retries = 1000});
  const runtime::TimeNs before = fabric.scheduler.now();
  const Reader reader = read(directory);
  EXPECT_EQ(reader.failure, farp::DirectoryFailure::NoAnswer);
  EXPECT_EQ(fabric.scheduler.now() - before, 1500 * runtime::millisecond);
  EXPECT_EQ(impostor.requests, 2);
}

// Nobody has to understand any answer: not to GPN_FT, not to what comes after.
TEST_F(DirectoryTest, answers_that_nobody_understands) {
  bring_up(1, name);
  std::vector<std::uint8_t> list;
  const auto bytes_of = [](const auto& message) {
    std::vector<std::uint8_t> bytes(message.size());
    message.write(bytes);
    return bytes;
  };
  wire::ct::GpnFtAccept ports;
  ports.entries.push_back({.control = 0, .port_id = {0x010100}, .world_wide_name = {5}});
  for (const auto broken : {wire::ct::Command::gpn_ft, wire::ct::Command::gnn_id, wire::ct::Command::gipp_id}) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{16}, std::size_t{18}, std::size_t{200}}) {
      Impostor impostor(server(), [&](wire::ct::Command command) {
        if (command == broken) return std::vector<std::uint8_t>(size, 0xFF);
        if (command == wire::ct::Command::gpn_ft) return bytes_of(ports);
        return bytes_of(wire::ct::CtAccept{});  // no name, no address in it
      });
      farp::Directory directory(fabric.port(0));
      const Reader reader = read(directory);
      EXPECT_EQ(reader.failures, 1) << to_string(broken) << size;
      EXPECT_EQ(reader.failure, farp::DirectoryFailure::BadAnswer) << to_string(broken) << size;
    }
  }
}

TEST_F(DirectoryTest, too_many_ports) {
  bring_up(5, name);
  farp::Directory directory(fabric.port(0), {.max_ports = 4});
  EXPECT_EQ(read(directory).failure, farp::DirectoryFailure::TooMany);
  farp::Directory enough(fabric.port(0), {.max_ports = 5});
  EXPECT_EQ(read(enough).ports.size(), 5U);
}

// Between any two events of a listing, one that fails, and the next.
TEST_F(DirectoryTest, owner_is_consistent_between_events) {
  bring_up(3, name);
  farp::Directory directory(fabric.port(0));
  EXPECT_TRUE(directory.is_consistent());
  for (const bool fails : {false, true, false}) {
    Reader reader, another;
    directory.list(reader);
    EXPECT_TRUE(directory.is_consistent());
    if (fails) fabric.port(0).remote_port(wire::well_known::name_server).log_out();
    reader.then = [&] { directory.list(another); };
    const runtime::TimeNs end = fabric.scheduler.now() + 10 * runtime::second;
    while (fabric.scheduler.run_next(end)) ASSERT_TRUE(directory.is_consistent());
    EXPECT_EQ(reader.failures, fails ? 1 : 0);
    EXPECT_TRUE(another.told());
  }
}

TEST_F(DirectoryTest, no_exchange_free) {
  add_port([](fc2::NPortConfig& config, std::size_t) { config.max_exchanges = 2; });
  farp::ResolverConfig config{.own_addresses = {ip(0)}};
  name(config, 0);
  resolvers.push_back(std::make_unique<farp::Resolver>(fabric.port(0), config));
  fabric.bring_up();
  farp::Directory directory(fabric.port(0));
  const Reader few = read(directory);
  EXPECT_EQ(few.listings, 1);  // two are enough, one after the other
  EXPECT_EQ(few.ports, std::vector{entry(0)}) << "each question was asked";
  struct User final : fc2::ExchangeUser {
    void sequence_received(fc2::Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
    void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure) override {}
  } user;
  while (fabric.port(0).originate({0x010200}, wire::Type::fc_vi, user) != nullptr) {}
  EXPECT_EQ(read(directory).failure, farp::DirectoryFailure::TooMany);
}

// A listing under way ends with its Directory, and nobody is told.
TEST_F(DirectoryTest, directory_goes_away_meanwhile) {
  bring_up(5, name);
  Reader reader;
  {
    farp::Directory directory(fabric.port(0));
    directory.list(reader);
    fabric.run_for(3 * runtime::microsecond);
  }
  fabric.run_for(100 * runtime::second);
  EXPECT_FALSE(reader.told());
}

TEST(DirectoryFailure, names) {
  EXPECT_EQ(to_string(farp::DirectoryFailure::NoNameServer), "no name server");
  EXPECT_EQ(to_string(farp::DirectoryFailure::NoAnswer), "the name server does not answer");
  EXPECT_EQ(to_string(farp::DirectoryFailure::BadAnswer), "the name server's answer is bad");
  EXPECT_EQ(to_string(farp::DirectoryFailure::TooMany), "too many ports or requests");
}

}  // namespace
}  // namespace farp_test
