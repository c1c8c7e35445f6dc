// One end of a process's link against records that no program of ours sends.
#include "vitcp/drivers/record_link.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <filesystem>

#include "runtime/drivers/real_time_core.hpp"

namespace vitcp::drivers {
namespace {

/// Another one of the set that has the socket: it can be there once.
class SameSocket final : public streams::drivers::SetMember {
 public:
  SameSocket(RecordLink::Sockets sockets, int socket) : SetMember(std::move(sockets)) {
    EXPECT_TRUE(join(socket, For::reading));
  }

 private:
  void ready(For) override {}
};

class RecordLinkTest : public testing::Test, public RecordLinkUser {
 public:
  RecordLinkTest() {
    std::array<int, 2> pair{-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()), 0);
    near = Descriptor(pair[0]);
    far = Descriptor(pair[1]);
  }
  ~RecordLinkTest() override {
    link.reset();
    sockets->close();
  }
  void record_received(RecordKind, wire::Bytes, Descriptor attached) override {
    ++records;
    if (attached) ++files;
  }
  void link_closed(const std::string& why) override { reason = why; }
  void make() {
    const runtime::CoreSection section(core);
    link = RecordLink::make(sockets, core.scheduler(), std::move(near), *this);
  }
  void run() {
    io.restart();
    io.poll();
  }
  void send_with(std::size_t count) {
    const Descriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    std::uint8_t octet = static_cast<std::uint8_t>(RecordKind::welcome);
    iovec piece{&octet, 1};
    const std::vector<int> numbers(count, file.number());
    std::vector<std::max_align_t> control(CMSG_SPACE(count * sizeof(int)) / sizeof(std::max_align_t) + 1);
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    *header = {CMSG_LEN(count * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    std::memcpy(CMSG_DATA(header), numbers.data(), count * sizeof(int));
    ASSERT_EQ(::sendmsg(far.number(), &message, MSG_NOSIGNAL), 1);
  }
  static std::ptrdiff_t open_files() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  }

  boost::asio::io_context io;
  runtime::drivers::RealTimeCore core{io};
  RecordLink::Sockets sockets = std::make_shared<streams::drivers::SocketSet>(io, core);
  Descriptor near, far;
  std::shared_ptr<RecordLink> link;
  std::string reason;
  int records = 0, files = 0;
};

// A record has one at most: none of the others stays open here.
TEST_F(RecordLinkTest, all_files_but_the_first_are_closed) {
  make();
  const auto before = open_files();
  for (const std::size_t count : {1, 2, 3, 200}) send_with(count);
  run();
  EXPECT_EQ(records, 4);
  EXPECT_EQ(files, 4);
  EXPECT_EQ(open_files(), before);
}

// As where the system has no room for another file to watch: told as a link that failed, and only later.
TEST_F(RecordLinkTest, that_cannot_be_watched_is_told_as_closed) {
  {
    const SameSocket same(sockets, near.number());
    const runtime::CoreSection section(core);
    link = RecordLink::make(sockets, core.scheduler(), std::move(near), *this);
    EXPECT_EQ(reason, "") << "not from within";
  }
  {
    const runtime::CoreSection section(core);
    link->send({1, 2});
  }
  run();
  EXPECT_NE(reason, "");
  char none = 0;
  EXPECT_EQ(::read(far.number(), &none, 1), 0) << "it is still open";
}

}  // namespace
}  // namespace vitcp::drivers
