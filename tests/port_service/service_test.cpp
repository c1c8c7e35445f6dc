// The service itself: its commands, hostile records, other users.
#include "tests/port_service/fixture.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <boost/json.hpp>

#include "tests/port_service/raw_records.hpp"

namespace vitcp::port_service::test {
namespace {

class PortdTest : public PortServiceTest {
 public:
  PortdTest() {
    std::string error;
    directory_ = runtime::drivers::RuntimeDirectory::open({}, error);
  }
  [[nodiscard]] runtime::drivers::ServicePlace place() const { return vitcp::drivers::port_place(*directory_, listen); }
  Descriptor link() const { return Descriptor(runtime::drivers::connect_to_service(place(), SOCK_SEQPACKET)); }
  bool start(const std::string& more = "--idle-seconds 60") {
    return command("--daemonize --listen " + to_string(listen) + " " + more) == 0;
  }
  static void send(const Descriptor& link, const Record& record, int file = -1) {
    pollfd wanted{link.number(), POLLOUT, 0};
    ::poll(&wanted, 1, 60'000);
    try_to_send(link, record, file);  // in vain where the service has closed
  }
  /// The next record; empty: the end.
  static Record receive(const Descriptor& link) {
    pollfd wanted{link.number(), POLLIN, 0};
    Record record(max_record_bytes);
    if (::poll(&wanted, 1, 60'000) <= 0) return {255};
    ssize_t got = ::recv(link.number(), record.data(), record.size(), MSG_DONTWAIT);
    if (got < 0 && errno == ECONNRESET) got = ::recv(link.number(), record.data(), record.size(), MSG_DONTWAIT);
    record.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return record;
  }
  /// Up to the end: the text of the refusal.
  static std::string refusal(const Descriptor& link) {
    std::string text;
    for (;;) {
      const Record record = receive(link);
      if (record.empty() || record[0] == 255) return text;
      if (record[0] == static_cast<std::uint8_t>(RecordKind::refusal)) text = text_of(wire::Bytes(record).subspan(1));
    }
  }

  std::optional<runtime::drivers::RuntimeDirectory> directory_;
};

TEST_F(PortdTest, bad_input_is_refused_with_2) {
  EXPECT_EQ(command(""), 2);
  EXPECT_THAT(output, HasSubstr("--listen is missing"));
  for (const char* text :
       {"127.0.0.1", "8474", "localhost:8474", "127.0.0.1:0", "127.0.0.1:65536", "::1:8474", "[10.0.0.1]:1"}) {
    EXPECT_EQ(command(std::string("--listen ") + text), 2) << text;
    EXPECT_THAT(output, HasSubstr("expected ADDRESS:PORT")) << text;
  }
  EXPECT_EQ(command("--listen 127.0.0.1:8474 --request-time 10"), 2);
  EXPECT_THAT(output, HasSubstr("expected a time with its unit"));
  EXPECT_EQ(command("--listen 127.0.0.1:8474 --half-open 0"), 2);
}

TEST_F(PortdTest, help_and_version) {
  EXPECT_EQ(command("--help"), 0);
  EXPECT_THAT(output, HasSubstr("--listen"));
  EXPECT_EQ(command("--version"), 0);
  EXPECT_THAT(output, StartsWith("vitcp-portd "));
}

TEST_F(PortdTest, commands_without_a_service) {
  EXPECT_EQ(command("status"), 1);
  EXPECT_THAT(output, HasSubstr("no service or NIC runs in " + folder));
  EXPECT_EQ(command("stop"), 0);
}

// Of two that wait for the same, the one whose NIC has the address that was connected to.
TEST_F(PortdTest, waits_are_met_at_their_own_address) {
  ASSERT_TRUE(start()) << output;
  Process other(options()), own(options());
  other.wait(Wanted{.called = named("server"), .at = wire::IpAddress::v4(10, 0, 0, 1)});
  own.wait(Wanted{.called = named("server"), .at = listen.ip});
  ASSERT_TRUE(other.joined() && own.joined());
  Caller caller(listen), late(listen);
  caller.request("server");
  ASSERT_TRUE(own.run_until([&] { return own.got.size() == 1; }));
  late.request("server");
  EXPECT_EQ(late.answer(), "ConnectNoMatch, end");
}

TEST_F(PortdTest, status_tells_who_waits_and_what_came) {
  ASSERT_TRUE(start()) << output;
  Process process(options());
  process.wait("server");
  process.wait(Wanted{named("peer"), true, named("other"), listen.ip, listen.ip});
  ASSERT_TRUE(process.joined());
  Caller silent(listen), lost(listen);
  lost.request("nobody");
  EXPECT_EQ(lost.answer(), "ConnectNoMatch, end");
  lost.close();
  ASSERT_TRUE(eventually([&] { return waiters() == 2 && status().at("half_open").as_array().size() == 1; }));
  ASSERT_EQ(command("status"), 0);
  EXPECT_THAT(output, HasSubstr("vitcp-portd at " + to_string(listen) + ": process"));
  EXPECT_THAT(output, HasSubstr("736572766572 \"server\" is waited for by process " + std::to_string(::getpid())));
  EXPECT_THAT(output, HasSubstr("\"peer\" is waited for by process " + std::to_string(::getpid()) + " at " +
                                wire::to_string(listen.ip) + ", peer to peer"));
  EXPECT_THAT(output, HasSubstr(": incoming, 0 octets"));
  EXPECT_THAT(output, HasSubstr("no_match: 1"));
  const auto now = status();
  EXPECT_EQ(now.at("processes").at(0).at("waits").to_number<int>(), 2);
  EXPECT_TRUE(now.at("listens").as_bool());
}

// Two at once: both are told, and both end.
TEST_F(PortdTest, status_and_stop_of_all_services) {
  ASSERT_TRUE(start());
  ++listen.port;
  ASSERT_TRUE(start());
  ASSERT_EQ(command("status --json"), 0);
  EXPECT_EQ(boost::json::parse(output).as_array().size(), 2U);
  ASSERT_EQ(command("stop"), 0);
  EXPECT_EQ(command("status"), 1);
}

TEST_F(PortdTest, started_twice_is_no_fault) {
  ASSERT_TRUE(start());
  EXPECT_TRUE(start()) << output;
  EXPECT_EQ(command("--listen " + to_string(listen)), 1);
  EXPECT_THAT(output, HasSubstr("another vitcp-portd holds it"));
}

// In the foreground it says why it cannot listen, and ends.
TEST_F(PortdTest, foreground_port_in_use) {
  const auto holder = streams::drivers::listening_socket(listen);
  ASSERT_TRUE(holder);
  EXPECT_EQ(command("--idle-seconds 1 --listen " + to_string(listen)), 1);
  EXPECT_THAT(output,
              HasSubstr("cannot listen at " + to_string(listen) + ": the port is in use by another program of yours"));
}

TEST_F(PortdTest, no_such_address) {
  EXPECT_EQ(command("--idle-seconds 1 --listen 192.0.2.77:8474"), 1);
  EXPECT_THAT(output, HasSubstr("no interface of this host has that address"));
}

// --- records ---------------------------------------------------------------------------------------------------------

// A program of another build understands why, and what to do.
TEST_F(PortdTest, hello_of_another_version_is_refused) {
  ASSERT_TRUE(start());
  const Descriptor other = link();
  send(other, Hello{.version = 99, .name = "x"}.write());
  EXPECT_THAT(refusal(other),
              HasSubstr("speaks versions 2 to 3 of its protocol, the program version 99; end the older one"));
}

// It is handed its streams at once, and never told what it does not know.
TEST_F(PortdTest, process_of_an_earlier_build_is_served) {
  ASSERT_TRUE(start());
  const Descriptor old = link();
  send(old, Hello{.version = 2, .name = "x"}.write());
  send(old, Wait{1, {named("a")}}.write());
  EXPECT_EQ(receive(old).at(0), static_cast<std::uint8_t>(RecordKind::welcome));
  ASSERT_TRUE(eventually([&] { return waiters() == 1; }));
  Caller caller(listen);
  caller.request("a");
  EXPECT_EQ(receive(old), id_record(RecordKind::hand_over, 1));
}

TEST_F(PortdTest, bad_records_end_their_link_alone) {
  ASSERT_TRUE(start());
  Process process(options());
  process.wait("a");
  ASSERT_TRUE(process.joined());
  const Record hello = Hello{}.write(), control = Hello{.role = Hello::Role::control}.write();
  const std::vector<std::vector<Record>> dialogues{{{0}},
                                                   {{255, 1, 2}},
                                                   {Wait{1, {}}.write()},
                                                   {{1, 'V', 'I'}},
                                                   {hello, hello},
                                                   {hello, {4, 0}},
                                                   {hello, {5, 0}},
                                                   {hello, text_record(RecordKind::request, "status")},
                                                   {hello, Wait{1, {}}.write(), Wait{1, {}}.write()},
                                                   {hello, text_record(RecordKind::welcome, "")},
                                                   {control, text_record(RecordKind::request, "dance")},
                                                   {control, Wait{1, {}}.write()},
                                                   {hello, Record(4096, 4)}};
  for (const auto& records : dialogues) {
    const Descriptor bad = link();
    for (const Record& record : records) send(bad, record);
    EXPECT_NE(refusal(bad), "") << &records - dialogues.data();
  }
  Caller caller(listen);
  caller.request("a");
  EXPECT_TRUE(process.run_until([&] { return !process.got.empty(); }));
  EXPECT_EQ(process.changes, std::vector<std::string>{"listens"});
}

// As a listening socket, or as a stream that comes back, a process may send anything that is open.
TEST_F(PortdTest, files_that_are_no_streams_are_closed) {
  ASSERT_TRUE(start());
  const Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC)), udp(::socket(AF_INET, SOCK_DGRAM, 0));
  const Descriptor unix_socket(::socket(AF_UNIX, SOCK_STREAM, 0)), tcp(::socket(AF_INET6, SOCK_STREAM, 0));
  std::array<int, 2> pair{-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
  const Descriptor left(pair[0]), right(pair[1]);
  const Descriptor with_name = link();  // its other end has a name of more than 28 octets
  for (const Descriptor* file : {&null, &udp, &unix_socket, &tcp, &left, &with_name}) {
    const Descriptor odd = link();
    send(odd, Hello{}.write(), file->number());
    send(odd, id_record(RecordKind::give_back, 7), file->number());
    send(odd, id_record(RecordKind::give_back, 7));
    send(odd, Wait{1, {named("a")}}.write());
    EXPECT_EQ(receive(odd).at(0), static_cast<std::uint8_t>(RecordKind::welcome));
    EXPECT_EQ(receive(odd), take_record(true));  // it waits alone, but takes nothing
    Caller caller(listen);
    caller.request("a");
    EXPECT_EQ(receive(odd).at(0), static_cast<std::uint8_t>(RecordKind::hand_over));
  }
  EXPECT_EQ(counter("returned"), 0U);
}

// A process that waits for much and reads nothing: it holds up nobody.
TEST_F(PortdTest, process_that_does_not_read) {
  ASSERT_TRUE(start());
  const Descriptor deaf = link();
  send(deaf, Hello{}.write());
  for (WaitId id = 0; id < 2'000; ++id) send(deaf, Wait{id, {named("a")}}.write());
  ASSERT_TRUE(eventually([&] { return waiters() == 2'000; }));
  Server server(options(), "S", {"a"});
  ASSERT_TRUE(eventually([&] { return waiters() == 2'001; }));
  std::deque<Caller> callers;
  for (int i = 0; i < 2'000 && counter("not_taken") == 0; i += 50)
    for (int more = 0; more < 50; ++more) callers.emplace_back(listen).request("a");
  EXPECT_GT(counter("not_taken"), 0U);
  Caller caller(listen);
  caller.request("a");
  const std::string answer = caller.read(1);
  EXPECT_TRUE(answer == "S" || answer[0] == 1) << answer;
}

// --- other users -----------------------------------------------------------------------------------------------------

TEST_F(PortdTest, another_user_cannot_join) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  ASSERT_TRUE(start());
  const auto connects = [&] {
    support::Child other([&] {
      if (::setuid(65'534) != 0) return 3;
      const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      const std::string path = place().socket_path();
      std::copy(path.begin(), path.end(), address.sun_path);
      const void* generic = &address;
      if (::connect(socket, static_cast<const sockaddr*>(generic), sizeof address) != 0) return errno == EACCES ? 1 : 4;
      std::uint8_t octet = 0;
      return ::recv(socket, &octet, 1, 0) == 0 ? 2 : 5;  // it was closed without a word
    });
    return other.wait();
  };
  EXPECT_EQ(connects(), 1) << "the directory is closed to others";
  ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
  EXPECT_EQ(connects(), 1) << "so is the socket";
  ASSERT_EQ(::chmod(place().socket_path().c_str(), 0666), 0);
  EXPECT_EQ(connects(), 2) << "and the service looks who it is";
  ASSERT_EQ(::chmod(folder.c_str(), 0700), 0);
}

}  // namespace
}  // namespace vitcp::port_service::test
