// SCTP associations over UDP on the loopback interface: messages, acknowledgement, both ends' end, who is not there.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <functional>
#include <map>
#include <random>
#include <set>

#include "iwarp/drivers/host.hpp"
#include "iwarp/drivers/sctp_stack.hpp"
#include "iwarp/drivers/udp_associations.hpp"
#include "wire/iwarp/crc.hpp"
#include "wire/iwarp/sctp/adaptation.hpp"

namespace iwarp::drivers {
namespace {

using namespace std::chrono_literals;
const wire::IpAddress loopback = wire::IpAddress::v4(127, 0, 0, 1), any_v4 = wire::IpAddress::v4(0, 0, 0, 0);
const wire::IpAddress loopback_v6{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}, any_v6{};

/// One end, and all that it was told.
struct End final : AssociationUser {
  std::unique_ptr<Association> association;
  bool is_up = false;
  int rooms = 0, acknowledgements = 0;
  std::uint64_t octets = 0, messages = 0;
  std::map<std::uint16_t, std::vector<std::vector<std::uint8_t>>> received;  // by stream, if they are kept
  std::optional<std::uint32_t> protocol;
  std::optional<streams::Reason> lost;
  bool keeps = true;
  void associated() override { is_up = true; }
  void message_received(std::uint16_t stream, std::uint32_t of, wire::Bytes message) override {
    ++messages, octets += message.size(), protocol = of;
    if (keeps) received[stream].emplace_back(message.begin(), message.end());
  }
  void room_again() override { ++rooms; }
  void acknowledged() override { ++acknowledgements; }
  void association_lost(streams::Reason reason) override { lost = reason, association.reset(); }
};

/// A listener and its clients in one process.
class Associated : public ::testing::Test, public AssociationListenerUser {
 protected:
  ~Associated() override {
    inside([&] {
      for (const auto& end : ends) end->association.reset();
      listener.reset();
      associations.reset();
    });
  }
  void accepted(std::unique_ptr<Association> association) override {
    End& end = *ends.emplace_back(std::make_unique<End>());
    end.association = std::move(association);
    end.association->set_user(end);
    end.is_up = true;
    servers.push_back(&end);
  }
  void inside(const std::function<void()>& calls) {
    const runtime::CoreSection section(host);
    calls();
  }
  bool wait(const std::function<bool()>& done, std::chrono::milliseconds most = 60s) {
    const auto limit = std::chrono::steady_clock::now() + most;
    for (bool is_done = false; !is_done;) {
      if (std::chrono::steady_clock::now() > limit) return false;
      host.run_for(5ms);
      inside([&] { is_done = done(); });
    }
    return true;
  }
  void listen(const wire::IpAddress& ip, std::uint16_t port = 0) {
    inside([&] {
      auto made = associations->listen({ip, port}, *this);
      ASSERT_TRUE(made);
      listener = std::move(*made);
    });
  }
  End& connect(const streams::Address& to) {
    End& end = *ends.emplace_back(std::make_unique<End>());
    inside([&] { end.association = associations->connect(to, {}, end); });
    return end;
  }
  /// A client of the listener, and its end there.
  std::pair<End*, End*> pair(const wire::IpAddress& ip) {
    const std::size_t before = servers.size();
    End& client = connect({ip, listener->address().port});
    EXPECT_TRUE(wait([&] { return client.is_up && servers.size() > before; }));
    return {&client, servers.empty() ? nullptr : servers.back()};
  }

  Host host{Host::Progress::callers};
  std::optional<UdpAssociations> associations{std::in_place, host.sockets(), host.scheduler()};
  std::unique_ptr<AssociationListener> listener;
  std::vector<std::unique_ptr<End>> ends;
  std::vector<End*> servers;
};

std::vector<std::uint8_t> octets_of(std::size_t count, std::uint8_t first) {
  std::vector<std::uint8_t> octets(count);
  for (std::size_t i = 0; i < count; ++i) octets[i] = static_cast<std::uint8_t>(first + i * 7 + i / 256);
  return octets;
}

// RFC 5043 8: as many streams in each direction; RFC 5043 9: a message of one packet; RFC 5043 5.1, 11.1: without the
// indication of the other end there is no association here.
TEST_F(Associated, messages_of_several_streams_arrive_whole) {
  listen(loopback);
  const auto [client, server] = pair(loopback);
  ASSERT_NE(server, nullptr);
  const std::size_t most = client->association->max_message();
  EXPECT_GT(most, 516U);
  EXPECT_EQ(client->association->stream_count(), server->association->stream_count());
  ASSERT_GT(client->association->stream_count(), 10);
  inside([&] {
    EXPECT_TRUE(client->association->send(3, 16, octets_of(most, 1)));
    EXPECT_TRUE(client->association->send(9, 16, octets_of(1, 2)));
    EXPECT_TRUE(server->association->send(3, 17, octets_of(2, 3)));
  });
  ASSERT_TRUE(wait([&] { return server->messages == 2 && client->messages == 1; }));
  EXPECT_EQ(server->received[3].at(0), octets_of(most, 1));
  EXPECT_EQ(server->received[9].at(0), octets_of(1, 2));
  EXPECT_EQ(server->protocol, 16U);
  EXPECT_EQ(client->received[3].at(0), octets_of(2, 3));
  EXPECT_EQ(client->protocol, 17U);
}

TEST_F(Associated, both_ends_know_their_addresses) {
  for (const auto& [at, to] : {std::pair(loopback, loopback), std::pair(any_v4, loopback),
                               std::pair(loopback_v6, loopback_v6), std::pair(any_v6, loopback_v6)}) {
    listen(at);
    const auto [client, server] = pair(to);
    ASSERT_NE(server, nullptr);
    EXPECT_EQ(client->association->remote(), (streams::Address{to, listener->address().port}));
    EXPECT_EQ(server->association->local(), (streams::Address{to, listener->address().port}));
    EXPECT_EQ(server->association->remote().ip, to);
    EXPECT_EQ(server->association->remote().port, client->association->local().port);
    inside([&] { listener.reset(); });
  }
}

TEST_F(Associated, where_nobody_listens_is_refused) {
  listen(loopback);
  const std::uint16_t port = listener->address().port;
  inside([&] { listener.reset(); });
  End& client = connect({loopback, port});
  ASSERT_TRUE(wait([&] { return client.lost.has_value(); }, 5s));
  EXPECT_EQ(client.lost, streams::Reason::refused);
}

// The port is still there, for an association that was set up before.
TEST_F(Associated, where_nobody_listens_any_more_is_refused_too) {
  listen(loopback);
  const auto [first, server] = pair(loopback);
  const std::uint16_t port = listener->address().port;
  inside([&] { listener.reset(); });
  End& client = connect({loopback, port});
  ASSERT_TRUE(wait([&] { return client.lost.has_value(); }, 5s));
  EXPECT_EQ(client.lost, streams::Reason::refused);
  EXPECT_FALSE(first->lost);
  listen(loopback, port);
  const auto [second, other] = pair(loopback);
  EXPECT_TRUE(second->is_up);
  EXPECT_NE(other, server);
}

TEST_F(Associated, a_port_listens_once) {
  listen(loopback);
  inside([&] {
    const auto again = associations->listen(listener->address(), *this);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error(), streams::Reason::address_in_use);
  });
}

// RFC 5043 6.6 needs to know when nothing is outstanding.
TEST_F(Associated, acknowledgement_is_told_once_for_all_that_was_sent) {
  listen(loopback);
  const auto [client, server] = pair(loopback);
  inside([&] {
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(client->association->send(0, 16, octets_of(1000, 1)));
    client->association->ask_acknowledged();
    EXPECT_EQ(client->acknowledgements, 0);
  });
  ASSERT_TRUE(wait([&] { return client->acknowledgements == 1; }));
  EXPECT_EQ(server->messages, 20U);
  inside([&] { client->association->ask_acknowledged(); });  // of nothing
  EXPECT_TRUE(wait([&] { return client->acknowledgements == 2; }));
}

TEST_F(Associated, more_than_there_is_room_for_arrives_all) {
  listen(loopback);
  const auto [client, server] = pair(loopback);
  server->keeps = false;
  const auto message = octets_of(client->association->max_message(), 5);
  std::uint64_t sent = 0;
  constexpr std::uint64_t count = 1000;
  ASSERT_TRUE(wait([&, &to = *client] {
    while (sent < count && to.association->send(0, 16, message)) ++sent;
    return server->messages == count;
  }));
  EXPECT_EQ(server->octets, count * message.size());
  EXPECT_GT(client->rooms, 0);
}

// Destroying an association ends it in order.
TEST_F(Associated, what_was_sent_before_the_end_arrives) {
  listen(loopback);
  const auto [client, server] = pair(loopback);
  inside([&, &end = *client] {
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(end.association->send(0, 16, octets_of(2000, 1)));
    end.association.reset();
  });
  ASSERT_TRUE(wait([&, &end = *server] { return end.lost.has_value(); }));
  EXPECT_EQ(server->messages, 50U);
  EXPECT_TRUE(wait([&] { return associations->size() == 0; }));
}

TEST_F(Associated, all_can_be_ended_without_a_word) {
  listen(loopback);
  const auto [client, server] = pair(loopback);
  inside([&] { associations->end_all(); });
  EXPECT_TRUE(wait([&] { return associations->size() == 0; }));
  EXPECT_FALSE(client->lost);
  EXPECT_FALSE(server->lost);
}

/// A peer of packets, which sets an association up by hand (RFC 9260 5.1).
class PacketPeer {
 public:
  explicit PacketPeer(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0)), port_(port) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.number(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }
  void send_init(std::optional<std::uint32_t> indication) {
    std::vector<std::uint8_t> body(16);
    wire::store_big<4>(body.data(), 0x1234);       // initiate tag
    wire::store_big<4>(body.data() + 4, 100'000);  // a_rwnd
    wire::store_big<2>(body.data() + 8, 16);       // streams out and in
    wire::store_big<2>(body.data() + 10, 16);
    wire::store_big<4>(body.data() + 12, 1);  // TSN
    if (indication) {
      body.resize(24);
      wire::sctp::AdaptationIndication{.indication = *indication}.write(wire::MutableBytes(body).subspan(16));
    }
    send(1, 0, body);
  }
  /// DATA of no association: it is answered by an ABORT with this tag (RFC 9260 8.4).
  void send_data_of_nobody(std::uint32_t tag) { send(0, tag, std::vector<std::uint8_t>(13), 5001); }
  /// Octets by chance, some of them with SCTP's header and the right checksum.
  void send_noise(std::mt19937& chance) {
    std::vector<std::uint8_t> packet(chance() % 200);
    for (std::uint8_t& octet : packet) octet = static_cast<std::uint8_t>(chance());
    if (packet.size() >= 16 && chance() % 4 != 0) {
      wire::store_big<2>(packet.data() + 2, port_);
      packet[12] = static_cast<std::uint8_t>(chance() % 16);
      wire::store_big<2>(packet.data() + 14, static_cast<std::uint16_t>(packet.size() - 12));
      wire::store_big<4>(packet.data() + 8, 0);
      wire::iwarp::store_crc(packet.data() + 8, wire::iwarp::crc32c(wire::Bytes(packet)));
    }
    static_cast<void>(::send(socket_.number(), packet.data(), packet.size(), 0));
  }
  /// Answers the INIT ACK by its cookie. Types of the chunks that came, of all packets: the first of each, and others
  /// bundled behind it.
  bool look() {
    std::array<std::uint8_t, 4096> packet;
    const ssize_t size = ::recv(socket_.number(), packet.data(), packet.size(), 0);
    if (size < 0) return false;
    const wire::Bytes octets = wire::Bytes(packet).first(static_cast<std::size_t>(size));
    for (std::size_t at = 12; at + 4 <= octets.size();) {
      const std::size_t length = wire::load_big<2>(octets.data() + at + 2);
      types.push_back(octets[at]);
      if (octets[at] == 2) echo_cookie(octets.subspan(at, length));
      at += std::max<std::size_t>((length + 3) / 4 * 4, 4);
    }
    return true;
  }
  [[nodiscard]] bool has(std::uint8_t type) const { return std::count(types.begin(), types.end(), type) != 0; }
  std::vector<std::uint8_t> types;

 private:
  void echo_cookie(wire::Bytes init_ack) {
    const std::uint32_t tag = wire::load_big<4>(init_ack.data() + 4);
    for (std::size_t at = 20; at + 4 <= init_ack.size();) {
      const std::size_t length = wire::load_big<2>(init_ack.data() + at + 2);
      const wire::Bytes cookie = init_ack.subspan(at + 4, length - 4);
      if (wire::load_big<2>(init_ack.data() + at) == 7) return send(10, tag, {cookie.begin(), cookie.end()});
      at += std::max<std::size_t>((length + 3) / 4 * 4, 4);
    }
  }
  void send(std::uint8_t type, std::uint32_t tag, const std::vector<std::uint8_t>& body, std::uint16_t from = 5000) {
    std::vector<std::uint8_t> packet(16 + (body.size() + 3) / 4 * 4);
    wire::store_big<2>(packet.data(), from);
    wire::store_big<2>(packet.data() + 2, port_);
    wire::store_big<4>(packet.data() + 4, tag);
    packet[12] = type;
    wire::store_big<2>(packet.data() + 14, static_cast<std::uint16_t>(4 + body.size()));
    std::copy(body.begin(), body.end(), packet.begin() + 16);
    wire::iwarp::store_crc(packet.data() + 8, wire::iwarp::crc32c(wire::Bytes(packet)));
    EXPECT_EQ(::send(socket_.number(), packet.data(), packet.size(), 0), static_cast<ssize_t>(packet.size()));
  }
  runtime::drivers::Descriptor socket_;
  const std::uint16_t port_;
};

// RFC 5043 11.1: none, another one, DDP's.
TEST_F(Associated, a_peer_without_the_indication_of_ddp_is_refused) {
  listen(loopback);
  constexpr std::uint8_t cookie_ack = 11, abort = 6;
  for (const std::optional<std::uint32_t> indication :
       {std::optional<std::uint32_t>(), std::optional<std::uint32_t>(2)}) {
    PacketPeer peer(listener->address().port);
    peer.send_init(indication);
    ASSERT_TRUE(wait([&] { return peer.look() && peer.has(abort); }, 10s));
    EXPECT_TRUE(peer.has(cookie_ack));
    EXPECT_TRUE(servers.empty());
  }
  PacketPeer peer(listener->address().port);
  peer.send_init(1);
  ASSERT_TRUE(wait([&] { return peer.look(), servers.size() == 1; }, 10s));
  EXPECT_FALSE(peer.has(abort));
}

// From more addresses than are remembered.
TEST_F(Associated, noise_disturbs_nobody) {
  listen(loopback);
  const auto [client, server] = pair(loopback);
  std::mt19937 chance(43);
  for (int i = 0; i < 300; ++i) {
    PacketPeer peer(listener->address().port);
    for (int k = 0; k < 5; ++k) peer.send_noise(chance);
    host.run_for(0ms);
  }
  inside([&, &end = *client] { EXPECT_TRUE(end.association->send(1, 16, octets_of(100, 1))); });
  ASSERT_TRUE(wait([&, &end = *server] { return end.messages == 1; }));
  EXPECT_EQ(servers.size(), 1U);
  EXPECT_FALSE(client->lost);
  const auto [second, other] = pair(loopback);
  EXPECT_NE(other, server);
}

// RFC 6951 5.5: ICMP is of an association only if the packet that it quotes has the association's verification tag.
TEST_F(Associated, an_icmp_of_another_packet_ends_nothing) {
  listen(loopback);
  std::optional<PacketPeer> peer(std::in_place, listener->address().port);
  peer->send_init(1);
  ASSERT_TRUE(wait([&] { return peer->look(), servers.size() == 1 && peer->has(11); }, 10s));
  peer->send_data_of_nobody(0x9999);
  peer.reset();
  ASSERT_FALSE(wait([&] { return servers[0]->lost.has_value(); }, 100ms));
  inside([&] { EXPECT_TRUE(servers[0]->association->send(0, 16, octets_of(10, 1))); });
  EXPECT_TRUE(wait([&] { return servers[0]->lost.has_value(); }, 5s));
  EXPECT_EQ(servers[0]->lost, streams::Reason::reset);
}

// What usrsctp knows of an address stays, so that the addresses of strangers must not become ever more.
TEST_F(Associated, the_paths_of_strangers_serve_again) {
  listen(loopback);
  std::set<SctpPath> made;
  inside([&] {
    for (int i = 0; i < 5000; ++i) {
      const SctpPath path = SctpStack::open_path();
      made.insert(path);
      SctpStack::close_path(path);
    }
  });
  EXPECT_LE(made.size(), 1100U);
}

TEST_F(Associated, one_of_the_process_has_the_stack) {
  listen(loopback);
  UdpAssociations others(host.sockets(), host.scheduler());
  End end;
  inside([&] {
    EXPECT_EQ(others.listen({loopback, 0}, *this).error(), streams::Reason::no_resources);
    end.association = others.connect(listener->address(), {}, end);
  });
  EXPECT_TRUE(wait([&] { return end.lost.has_value(); }));
  EXPECT_EQ(end.lost, streams::Reason::no_resources);
}

}  // namespace
}  // namespace iwarp::drivers
