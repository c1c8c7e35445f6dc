// Sockets that tell of a NIC whoever asks: races of those who come, go and ask, and a process that is
// out of descriptors.
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "fc2_fabric/drivers/fabric_core.hpp"
#include "fc2_fabric/drivers/fabric_service.hpp"
#include "runtime/drivers/status_socket.hpp"

namespace {
std::function<void()> before_listen;  // what comes between bind() and listen()
}  // namespace

/// The library's calls come here.
extern "C" int listen(int descriptor, int backlog) noexcept {
  if (before_listen) before_listen();
  return static_cast<int>(::syscall(SYS_listen, descriptor, backlog));
}

namespace fc2::drivers {
namespace {
using namespace std::chrono_literals;
using runtime::drivers::StatusSocket;

class StatusSocketTest : public testing::Test {
 protected:
  StatusSocketTest() {
    std::string pattern = testing::TempDir() + "fcvi-status-XXXXXX", error;
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    directory = RuntimeDirectory::open(folder, error);
    EXPECT_TRUE(directory) << error;
  }
  ~StatusSocketTest() override { std::filesystem::remove_all(folder); }
  std::unique_ptr<StatusSocket> open() {
    const runtime::CoreSection section(core);
    return std::make_unique<StatusSocket>(io, core, *directory, "nic", [] { return std::string("here"); });
  }
  void close(std::unique_ptr<StatusSocket> socket) {
    const runtime::CoreSection section(core);
    socket.reset();
  }
  [[nodiscard]] std::size_t names() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator{}));
  }
  std::string folder;
  std::optional<RuntimeDirectory> directory;
  boost::asio::io_context io;
  FabricCore core{io};
};

// Each has a name of its own, which goes with it.
TEST_F(StatusSocketTest, those_of_one_process_have_names_of_their_own) {
  auto one = open(), other = open();
  EXPECT_NE(one->path(), other->path());
  EXPECT_EQ(names(), 2U);
  std::thread runner([&] { io.run_for(2s); });
  EXPECT_EQ(StatusSocket::ask(*directory, "nic"), (std::vector<std::string>{"here", "here"}));
  EXPECT_TRUE(StatusSocket::ask(*directory, "ni").empty()) << "of another kind";
  io.stop();
  runner.join();
  close(std::move(one));
  EXPECT_EQ(names(), 1U);
  close(std::move(other));
  EXPECT_EQ(names(), 0U);
}

// Who asks removes the names of processes that are gone, but never that of a NIC which is just opening.
TEST_F(StatusSocketTest, asked_while_it_opens_keeps_its_name) {
  int asked = 0;
  before_listen = [&] {
    ++asked;
    EXPECT_TRUE(StatusSocket::ask(*directory, "nic").empty());
  };
  auto socket = open();
  before_listen = nullptr;
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(std::filesystem::exists(socket->path())) << socket->path();
  EXPECT_EQ(names(), 1U);
  close(std::move(socket));
  EXPECT_EQ(names(), 0U);
}

// A name whose process ended suddenly.
TEST_F(StatusSocketTest, name_of_a_process_that_is_gone_is_removed) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = folder + "/nic.1.0";
  path.copy(address.sun_path, path.size());
  const int gone = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const void* generic = &address;
  ASSERT_EQ(::bind(gone, static_cast<const sockaddr*>(generic), sizeof address), 0);
  ::close(gone);
  EXPECT_TRUE(StatusSocket::ask(*directory, "nic").empty());
  EXPECT_EQ(names(), 0U);
}

/// No more descriptors than there are now, to the end of the block.
class NoMoreDescriptors {
 public:
  NoMoreDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::dup(0);  // the lowest that is free
    ::close(next);
    const rlimit now{static_cast<rlim_t>(next), before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &now), 0);
  }
  /// UBSan looks whether memory is there through a pipe, and takes an object for none where it gets no
  /// descriptor for that.
  static constexpr bool blinds_sanitizer =
#if defined(__SANITIZE_ADDRESS__)
      true;
#else
      false;
#endif
  ~NoMoreDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

// Nobody can ask then; the NIC opens all the same.
TEST_F(StatusSocketTest, opening_without_descriptors_has_no_name) {
  if (NoMoreDescriptors::blinds_sanitizer) GTEST_SKIP() << "UBSan needs a descriptor to look at memory";
  const NoMoreDescriptors scarcity;
  auto socket = open();
  EXPECT_TRUE(socket->path().empty());
  close(std::move(socket));
}

// Who asks waits then, and the process does not turn in circles meanwhile; it answers when there is a descriptor again.
TEST_F(StatusSocketTest, asked_without_descriptors_answers_later) {
  if (NoMoreDescriptors::blinds_sanitizer) GTEST_SKIP() << "UBSan needs a descriptor to look at memory";
  auto socket = open();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket->path().copy(address.sun_path, socket->path().size());
  const void* generic = &address;
  const int asking = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  {
    const NoMoreDescriptors scarcity;
    ASSERT_EQ(::connect(asking, static_cast<const sockaddr*>(generic), sizeof address), 0);
    const auto end = std::chrono::steady_clock::now() + 500ms;
    std::size_t turns = 0;
    while (std::chrono::steady_clock::now() < end) turns += io.run_one_until(end);
    EXPECT_LT(turns, 30U);  // two for each tenth of a second
    char byte = 0;
    EXPECT_EQ(::recv(asking, &byte, 1, MSG_DONTWAIT), -1);
  }
  std::string text(8, ' ');
  ssize_t answered = -1;
  for (const auto end = std::chrono::steady_clock::now() + 30s;
       answered < 0 && std::chrono::steady_clock::now() < end;) {
    io.run_for(50ms);
    answered = ::recv(asking, text.data(), text.size(), MSG_DONTWAIT);
  }
  EXPECT_EQ(answered, 4);
  EXPECT_EQ(text.substr(0, 4), "here");
  ::close(asking);
  close(std::move(socket));
}

}  // namespace
}  // namespace fc2::drivers
