// A process's part against a service that is played by hand: records in an order that a real one has seldom, one that
// does not read, one of an earlier build, and one that goes.
#include "tests/port_service/fixture.hpp"

#include <sys/un.h>

#include <thread>

#include "tests/port_service/raw_records.hpp"
#include "tools/vitcp_portd/commands.hpp"

namespace vitcp::port_service::test {
namespace {

class OddServiceTest : public PortServiceTest {
 public:
  OddServiceTest() {
    open_door();
    socket = std::move(*streams::drivers::listening_socket(listen));
  }
  [[nodiscard]] std::string path() const {
    std::string error;
    const auto directory = runtime::drivers::RuntimeDirectory::open({}, error);
    return vitcp::drivers::port_place(*directory, listen).socket_path();
  }
  void open_door() {
    door = Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = path();
    std::copy(name.begin(), name.end(), address.sun_path);
    const void* generic = &address;
    EXPECT_EQ(::bind(door.number(), static_cast<const sockaddr*>(generic), sizeof address), 0);
    EXPECT_EQ(::listen(door.number(), 5), 0);
  }
  void end_service() {
    std::filesystem::remove(path());
    door = Descriptor();
    link = Descriptor();
  }
  [[nodiscard]] PortClientOptions options() const { return {.listen = listen, .start_service = false}; }

  /// The next link of the process, and its Hello.
  Hello meet(Process& process) {
    link = {};
    EXPECT_TRUE(process.run_until([&] {
      link = Descriptor(::accept4(door.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      return static_cast<bool>(link);
    }));
    return Hello::parse(wire::Bytes(next(process)).subspan(1)).value_or(Hello{.version = 0});
  }
  /// The next record; `attached` is its file.
  Record next(Process& process) {
    Record record;
    EXPECT_TRUE(process.run_until([&] { return receive_record(link, record, attached); }));
    return record;
  }
  void welcome(Process& process) {
    meet(process);
    send_record(link, PortState{.listens = true}.write(RecordKind::welcome), socket.number());
  }
  /// What it has been told has come to it.
  static void settle(Process& process) {
    do process.io.restart();
    while (process.io.poll() != 0);
  }

  Descriptor door, socket;  // of the service, and that the port listens with
  Descriptor link, attached;
};

// The order in which a port that was somebody else's comes: what was told before the socket was there counts.
TEST_F(OddServiceTest, may_take_is_told_before_the_socket_comes) {
  Process process(options());
  const WaitId id = process.wait("a");
  meet(process);
  send_record(link, PortState{.trouble = "it is another's"}.write(RecordKind::welcome));
  send_record(link, take_record(true));
  ASSERT_TRUE(process.run_until([&] { return !process.changes.empty(); }));
  send_record(link, PortState{.listens = true}.write(RecordKind::port_state), socket.number());
  ASSERT_TRUE(process.joined());
  Caller caller(listen);
  caller.request("a");
  ASSERT_TRUE(process.run_until([&] { return !process.got.empty(); }));
  EXPECT_EQ(process.got[0].id, id);
}

// The same where the service changes its socket: streams that come to the new one are taken.
TEST_F(OddServiceTest, may_take_is_for_each_socket_that_comes) {
  Process process(options());
  welcome(process);
  process.wait("a");
  send_record(link, take_record(true));
  settle(process);
  listen.port = static_cast<std::uint16_t>(listen.port + 1);
  socket = std::move(*streams::drivers::listening_socket(listen));
  send_record(link, PortState{.listens = true}.write(RecordKind::port_state), socket.number());
  settle(process);
  Caller caller(listen);
  caller.request("a");
  EXPECT_TRUE(process.run_until([&] { return !process.got.empty(); }));
}

// A wait that ended here, since the process took a stream itself, and at the service, which handed over another: it is
// not kept for the next one, of which the service would never hear.
TEST_F(OddServiceTest, hand_over_for_a_wait_that_is_over_ends_it_for_good) {
  Process process(options());
  welcome(process);
  const WaitId id = process.wait("a");
  EXPECT_EQ(next(process), (Wait{id, {named("a")}}.write()));
  send_record(link, take_record(true));
  settle(process);
  Caller taken(listen), other(listen);
  taken.request("a");
  ASSERT_TRUE(process.run_until([&] { return !process.got.empty(); }));
  const Descriptor given(::dup(link.number()));  // any file: it comes back as it is
  send_record(link, id_record(RecordKind::hand_over, id), given.number());
  EXPECT_EQ(next(process), id_record(RecordKind::give_back, id));
  EXPECT_TRUE(attached);
  const WaitId again = process.wait("a");
  EXPECT_NE(again, id);
  EXPECT_EQ(next(process), (Wait{again, {named("a")}}.write()));
}

// What the process gives back to a service that does not run is limited: the others hear an end.
TEST_F(OddServiceTest, service_that_does_not_read_gets_so_many_streams_back) {
  constexpr std::size_t calls = 450;  // more than its socket holds
  Process process(options());
  welcome(process);
  process.wait("a");
  send_record(link, take_record(true));
  settle(process);
  const std::size_t before = open_files();
  std::deque<Caller> callers;
  for (std::size_t i = 0; i != calls; ++i) {
    callers.emplace_back(listen).request("b");
    if (i % 10 == 0) settle(process);
  }
  settle(process);
  EXPECT_LE(open_files() - before, calls + 80);
  const auto ended = std::ranges::count_if(callers, [](Caller& caller) { return caller.has_ended(); });
  EXPECT_GT(ended, 0);
  callers.emplace_back(listen).request("a");  // its own are taken as ever
  ASSERT_TRUE(process.run_until([&] { return !process.got.empty(); }));
}

// The service ends while a stream is looked at whose request has not come: it is this process's if it is for it.
TEST_F(OddServiceTest, streams_that_are_looked_at_survive_the_service) {
  Process process(options());
  welcome(process);
  const WaitId id = process.wait("a");
  next(process);
  send_record(link, take_record(true));
  settle(process);
  std::deque<Caller> callers;
  for (bool looked_at = false; !looked_at;) {
    callers.clear();
    callers.emplace_back(listen);
    callers.emplace_back(listen);
    settle(process);
    looked_at = true;
    for (Record returned; receive_record(link, returned, attached);) looked_at = false;  // this took too long
  }
  end_service();
  settle(process);
  callers[0].request("a");
  ASSERT_TRUE(process.run_until([&] { return !process.got.empty(); }));
  EXPECT_EQ(process.got[0].id, id);
  const WaitId again = process.wait("a");  // no service knows that the first is over
  EXPECT_NE(again, id);
  open_door();
  meet(process);
  EXPECT_EQ(next(process), (Wait{again, {named("a")}}.write()));
  EXPECT_EQ(next(process), id_record(RecordKind::give_back, 0));  // the other one's is for the next service
  EXPECT_TRUE(attached);
  EXPECT_FALSE(callers[1].has_ended());
}

// A service of an earlier build that still runs is spoken to as it speaks, without a word to the program.
TEST_F(OddServiceTest, service_of_an_earlier_build_is_used) {
  Process process(options());
  EXPECT_EQ(meet(process).version, protocol_version);
  send_record(link, text_record(RecordKind::refusal, "vitcp-portd (process 1) speaks version 2 of its protocol"));
  EXPECT_EQ(meet(process).version, 2);
  send_record(link, PortState{.listens = true}.write(RecordKind::welcome), socket.number());
  ASSERT_TRUE(process.joined());
  EXPECT_EQ(process.changes, std::vector<std::string>{"listens"});
  link = {};
  EXPECT_EQ(meet(process).version, protocol_version);  // the next one may be new
}

// Who refuses every version refuses the program: that is told.
TEST_F(OddServiceTest, service_that_refuses_all_versions_is_told) {
  Process process(options());
  for (std::uint16_t version = protocol_version; version >= oldest_version; --version) {
    EXPECT_EQ(meet(process).version, version);
    send_record(link, text_record(RecordKind::refusal, "no version"));
  }
  ASSERT_TRUE(process.run_until([&] { return !process.changes.empty(); }));
  EXPECT_EQ(process.changes, std::vector<std::string>{"no version"});
}

// Another refusal says nothing of the version.
TEST_F(OddServiceTest, service_that_refuses_for_another_reason_is_told) {
  Process process(options());
  meet(process);
  send_record(link, text_record(RecordKind::refusal, "it does not read"));
  ASSERT_TRUE(process.run_until([&] { return !process.changes.empty(); }));
  EXPECT_EQ(process.changes, std::vector<std::string>{"it does not read"});
}

/// A link of a command, and its first record.
Descriptor met(const Descriptor& door, Record& hello) {
  Descriptor link;
  while (!link) link = Descriptor(::accept4(door.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  Descriptor none;
  while (!receive_record(link, hello, none)) std::this_thread::yield();
  return link;
}

// It closes behind its refusal with the request unread: the command reads why, and asks again as that build does.
TEST_F(OddServiceTest, service_of_an_earlier_build_tells_its_status) {
  std::thread service([this] {
    Record record;
    for (std::uint16_t version = protocol_version; version > oldest_version; --version) {
      const Descriptor refused = met(door, record);
      send_record(refused, text_record(RecordKind::refusal, "speaks version 2"));
    }
    const Descriptor asked = met(door, record);
    EXPECT_EQ(Hello::parse(wire::Bytes(record).subspan(1)).value_or(Hello{}).version, oldest_version);
    send_record(asked, text_record(RecordKind::reply, "{}"));
    send_record(asked, text_record(RecordKind::done, ""));
    Descriptor none;
    while (!receive_record(asked, record, none)) std::this_thread::yield();  // the request
  });
  std::string error;
  const auto directory = runtime::drivers::RuntimeDirectory::open({}, error);
  testing::internal::CaptureStdout();
  EXPECT_EQ(vitcp_portd::print_status(*directory, listen, true), vitcp_portd::success);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "[{}]\n");
  service.join();
}

// Who refuses every version goes on: stop says so.
TEST_F(OddServiceTest, service_that_refuses_all_versions_is_not_stopped) {
  std::thread service([this] {
    Record record;
    for (std::uint16_t version = protocol_version; version >= oldest_version; --version)
      send_record(met(door, record), text_record(RecordKind::refusal, "speaks version 9"));
  });
  std::string error;
  const auto directory = runtime::drivers::RuntimeDirectory::open({}, error);
  testing::internal::CaptureStderr();
  EXPECT_EQ(vitcp_portd::stop_services(*directory, listen), vitcp_portd::failure);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("speaks version 9"), std::string::npos);
  service.join();
}

}  // namespace
}  // namespace vitcp::port_service::test
