// Processes that share a port: what each of them gets, and that the service may end at any time.
#include "tests/port_service/fixture.hpp"

namespace vitcp::port_service::test {
namespace {

class PortClientTest : public PortServiceTest {
 public:
  /// What the server of that name says, and that octets come back; of a connection that stays.
  static void expect_echo(Caller& caller, const std::string& text) {
    caller.send(wire::Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
    EXPECT_EQ(caller.read(text.size()), text);
  }
  bool waits(std::size_t count) {
    return eventually([&] { return waiters() == count; });
  }
};

// Nothing was set up: the first one starts the service, and each gets its own.
TEST_F(PortClientTest, two_processes_share_the_port) {
  Server a(options(), "A", {"alpha"}), b(options(), "B", {"beta", std::string(64, 'b')});
  ASSERT_TRUE(waits(3)) << output;
  for (int i = 0; i < 3; ++i) {
    Caller alpha(listen), beta(listen), longest(listen);
    beta.request("beta");
    alpha.request("alpha");
    longest.request(std::string(64, 'b'));
    EXPECT_EQ(alpha.read(1), "A");
    EXPECT_EQ(beta.read(1), "B");
    EXPECT_EQ(longest.read(1), "B");
    expect_echo(alpha, "one");
    expect_echo(beta, "other");
    ASSERT_TRUE(waits(3));
  }
  EXPECT_EQ(counter("handed_over"), 9U);
}

// What lies behind the ConnectRequest is still there, and the request is.
TEST_F(PortClientTest, stream_begins_with_the_request) {
  Process process(options());
  const WaitId id = process.wait("a");
  ASSERT_TRUE(process.joined());
  Caller caller(listen);
  auto octets = octets_for("a");
  octets.insert(octets.end(), {1, 2, 3});
  caller.send(octets);
  ASSERT_TRUE(process.run_until([&] { return !process.got.empty(); }));
  EXPECT_EQ(process.got[0].id, id);
  EXPECT_EQ(process.got[0].stream->local(), listen);
  EXPECT_EQ(process.read(*process.got[0].stream, octets.size()), octets);
  EXPECT_EQ(process.changes, std::vector<std::string>{"listens"});
}

TEST_F(PortClientTest, nobody_waits_no_match) {
  Process process(options());
  ASSERT_TRUE(process.joined());
  Caller caller(listen);
  caller.request("a");
  EXPECT_EQ(caller.answer(), "ConnectNoMatch, end");
  Server server(options(), "S", {"a"});
  ASSERT_TRUE(waits(1));
  Caller other(listen), again(listen);
  other.request("b");
  EXPECT_EQ(other.answer(), "ConnectNoMatch, end");
  again.request("a");
  EXPECT_EQ(again.read(1), "S");
}

// Who waits alone takes what comes itself: the service has no part in it.
TEST_F(PortClientTest, the_only_one_that_waits_takes_streams_itself) {
  Process process(options());
  ASSERT_TRUE(process.joined());
  const WaitId id = process.wait("a");
  ASSERT_TRUE(waits(1));
  std::size_t taken = 0;
  for (int tries = 0; tries < 50 && taken == 0; ++tries) {
    process.run_until([&] { return process.io.poll() == 0; });  // it has heard that it may
    Caller caller(listen);
    caller.request("a");
    const WaitId waited = tries == 0 ? id : process.wait("a");
    ASSERT_TRUE(process.run_until([&] { return !process.got.empty(); }));
    EXPECT_EQ(process.got[0].id, waited);
    EXPECT_EQ(process.read(*process.got[0].stream, octets_for("a").size()), octets_for("a"));
    process.got.clear();
    taken = static_cast<std::size_t>(tries) + 1 - static_cast<std::size_t>(counter("handed_over"));
  }
  EXPECT_EQ(taken, 1U) << "all went by the service";
}

// What it does not wait for goes to the service, which answers: with a request that comes late, too.
TEST_F(PortClientTest, the_only_one_that_waits_gives_back_what_is_not_its_own) {
  Server server(options(), "S", {"a"});
  ASSERT_TRUE(waits(1));
  for (int i = 0; i < 5; ++i) {
    Caller other(listen), late(listen), own(listen);
    other.request("b");
    EXPECT_EQ(other.answer(), "ConnectNoMatch, end");
    own.request("a");
    EXPECT_EQ(own.read(1), "S");
    std::this_thread::sleep_for(15ms);  // longer than a process looks at it
    late.request("b");
    EXPECT_EQ(late.answer(), "ConnectNoMatch, end");
    ASSERT_TRUE(waits(1));
  }
}

// Octets that are only looked at stay readable: who asked for more again would be told at once, without end.
TEST_F(PortClientTest, half_a_request_keeps_nobody_busy) {
  Process process(options());
  ASSERT_TRUE(process.joined());
  const WaitId id = process.wait("a");
  ASSERT_TRUE(waits(1));
  process.run_until([&] { return process.io.poll() == 0; });  // it has heard that it may
  Caller caller(listen);
  const std::vector<std::uint8_t> octets = octets_for("a");
  caller.send(wire::Bytes(octets).first(5));
  std::size_t handlers = 0;
  for (int i = 0; i < 2000; ++i) handlers += process.io.poll();
  EXPECT_LT(handlers, 100U);
  caller.send(wire::Bytes(octets).subspan(5));
  ASSERT_TRUE(process.run_until([&] { return !process.got.empty(); }));
  EXPECT_EQ(process.got[0].id, id);
}

// A process that may take what comes, and does not run: the service does not rely on it.
TEST_F(PortClientTest, one_that_is_stopped_keeps_nobody_waiting) {
  Process stopped(options());
  ASSERT_TRUE(stopped.joined());
  static_cast<void>(stopped.wait("a"));
  ASSERT_TRUE(waits(1));
  for (int i = 0; i < 3; ++i) {
    Caller caller(listen);  // nobody runs the process's sockets
    caller.request("b");
    EXPECT_EQ(caller.answer(), "ConnectNoMatch, end");
  }
}

// A second one waits: each gets its own at once, whoever looked at the streams before.
TEST_F(PortClientTest, another_one_that_begins_to_wait_gets_its_own) {
  Server a(options(), "A", {"a"});
  ASSERT_TRUE(waits(1));
  Server b(options(), "B", {"b"});
  ASSERT_TRUE(waits(2));
  for (int i = 0; i < 20; ++i) {
    Caller one(listen), other(listen);
    other.request("b");
    one.request("a");
    EXPECT_EQ(one.read(1), "A");
    EXPECT_EQ(other.read(1), "B");
    ASSERT_TRUE(waits(2));
  }
}

// Each would start a service: one is there, and has all of them.
TEST_F(PortClientTest, many_start_at_once) {
  std::vector<std::unique_ptr<Server>> servers;
  for (int i = 0; i < 12; ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    servers.push_back(std::make_unique<Server>(options(), name, std::vector{name}));
  }
  ASSERT_TRUE(waits(servers.size())) << output;
  for (int i = 0; i < 12; ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    Caller caller(listen);
    caller.request(name);
    EXPECT_EQ(caller.read(1), name);
  }
}

// --- the service ends ------------------------------------------------------------------------------------------------

// Killed with waiters: they wait on, connections are as they were, and nobody was told anything.
TEST_F(PortClientTest, killed_service_comes_back_unnoticed) {
  Server server(options(), "S", {"a"});
  Process process(options());
  const WaitId id = process.wait("p");
  ASSERT_TRUE(process.joined());
  Caller established(listen);
  ASSERT_TRUE(waits(2));
  established.request("a");
  EXPECT_EQ(established.read(1), "S");
  ASSERT_TRUE(waits(2));
  for (int i = 0; i < 5; ++i) {
    const pid_t before = service();
    kill_service(SIGKILL);
    expect_echo(established, "still there");
    Caller caller(listen);  // nobody need be there to take it yet
    ASSERT_TRUE(caller.connected) << i;
    caller.request("a");
    EXPECT_EQ(caller.read(1), "S") << i;  // who looked at it already need not wait for the next service
    ASSERT_TRUE(eventually([&] { return service() != 0 && service() != before; }));
  }
  ASSERT_TRUE(process.run_until([&] { return waiters() == 2; }));
  Caller caller(listen);
  caller.request("p");
  ASSERT_TRUE(process.run_until([&] { return !process.got.empty(); }));
  EXPECT_EQ(process.got[0].id, id);
  EXPECT_EQ(process.changes, std::vector<std::string>{"listens"});
  expect_echo(established, "to the end");
}

// While it is stopped nothing of an established connection waits for it; what came meanwhile is for the next service.
TEST_F(PortClientTest, stopped_service_delays_no_connection) {
  Server server(options(), "S", {"a", "b"});
  ASSERT_TRUE(waits(2));
  Caller established(listen);
  established.request("a");
  EXPECT_EQ(established.read(1), "S");
  const pid_t stopped = service();
  ASSERT_GT(stopped, 0);
  ::kill(stopped, SIGSTOP);
  expect_echo(established, "no matter");
  Caller caller(listen);
  ASSERT_TRUE(caller.connected);
  caller.request("b");
  established.shut_down();
  server.process().kill(SIGKILL);  // its end is seen at once: nobody else has the connection
  const std::string end = established.read(1);
  EXPECT_TRUE(end.empty() || end == "reset") << end;
  ::kill(stopped, SIGKILL);
}

TEST_F(PortClientTest, request_before_the_kill_is_for_the_next_service) {
  Server server(options(), "S", {"a"});
  ASSERT_TRUE(waits(1));
  const pid_t pid = service();
  ::kill(pid, SIGSTOP);
  Caller caller(listen);
  ASSERT_TRUE(caller.connected);
  caller.request("a");
  ::kill(pid, SIGKILL);
  EXPECT_EQ(caller.read(1), "S");
}

// "stop" is no more than that.
TEST_F(PortClientTest, stopped_by_command_comes_back) {
  Server server(options(), "S", {"a"});
  ASSERT_TRUE(waits(1));
  ASSERT_EQ(command("stop"), 0) << output;
  Caller caller(listen);
  ASSERT_TRUE(caller.connected);
  caller.request("a");
  EXPECT_EQ(caller.read(1), "S");
}

TEST_F(PortClientTest, service_is_gone_when_idle) {
  auto options = this->options();
  options.service_idle_seconds = 1;
  {
    Process process(options);
    process.wait("a");
    ASSERT_TRUE(process.joined());
    process.run_until([end = std::chrono::steady_clock::now() + 2s] { return std::chrono::steady_clock::now() > end; });
    EXPECT_NE(service(), 0) << "it ended with a process";
  }
  EXPECT_TRUE(eventually([&] { return service() == 0; }));
  EXPECT_FALSE(Caller(listen).connected);
  const auto place = vitcp::drivers::port_place(*runtime::drivers::RuntimeDirectory::open({}, output), listen);
  EXPECT_FALSE(std::filesystem::exists(place.socket_path()));
  Server server(options, "S", {"a"});
  ASSERT_TRUE(waits(1));
  Caller caller(listen);
  caller.request("a");
  EXPECT_EQ(caller.read(1), "S");
}

// --- a process ends, or has stopped to wait --------------------------------------------------------------------------

TEST_F(PortClientTest, killed_process_the_next_one_gets_it) {
  auto first = std::make_unique<Server>(options(), "1", std::vector<std::string>{"a"});
  ASSERT_TRUE(waits(1));
  Server second(options(), "2", {"a"});
  ASSERT_TRUE(waits(2));
  first.reset();
  Caller caller(listen);
  caller.request("a");
  const std::string name = caller.read(1);  // it may have been on its way to the first one: as if that had had it
  if (name != "2") {
    ASSERT_TRUE(waits(1));
    Caller again(listen);
    again.request("a");
    EXPECT_EQ(again.read(1), "2");
  }
}

// Handed over, and not taken yet: the connection goes with the process, and the other end sets up another (V-15).
TEST_F(PortClientTest, process_killed_while_a_hand_over_is_under_way) {
  auto first = std::make_unique<Server>(options(), "1", std::vector<std::string>{"a"});
  ASSERT_TRUE(waits(1));
  Server second(options(), "2", {"a"});
  ASSERT_TRUE(waits(2));
  first->process().kill(SIGSTOP);
  Caller caller(listen);
  caller.request("a");
  ASSERT_TRUE(eventually([&] { return counter("handed_over") == 1; }));
  first.reset();
  const std::string end = caller.read(1);
  EXPECT_TRUE(end.empty() || end == "reset") << end;
  Caller again(listen);
  again.request("a");
  EXPECT_EQ(again.read(1), "2");
}

// Killed again and again, while callers come: each gets an answer, a name or an end; none hangs.
TEST_F(PortClientTest, processes_killed_amid_callers) {
  Server stays(options(), "s", {"a"});
  ASSERT_TRUE(waits(1));
  for (int i = 0; i < 10; ++i) {
    Server dies(options(), "d", {"a"});
    for (int call = 0; call < 10; ++call) {
      Caller caller(listen);
      caller.request("a");
      if (call == 5) dies.process().kill(SIGKILL);
      const std::string answer = caller.read(1);
      EXPECT_TRUE(answer == "s" || answer == "d" || answer.empty() || answer == "reset" || answer[0] == 1) << answer;
    }
  }
  ASSERT_TRUE(waits(1));
  EXPECT_EQ(status().at("processes").as_array().size(), 1U);
}

// More calls than fit into the link of a process that does not read: it gets them all once it does, and loses no wait.
TEST_F(PortClientTest, stopped_process_with_many_waits_gets_all_calls) {
  constexpr std::size_t calls = 400;
  auto options = this->options();
  options.half_open = calls;
  options.request_time = 600 * runtime::second;
  Server server(options, "S", std::vector<std::string>(calls, "a"));
  ASSERT_TRUE(waits(calls));
  server.process().kill(SIGSTOP);
  std::deque<Caller> callers;
  for (std::size_t i = 0; i < calls; ++i) callers.emplace_back(listen).request("a");
  ASSERT_TRUE(eventually([&] { return counter("handed_over") + status().at("half_open").as_array().size() == calls; }));
  EXPECT_TRUE(eventually([&] { return counter("not_taken") > 0; }));
  EXPECT_EQ(counter("handed_over") + waiters(), calls);
  server.process().kill(SIGCONT);
  for (Caller& caller : callers) EXPECT_EQ(caller.read(1), "S");
  EXPECT_TRUE(waits(calls));
}

// The hand-over crosses the cancel: it goes back, and to the next, who never knows.
TEST_F(PortClientTest, cancel_that_comes_too_late) {
  Process process(options());
  const WaitId id = process.wait("a");
  ASSERT_TRUE(process.joined());
  ASSERT_TRUE(waits(1));
  Server next(options(), "N", {"a"});
  ASSERT_TRUE(waits(2));
  Caller caller(listen), other(listen);
  caller.request("a");
  ASSERT_TRUE(eventually([&] { return counter("handed_over") == 1; }));
  process.cancel(id);
  ASSERT_TRUE(process.run_until([&] { return counter("handed_over") == 2; }));
  EXPECT_EQ(caller.read(1), "N");
  EXPECT_TRUE(process.got.empty());
  EXPECT_EQ(counter("returned"), 1U);
}

TEST_F(PortClientTest, cancel_that_comes_too_late_and_nobody_else) {
  Process process(options());
  const WaitId id = process.wait("a");
  ASSERT_TRUE(process.joined());
  ASSERT_TRUE(waits(1));
  Caller caller(listen);
  caller.request("a");
  ASSERT_TRUE(eventually([&] { return counter("handed_over") == 1; }));
  process.cancel(id);
  ASSERT_TRUE(process.run_until([&] { return counter("no_match") == 1; }));
  EXPECT_EQ(caller.answer(), "ConnectNoMatch, end");
}

TEST_F(PortClientTest, cancelled_waits_are_over) {
  Process process(options());
  process.cancel(process.wait("early"));
  const WaitId id = process.wait("a");
  ASSERT_TRUE(process.joined());
  ASSERT_TRUE(waits(1));
  process.cancel(id);
  process.cancel(id);
  ASSERT_TRUE(process.run_until([&] { return waiters() == 0; }));
  Caller caller(listen);
  caller.request("a");
  EXPECT_EQ(caller.answer(), "ConnectNoMatch, end");
}

// --- the port belongs to somebody else -------------------------------------------------------------------------------

// Told at once, with what to do; and when the port is free it is taken.
TEST_F(PortClientTest, port_in_use_is_told_until_it_is_free) {
  auto holder = streams::drivers::listening_socket(listen);
  ASSERT_TRUE(holder);
  Process process(options());
  process.wait("a");
  ASSERT_TRUE(process.run_until([&] { return !process.changes.empty(); }));
  EXPECT_THAT(process.changes[0], HasSubstr("cannot listen at " + to_string(listen)));
  EXPECT_THAT(process.changes[0], HasSubstr("another program of yours"));
  EXPECT_EQ(process.client->trouble(), process.changes[0]);
  { Descriptor freed(std::move(*holder)); }
  ASSERT_TRUE(process.joined());
  EXPECT_EQ(process.changes.size(), 2U);
  Caller caller(listen);
  caller.request("a");
  EXPECT_TRUE(process.run_until([&] { return !process.got.empty(); }));
}

TEST_F(PortClientTest, port_of_another_user_is_told) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  constexpr unsigned nobody = 65'534;
  support::Child holder([&] {
    if (::setuid(nobody) != 0) return 1;
    const auto socket = streams::drivers::listening_socket(listen);
    for (;;) ::pause();
    return 0;
  });
  ASSERT_TRUE(eventually([&] { return Caller(listen).connected; }));
  Process process(options());
  ASSERT_TRUE(process.run_until([&] { return !process.changes.empty(); }));
  EXPECT_THAT(process.changes[0], HasSubstr("in use by a program of user 65534"));
  EXPECT_THAT(process.changes[0], HasSubstr("give this NIC another port"));
}

// Two NICs of one user that do not agree where to listen.
TEST_F(PortClientTest, port_of_an_own_service_at_another_address_is_told) {
  Process process(options());
  ASSERT_TRUE(process.joined());
  auto all = options();
  all.listen.ip = wire::IpAddress::v4(0, 0, 0, 0);
  Process other(all);
  ASSERT_TRUE(other.run_until([&] { return process.io.restart(), process.io.poll(), !other.changes.empty(); }));
  EXPECT_THAT(other.changes[0], HasSubstr("your own vitcp-portd has the port at " + to_string(listen)));
}

TEST_F(PortClientTest, no_service_program_is_told) {
  auto options = this->options();
  options.service_program = folder + "/none";
  options.connect_limit = 10 * runtime::millisecond;
  Process process(options);
  ASSERT_TRUE(process.run_until([&] { return !process.changes.empty(); }));
  EXPECT_THAT(process.changes[0], HasSubstr(folder + "/none: cannot be started"));
}

// --- addresses -------------------------------------------------------------------------------------------------------

TEST_F(PortClientTest, all_addresses_of_both_kinds) {
  {
    const auto free = streams::drivers::listening_socket({});
    if (!free) GTEST_SKIP() << "this host has no IPv6: " << free.error().message();
    listen = *streams::drivers::local_address_of(free->number());
  }
  Server server(options(), "S", {"a"});
  ASSERT_TRUE(waits(1));
  for (const char* ip : {"127.0.0.1", "::1"}) {
    Caller caller({*wire::IpAddress::from_string(ip), listen.port});
    caller.request("a");
    EXPECT_EQ(caller.read(1), "S") << ip;
    ASSERT_TRUE(waits(1));
  }
}

TEST_F(PortClientTest, ipv6_alone) {
  listen = *streams::address_from_string("[::1]:" + std::to_string(20'000 + ::getpid() % 10'000));
  Server server(options(), "S", {"a"});
  if (!eventually([&] { return waiters() == 1; })) GTEST_SKIP() << "::1 cannot be had: " << output;
  Caller caller(listen);
  caller.request("a");
  EXPECT_EQ(caller.read(1), "S");
  EXPECT_FALSE(Caller({wire::IpAddress::v4(127, 0, 0, 1), listen.port}).connected);
}

}  // namespace
}  // namespace vitcp::port_service::test
