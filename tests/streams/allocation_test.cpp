// Once a stream is up and has been used, writing, reading and being told allocate nothing.
#include "../support/counted_new.hpp"
#include "worlds.hpp"

namespace streams::test {
namespace {

template <class World>
class Steady : public ::testing::Test, public Meeting<World> {};
using Worlds = ::testing::Types<EmulatedWorld, SocketWorld<false>>;
TYPED_TEST_SUITE(Steady, Worlds);

TYPED_TEST(Steady, message_allocatesNothing) {
  this->meet();
  std::array<std::uint8_t, 4096> octets{}, room{};
  std::size_t got = 0;
  this->server.on_readable = [&] {
    got += this->server.stream->read(room).octets, this->server.stream->ask_readable();
  };
  const std::function<void()> send = [&] { this->client.stream->write(wire::Bytes(octets)); };
  const std::function<void()> ask = [&] { this->server.stream->ask_readable(), this->client.stream->ask_writable(); };
  std::size_t wanted = 0;
  const std::function<bool()> done = [&] { return got == wanted; };
  const auto round = [&] {
    wanted += octets.size();
    this->world.inside(ask);
    this->world.inside(send);
    return this->world.run_until(done);
  };
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(round());
  const std::size_t before = support::allocations;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(round());
  EXPECT_EQ(support::allocations, before);
}

}  // namespace
}  // namespace streams::test
