// Questions to a Name Server that is slow, ends its exchanges otherwise, or goes away (FC-VI 7.6, 7.7; FC-FS; ruling
// 221): what is asked again and when, what the asker hears, and that no exchange stays behind.
#include "farp/directory.hpp"

#include <algorithm>

#include "farp/directory_listing.hpp"
#include "fc2_fabric/switch/name_server.hpp"
#include "tests/farp/resolver_fixture.hpp"
#include "tests/support/made_frame.hpp"
#include "wire/ct/accept.hpp"
#include "wire/ct/preamble.hpp"

namespace farp_test {
namespace {
using wire::ct::Command;
using wire::els::Command::farp_req;
using Bytes = std::vector<std::uint8_t>;

using support::bytes_of;

Bytes reject(wire::ct::RejectExplanation why) {
  wire::ct::CtHeader header = wire::ct::CtHeader::of(Command::reject);
  header.reason = wire::ct::RejectReason::unable_to_perform;
  header.explanation = why;
  return bytes_of(header);
}

/// Stands in the Name Server's place: answers as a test tells it. An answer of nothing is silence.
class SlowServer final : public fc2::ExchangeUser {
 public:
  using Answer = std::function<Bytes(Command)>;
  SlowServer(fc2::NPort& port, Answer answer) : port_(port), answer_(std::move(answer)) {
    port.set_user(wire::Type::ct, *this);
  }
  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t> iu) override {
    const Command command = wire::ct::CtHeader::parse(iu)->command;
    asked.emplace_back(command, port_.scheduler().now());
    if (aborts > 0 && aborts-- > 0) return port_.abort(exchange);
    const Bytes answer = answer_(command);
    if (answer.empty()) return port_.release(exchange);
    port_.send(exchange, wire::RCtl::solicited_control, {}, answer,
               {.last_of_exchange = ends, .transfer_initiative = true});
  }
  void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure) override {}
  bool ends = true;  // the exchange, with its answer
  int aborts = 0;    // of the next requests
  std::vector<std::pair<Command, runtime::TimeNs>> asked;

 private:
  fc2::NPort& port_;
  Answer answer_;
};

class QuestionsTest : public ResolverTest {
 protected:
  ~QuestionsTest() override { EXPECT_EQ(unexpected_events(), 0U); }
  fc2::NPort& server() { return fabric.fabric.service_port(wire::well_known::name_server); }
  void tap() { fabric.fabric.tap(fabric.port(0), &log); }
  void expect_no_exchange() {
    fabric.run_for(100 * runtime::second);  // aborted ones rest for R_A_TOV
    EXPECT_EQ(fabric.port(0).open_exchanges(), 0U);
  }
  static Bytes silence(Command) { return {}; }
  support::FrameLog log;
};

// Ruling 221: a question that is lost is asked again after 2 * E_D_TOV, then after twice as long; the last try has 2 *
// R_A_TOV. Then FARP, as often, E_D_TOV apart. Each try has an exchange, and none stays.
TEST_F(QuestionsTest, querying_silentServer_asksAsOftenAndAsLong) {
  bring_up(2);
  SlowServer silent(server(), silence);
  tap();
  const runtime::TimeNs begun = fabric.scheduler.now();
  const Asker asker = ask(0, wire::IpAddress::v4(10, 9, 9, 9));
  EXPECT_EQ(asker.refusals, 1);
  const runtime::TimeNs first = 2 * fabric.port(0).e_d_tov(), last = 2 * fabric.port(0).r_a_tov();
  ASSERT_EQ(silent.asked.size(), 3U);
  const double at[] = {0, static_cast<double>(first), static_cast<double>(3 * first)};
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(static_cast<double>(silent.asked[i].second - begun), at[i], 1e6) << i;
  EXPECT_EQ(log.sent(farp_req), 3U);
  const runtime::TimeNs all = 3 * first + last + 3 * fabric.port(0).e_d_tov();
  EXPECT_NEAR(static_cast<double>(fabric.scheduler.now() - begun), static_cast<double>(all), 1e6);
  expect_no_exchange();
}

// FC-FS: an answer that leaves its exchange open is as good; the exchange is given back.
TEST_F(QuestionsTest, querying_answerLeavesExchangeOpen_isGivenBack) {
  bring_up(2);
  SlowServer open(server(), [](Command) { return reject(wire::ct::RejectExplanation::none); });
  open.ends = false;
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1})) << "by FARP";
  EXPECT_EQ(fabric.port(0).open_exchanges(), 0U);
  fabric.detach(0);  // those of the server end while it is there
}

// FC-FS ABTS: a question that the server aborts is asked again, like one that is lost.
TEST_F(QuestionsTest, querying_serverAborts_asksAgain) {
  bring_up(2);
  SlowServer server_of_second(server(), [](Command) { return reject(wire::ct::RejectExplanation::none); });
  server_of_second.aborts = 1;
  tap();
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1}));
  ASSERT_EQ(server_of_second.asked.size(), 2U);
  EXPECT_LT(server_of_second.asked[1].second - server_of_second.asked[0].second, runtime::millisecond) << "at once";
  EXPECT_EQ(log.sent(farp_req), 1U);
  expect_no_exchange();
}

// ... but not more often than one that is lost: then FARP finds the port.
TEST_F(QuestionsTest, querying_serverAbortsAll_asksByFarpInTheEnd) {
  bring_up(2);
  SlowServer rude(server(), silence);
  rude.aborts = 100;
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1}));
  EXPECT_EQ(rude.asked.size(), 3U);
  expect_no_exchange();
}

// FC-VI 7.7.1, 7.4: the server logs us out while it is asked: the question goes on by FARP, at once, and
// finds the port.
TEST_F(QuestionsTest, querying_serverLogsOut_asksByFarp) {
  bring_up(2);
  SlowServer silent(server(), silence);
  tap();
  Asker asker;
  resolvers[0]->resolve(ip(1), asker);
  fabric.run_for(100 * runtime::millisecond);
  ASSERT_EQ(silent.asked.size(), 1U);
  server().remote_port(id(0)).log_out();
  fabric.run_for(100 * runtime::millisecond);
  EXPECT_EQ(asker.ids, ids({1}));
  EXPECT_EQ(log.sent(farp_req), 1U);
  const auto is_query = [](const auto& asked) { return asked.first == Command::gid_ipp; };
  EXPECT_EQ(std::count_if(silent.asked.begin(), silent.asked.end(), is_query), 1);
}

// FC-VI 7.4: where the login with the server is gone for good it is not asked: FARP, at once.
TEST_F(QuestionsTest, unresolved_serverLoggedOut_isNotAsked) {
  bring_up(2);
  SlowServer silent(server(), silence);
  server().link_down();
  fabric.port(0).remote_port(wire::well_known::name_server).log_out();
  tap();
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1}));
  EXPECT_TRUE(silent.asked.empty());
  EXPECT_EQ(log.sent(farp_req), 1U);
}

// The resolver goes while it asks: its exchange is aborted, and an answer that comes later finds nobody.
TEST_F(QuestionsTest, querying_destroyed_leavesNoExchange) {
  bring_up(2);
  SlowServer silent(server(), silence);
  Asker asker;
  resolvers[0]->resolve(wire::IpAddress::v4(10, 9, 9, 9), asker);
  fabric.run_for(runtime::millisecond);
  ASSERT_EQ(fabric.port(0).open_exchanges(), 1U);
  resolvers[0].reset();
  expect_no_exchange();
  EXPECT_EQ(asker.answers + asker.refusals, 0);
}

// FC-VI 7.5: who waits for a reply waits as long as was configured, to the nanosecond.
TEST_F(QuestionsTest, awaitReply_configuredTime_isKept) {
  constexpr runtime::TimeNs times[] = {7 * runtime::millisecond, 1};
  bring_up(2, [&](farp::ResolverConfig& config, std::size_t index) {
    config.use_name_server = false;
    config.farp_timeout = times[index];
    config.retries = 0;
  });
  for (std::size_t index = 0; index < 2; ++index) {
    const runtime::TimeNs begun = fabric.scheduler.now();
    EXPECT_EQ(ask(index, wire::IpAddress::v4(10, 9, 9, 9)).refusals, 1);
    EXPECT_EQ(fabric.scheduler.now() - begun, times[index]);
  }
}

// --- listings ----------------------------------------------------------------------------------------------------

struct Reader final : farp::DirectoryListener {
  void directory_listed(std::span<const farp::DirectoryEntry> list) override {
    ++listings;
    ports.assign(list.begin(), list.end());
  }
  void directory_failed(farp::DirectoryFailure) override { ++failures; }
  int listings = 0, failures = 0;
  std::vector<farp::DirectoryEntry> ports;
};

class ListingTest : public QuestionsTest {
 protected:
  Reader list() {
    farp::Directory directory(fabric.port(0));
    Reader reader;
    directory.list(reader);
    fabric.run_until([&] { return reader.listings + reader.failures > 0; }, 1000 * runtime::second);
    directory.forget(reader);
    return reader;
  }
};

// FC-GS: what the server rejects, and why, says what is not there: no port of FC-VI, a port that has gone, a name or
// address that nobody registered. Other reasons for no list are a failure.
TEST_F(ListingTest, rejected_saysWhatIsNotThere) {
  bring_up(1);
  using Why = wire::ct::RejectExplanation;
  wire::ct::GpnFtAccept ports;
  ports.entries.push_back({.control = 0, .port_id = {0x010100}, .world_wide_name = {5}});
  struct Case {
    Command rejected;
    Why why;
    int listings;
    std::size_t ports;
  };
  constexpr Case cases[] = {
      {Command::gpn_ft, Why::fc4_types_not_registered, 1, 0},
      {Command::gpn_ft, Why::database_empty, 1, 0},
      {Command::gpn_ft, Why::none, 0, 0},
      {Command::gpn_ft, Why::n_port_id_not_registered, 0, 0},
      {Command::gnn_ft, Why::fc4_types_not_registered, 1, 1},
      {Command::gnn_id, Why::n_port_id_not_registered, 1, 0},
      {Command::gnn_id, Why::none, 1, 0},
      {Command::gipp_id, Why::n_port_id_not_registered, 1, 0},
      {Command::gipp_id, Why::none, 1, 1},
      {Command::gsnn_nn, Why::none, 1, 1},
      {Command::gsnn_nn, Why::n_port_id_not_registered, 1, 1},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(std::string(to_string(one.rejected)) + " " + std::string(to_string(one.why)));
    SlowServer names(server(), [&](Command command) {
      if (command == one.rejected) return reject(one.why);
      if (command == Command::gpn_ft) return bytes_of(ports);
      if (command == Command::gnn_id) return bytes_of(wire::ct::NameAccept{.world_wide_name = {9}});
      return reject(Why::none);
    });
    const Reader reader = list();
    EXPECT_EQ(reader.listings, one.listings);
    EXPECT_EQ(reader.failures, 1 - one.listings);
    EXPECT_EQ(reader.ports.size(), one.ports);
  }
}

// FC-GS: the name of a node in an answer that nobody understands: there is no list.
TEST_F(ListingTest, badSymbolicName_isAFailure) {
  bring_up(1);
  wire::ct::GpnFtAccept ports;
  ports.entries.push_back({.control = 0, .port_id = {0x010100}, .world_wide_name = {5}});
  SlowServer names(server(), [&](Command command) {
    if (command == Command::gpn_ft) return bytes_of(ports);
    if (command == Command::gnn_id)
      return bytes_of(
          wire::ct::NameAccept{.preamble = wire::ct::CtHeader::of(Command::accept), .world_wide_name = {9}});
    return command == Command::gsnn_nn ? Bytes(18, 0xFF) : reject(wire::ct::RejectExplanation::none);
  });
  const Reader reader = list();
  EXPECT_EQ(reader.failures, 1);
  EXPECT_EQ(reader.listings, 0);
}

/// A listing by itself, of port 0.
struct Listing final : farp::ListingOwner {
  explicit Listing(fc2::NPort& port) : listing(*this, port, config) { listing.start(); }
  void listing_ended(std::optional<farp::DirectoryFailure> why) override { ++ended, failure = why; }
  [[nodiscard]] bool wants_addresses_of(const std::string&) const override { return true; }
  const farp::DirectoryConfig config;
  int ended = 0;
  std::optional<farp::DirectoryFailure> failure;
  farp::DirectoryListing listing;
};

// FC-GS: nobody to ask: no Name Server is known, or there is no login with it. That is found out at once.
TEST_F(ListingTest, noLogin_failsAtOnce) {
  bring_up(2, [](farp::ResolverConfig& config, std::size_t index) { config.use_name_server = index == 1; });
  ASSERT_EQ(fabric.port(0).find_remote_port(wire::well_known::name_server), nullptr);
  server().link_down();
  fabric.port(1).remote_port(wire::well_known::name_server).log_out();
  for (std::size_t index = 0; index < 2; ++index) {
    Listing unknown(fabric.port(index));
    EXPECT_EQ(unknown.ended, 1) << index;
    EXPECT_EQ(unknown.failure, farp::DirectoryFailure::NoNameServer) << index;
  }
}

// ListingOwner: the end is told once, whatever comes later: the time of the whole listing, or answers to what was asked
// beside the one that nobody understands.
TEST_F(ListingTest, ended_isToldOnce) {
  bring_up(1);
  wire::ct::GpnFtAccept ports;
  for (std::uint32_t i = 0; i < 4; ++i)
    ports.entries.push_back({.control = 0, .port_id = {0x010100 + 0x100 * i}, .world_wide_name = {5 + i}});
  for (const bool bad : {false, true}) {
    int good_answers = bad ? 1 : 1000;
    SlowServer names(server(), [&](Command command) {
      if (command == Command::gpn_ft) return bytes_of(ports);
      if (good_answers-- == 0) return Bytes(200, 0xFF);
      return bad && good_answers < 0 ? Bytes{} : reject(wire::ct::RejectExplanation::none);
    });
    Listing one(fabric.port(0));
    fabric.run_for(100 * runtime::second);
    EXPECT_EQ(one.ended, 1) << bad;
    EXPECT_EQ(one.failure.has_value(), bad);
  }
}

// FC-GS GIPP_ID: the address is listed in the one form that all have in common; that its answer comes late, behind the
// node's name, changes nothing of that.
TEST_F(ListingTest, addressComesLate_isListedWithTheName) {
  bring_up(1);
  wire::ct::GpnFtAccept ports;
  ports.entries.push_back({.control = 0, .port_id = {0x010100}, .world_wide_name = {5}});
  wire::ct::IpAddressListAccept addresses;
  addresses.ip_addresses = {ip(1)};
  addresses.ip_addresses[0].bytes[10] = addresses.ip_addresses[0].bytes[11] = 0;  // right-justified
  wire::ct::SymbolicNameAccept name;
  name.symbolic_name = "node";
  int lost = 1;
  SlowServer names(server(), [&](Command command) {
    if (command == Command::gpn_ft) return bytes_of(ports);
    if (command == Command::gnn_id) return bytes_of(wire::ct::NameAccept{.world_wide_name = {9}});
    if (command == Command::gsnn_nn) return bytes_of(name);
    return lost-- > 0 ? Bytes{} : bytes_of(addresses);
  });
  const Reader reader = list();
  ASSERT_EQ(reader.ports.size(), 1U);
  EXPECT_EQ(reader.ports[0], (farp::DirectoryEntry{{0x010100}, {5}, {9}, "node", {ip(1)}}));
  EXPECT_EQ(names.asked.back().first, Command::gipp_id);
}

// FC-VI 7.7.4: on a public loop the login with the Name Server outlives a LIP. Until that is over nobody can be asked.
TEST(ListingOnALoop, interrupted_failsAtOnce) {
  runtime::Scheduler scheduler;
  fc2::FramePool pool;
  support::FrameLog loop;
  fc2::Channel output{scheduler, {.latency_ns = 1000}, loop};
  fc2::NPort port{scheduler, pool, support::port_config(0)};
  const auto accept = [&](wire::FcId d_id, wire::FcId s_id) {
    scheduler.run_until(scheduler.now() + runtime::millisecond);
    wire::els::Login login = port.login_parameters(wire::els::Command::ls_acc);
    if (s_id == wire::well_known::f_port) login.features = wire::els::feature::f_port;
    login.port_name = login.node_name = {0x2000'0000'0000'0000U + s_id.value};
    port.receive(support::made_frame(pool, support::els_reply_header(d_id, s_id, loop.frames().back().header.ox_id),
                                     support::bytes_of(login)));
  };
  port.link_up_on_public_loop(output, 0x01);
  accept({0x010101}, wire::well_known::f_port);
  const fc2::RemotePort& name_server = port.remote_port(wire::well_known::name_server);
  port.remote_port(wire::well_known::name_server).log_in();
  accept({0x010101}, wire::well_known::name_server);
  port.link_interrupted();
  ASSERT_TRUE(name_server.logged_in());
  ASSERT_FALSE(port.online());
  Listing interrupted(port);
  EXPECT_EQ(interrupted.ended, 1);
  EXPECT_EQ(interrupted.failure, farp::DirectoryFailure::NoNameServer);
}

// FC-FS: answers that leave their exchanges open, and a listing that fails while others are asked: no exchange stays.
TEST_F(ListingTest, exchanges_noneStays) {
  bring_up(4);
  SlowServer open(server(), [](Command) { return reject(wire::ct::RejectExplanation::fc4_types_not_registered); });
  open.ends = false;
  EXPECT_EQ(list().listings, 1);
  EXPECT_EQ(fabric.port(0).open_exchanges(), 0U);
  wire::ct::GpnFtAccept ports;
  for (std::uint32_t i = 0; i < 4; ++i)
    ports.entries.push_back({.control = 0, .port_id = {0x010100 + 0x100 * i}, .world_wide_name = {5 + i}});
  int answers = 1;
  SlowServer bad(server(), [&](Command command) {
    if (command == Command::gpn_ft) return bytes_of(ports);
    return answers-- > 0 ? Bytes(200, 0xFF) : Bytes{};  // one that nobody understands, and silence
  });
  EXPECT_EQ(list().failures, 1);
  expect_no_exchange();
  fabric.detach(0);
}

}  // namespace
}  // namespace farp_test
