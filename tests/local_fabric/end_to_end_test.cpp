// Processes on the local fabric: they find and reach each other, and notice each other's end.
#include "tests/local_fabric/raw_node.hpp"
#include "tests/support/meeting.hpp"

namespace support {
namespace {
using fc2::drivers::LinkState;

constexpr std::size_t data = 1u << 20;  // where buffers begin in a node's memory
constexpr auto at_once = 8s;  // on a machine with much to do; below R_A_TOV, with which the protocol notices an end

/// A server in another process: accepts once, receives `messages` of 64 KiB that must hold their number; then waits to
/// be killed if `stay`.
int serve(unsigned number, int messages, bool stay) {
  Machine machine;
  RawNode node(machine, number);
  if (!node.ready()) return 10;
  vi::Vi& vi = node.make_vi();
  std::vector<std::uint64_t> receives;
  for (int i = 0; i < messages; ++i) {
    receives.push_back(node.descriptor(static_cast<std::size_t>(i), data + static_cast<std::size_t>(i) * 65536, 65536));
    vi.post_receive(receives.back(), node.handle());
  }
  if (node.accept(vi, "service") != vi::Return::Success) return 11;
  for (int i = 0; i < messages; ++i) {
    if (!machine.run_until([&] { return node.is_done(receives[static_cast<std::size_t>(i)]); })) return 12;
    const std::uint8_t* at = node.bytes(data + static_cast<std::size_t>(i) * 65536);
    for (std::size_t k = 0; k < 65536; ++k)
      if (at[k] != static_cast<std::uint8_t>(static_cast<std::size_t>(i) + k)) return 13;
  }
  if (stay) machine.run_until([] { return false; });
  machine.run_until([] { return false; }, 200ms);  // the last answers go out
  return 0;
}

class EndToEndTest : public LocalFabricTest {
 public:
  /// Tries until the server waits, as programs do.
  vi::Return connect(RawNode& client, vi::Vi& vi, unsigned server) {
    vi::Return result = vi::Return::NotDone;
    eventually([&] {
      result = client.connect(vi, RawNode::net(RawNode::address_of(server), "service"));
      if (result == vi::Return::NoMatch) client.resolver.invalidate(RawNode::address_of(server));
      return result != vi::Return::NoMatch;
    });
    return result;
  }
};

// Nothing is set up; two processes meet, and what one sends the other receives. The service ends by itself.
TEST_F(EndToEndTest, two_processes_exchange_messages) {
  constexpr int messages = 20;
  Child server([&] { return serve(1, messages, false); });
  Machine machine;
  RawNode client(machine, 2);
  ASSERT_TRUE(client.ready()) << client.trouble();
  vi::Vi& vi = client.make_vi();
  ASSERT_EQ(connect(client, vi, 1), vi::Return::Success);
  for (int i = 0; i < messages; ++i) {
    const std::size_t at = data + static_cast<std::size_t>(i) * 65536;
    for (std::size_t k = 0; k < 65536; ++k)
      client.bytes(at)[k] = static_cast<std::uint8_t>(static_cast<std::size_t>(i) + k);
    const CoreSection section(machine.core);
    vi.post_send(client.descriptor(static_cast<std::size_t>(i), at, 65536), client.handle());
  }
  ASSERT_TRUE(machine.run_until([&] { return client.is_done(RawNode::base + 128 * (messages - 1)); }));
  machine.run_until([&] { return server.has_ended(); });  // the last frames may still wait here for room on the way
  EXPECT_EQ(server.wait(), 0);
}

// VI-ARCH 3.1: a process that is killed: its peer's connection is lost at once, and the peer goes on.
TEST_F(EndToEndTest, connected_peer_killed_is_noticed) {
  Machine machine;
  RawNode client(machine, 2);
  ASSERT_TRUE(client.ready()) << client.trouble();
  for (int round = 1; round <= 3; ++round) {
    Child server([] { return serve(1, 0, true); });
    vi::Vi& vi = client.make_vi();
    ASSERT_EQ(connect(client, vi, 1), vi::Return::Success);
    server.kill(SIGKILL);
    // The fabric tells it.
    EXPECT_TRUE(machine.run_until([&] { return client.connections_lost == round; }, at_once));
    client.resolver.invalidate(RawNode::address_of(1));
  }
}

// The service dies: every link goes down at once, connections are lost; a new service comes by itself and
// connections succeed again.
TEST_F(EndToEndTest, connected_service_killed_is_replaced) {
  Machine machine;
  RawNode a(machine, 1), b(machine, 2);
  ASSERT_TRUE(a.ready() && b.ready());
  vi::Vi& client_vi = a.make_vi();
  vi::Vi& server_vi = b.make_vi();
  Wait waited;
  Done accepted;
  Connect connected;
  const auto set_up = [&](vi::Vi& from, vi::Vi& to) {
    waited = {}, accepted = {}, connected = {};
    {
      const CoreSection section(machine.core);
      b.provider.connect_wait(b.net("service"), runtime::never, waited);
      a.provider.connect_request(from, a.net("client"), b.net("service"), 60 * runtime::second, connected);
    }
    machine.run_until([&] { return waited.result.has_value() || connected.result.has_value(); });
    {
      const CoreSection section(machine.core);
      b.provider.connect_accept(waited.token, to, accepted);
    }
    machine.run_until([&] { return connected.result && accepted.result; });
    return connected.result;
  };
  ASSERT_EQ(set_up(client_vi, server_vi), vi::Return::Success);
  const pid_t first = service();
  ASSERT_GT(first, 0);
  ::kill(first, SIGKILL);
  EXPECT_TRUE(machine.run_until([&] { return a.connections_lost == 1 && b.connections_lost == 1; }, at_once));
  ASSERT_TRUE(a.ready() && b.ready()) << a.trouble();
  EXPECT_NE(service(), first);
  EXPECT_EQ(a.link_states, (std::vector{LinkState::Up, LinkState::Down, LinkState::Up}));
  EXPECT_EQ(set_up(a.make_vi(), b.make_vi()), vi::Return::Success);
}

// vipl-in-the-wild, ruling 3: an address of the local fabric where nobody listens yet is answered at once, over and
// over, and the listener is found as soon as it is there.
TEST_F(EndToEndTest, connect_to_nobody_is_no_match) {
  Machine machine;
  RawNode client(machine, 2);
  ASSERT_TRUE(client.ready()) << client.trouble();
  vi::Vi& vi = client.make_vi();
  const auto begin = std::chrono::steady_clock::now();
  constexpr int rounds = 500;
  for (int i = 0; i < rounds; ++i) {
    ASSERT_EQ(client.connect(vi, RawNode::net(RawNode::address_of(1), "service")), vi::Return::NoMatch) << i;
    client.resolver.invalidate(RawNode::address_of(1));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, rounds * 500ms);  // no time-out of 10 s was waited for
  EXPECT_EQ(vi.state(), vi::State::Idle);
  machine.run_until([] { return false; }, 100ms);
  EXPECT_LT(client.provider.handles_in_use(), 10U);
  EXPECT_LT(client.port.open_exchanges(), 10U);
  Child server([] { return serve(1, 0, false); });
  EXPECT_EQ(connect(client, vi, 1), vi::Return::Success);
}

// An address that is neither the local fabric's own nor was ever registered is not reachable.
TEST_F(EndToEndTest, connect_to_unknown_address_is_not_reachable) {
  Machine machine;
  RawNode client(machine, 2);
  ASSERT_TRUE(client.ready()) << client.trouble();
  vi::Vi& vi = client.make_vi(vi::ReliabilityLevel::UnreliableDelivery);
  EXPECT_EQ(client.connect(vi, RawNode::net(wire::IpAddress::v4(192, 0, 2, 1), "service")), vi::Return::NotReachable);
}

// A process that is stopped takes no frames: others still reach each other, and nothing grows for ever. When it goes
// on, it is reached again.
TEST_F(EndToEndTest, stopped_receiver_does_not_stop_the_fabric) {
  Child server([] { return serve(1, 4, true); });
  Machine machine;
  machine.doorbell.reset();  // its frames go by the service
  RawNode client(machine, 2), third(machine, 3);
  ASSERT_TRUE(client.ready() && third.ready());
  vi::Vi& vi = client.make_vi(vi::ReliabilityLevel::UnreliableDelivery);
  vi::Vi& reliable = client.make_vi();
  ASSERT_EQ(connect(client, reliable, 1), vi::Return::Success);
  server.kill(SIGSTOP);
  // More than all buffers on the way hold: 16 MiB.
  for (int i = 0; i < 256; ++i) {
    const CoreSection section(machine.core);
    reliable.post_send(client.descriptor(static_cast<std::size_t>(i), data, 65536), client.handle());
  }
  Wait waited;
  Done accepted;
  vi::Vi& third_vi = third.make_vi(vi::ReliabilityLevel::UnreliableDelivery);
  const CoreSection* section = new CoreSection(machine.core);
  third.provider.connect_wait(third.net("service"), runtime::never, waited);
  Connect connected;
  client.provider.connect_request(vi, client.net("client"), third.net("service"), 60 * runtime::second, connected);
  delete section;
  ASSERT_TRUE(machine.run_until([&] { return waited.result.has_value(); }, 20s));
  {
    const CoreSection inside(machine.core);
    third.provider.connect_accept(waited.token, third_vi, accepted);
  }
  EXPECT_TRUE(machine.run_until([&] { return connected.result && accepted.result; }, 20s));
  EXPECT_EQ(connected.result, vi::Return::Success);
  const auto lost = [&] { return command("status --json") == 0 && output.find("held too long") != std::string::npos; };
  EXPECT_TRUE(eventually(lost)) << output;  // at the end of the hold time
}

// The same with a path between the two: what does not find a slot waits at the sender, and nothing is lost. It lasts
// longer than the service would have kept frames (2 s).
TEST_F(EndToEndTest, stopped_receiver_on_a_path_loses_nothing) {
  constexpr int messages = 24;  // 768 frames, more than a ring has slots
  Child server([&] { return serve(1, messages, false); });
  Machine machine;
  RawNode client(machine, 2);
  ASSERT_TRUE(client.ready()) << client.trouble();
  vi::Vi& vi = client.make_vi();
  ASSERT_EQ(connect(client, vi, 1), vi::Return::Success);
  const auto send = [&](int i) {
    const std::size_t at = data + static_cast<std::size_t>(i) * 65536;
    for (std::size_t k = 0; k < 65536; ++k)
      client.bytes(at)[k] = static_cast<std::uint8_t>(static_cast<std::size_t>(i) + k);
    const CoreSection section(machine.core);
    vi.post_send(client.descriptor(static_cast<std::size_t>(i), at, 65536), client.handle());
  };
  send(0);
  ASSERT_TRUE(machine.run_until([&] { return client.direct_paths() == 1; }));
  server.kill(SIGSTOP);
  for (int i = 1; i < messages; ++i) send(i);
  machine.run_until([] { return false; }, 3s);
  EXPECT_FALSE(client.is_done(RawNode::base + 128 * (messages - 1)));
  server.kill(SIGCONT);
  machine.run_until([&] { return server.has_ended(); });
  EXPECT_EQ(server.wait(), 0);
}

// The same to who sends: what it has for others goes on at once, while it is told to keep back what is for that process
// (until the service's hold time is over, and what waits is lost).
TEST_F(EndToEndTest, stopped_receiver_does_not_stop_its_senders_other_messages) {
  Child server([] { return serve(1, 4, true); });
  Machine machine;
  RawNode client(machine, 2), third(machine, 3);
  ASSERT_TRUE(client.ready() && third.ready());
  vi::Vi &slow = client.make_vi(), &fast = client.make_vi(), &third_vi = third.make_vi();
  ASSERT_EQ(connect(client, slow, 1), vi::Return::Success);
  ASSERT_TRUE(meet(machine, client, fast, third, third_vi));
  const auto keeps_back = [&] {
    const auto ids = client.port.logged_in_ports();
    return std::any_of(ids.begin(), ids.end(),
                       [&](const auto id) { return client.port.find_remote_port(id)->output_paused(); });
  };
  server.kill(SIGSTOP);
  {  // more than all buffers on the way hold: 16 MiB
    const CoreSection section(machine.core);
    for (std::size_t i = 0; i < 256; ++i) slow.post_send(client.descriptor(i, data, 65536), client.handle());
  }
  ASSERT_TRUE(machine.run_until(keeps_back));
  std::uint64_t received = 0, sent = 0;
  {
    const CoreSection section(machine.core);
    third_vi.post_receive(received = third.descriptor(0, data, 65536), third.handle());
    fast.post_send(sent = client.descriptor(300, data, 65536), client.handle());
  }
  ASSERT_TRUE(machine.run_until([&] { return third.is_done(received) && client.is_done(sent); }));
  EXPECT_EQ(client.status(sent) & vi::status::error_mask, 0U);
  if (!keeps_back()) GTEST_SKIP() << "the hold time was over before: this machine has much to do";
  server.kill(SIGCONT);
  EXPECT_TRUE(machine.run_until([&] { return !keeps_back(); }));
}

}  // namespace
}  // namespace support
