// vipl/devices/shared_port.hpp: the service is told what the NIC waits for and no stream is on its way to.
#include "vipl/devices/shared_port.hpp"

#include "tests/port_service/fixture.hpp"
#include "tests/vipl/still_runtime.hpp"
#include "vipl/engine/futex.hpp"

namespace vitcp::port_service::test {
namespace {

/// With sockets, served by whoever waits here.
struct SocketRuntime final : support::StillRuntime {
  [[nodiscard]] vipl::TimeNs now() const override { return vipl::monotonic_now(); }
  boost::asio::io_context* io() override { return &context; }
  boost::asio::io_context context;
};

struct User final : vipl::TcpPortUser {
  void stream_came(std::unique_ptr<streams::Stream> stream) override { came.push_back(std::move(stream)); }
  void stream_accepted(std::unique_ptr<streams::Stream>) override { ADD_FAILURE() << "the service looks at all"; }
  void port_changed() override { ++changes; }
  std::vector<std::unique_ptr<streams::Stream>> came;
  int changes = 0;
};

class SharedPortTest : public PortServiceTest {
 protected:
  SharedPortTest() {
    const runtime::CoreSection section(engine);
    tcp.emplace(engine);
    port.emplace(*tcp, std::vector{listen}, options(), user);
  }
  ~SharedPortTest() override {
    {
      const runtime::CoreSection section(engine);
      user.came.clear();
      port.reset();
    }
    runtime.context.restart();
    runtime.context.poll();
    const runtime::CoreSection section(engine);
    tcp.reset();
  }
  bool run_until(const std::function<bool()>& done) {
    const auto limit = std::chrono::steady_clock::now() + support::generous;
    while (!done()) {
      if (std::chrono::steady_clock::now() > limit) return false;
      runtime.context.restart();
      runtime.context.run_one_for(10ms);
      const runtime::CoreSection section(engine);  // timers
    }
    return true;
  }
  void want(std::size_t count) {
    const runtime::CoreSection section(engine);
    port->waiting_changed(Wanted{named("a")}, count);
  }
  bool waits(std::size_t count) {
    return run_until([&] { return waiters() == count; });
  }
  void call() {
    callers.emplace_back(listen).request("a");
    ASSERT_TRUE(run_until([&, before = user.came.size()] { return user.came.size() != before; }));
  }

  SocketRuntime runtime;
  vipl::Engine engine{runtime};
  User user;
  std::optional<vipl::TcpShared> tcp;
  std::optional<vipl::SharedPort> port;
  std::deque<Caller> callers;
};

TEST_F(SharedPortTest, service_has_as_many_waits_as_the_nic) {
  ASSERT_TRUE(run_until([&] { return port->listens(); })) << port->trouble();
  EXPECT_GE(user.changes, 1);
  for (const std::size_t count : {3u, 1u, 2u, 0u}) {
    want(count);
    EXPECT_TRUE(waits(count)) << output;
  }
}

// The NIC has decided on it: the wait has gone with the stream.
TEST_F(SharedPortTest, stream_that_is_decided_takes_its_wait_along) {
  want(2);
  ASSERT_TRUE(waits(2));
  const auto before = std::chrono::steady_clock::now();
  call();
  if (std::chrono::steady_clock::now() - before < 90ms) {  // or another may have been asked for
    EXPECT_TRUE(waits(1));                                 // a little later
  }
  want(1);
  EXPECT_TRUE(waits(1));
}

// It does not know of it after 100 ms: it was lost, or another took it, and another one is asked for.
TEST_F(SharedPortTest, stream_that_is_not_decided_is_replaced) {
  want(1);
  ASSERT_TRUE(waits(1));
  call();
  const auto later = std::chrono::steady_clock::now() + 150ms;
  run_until([&] { return std::chrono::steady_clock::now() > later; });
  EXPECT_TRUE(waits(1));
  call();
  EXPECT_EQ(user.came.size(), 2u);
}

}  // namespace
}  // namespace vitcp::port_service::test
