// A full table of ports: who makes room for whom (remote_ports.hpp; FC-LS: a login may end implicitly).
#include "fc2_fabric/node/remote_ports.hpp"

#include <gtest/gtest.h>

#include "tests/support/lone_port.hpp"

namespace fc2 {
namespace {
using wire::els::Command;
constexpr wire::FcId a{0x0E02}, b{0x0E03}, c{0x0E04};

class RemotePortsTest : public support::LonePort {
 protected:
  explicit RemotePortsTest(std::size_t most = 2)
      : LonePort([=](NPortConfig& config) { config.max_remote_ports = most; }) {
    port.add_listener(listener);
  }
  /// PLOGI from there, and what comes of it.
  void log_in(wire::FcId from) {
    plogi(from);
    run_for(millisecond);
  }
  [[nodiscard]] bool known(wire::FcId id) { return port.find_remote_port(id) != nullptr; }
  [[nodiscard]] std::uint64_t evicted() const { return port.counters().ports_evicted; }
  support::LoginListener listener;
};

// As many as the table holds: nothing has to be done for them. One more of our own: the oldest makes room, afterwards.
TEST_F(RemotePortsTest, full_own_one_more_makes_room) {
  const std::size_t before = scheduler.pending_count();
  port.remote_port(a), port.remote_port(b);
  EXPECT_EQ(scheduler.pending_count(), before);
  port.remote_port(c);
  EXPECT_EQ(port.known_ports(), 3U);
  run_for(0);
  EXPECT_EQ(port.known_ports(), 2U);
  EXPECT_FALSE(known(a));
}

// ... first who has no login, though that one is newer.
TEST_F(RemotePortsTest, full_own_one_more_spares_logins) {
  log_in(a);
  port.remote_port(b);
  port.remote_port(c).log_in();
  run_for(millisecond);
  EXPECT_TRUE(logged_in(a));
  EXPECT_FALSE(known(b));
  EXPECT_TRUE(known(c));
}

// PLOGI of one that is known needs no room.
TEST_F(RemotePortsTest, full_known_one_logs_in_again) {
  log_in(a), log_in(b);
  log_in(b), log_in(a);
  EXPECT_EQ(evicted(), 0U);
  EXPECT_TRUE(logged_in(a) && logged_in(b));
}

// PLOGI of another: the oldest login ends for it, and whoever counted on that hears so.
TEST_F(RemotePortsTest, full_plogi_ends_the_oldest_login) {
  log_in(a), log_in(b), log_in(c);
  EXPECT_EQ(listener.events, "IIOI") << "in, in, out, in";
  EXPECT_FALSE(known(a));
  EXPECT_TRUE(logged_in(b) && logged_in(c));
  EXPECT_EQ(evicted(), 1U);
}

// FC-FS: a stranger is told by LOGO that it has no login. One without a login makes room for it; no login ends
// for its sake.
TEST_F(RemotePortsTest, full_stranger_is_denied_without_ending_logins) {
  log_in(a);
  port.remote_port(b);
  port.deny(c);
  run_for(millisecond);
  EXPECT_EQ(answered(Command::logo, c), 1U);
  EXPECT_EQ(evicted(), 1U);
  EXPECT_FALSE(known(b));
  run_for(100 * second);  // the LOGO is over: c is not in use
  log_in(b);
  port.deny(c);
  run_for(millisecond);
  EXPECT_EQ(answered(Command::logo, c), 1U);
  EXPECT_TRUE(logged_in(a) && logged_in(b));
  EXPECT_EQ(refused(), 1U);
}

// ... where a login ended, that port has none: it makes room like the others.
TEST_F(RemotePortsTest, full_stranger_takes_the_place_of_a_login_that_ended) {
  log_in(a), log_in(b);
  logo(a);
  run_for(millisecond);
  port.deny(c);
  run_for(millisecond);
  EXPECT_EQ(answered(Command::logo, c), 1U);
  EXPECT_FALSE(known(a));
  EXPECT_TRUE(logged_in(b));
}

// The only login is in use, and nobody is without one: LS_RJT.
struct OneRemotePort : RemotePortsTest {
  OneRemotePort() : RemotePortsTest(1) {}
};
TEST_F(OneRemotePort, full_login_in_use_one_more_is_rejected) {
  log_in(a);
  const PortUse use(port.remote_port(a));
  log_in(b);
  EXPECT_EQ(answered(Command::ls_rjt, b), 1U);
  EXPECT_EQ(port.known_ports(), 1U);
  EXPECT_EQ(refused(), 1U);
}

// So that no PLOGI is dear 16 ports are looked at for each; who is in use then goes to the end, and the next PLOGI
// looks at others.
template <std::size_t in_use>
struct ManyInUse : RemotePortsTest {
  ManyInUse() : RemotePortsTest(in_use + 1) {
    for (std::uint32_t i = 0; i < in_use; ++i) uses.emplace_back(port.remote_port({0x2000 + i}));
    port.remote_port(a);  // nobody uses it
  }
  std::vector<PortUse> uses;
};
using FifteenInUse = ManyInUse<15>;
using SixteenInUse = ManyInUse<16>;

TEST_F(FifteenInUse, full_sixteenth_is_found) {
  log_in(b);
  EXPECT_TRUE(logged_in(b));
  EXPECT_FALSE(known(a));
}

TEST_F(SixteenInUse, full_seventeenth_is_found_the_next_time) {
  log_in(b);
  EXPECT_EQ(answered(Command::ls_rjt, b), 1U);
  EXPECT_TRUE(known(a));
  log_in(b);
  EXPECT_TRUE(logged_in(b));
  EXPECT_FALSE(known(a));
}

}  // namespace
}  // namespace fc2
