// The log of a service that has no terminal: closed to others, bounded, and nothing that the process says is lost.
#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cassert>
#include <fstream>

#include "tests/local_fabric/fixture.hpp"
#include "tools/service_common/log.hpp"

namespace support {
namespace {

class LogTest : public LocalFabricTest {
 public:
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::string log_file() const { return path("fabricd.log"); }
  /// A process that logs there and then fails an assertion, as the service would.
  void fail_an_assertion(const std::function<void()>& before) const {
    Child child([&] {
      const rlimit no_core{0, 0};
      ::setrlimit(RLIMIT_CORE, &no_core);
      services::log_to_file("fabricd", log_file(), "info");
      before();
      assert(before == nullptr && "this assertion failed");
      return 0;
    });
    EXPECT_EQ(child.wait(), -1);
  }
};

// The text of an assertion that ends the service stands in its log, behind what it logged before.
TEST_F(LogTest, assertion_is_in_the_log) {
  fail_an_assertion([] { spdlog::info("before"); });
  const std::string text = text_of("fabricd.log");
  const std::size_t before = text.find("info: before"), failed = text.find("this assertion failed");
  ASSERT_NE(failed, std::string::npos) << text;
  EXPECT_LT(before, failed);
}

// Where the log was begun anew, it stands in the new one; and no file is larger than the bound.
TEST_F(LogTest, assertion_after_the_log_began_anew) {
  const std::string kilobyte(1024, 'x');
  fail_an_assertion([&] {
    for (int i = 0; i < 2500; ++i) spdlog::info(kilobyte);
  });
  EXPECT_NE(text_of("fabricd.log").find("this assertion failed"), std::string::npos);
  EXPECT_LE(text_of("fabricd.1.log").size(), services::log_bytes);
  EXPECT_FALSE(std::filesystem::exists(path("fabricd.2.log")));
}

// The program does so: its standard error is its log, which is the user's alone.
TEST_F(LogTest, service_says_its_last_words_in_the_log) {
  ASSERT_TRUE(start_service());
  const std::string standard_error = "/proc/" + std::to_string(service()) + "/fd/2";
  EXPECT_EQ(std::filesystem::read_symlink(standard_error), std::filesystem::canonical(log_file()));
  std::ofstream(standard_error, std::ios::app) << "last words\n";
  EXPECT_NE(text_of("fabricd.log").find("last words"), std::string::npos);
  struct stat status {};
  ASSERT_EQ(::stat(log_file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

}  // namespace
}  // namespace support
