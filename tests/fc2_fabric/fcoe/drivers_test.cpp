// The Ethernet drivers in real time: UDP on the loopback, packet sockets on veth pairs of network namespaces.
#include <gtest/gtest.h>

#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "fc2_fabric/drivers/packet_socket.hpp"
#include "fc2_fabric/drivers/fabric_core.hpp"
#include "fc2_fabric/drivers/udp_ethernet.hpp"
#include "tests/fc2_fabric/fcoe/fcvi_over_ethernet.hpp"
#include "tests/support/veth_pair.hpp"

namespace fc2::drivers {
namespace {
using fcoe::EthernetFrame;
using std::chrono::steady_clock;
using support::VethPair;
using namespace std::chrono_literals;
constexpr auto generous = 60s;  // ends a test that hangs; nothing is measured

struct Sink final : fcoe::EthernetReceiver {
  void ethernet_received(EthernetFrame frame) override {
    frames.push_back(frame.to_bytes());
    vlans.push_back(frame.vlan);
  }
  void ethernet_link_changed(bool up) override { changes.push_back(up); }
  void ethernet_resumed() override { ++resumed; }
  std::vector<std::vector<std::uint8_t>> frames;
  std::vector<std::uint16_t> vlans;  // of those
  std::vector<bool> changes;
  int resumed = 0;
};

constexpr wire::MacAddress mac_a = VethPair::mac_a, mac_b = VethPair::mac_b;

std::vector<std::uint8_t> fip_bytes(const wire::MacAddress& to, const wire::MacAddress& from, std::size_t size,
                                    std::uint8_t mark = 0) {
  std::vector<std::uint8_t> bytes(size, mark);
  wire::EthernetHeader{to, from, wire::EtherType::fip}.write(bytes);
  return bytes;
}

class DriversTest : public testing::Test {
 protected:
  bool run_until(const std::function<bool()>& done) {
    const auto end = steady_clock::now() + generous;
    while (!done() && steady_clock::now() < end) io.run_one_for(10ms);
    return done();
  }
  void send(fcoe::EthernetPort& port, const std::vector<std::uint8_t>& bytes, std::uint16_t vlan = 0) {
    const runtime::CoreSection section(core);
    EthernetFrame frame = EthernetFrame::of(core.pool(), bytes);
    frame.vlan = vlan;
    port.send(std::move(frame));
  }
  // Of every size, with and without a tag in turn: the bytes are the same at the other end, and the VLAN.
  void pass_tags(fcoe::EthernetPort& from, Sink& sink) {
    std::vector<std::vector<std::uint8_t>> sent;
    std::vector<std::uint16_t> vlans;
    for (std::size_t size = EthernetFrame::max_bytes; size >= 60; size -= 16) {
      std::vector<std::uint8_t> bytes = fip_bytes(mac_b, mac_a, size);
      for (std::size_t i = wire::EthernetHeader::size(); i < size; ++i)
        bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
      sent.push_back(std::move(bytes));
      vlans.push_back(size % 32 == 0 ? std::uint16_t{0} : static_cast<std::uint16_t>(size));
      send(from, sent.back(), vlans.back());
    }
    ASSERT_TRUE(run_until([&] { return sink.frames.size() == sent.size(); }));
    EXPECT_EQ(sink.frames, sent);
    EXPECT_EQ(sink.vlans, vlans);
  }
  // A tag within a tag: the frame is of the outer VLAN, and no FIP.
  void pass_two_tags(fcoe::EthernetPort& from, Sink& sink) {
    std::vector<std::uint8_t> twice = fip_bytes(mac_b, mac_a, 60);
    const std::array<std::uint8_t, 4> inner{0x81, 0x00, 0x00, 100};
    twice.insert(twice.begin() + 12, inner.begin(), inner.end());
    sink.frames.clear(), sink.vlans.clear();
    send(from, twice, 200);
    ASSERT_TRUE(run_until([&] { return !sink.frames.empty(); }));
    ASSERT_EQ(sink.frames.size(), 1U);
    EXPECT_EQ(sink.frames[0], twice);
    EXPECT_EQ(sink.vlans, (std::vector<std::uint16_t>{200}));
  }
  // Its kernel buffer is small, and it is not read while most of them are sent: what does not fit is counted.
  void overflow(fcoe::EthernetPort& from, fcoe::EthernetPort& to) {
    constexpr std::uint64_t count = 200;
    for (std::uint64_t i = 0; i < count; ++i) send(from, fip_bytes(mac_b, mac_a, EthernetFrame::max_bytes));
    ASSERT_TRUE(run_until([&] { return from.counters().frames_sent == count; }));
    ASSERT_TRUE(run_until([&] { return sink_b.frames.size() + to.kernel_drops() == count; }));
    EXPECT_GT(to.kernel_drops(), 0U);
    EXPECT_GT(sink_b.frames.size(), 0U);
  }

  boost::asio::io_context io{1};
  FabricCore core{io};
  CoreAccess access{io, core, core.scheduler(), core.pool()};
  Sink sink_a, sink_b;
};

// --- UDP ---------------------------------------------------------------------------------------------------------

class UdpTest : public DriversTest {
 protected:
  UdpTest() {
    const runtime::CoreSection section(core);
    a = UdpEthernet::open(access, {.name = "a", .mac = mac_a}).port;
    b = UdpEthernet::open(access, {.name = "b", .mac = mac_b, .remote_port = a->local_port()}).port;
    a->set_remote_port(b->local_port());
    a->attach(&sink_a);
    b->attach(&sink_b);
  }
  ~UdpTest() override {
    const runtime::CoreSection section(core);
    a.reset();
    b.reset();
  }
  std::unique_ptr<UdpEthernet> a, b;
};

// One frame a datagram, of any size, in order.
TEST_F(UdpTest, frames_of_every_size_arrive_in_order) {
  std::vector<std::vector<std::uint8_t>> sent;
  for (std::size_t size = 14; size <= EthernetFrame::max_bytes; size += 83)
    sent.push_back(fip_bytes(mac_b, mac_a, size, static_cast<std::uint8_t>(size)));
  sent.push_back(fip_bytes(mac_b, mac_a, EthernetFrame::max_bytes, 7));
  for (const auto& bytes : sent) send(*a, bytes);
  ASSERT_TRUE(run_until([&] { return sink_b.frames.size() == sent.size(); }));
  EXPECT_EQ(sink_b.frames, sent);
  EXPECT_EQ(a->counters().frames_sent, sent.size());
  EXPECT_EQ(b->counters().frames_received, sent.size());
}

// 802.1Q: a datagram holds the tag as a cable would.
TEST_F(UdpTest, tags_pass) {
  pass_tags(*a, sink_b);
  pass_two_tags(*a, sink_b);
}

// A frame that is longer than the MTU is counted, and nothing else.
TEST_F(UdpTest, over_long_datagram_is_counted) {
  std::unique_ptr<UdpEthernet> narrow;
  {
    const runtime::CoreSection section(core);
    narrow = UdpEthernet::open(access, {.name = "c", .mtu = 1500, .remote_port = a->local_port()}).port;
    narrow->attach(&sink_b);
    a->set_remote_port(narrow->local_port());
  }
  send(*a, fip_bytes(mac_b, mac_a, 1515));
  send(*a, fip_bytes(mac_b, mac_a, 1514));
  ASSERT_TRUE(run_until([&] { return sink_b.frames.size() == 1; }));
  EXPECT_EQ(sink_b.frames[0].size(), 1514U);
  EXPECT_EQ(narrow->counters().over_long, 1U);
  const runtime::CoreSection section(core);
  narrow.reset();
}

// Nobody listens at the other end: frames are lost, and pass again when somebody does.
TEST_F(UdpTest, absent_peer_is_survived) {
  const std::uint16_t port = b->local_port();
  {
    const runtime::CoreSection section(core);
    b.reset();
  }
  for (int i = 0; i < 10; ++i) {
    send(*a, fip_bytes(mac_b, mac_a, 60));
    io.run_one_for(1ms);
  }
  {
    const runtime::CoreSection section(core);
    b = UdpEthernet::open(access, {.name = "b", .mac = mac_b, .local_port = port, .remote_port = a->local_port()}).port;
    ASSERT_NE(b, nullptr);
    b->attach(&sink_b);
  }
  ASSERT_TRUE(run_until([&] {
    send(*a, fip_bytes(mac_b, mac_a, 60));
    return !sink_b.frames.empty();
  }));
}

TEST_F(UdpTest, what_the_kernel_cannot_keep_is_counted) {
  {
    const runtime::CoreSection section(core);
    b = UdpEthernet::open(access, {.name = "b", .mac = mac_b, .remote_port = a->local_port(), .buffer_bytes = 20'000})
            .port;
    b->attach(&sink_b);
    a->set_remote_port(b->local_port());
  }
  overflow(*a, *b);
}

// What cannot be opened says why.
TEST_F(UdpTest, errors_name_the_place) {
  const auto taken = UdpEthernet::open(access, {.name = "x", .local_port = a->local_port()});
  EXPECT_EQ(taken.port, nullptr);
  EXPECT_NE(taken.error.find("x: UDP 127.0.0.1:" + std::to_string(a->local_port()) + ": bind: "), std::string::npos)
      << taken.error;
  EXPECT_EQ(UdpEthernet::open(access, {.name = "x", .remote_address = "nowhere"}).error,
            "x: nowhere is no IPv4 address");
}

// 802.1Q: the tag in a datagram has FCoE's priority, or the one that was said (ruling 240).
TEST_F(UdpTest, tag_has_the_priority) {
  for (const unsigned priority : {3U, 5U}) {
    const int plain = ::socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in end{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof end;
    ASSERT_EQ(::bind(plain, reinterpret_cast<const sockaddr*>(&end), size), 0);
    ASSERT_EQ(::getsockname(plain, reinterpret_cast<sockaddr*>(&end), &size), 0);
    std::unique_ptr<UdpEthernet> sender;
    {
      const runtime::CoreSection section(core);
      UdpEthernetOptions options{.name = "c", .mac = mac_a, .remote_port = ntohs(end.sin_port)};
      if (priority != 3) options.priority = static_cast<std::uint8_t>(priority);
      sender = UdpEthernet::open(access, options).port;
    }
    send(*sender, fip_bytes(mac_b, mac_a, 60), 0xABC);
    std::array<std::uint8_t, 100> datagram{};
    ssize_t came = -1;
    ASSERT_TRUE(run_until(
        [&] { return came >= 0 || (came = ::recv(plain, datagram.data(), datagram.size(), MSG_DONTWAIT)) >= 0; }));
    EXPECT_EQ(came, 64);
    EXPECT_EQ(wire::load_big<2>(datagram.data() + 12), 0x8100U);
    EXPECT_EQ(wire::load_big<2>(datagram.data() + 14), priority << 13 | 0xABC);
    const runtime::CoreSection section(core);
    sender.reset();
    ::close(plain);
  }
}

// --- packet sockets ----------------------------------------------------------------------------------------------

// Of this process' packet sockets on that interface.
std::vector<int> priorities_known_to_the_kernel(const char* interface) {
  std::vector<int> priorities;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(entry.path().filename());
    sockaddr_ll address{};
    socklen_t size = sizeof address;
    if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0 || address.sll_family != AF_PACKET)
      continue;
    if (address.sll_ifindex != static_cast<int>(::if_nametoindex(interface))) continue;
    int priority = -1;
    size = sizeof priority;
    ::getsockopt(descriptor, SOL_SOCKET, SO_PRIORITY, &priority, &size);
    priorities.push_back(priority);
  }
  return priorities;
}

class PacketTest : public DriversTest {
 protected:
  void SetUp() override {
    if (!veth.trouble().empty()) GTEST_SKIP() << veth.trouble();
    const runtime::CoreSection section(core);
    auto opened_a = PacketSocket::open(access, {.interface = "va"});
    if (opened_a.port == nullptr) GTEST_SKIP() << opened_a.error;
    a = std::move(opened_a.port);
    b = PacketSocket::open(access, {.interface = "vb"}).port;
    a->attach(&sink_a);
    b->attach(&sink_b);
  }
  void TearDown() override {
    const runtime::CoreSection section(core);
    a.reset();
    b.reset();
  }
  bool both_up() {
    return run_until([&] { return a->up() && b->up(); });
  }
  VethPair veth;
  std::unique_ptr<PacketSocket> a, b;
};

TEST_F(PacketTest, frames_arrive_unchanged) {
  ASSERT_TRUE(both_up());
  EXPECT_EQ(a->interface().mac, mac_a);
  EXPECT_EQ(a->interface().mtu, 2500);
  std::vector<std::vector<std::uint8_t>> sent;
  for (std::size_t size = 60; size <= EthernetFrame::max_bytes; size += 64)
    sent.push_back(fip_bytes(mac_b, mac_a, size, static_cast<std::uint8_t>(size)));
  for (const auto& bytes : sent) send(*a, bytes);
  ASSERT_TRUE(run_until([&] { return sink_b.frames.size() == sent.size(); }));
  EXPECT_EQ(sink_b.frames, sent);
  EXPECT_TRUE(sink_a.frames.empty());  // not one's own
}

// 802.1Q: the kernel takes the tag off at the far end, and tells which VLAN it was.
TEST_F(PacketTest, tags_pass) {
  ASSERT_TRUE(both_up());
  {
    const runtime::CoreSection section(core);
    b->use_vlan(100);
  }
  pass_tags(*a, sink_b);
  pass_two_tags(*a, sink_b);
}

// ... but not between sockets of one interface, where the tag stands within the frame.
TEST_F(PacketTest, tags_pass_between_sockets_of_one_interface) {
  ASSERT_TRUE(both_up());
  Sink third_sink;
  std::unique_ptr<PacketSocket> third;
  {
    const runtime::CoreSection section(core);
    third = PacketSocket::open(access, {.interface = "va", .mac = wire::MacAddress{{2, 0, 0, 0, 0, 0xC}}}).port;
    third->attach(&third_sink);
  }
  ASSERT_TRUE(run_until([&] { return third->up(); }));
  pass_tags(*a, third_sink);
  const runtime::CoreSection section(core);
  third.reset();
}

// Only FCoE and FIP pass the kernel's filter.
TEST_F(PacketTest, other_protocols_are_filtered) {
  ASSERT_TRUE(both_up());
  auto other = fip_bytes(mac_b, mac_a, 60);
  other[12] = 0x08, other[13] = 0x06;
  send(*a, other);
  send(*a, other, 100);
  send(*a, fip_bytes(mac_b, mac_a, 60, 1));
  ASSERT_TRUE(run_until([&] { return !sink_b.frames.empty(); }));
  EXPECT_EQ(sink_b.frames.size(), 1U);
  EXPECT_EQ(sink_b.frames[0].back(), 1);
}

// Linux: what an untagged frame has no field for, the kernel knows from its socket (ruling 240). Here by default, and
// as it is said.
TEST_F(PacketTest, kernel_knows_the_priority) {
  EXPECT_EQ(priorities_known_to_the_kernel("va"), std::vector<int>{3});
  {
    const runtime::CoreSection section(core);
    b.reset();
    b = PacketSocket::open(access, {.interface = "vb", .priority = 5}).port;
  }
  EXPECT_EQ(priorities_known_to_the_kernel("vb"), std::vector<int>{5});
}

// Two sockets of one host on one interface see each other: several processes may share it.
TEST_F(PacketTest, sockets_on_one_interface_see_each_other) {
  constexpr wire::MacAddress third_mac{{2, 0, 0, 0, 0, 0xC}};
  Sink third_sink;
  std::unique_ptr<PacketSocket> third;
  {
    const runtime::CoreSection section(core);
    third = PacketSocket::open(access, {.interface = "va", .mac = third_mac}).port;
    ASSERT_NE(third, nullptr);
    third->attach(&third_sink);
  }
  ASSERT_TRUE(both_up());
  send(*a, fip_bytes(third_mac, mac_a, 60));
  ASSERT_TRUE(run_until([&] { return third_sink.frames.size() == 1; }));
  const runtime::CoreSection section(core);
  third.reset();
}

// The interface goes down and comes back.
TEST_F(PacketTest, carrier_is_noticed) {
  ASSERT_TRUE(both_up());
  ASSERT_EQ(std::system("ip link set vb down"), 0);
  ASSERT_TRUE(run_until([&] { return !a->up() && !b->up(); }));
  send(*a, fip_bytes(mac_b, mac_a, 60));
  EXPECT_EQ(a->counters().send_drops, 1U);
  ASSERT_EQ(std::system("ip link set vb up"), 0);
  ASSERT_TRUE(both_up());
  ASSERT_TRUE(run_until([&] {
    send(*a, fip_bytes(mac_b, mac_a, 60));
    return !sink_b.frames.empty();
  }));
}

TEST_F(PacketTest, what_the_kernel_cannot_keep_is_counted) {
  {
    const runtime::CoreSection section(core);
    b = PacketSocket::open(access, {.interface = "vb", .receive_buffer_bytes = 20'000}).port;
    b->attach(&sink_b);
  }
  ASSERT_TRUE(both_up());
  overflow(*a, *b);
}

// A name that nobody has, and an interface that is no Ethernet.
TEST_F(PacketTest, errors_name_the_interface) {
  EXPECT_EQ(PacketSocket::open(access, {.interface = "nosuch0"}).error, "nosuch0: interface: No such device");
  EXPECT_EQ(PacketSocket::open(access, {.interface = "a name that is too long"}).error,
            "a name that is too long: interface: No such device");
  EXPECT_FALSE(PacketSocket::open(access, {.interface = ""}).error.empty());
}

// --- FC-VI in real time ------------------------------------------------------------------------------------------

// The hosts' clock is driven by the steady clock: the core's way to real time, without a thread.
struct LiveCore final : runtime::CoreGuard {
  explicit LiveCore(Scheduler& driven) : scheduler(driven), begun(driven.now()) {}
  void enter() override { scheduler.run_until(begun + std::chrono::nanoseconds(steady_clock::now() - start).count()); }
  void leave() override { scheduler.run_until(scheduler.now()); }
  Scheduler& scheduler;
  const TimeNs begun;
  const steady_clock::time_point start = steady_clock::now();
};

class LiveTransfer : public support::FcviOverEthernet {
 protected:
  bool run_until(const std::function<bool()>& done) override {
    const auto end = steady_clock::now() + generous;
    while (!done() && steady_clock::now() < end) {
      io.run_one_for(1ms);
      const runtime::CoreSection section(core);
    }
    return done();
  }
  void enter() override { core.enter(); }
  void leave() override { core.leave(); }
  std::pair<std::unique_ptr<UdpEthernet>, std::unique_ptr<UdpEthernet>> cable() {
    auto one = UdpEthernet::open(access, {.name = "a", .mac = mac_a}).port;
    auto other = UdpEthernet::open(access, {.name = "b", .mac = mac_b, .remote_port = one->local_port()}).port;
    one->set_remote_port(other->local_port());
    return {std::move(one), std::move(other)};
  }
  boost::asio::io_context io{1};
  LiveCore core{fabric.scheduler};
  CoreAccess access{io, core, fabric.scheduler, fabric.pool};
};

// Two VN2VN nodes on a cable of UDP, in real time: claims, FARP, connection, messages.
TEST_F(LiveTransfer, vn2vn_over_udp) {
  const auto [one, other] = cable();
  fcoe::Vn2vnNode a(fabric.scheduler, fabric.pool, *one, client.port),
      b(fabric.scheduler, fabric.pool, *other, server.port);
  connect(Level::ReliableDelivery);
  transfer(16, 30000);
  connect(Level::ReliableReception);
  transfer(16, 30000);
  EXPECT_EQ(a.counters().discarded() + b.counters().discarded(), 0U);
}

// An ENode and the FCF at the other end of its cable, with an emulated port behind it.
TEST_F(LiveTransfer, fabric_over_udp) {
  const auto [one, other] = cable();
  Switch fcf_switch(fabric.scheduler, fabric.pool, {});
  fcoe::Fcf fcf(fabric.scheduler, fabric.pool, fcf_switch);
  fcoe::FcfInterface& interface = fcf.add_interface(*other);
  fcf_switch.attach(server.port);
  {
    fcoe::ENode node(fabric.scheduler, fabric.pool, *one, client.port);
    connect(Level::ReliableDelivery);
    transfer(16, 30000);
    EXPECT_EQ(node.counters().discarded(), 0U);
    EXPECT_EQ(interface.counters().discarded(), 0U);
  }
  fcf_switch.detach(server.port);
}

// A port behind the FCF is slow, and its sender knows no window: what it does not take yet waits in the switch, or
// in the kernel.
class SlowTransfer : public LiveTransfer {
 protected:
  void slow_transfer(fcoe::EthernetPort& one, fcoe::EthernetPort& other) {
    SwitchConfig config;
    config.flow_queue_frames = 8192;
    Switch fcf_switch(fabric.scheduler, fabric.pool, config);
    fcoe::Fcf fcf(fabric.scheduler, fabric.pool, fcf_switch);
    fcoe::FcfInterface& interface = fcf.add_interface(other);
    fcf_switch.attach(server.port, {.bb_credit = 4, .processing_ns = 20 * microsecond});
    {
      fcoe::ENode node(fabric.scheduler, fabric.pool, one, client.port);
      connect(Level::UnreliableDelivery);
      transfer(60, 60000);
      EXPECT_EQ(node.counters().discarded() + interface.counters().discarded() + other.kernel_drops(), 0U);
      EXPECT_EQ(fcf_switch.counters().discarded(), 0U);
    }
    fcf_switch.detach(server.port);
  }
};

TEST_F(SlowTransfer, nothing_is_lost_over_udp) {
  if (::geteuid() != 0) GTEST_SKIP() << "the kernel's buffer is too small without CAP_NET_ADMIN";
  const auto [one, other] = cable();
  slow_transfer(*one, *other);
}

TEST_F(SlowTransfer, nothing_is_lost_over_veth) {
  const VethPair veth;
  if (!veth.trouble().empty()) GTEST_SKIP() << veth.trouble();
  auto one = PacketSocket::open(access, {.interface = "va"}), other = PacketSocket::open(access, {.interface = "vb"});
  if (one.port == nullptr) GTEST_SKIP() << one.error;
  ASSERT_NE(other.port, nullptr) << other.error;
  slow_transfer(*one.port, *other.port);
  one.port.reset();
  other.port.reset();
}

// The same over packet sockets and a veth pair, at every level; the frames are full ones.
TEST_F(LiveTransfer, vn2vn_over_veth) {
  const VethPair veth;
  if (!veth.trouble().empty()) GTEST_SKIP() << veth.trouble();
  auto one = PacketSocket::open(access, {.interface = "va"}), other = PacketSocket::open(access, {.interface = "vb"});
  if (one.port == nullptr) GTEST_SKIP() << one.error;
  ASSERT_NE(other.port, nullptr) << other.error;
  {
    fcoe::Vn2vnNode a(fabric.scheduler, fabric.pool, *one.port, client.port),
        b(fabric.scheduler, fabric.pool, *other.port, server.port);
    for (const Level level : {Level::UnreliableDelivery, Level::ReliableDelivery, Level::ReliableReception}) {
      connect(level);
      transfer(64, 60000);
    }
    EXPECT_EQ(a.counters().discarded() + b.counters().discarded(), 0U);
  }
  EXPECT_EQ(one.port->kernel_drops() + other.port->kernel_drops(), 0U);
  one.port.reset();
  other.port.reset();
}

}  // namespace
}  // namespace fc2::drivers
