// Addresses as text, and sockets that come from elsewhere.
#include <sys/socket.h>

#include "streams/drivers/listening_socket.hpp"
#include "worlds.hpp"

namespace streams::test {
namespace {
using runtime::drivers::Descriptor;

TEST(AddressTest, text_round_trip) {
  for (const char* text : {"10.0.0.1:80", "[fd00::1]:80", "0.0.0.0:0", "[::]:65535"}) {
    const auto address = address_from_string(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(to_string(*address), text);
  }
}

TEST(AddressTest, other_texts_are_none) {
  for (const char* text : {"", ":", "80", "10.0.0.1", "10.0.0.1:", "10.0.0.1:65536", "10.0.0.1:-1", "10.0.0.1:80 ",
                           "::1:80", "[10.0.0.1]:80", "[::1]", "[::1:80", "localhost:80"})
    EXPECT_FALSE(address_from_string(text)) << text;
}

TEST(AdoptTest, what_is_no_tcp_socket_is_refused) {
  SocketWorld<false> world;
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  const Descriptor other(pair[1]);
  world.inside([&] {
    EXPECT_EQ(world.streams.adopt(Descriptor(pair[0])), nullptr);
    EXPECT_EQ(world.streams.adopt({}), nullptr);
  });
  char octet = 0;
  EXPECT_EQ(::recv(other.number(), &octet, 1, 0), 0) << "it was not closed";
}

// As accepted: addresses, octets both ways, and its end.
TEST(AdoptTest, stream_is_as_an_accepted_one) {
  SocketWorld<false> world;
  const auto listening = drivers::listening_socket({world.listen_ip, 0});
  ASSERT_TRUE(listening);
  Hearer client, server;
  const Address address = *drivers::local_address_of(listening->number());
  world.inside([&] { client.stream = world.streams.connect(address, {}, client); });
  ASSERT_TRUE(world.run_until([&] { return client.connects == 1; }));
  Descriptor accepted(::accept(listening->number(), nullptr, nullptr));
  world.inside([&] {
    server.stream = world.streams.adopt(std::move(accepted));
    ASSERT_NE(server.stream, nullptr);
    server.stream->set_user(server);
    EXPECT_EQ(server.stream->local(), address);
    EXPECT_EQ(server.stream->remote(), client.stream->local());
    server.stream->ask_readable();
    const std::array<std::uint8_t, 3> octets{1, 2, 3};
    client.stream->write(wire::Bytes(octets));
    client.stream.reset();
  });
  ASSERT_TRUE(world.run_until([&] { return server.reads == 1; }));
  std::array<std::uint8_t, 8> room{};
  world.inside([&] {
    EXPECT_EQ(server.stream->read(wire::MutableBytes(room)).octets, 3U);
    EXPECT_TRUE(server.stream->read(wire::MutableBytes(room)).end);
  });
}

}  // namespace
}  // namespace streams::test
