// A stream on its way through the service, on real sockets.
#include "tools/vitcp_portd/incoming_stream.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <vector>

#include "tests/vitcp/port_service/requests.hpp"

namespace vitcp_portd {
namespace {
using vitcp::port_service::Fate;
using wire::vitcp::SegmentType;

class IncomingStreamTest : public testing::Test, public vitcp::port_service::PortActions {
 public:
  IncomingStreamTest() {
    std::array<int, 2> pair{-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()), 0);
    near = Descriptor(pair[0]);
    far = Descriptor(pair[1]);
  }
  ~IncomingStreamTest() override {
    const runtime::CoreSection section(core);
    if (stream) stream->close();
  }
  bool hand_over(ConnectionId, const vitcp::port_service::Waiter&) override { return false; }
  void refuse(ConnectionId, SegmentType type) override { stream->refuse(type); }
  void close(ConnectionId) override {
    closed = true;
    stream->close();
  }
  void accept() {
    const runtime::CoreSection section(core);
    stream = std::make_shared<IncomingStream>(core, port, 1, std::move(near), wire::IpAddress::v4(10, 0, 0, 1));
    port.accepted(1, stream->from());
    stream->look();
  }

  boost::asio::io_context io;
  runtime::drivers::RealTimeCore core{io};
  vitcp::port_service::Port port{core.scheduler(), {}, *this};
  Descriptor near, far;
  std::shared_ptr<IncomingStream> stream;
  bool closed = false;
};

// The end is no error: what errno was before does not matter.
TEST_F(IncomingStreamTest, end_is_seen_whatever_errno_was) {
  accept();
  std::vector<std::uint8_t> other_version(64, 9);
  other_version[1] = 0;
  ASSERT_EQ(::send(far.number(), other_version.data(), other_version.size(), 0), 64);
  for (int i = 0; i < 10 && port.half_open().at(0).phase != Port::Phase::closing; ++i) io.poll_one();
  ASSERT_EQ(port.half_open().at(0).phase, Port::Phase::closing);
  ::shutdown(far.number(), SHUT_WR);
  for (int i = 0; i < 10 && !closed; ++i) {
    errno = EINTR;
    io.poll_one();
  }
  EXPECT_TRUE(closed);
}

// As a provider that is handed the stream answers it (ruling V-5).
TEST_F(IncomingStreamTest, refusal_acknowledges_the_request) {
  accept();
  auto request = vitcp::port_service::test::request_for("nobody");
  request.header.message_number = wire::vitcp::MessageNumber{77};
  const auto octets = vitcp::port_service::test::octets_of(request);
  ASSERT_EQ(::send(far.number(), octets.data(), octets.size(), 0), static_cast<ssize_t>(octets.size()));
  std::array<std::uint8_t, 100> answer{};
  ssize_t got = -1;
  for (int i = 0; i < 1000 && got < 0; ++i) {
    io.run_one_for(std::chrono::milliseconds(10));
    got = ::recv(far.number(), answer.data(), answer.size(), MSG_DONTWAIT);
  }
  ASSERT_EQ(got, 24);
  const auto header = wire::vitcp::SegmentHeader::parse(wire::Bytes(answer).first(24));
  ASSERT_TRUE(header);
  EXPECT_EQ(header->type, SegmentType::connect_no_match);
  EXPECT_EQ(header->message_ack, wire::vitcp::MessageNumber{77});
}

// As where the system has no room for another file to watch.
TEST_F(IncomingStreamTest, that_cannot_be_watched_is_closed) {
  boost::asio::posix::stream_descriptor same(io, near.number());  // once at a time
  accept();
  same.release();
  EXPECT_TRUE(closed);
  EXPECT_TRUE(port.half_open().empty());
  EXPECT_EQ(port.counters().of(Fate::reset), 1U);
}

}  // namespace
}  // namespace vitcp_portd
