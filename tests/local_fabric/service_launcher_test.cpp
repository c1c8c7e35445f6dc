// How often a service is started that does not stay.
#include "runtime/drivers/service_launcher.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <filesystem>

#include "runtime/drivers/descriptor.hpp"

namespace runtime::drivers {
namespace {
using Clock = std::chrono::steady_clock;

/// The service's program writes one octet to a pipe each time it is started; its socket is the test's.
class ServiceConnectorTest : public testing::Test {
 protected:
  ServiceConnectorTest() {
    std::string name = (std::filesystem::temp_directory_path() / "fcvi-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    read_end = Descriptor(ends[0]);
    write_end = Descriptor(ends[1]);
  }
  ~ServiceConnectorTest() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] Descriptor listener(const std::string& path) const {
    Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const void* const generic = &address;
    EXPECT_EQ(::bind(socket.number(), static_cast<const sockaddr*>(generic), sizeof address), 0);
    EXPECT_EQ(::listen(socket.number(), 8), 0);
    return socket;
  }
  /// After all that was started has ended.
  int starts() {
    write_end = Descriptor();
    int count = 0;
    for (char octet = 0; ::read(read_end.number(), &octet, 1) == 1;) ++count;
    return count;
  }
  [[nodiscard]] ServiceConnector::Program program() const {
    return {.name = "none",
            .variable = "NONE",
            .path = "/bin/sh",
            .arguments = {"-c", "printf x > /proc/self/fd/" + std::to_string(write_end.number())}};
  }

  std::string folder;
  Descriptor read_end, write_end;
};

// Reached, gone, reached, gone: once a second at most, however often it is reached.
TEST_F(ServiceConnectorTest, service_that_ends_soon_is_not_started_all_the_time) {
  std::string error;
  const ServicePlace place(*RuntimeDirectory::open(folder, error), "brief");
  ServiceConnector connector(program(), SOCK_STREAM);
  const auto began = Clock::now();
  for (int i = 0; i < 50; ++i) {
    EXPECT_LT(connector.connect(place).descriptor, 0);
    const Descriptor service = listener(place.socket_path());
    const Descriptor reached(connector.connect(place).descriptor);
    EXPECT_TRUE(reached);
    std::filesystem::remove(place.socket_path());
  }
  const auto took = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - began).count();
  const int count = starts();
  EXPECT_GE(count, 1);
  EXPECT_LE(count, took + 1);
}

}  // namespace
}  // namespace runtime::drivers
