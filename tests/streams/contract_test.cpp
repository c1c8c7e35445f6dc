// What every form of streams promises (streams/stream.hpp): emulated, and sockets over IPv4 and IPv6.
#include "worlds.hpp"

namespace streams::test {
namespace {

using Octets = std::vector<std::uint8_t>;

template <class World>
class Contract : public ::testing::Test, public Meeting<World> {};

struct WorldName {
  template <class World>
  static std::string GetName(int) {
    if constexpr (std::is_same_v<World, EmulatedWorld>) return "emulated";
    return std::is_same_v<World, SocketWorld<true>> ? "ipv6" : "ipv4";
  }
};
using Worlds = ::testing::Types<EmulatedWorld, SocketWorld<false>, SocketWorld<true>>;
TYPED_TEST_SUITE(Contract, Worlds, WorldName);

TYPED_TEST(Contract, connected_bothKnowTheAddresses) {
  this->meet();
  EXPECT_EQ(this->client.stream->remote(), this->listener->address());
  EXPECT_EQ(this->server.stream->local(), this->listener->address());
  EXPECT_EQ(this->client.stream->local(), this->server.stream->remote());
  EXPECT_NE(this->client.stream->local().port, 0);
  this->world.settle();
  EXPECT_EQ(this->client.notices(), 1);
  EXPECT_EQ(this->server.notices(), 0);
}

TYPED_TEST(Contract, connected_piecesArriveInOrderBothWays) {
  this->meet();
  const Octets a = pattern(100, 1), b = pattern(3, 2), c = pattern(1000, 3);
  const std::array<wire::Bytes, 4> pieces{a, wire::Bytes{}, b, c};
  Octets all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  for (auto [from, to] : {std::pair{&this->client, &this->server}, std::pair{&this->server, &this->client}}) {
    this->world.inside([&, from = from] { EXPECT_EQ(from->stream->write(pieces), all.size()); });
    EXPECT_EQ(this->read(*to, all.size()), all);
  }
}

TYPED_TEST(Contract, connected_readIntoPieces_fillsThemInOrder) {
  this->meet();
  const Octets sent = pattern(60);
  this->world.inside([&] { EXPECT_EQ(this->client.stream->write(wire::Bytes(sent)), 60U); });
  std::array<std::uint8_t, 10> first{};
  std::array<std::uint8_t, 100> second{};
  const std::array<wire::MutableBytes, 2> room{wire::MutableBytes(first), wire::MutableBytes(second)};
  std::size_t filled = 0;
  this->server.on_readable = [&] { filled = this->server.stream->read(room).octets; };
  this->world.inside([&] { this->server.stream->ask_readable(); });
  ASSERT_TRUE(this->world.run_until([&] { return filled != 0; }));
  ASSERT_EQ(filled, 60U);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), sent.begin()));
  EXPECT_TRUE(std::equal(sent.begin() + 10, sent.end(), second.begin()));
}

// More pieces than one system call takes.
TYPED_TEST(Contract, connected_manyPieces_allArrive) {
  this->meet();
  const Octets sent = pattern(1000);
  std::vector<wire::Bytes> pieces;
  for (std::size_t at = 0; at < sent.size(); at += 5) pieces.push_back(wire::Bytes(sent).subspan(at, 5));
  this->world.inside([&] { EXPECT_EQ(this->client.stream->write(std::span<const wire::Bytes>(pieces)), sent.size()); });
  EXPECT_EQ(this->read(this->server, sent.size()), sent);
}

// A receiver that does not read holds the sender back; when it reads, the sender is told, and nothing is lost.
TYPED_TEST(Contract, connected_receiverDoesNotRead_senderWaits) {
  this->meet();
  const Octets sent = pattern(64 << 20);
  std::size_t written = 0;
  const auto write_on = [&] { written += this->client.stream->write(wire::Bytes(sent).subspan(written)); };
  this->client.on_writable = [&] {
    write_on();
    if (written < sent.size()) this->client.stream->ask_writable();
  };
  this->world.inside([&] { write_on(), this->client.stream->ask_writable(); });
  this->world.settle();
  EXPECT_LT(written, sent.size());
  EXPECT_EQ(this->server.reads, 0);
  EXPECT_EQ(this->read(this->server, sent.size()), sent);
  EXPECT_EQ(written, sent.size());
}

TYPED_TEST(Contract, connected_nobodyAsks_nobodyIsTold) {
  this->meet();
  this->world.inside([&] { this->client.stream->write(wire::Bytes(pattern(10))); });
  this->world.settle();
  EXPECT_EQ(this->server.notices(), 0);
}

TYPED_TEST(Contract, connected_askedOnce_toldOnce) {
  this->meet();
  this->world.inside([&] {
    this->client.stream->write(wire::Bytes(pattern(10)));
    for (int i = 0; i < 3; ++i) this->server.stream->ask_readable(), this->client.stream->ask_writable();
  });
  ASSERT_TRUE(this->world.run_until([&] { return this->server.reads == 1 && this->client.writes == 1; }));
  this->world.settle();
  EXPECT_EQ(this->server.notices(), 1);
  EXPECT_EQ(this->client.notices(), 2);
}

// What was not read is told again.
TYPED_TEST(Contract, connected_askedAgainWithOctetsLeft_toldAgain) {
  this->meet();
  this->world.inside([&] { this->client.stream->write(wire::Bytes(pattern(10))); });
  EXPECT_EQ(this->read(this->server, 4).size(), 4U);
  EXPECT_EQ(this->read(this->server, 6).size(), 6U);
  std::array<std::uint8_t, 1> room;
  this->world.inside([&] {
    const ReadResult nothing = this->server.stream->read(room);
    EXPECT_EQ(nothing.octets, 0U);
    EXPECT_FALSE(nothing.end);
  });
}

TYPED_TEST(Contract, halfClosed_theOtherDirectionGoesOn) {
  this->meet();
  const Octets request = pattern(500, 1), answer = pattern(700, 2);
  this->world.inside([&] { this->client.stream->write(wire::Bytes(request)), this->client.stream->shut_down(); });
  EXPECT_EQ(this->read(this->server, request.size()), request);
  EXPECT_TRUE(this->reads_end(this->server));
  this->world.inside([&] { this->server.stream->write(wire::Bytes(answer)), this->server.stream->shut_down(); });
  EXPECT_EQ(this->read(this->client, answer.size()), answer);
  EXPECT_TRUE(this->reads_end(this->client));
  EXPECT_TRUE(this->client.ends.empty() && this->server.ends.empty());
}

TYPED_TEST(Contract, reset_theOtherEndHearsIt) {
  this->meet();
  this->world.inside([&] { this->server.stream->ask_readable(), this->client.stream->reset(); });
  std::array<std::uint8_t, 1> room;
  this->server.on_readable = [&] { this->server.stream->read(room); };
  ASSERT_TRUE(this->world.run_until([&] { return !this->server.ends.empty(); }));
  EXPECT_EQ(this->server.ends, std::vector{Reason::reset});
  this->world.inside([&] {
    EXPECT_EQ(this->server.stream->write(wire::Bytes(room)), 0U);
    EXPECT_EQ(this->server.stream->read(room).octets, 0U);
    this->server.stream->ask_readable(), this->server.stream->ask_writable();
  });
  this->world.settle();
  EXPECT_EQ(this->server.ends.size(), 1U);
  EXPECT_EQ(this->client.notices(), 1);
}

TYPED_TEST(Contract, destroyed_whatWasWrittenArrives) {
  this->meet();
  const Octets sent = pattern(20'000);
  this->world.inside([&] {
    EXPECT_EQ(this->client.stream->write(wire::Bytes(sent)), sent.size());
    this->client.stream.reset();
  });
  EXPECT_EQ(this->read(this->server, sent.size()), sent);
  EXPECT_TRUE(this->reads_end(this->server));
}

TYPED_TEST(Contract, destroyedWithUnreadOctets_theOtherEndSeesAReset) {
  this->meet();
  this->world.inside(
      [&] { this->client.stream->write(wire::Bytes(pattern(10))), this->client.stream->ask_readable(); });
  this->world.settle();
  std::array<std::uint8_t, 1> room;
  this->client.on_readable = [&] { this->client.stream->read(room); };
  this->world.inside([&] { this->server.stream.reset(); });
  ASSERT_TRUE(this->world.run_until([&] { return !this->client.ends.empty(); }));
  EXPECT_EQ(this->client.ends, std::vector{Reason::reset});
}

TYPED_TEST(Contract, destroyedAndThenSentTo_theSenderSeesAReset) {
  this->meet();
  this->world.inside([&] { this->server.stream.reset(); });
  this->world.settle();
  std::array<std::uint8_t, 1> room;
  this->client.on_readable = [&] {
    if (this->client.stream->read(room).end) return;
  };
  ASSERT_TRUE(this->world.run_until([&] {
    this->world.inside([&] { this->client.stream->write(wire::Bytes(room)), this->client.stream->ask_readable(); });
    this->world.settle();
    return !this->client.ends.empty();
  }));
  EXPECT_EQ(this->client.ends, std::vector{Reason::reset});
}

TYPED_TEST(Contract, nobodyListens_refused) {
  this->listen();
  const Address address = this->listener->address();
  this->world.inside([&] {
    this->listener.reset();
    this->client.stream = this->world.client.connect(address, {}, this->client);
    EXPECT_EQ(this->client.notices(), 0);
  });
  ASSERT_TRUE(this->world.run_until([&] { return !this->client.ends.empty(); }));
  EXPECT_EQ(this->client.ends, std::vector{Reason::refused});
  EXPECT_EQ(this->client.notices(), 1);
}

TYPED_TEST(Contract, connectFromAForeignAddress_told) {
  this->listen();
  this->world.inside([&] {
    this->client.stream =
        this->world.client.connect(this->listener->address(), {this->world.foreign_ip, 0}, this->client);
    EXPECT_EQ(this->client.notices(), 0);
  });
  ASSERT_TRUE(this->world.run_until([&] { return !this->client.ends.empty(); }));
  EXPECT_EQ(this->client.connects, 0);
}

TYPED_TEST(Contract, destroyedWhileConnecting_nothingIsTold) {
  this->listen();
  this->world.inside([&] {
    this->client.stream = this->world.client.connect(this->listener->address(), {}, this->client);
    this->client.stream.reset();
  });
  this->world.settle();
  EXPECT_EQ(this->client.notices(), 0);
}

TYPED_TEST(Contract, listenTwice_addressInUse) {
  this->listen();
  this->world.inside([&] {
    Door other;
    const auto second = this->world.server.listen(this->listener->address(), other);
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error(), Reason::address_in_use);
  });
}

TYPED_TEST(Contract, listenElsewhere_noSuchAddress) {
  this->world.inside([&] {
    const auto refused = this->world.server.listen({this->world.foreign_ip, 0}, this->door);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error(), Reason::no_such_address);
  });
}

TYPED_TEST(Contract, listenAtAllAddresses_heardAtEach) {
  this->world.inside([&] {
    this->listener = std::move(*this->world.server.listen({wire::IpAddress{}, 0}, this->door));
  });
  const std::uint16_t port = this->listener->address().port;
  this->world.inside([&] {
    this->client.stream = this->world.client.connect({this->world.listen_ip, port}, {}, this->client);
  });
  ASSERT_TRUE(this->world.run_until([&] { return this->door.streams.size() == 1; }));
  EXPECT_EQ(this->door.streams.front()->local(), (Address{this->world.listen_ip, port}));
}

// SO_REUSEADDR: the port of a listener that served can be taken again at once.
TYPED_TEST(Contract, listenerGone_streamsStayAndThePortIsFree) {
  this->meet();
  const Address address = this->listener->address();
  this->world.inside([&] { this->listener.reset(); });
  const Octets sent = pattern(10);
  this->world.inside([&] { this->client.stream->write(wire::Bytes(sent)); });
  EXPECT_EQ(this->read(this->server, sent.size()), sent);
  this->world.inside([&] { this->server.stream.reset(); });
  this->world.settle();
  this->world.inside([&] { EXPECT_TRUE(this->world.server.listen(address, this->door).has_value()); });
}

TYPED_TEST(Contract, otherUser_hearsFromThenOn) {
  this->meet();
  Hearer other;
  this->world.inside([&] {
    this->server.stream->ask_readable();
    this->server.stream->set_user(other);
    this->client.stream->write(wire::Bytes(pattern(1)));
  });
  ASSERT_TRUE(this->world.run_until([&] { return other.reads == 1; }));
  EXPECT_EQ(this->server.notices(), 0);
}

// Nobody is called from within a call, whatever is due.
TYPED_TEST(Contract, calls_callNobodyBack) {
  this->listen();
  bool within = false;
  const auto check = [&] { EXPECT_FALSE(within); };
  for (Hearer* hearer : {&this->client, &this->server})
    hearer->on_connected = hearer->on_readable = hearer->on_writable = hearer->on_closed = check;
  this->door.on_accepted = check;
  const auto call = [&](auto&& calls) {
    this->world.inside([&] { within = true, calls(), within = false; });
    this->world.settle();
  };
  call([&] { this->client.stream = this->world.client.connect(this->listener->address(), {}, this->client); });
  ASSERT_TRUE(this->world.run_until([&] { return this->client.connects == 1 && this->door.streams.size() == 1; }));
  this->server.stream = std::move(this->door.streams.front());
  std::array<std::uint8_t, 8> room{};
  call([&] { this->server.stream->set_user(this->server), this->server.stream->ask_readable(); });
  call([&] { this->client.stream->ask_writable(), this->client.stream->write(wire::Bytes(room)); });
  call([&] { this->server.stream->read(room), this->server.stream->ask_readable(); });
  call([&] { this->server.stream->shut_down(), this->client.stream->ask_readable(); });
  call([&] { this->client.stream->reset(); });
  call([&] { this->server.stream->read(room); });
  EXPECT_GE(this->client.notices() + this->server.notices(), 5);
}

/// What destroys the stream from within one of its notices.
TYPED_TEST(Contract, destroyedWithinANotice_nothingFollows) {
  for (const int which : {0, 1, 2, 3}) {
    Meeting<TypeParam> meeting;
    Hearer& doomed = meeting.client;
    const auto destroy = [&] { doomed.stream.reset(); };
    if (which == 0) {
      doomed.on_connected = destroy;
      meeting.listen();
      meeting.world.inside(
          [&] { doomed.stream = meeting.world.client.connect(meeting.listener->address(), {}, doomed); });
    } else {
      meeting.meet();
      std::array<std::uint8_t, 1> room{};
      doomed.on_readable = which == 1 ? std::function<void()>(destroy) : [&] { doomed.stream->read(room); };
      if (which == 2) doomed.on_writable = destroy;
      if (which == 3) doomed.on_closed = destroy;
      meeting.world.inside([&] {
        doomed.stream->ask_readable();
        if (which == 2) doomed.stream->ask_writable();
        if (which != 2) meeting.server.stream->write(wire::Bytes(room));
        if (which == 3) meeting.server.stream->reset();
      });
      if (which == 3) doomed.on_readable = [&] { doomed.stream->read(room), doomed.stream->ask_readable(); };
    }
    ASSERT_TRUE(meeting.world.run_until([&] { return doomed.stream == nullptr; })) << which;
    const int heard = doomed.notices();
    meeting.world.settle();
    EXPECT_EQ(doomed.notices(), heard) << which;
  }
}

TYPED_TEST(Contract, listenerAndStreamDestroyedWithinAccepted_nothingFollows) {
  this->listen();
  this->door.on_accepted = [&] { this->listener.reset(), this->door.streams.clear(); };
  const Address address = this->listener->address();
  this->world.inside([&] { this->client.stream = this->world.client.connect(address, {}, this->client); });
  ASSERT_TRUE(this->world.run_until([&] { return this->listener == nullptr && this->client.connects == 1; }));
  EXPECT_TRUE(this->reads_end(this->client));
}

// From within a notice of one stream, another one is destroyed that has a notice due.
TYPED_TEST(Contract, otherStreamDestroyedWithinANotice_hearsNothing) {
  this->meet();
  this->world.inside([&] {
    this->client.stream->write(wire::Bytes(pattern(1)));
    this->server.stream->write(wire::Bytes(pattern(1)));
  });
  this->world.settle();
  bool one = false;
  this->client.on_readable = [&] { one = true, this->server.stream.reset(); };
  this->server.on_readable = [&] { one = true, this->client.stream.reset(); };
  this->world.inside([&] { this->client.stream->ask_readable(), this->server.stream->ask_readable(); });
  ASSERT_TRUE(this->world.run_until([&] { return one; }));
  this->world.settle();
  EXPECT_EQ(this->client.reads + this->server.reads, 1);
}

}  // namespace
}  // namespace streams::test
