// Addresses as text, and sockets that come from elsewhere.
#include <sys/mman.h>
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

// How much a segment takes is known as long as there is a stream; writes that end segments change nothing that arrives.
TEST(SegmentTest, octets_are_known_while_there_is_a_stream) {
  SocketWorld<false> world;
  Hearer client;
  const auto listening = drivers::listening_socket({world.listen_ip, 0});
  ASSERT_TRUE(listening);
  world.inside(
      [&] { client.stream = world.streams.connect(*drivers::local_address_of(listening->number()), {}, client); });
  ASSERT_TRUE(world.run_until([&] { return client.connects == 1; }));
  const Descriptor accepted(::accept(listening->number(), nullptr, nullptr));
  world.inside([&] {
    const auto octets = client.stream->segment_octets();
    ASSERT_TRUE(octets);
    EXPECT_GE(*octets, 536U);  // RFC 9293 3.7.1
    EXPECT_LE(*octets, 65'535U);
    client.stream->separate_writes();
    const std::vector<std::uint8_t> written(100, 7);
    std::vector<wire::Bytes> pieces(300, wire::Bytes(written).first(1));  // more than one system call takes
    EXPECT_EQ(client.stream->write(pieces), pieces.size());
    EXPECT_EQ(client.stream->write(wire::Bytes(written)), written.size());
    std::array<std::uint8_t, 400> room{};
    EXPECT_EQ(::recv(accepted.number(), room.data(), room.size(), MSG_WAITALL), 400);
    EXPECT_TRUE(std::all_of(room.begin(), room.end(), [](std::uint8_t octet) { return octet == 7; }));
    client.stream->reset();
    EXPECT_FALSE(client.stream->segment_octets());
  });
}

/// A page that the kernel may access so, and no other way.
class Page {
 public:
  static constexpr std::size_t bytes = 4096;
  explicit Page(int protection) : memory_(::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Page() { ::munmap(memory_, bytes); }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  [[nodiscard]] wire::MutableBytes octets() const { return {static_cast<std::uint8_t*>(memory_), bytes}; }

 private:
  void* memory_;
};

// Memory that cannot be accessed (EFAULT) costs no octet, and is not the end of the stream, either way.
TEST(FaultTest, memory_thatIsNotThere_isTold) {
  Meeting<SocketWorld<false>> meeting;
  meeting.meet();
  const Page read_only(PROT_READ), nothing(PROT_NONE);
  const std::vector<std::uint8_t> sent = pattern(100);
  meeting.world.inside([&] {
    EXPECT_EQ(meeting.client.stream->write(wire::Bytes(nothing.octets())), 0U);
    const std::array<wire::Bytes, 2> pieces{wire::Bytes(sent), wire::Bytes(nothing.octets())};
    const std::size_t taken = meeting.client.stream->write(pieces);  // none, or those before
    EXPECT_LE(taken, sent.size());
    EXPECT_EQ(meeting.client.stream->write(wire::Bytes(sent).subspan(taken)), sent.size() - taken);
    meeting.server.stream->ask_readable();
  });
  ASSERT_TRUE(meeting.world.run_until([&] { return meeting.server.reads == 1; }));
  meeting.world.inside([&] {
    const ReadResult faulty = meeting.server.stream->read(read_only.octets());
    EXPECT_EQ(faulty.octets, 0U);
    EXPECT_TRUE(faulty.fault);
    EXPECT_FALSE(faulty.end);
  });
  EXPECT_EQ(meeting.read(meeting.server, sent.size()), sent);
  EXPECT_TRUE(meeting.client.ends.empty() && meeting.server.ends.empty());
}

}  // namespace
}  // namespace streams::test
