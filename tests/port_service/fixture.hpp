// A runtime directory and an address of a test's own, processes that share the port there, and callers.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <boost/json.hpp>
#include <deque>
#include <map>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/drivers/real_time_core.hpp"
#include "streams/drivers/listening_socket.hpp"
#include "tests/support/processes.hpp"
#include "tests/vitcp/port_service/requests.hpp"
#include "vitcp/drivers/place.hpp"
#include "vitcp/drivers/port_client.hpp"
#include "vitcp/port_service/records.hpp"

namespace vitcp::port_service::test {
using namespace testing;
using namespace std::chrono_literals;
using vitcp::drivers::PortClient;
using vitcp::drivers::PortClientOptions;
using runtime::drivers::Descriptor;
using support::eventually;
using wire::vitcp::SegmentType;

/// A process's part: a client of the port, run by whoever waits here.
class Process final : public vitcp::drivers::PortUser {
 public:
  struct Got {
    WaitId id;
    std::unique_ptr<streams::Stream> stream;
  };
  explicit Process(PortClientOptions options) {
    const runtime::CoreSection section(core);
    client = std::make_unique<PortClient>(io, core, streams, std::move(options), *this);
  }
  ~Process() {
    {
      const runtime::CoreSection section(core);
      got.clear();
      client.reset();
    }
    io.restart();
    io.poll();
  }

  void handed_over(WaitId id, std::unique_ptr<streams::Stream> stream) override {
    got.push_back({id, std::move(stream)});
  }
  void port_changed(bool listens, const std::string& trouble) override {
    changes.push_back(listens ? "listens" : trouble);
  }

  WaitId wait(const std::string& discriminator) { return wait(Wanted{named(discriminator)}); }
  WaitId wait(const Wanted& wanted) {
    const runtime::CoreSection section(core);
    return client->wait(wanted);
  }
  void cancel(WaitId id) {
    const runtime::CoreSection section(core);
    client->cancel(id);
  }
  bool run_until(const std::function<bool()>& done) {
    const auto limit = std::chrono::steady_clock::now() + support::generous;
    while (!done()) {
      if (std::chrono::steady_clock::now() > limit) return false;
      io.restart();
      io.run_one_for(10ms);
    }
    return true;
  }
  bool joined() {
    return run_until([&] { return client->listens(); });
  }
  /// What is there to read of a stream, once there are so many octets.
  std::vector<std::uint8_t> read(streams::Stream& stream, std::size_t count) {
    std::vector<std::uint8_t> octets(count);
    std::size_t have = 0;
    run_until([&] { return (have += stream.read(wire::MutableBytes(octets).subspan(have)).octets) >= count; });
    octets.resize(have);
    return octets;
  }

  boost::asio::io_context io;
  runtime::drivers::RealTimeCore core{io};
  streams::drivers::SocketStreams streams{io, core, core.scheduler()};
  std::unique_ptr<PortClient> client;
  std::vector<Got> got;
  std::vector<std::string> changes;
};

/// A plain socket as the other end.
class Caller {
 public:
  explicit Caller(const streams::Address& to, const streams::Address& from = {}) {
    const auto endpoint = streams::drivers::endpoint_of(to);
    socket_ = Descriptor(::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (from != streams::Address{}) {
      const auto own = streams::drivers::endpoint_of(from);
      ::bind(socket_.number(), own.data(), static_cast<socklen_t>(own.size()));
    }
    connected = ::connect(socket_.number(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0;
  }
  void send(wire::Bytes octets) { ::send(socket_.number(), octets.data(), octets.size(), MSG_NOSIGNAL); }
  void request(std::string_view called) { send(octets_for(called)); }
  /// So many octets, fewer where the stream ended before.
  std::string read(std::size_t count) {
    std::string text;
    char octet = 0;
    while (text.size() < count) {
      pollfd wanted{socket_.number(), POLLIN, 0};
      if (::poll(&wanted, 1, static_cast<int>(std::chrono::milliseconds(support::generous).count())) <= 0)
        return "nothing";
      const ssize_t got = ::recv(socket_.number(), &octet, 1, 0);
      if (got < 0) return text + "reset";
      if (got == 0) break;
      text += octet;
    }
    return text;
  }
  /// "ConnectNoMatch, end": a segment's type, and how the stream ended after it.
  std::string answer() {
    const std::string text = read(25);
    if (text.size() < 24) return text.empty() ? "end" : text;
    const std::vector<std::uint8_t> octets(text.begin(), text.begin() + 24);
    const auto header = wire::vitcp::SegmentHeader::parse(octets);
    return (header ? std::string(to_string(header->type)) : "no segment") + ", " +
           (text.size() == 24 ? "end" : text.substr(24));
  }
  /// By now; what was said before is lost.
  bool has_ended() {
    std::array<char, 256> octets;
    const ssize_t got = ::recv(socket_.number(), octets.data(), octets.size(), MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
  }
  void close() { socket_ = {}; }
  void shut_down() { ::shutdown(socket_.number(), SHUT_WR); }
  bool connected = false;

 private:
  Descriptor socket_;
};

class PortServiceTest : public Test {
 public:
  PortServiceTest() {
    std::string name = (std::filesystem::temp_directory_path() / "fcvi-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    ::setenv("FCVI_RUNTIME_DIR", name.c_str(), 1);
    ::setenv("FCVI_VITCP_PORTD", VITCP_PORTD_PROGRAM, 1);
  }
  ~PortServiceTest() override {
    command("stop");
    std::filesystem::remove_all(folder);
  }

  static std::size_t open_files(const std::string& process = "self") {
    const std::filesystem::directory_iterator all("/proc/" + process + "/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  /// Of all addresses of the host's own network one that no other test has.
  static streams::Address own_address(std::uint16_t port = 8474) {
    const auto pid = static_cast<unsigned>(::getpid());
    return {wire::IpAddress::v4(127, static_cast<std::uint8_t>(64 + (pid >> 16) % 64),
                                static_cast<std::uint8_t>(pid >> 8), static_cast<std::uint8_t>(pid)),
            port};
  }
  [[nodiscard]] PortClientOptions options() const { return {.listen = listen, .service_idle_seconds = 60}; }

  int command(const std::string& arguments) {
    const std::string file = folder + "/output";
    const int status =
        std::system((std::string(VITCP_PORTD_PROGRAM) + " " + arguments + " > " + file + " 2>&1").c_str());
    output.assign(std::filesystem::exists(file) ? std::filesystem::file_size(file) : 0, '\0');
    if (std::FILE* opened = std::fopen(file.c_str(), "rb")) {
      output.resize(std::fread(output.data(), 1, output.size(), opened));
      std::fclose(opened);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  /// Of the service at `listen`; null: none runs.
  boost::json::value status() {
    if (command("status --json --listen " + to_string(listen)) != 0) return nullptr;
    return boost::json::parse(output).at(0);
  }
  std::uint64_t counter(std::string_view name) { return status().at("counters").at(name).to_number<std::uint64_t>(); }
  std::size_t waiters() {
    const auto now = status();
    return now.is_null() ? 0 : now.at("waiters").as_array().size();
  }
  pid_t service() {
    const auto now = status();
    return now.is_null() ? 0 : static_cast<pid_t>(now.at("process_id").to_number<std::int64_t>());
  }
  void kill_service(int signal) {
    const pid_t pid = service();
    ASSERT_GT(pid, 0) << output;  // 0 would be everybody who runs this test
    ::kill(pid, signal);
  }

  streams::Address listen = own_address();
  std::string folder, output;
};

/// A program in a process of its own: whoever calls a discriminator of it is told its name, then gets back what it
/// sends. It waits again each time.
class Server {
 public:
  Server(const PortClientOptions& options, std::string name, std::vector<std::string> discriminators)
      : child_([=] { return serve(options, name, discriminators); }) {}
  support::Child& process() { return child_; }

 private:
  static int serve(const PortClientOptions& options, const std::string& name,
                   const std::vector<std::string>& discriminators) {
    Process process(options);
    std::map<WaitId, std::string> waits;
    for (const std::string& one : discriminators) waits[process.wait(one)] = one;
    std::size_t answered = 0;
    for (;;) {
      process.io.restart();
      process.io.run_one_for(2ms);
      const runtime::CoreSection section(process.core);
      for (; answered < process.got.size(); ++answered) {
        Process::Got& got = process.got[answered];
        const std::string called = waits[got.id];
        waits[process.client->wait(Wanted{named(called)})] = called;
        std::vector<std::uint8_t> request(octets_for(called).size());
        if (got.stream->read(request).octets != request.size() || request != octets_for(called)) return 1;
        got.stream->write(wire::Bytes(reinterpret_cast<const std::uint8_t*>(name.data()), name.size()));
      }
      for (Process::Got& got : process.got) {
        std::array<std::uint8_t, 256> octets;
        const auto read = got.stream->read(octets);
        if (read.octets > 0) got.stream->write(wire::Bytes(octets).first(read.octets));
      }
    }
  }
  support::Child child_;
};

}  // namespace vitcp::port_service::test
