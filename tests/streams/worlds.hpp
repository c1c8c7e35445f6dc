// The same tests over emulated hosts and over sockets on the loopback interface.
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "runtime/drivers/real_time_core.hpp"
#include "streams/drivers/socket_streams.hpp"
#include "streams/emulated.hpp"

namespace streams::test {

inline const wire::IpAddress client_ip = wire::IpAddress::v4(10, 0, 0, 1), server_ip = wire::IpAddress::v4(10, 0, 0, 2);
inline wire::IpAddress ip(std::string_view text) { return *wire::IpAddress::from_string(text); }

class EmulatedWorld {
 public:
  static constexpr bool is_real = false;
  runtime::Scheduler scheduler;
  EmulatedNetwork network{scheduler};
  Streams& client = network.add_host({client_ip, ip("fd00::1")});
  Streams& server = network.add_host({server_ip, ip("fd00::2")});
  const wire::IpAddress listen_ip = server_ip, foreign_ip = ip("10.0.0.99");

  /// Every call is made inside the core.
  void inside(const std::function<void()>& calls) { calls(); }
  bool run_until(const std::function<bool()>& done) {
    const runtime::TimeNs limit = scheduler.now() + 100 * runtime::second;
    while (!done())
      if (!scheduler.run_next(limit)) return false;
    return true;
  }
  void settle() { scheduler.run_until(scheduler.now() + runtime::second); }
};

template <bool ipv6>
class SocketWorld {
 public:
  static constexpr bool is_real = true;
  boost::asio::io_context io;
  runtime::drivers::RealTimeCore core{io};
  drivers::SocketStreams streams{io, core, core.scheduler()};
  Streams& client = streams;
  Streams& server = streams;
  const wire::IpAddress listen_ip = ip(ipv6 ? "::1" : "127.0.0.1"), foreign_ip = ip("192.0.2.1");

  void inside(const std::function<void()>& calls) {
    const runtime::CoreSection section(core);
    calls();
  }
  bool run_until(const std::function<bool()>& done) {
    using namespace std::chrono_literals;
    const auto limit = std::chrono::steady_clock::now() + 60s;  // only a hang takes so long
    while (!done()) {
      if (std::chrono::steady_clock::now() > limit) return false;
      io.restart();
      io.run_one_for(100ms);
    }
    return true;
  }
  /// What is on its way arrives: loopback delivers within the system call that sends.
  void settle() {
    io.restart();
    while (io.run_one_for(std::chrono::milliseconds(5)) > 0) {}
  }
};

/// Notes what it hears, and does what a test says then.
class Hearer final : public StreamUser {
 public:
  std::unique_ptr<Stream> stream;
  int connects = 0, reads = 0, writes = 0;
  std::vector<Reason> ends;
  std::function<void()> on_connected, on_readable, on_writable, on_closed;

  void connected() override { ++connects, call(on_connected); }
  void readable() override { ++reads, call(on_readable); }
  void writable() override { ++writes, call(on_writable); }
  void closed(Reason reason) override { ends.push_back(reason), call(on_closed); }
  [[nodiscard]] int notices() const { return connects + reads + writes + static_cast<int>(ends.size()); }

 private:
  static void call(const std::function<void()>& function) {
    if (function) function();
  }
};

class Door final : public ListenerUser {
 public:
  std::vector<std::unique_ptr<Stream>> streams;
  std::function<void()> on_accepted;
  void accepted(std::unique_ptr<Stream> stream) override {
    streams.push_back(std::move(stream));
    if (on_accepted) on_accepted();
  }
};

inline std::vector<std::uint8_t> pattern(std::size_t count, unsigned seed = 1) {
  std::vector<std::uint8_t> octets(count);
  std::uint32_t state = seed * 2'654'435'761U;
  for (auto& octet : octets) octet = static_cast<std::uint8_t>((state = state * 1'664'525U + 1'013'904'223U) >> 24);
  return octets;
}

/// A stream between two hearers.
template <class World>
class Meeting {
 public:
  World world;
  Door door;
  Hearer client, server;
  std::unique_ptr<Listener> listener;

  void listen() {
    world.inside([&] { listener = std::move(*world.server.listen({world.listen_ip, 0}, door)); });
  }
  void connect() {
    world.inside([&] { client.stream = world.client.connect(listener->address(), {}, client); });
    ASSERT_TRUE(world.run_until([&] { return client.connects == 1 && door.streams.size() == 1; }));
    server.stream = std::move(door.streams.front());
    door.streams.clear();
    world.inside([&] { server.stream->set_user(server); });
  }
  void meet() { listen(), connect(); }
  /// Reads what comes until `count` octets are there, or the end.
  std::vector<std::uint8_t> read(Hearer& reader, std::size_t count) {
    std::vector<std::uint8_t> octets(count);
    std::size_t filled = 0;
    bool end = false;
    reader.on_readable = [&] {
      const ReadResult result = reader.stream->read(wire::MutableBytes(octets).subspan(filled));
      filled += result.octets;
      end = result.end;
      if (filled < count && !end) reader.stream->ask_readable();
    };
    world.inside([&] { reader.stream->ask_readable(); });
    EXPECT_TRUE(world.run_until([&] { return filled == count || end || !reader.ends.empty(); })) << filled;
    reader.on_readable = nullptr;
    octets.resize(filled);
    return octets;
  }
  [[nodiscard]] bool reads_end(Hearer& reader) {
    bool end = false;
    std::array<std::uint8_t, 16> room;
    reader.on_readable = [&] {
      const ReadResult result = reader.stream->read(room);
      EXPECT_EQ(result.octets, 0U);
      end = result.end;
      if (!end) reader.stream->ask_readable();
    };
    world.inside([&] { reader.stream->ask_readable(); });
    const bool done = world.run_until([&] { return end || !reader.ends.empty(); });
    reader.on_readable = nullptr;
    return done && end;
  }
};

}  // namespace streams::test
