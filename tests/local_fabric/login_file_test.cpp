// Who is logged in at the FCF, kept on disk: what is written is read again, and nothing else is believed.
#include "tools/fabricd/login_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace fabricd {
namespace {
namespace fs = std::filesystem;
using fc2::fcoe::FormerLogin;
using Logins = std::vector<FormerLogin>;

class LoginFileTest : public testing::Test {
 protected:
  LoginFileTest() {
    std::string name = (fs::temp_directory_path() / "fcvi-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    path = folder + "/fcf.logins";
  }
  ~LoginFileTest() override { fs::remove_all(folder); }
  void put(const std::string& text) const { std::ofstream(path) << text; }

  const wire::MacAddress one{{0x02, 0, 0, 0, 0, 1}}, two{{0x02, 0, 0, 0, 0, 2}};
  std::string folder, path;
};

TEST_F(LoginFileTest, what_is_written_is_read) {
  const Logins logins{{"eth0", one, 0}, {"udp:1:2", two, 4095}};
  ASSERT_EQ(write_logins(path, logins), "");
  EXPECT_EQ(read_logins(path), logins);
  struct stat about {};
  ASSERT_EQ(::stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600U);
}

TEST_F(LoginFileTest, what_is_written_replaces_what_was_there) {
  ASSERT_EQ(write_logins(path, {{"eth0", one, 0}, {"eth0", two, 1}}), "");
  ASSERT_EQ(write_logins(path, {{"eth0", two, 7}}), "");
  EXPECT_EQ(read_logins(path), (Logins{{"eth0", two, 7}}));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
}

TEST_F(LoginFileTest, no_file_says_nothing) { EXPECT_TRUE(read_logins(path).empty()); }

TEST_F(LoginFileTest, lines_that_are_none_are_passed_over) {
  for (const char* line :
       {"", " ", "eth0", "eth0 02:00:00:00:00:01", "eth0 02:00:00:00:00:01 x", "eth0 02:00:00:00:00:01 -1",
        "eth0 02:00:00:00:00:01 1x", "eth0 02:00:00:00:00 1", "eth0 03:00:00:00:00:01 1",
        "eth0 02:00:00:00:00:01 99999999999999999999999", "eth0 02:00:00:00:00:01 1 more"}) {
    put(std::string("eth0 02:00:00:00:00:01 1\n") + line + "\neth0 02:00:00:00:00:02 2\n");
    EXPECT_EQ(read_logins(path), (Logins{{"eth0", one, 1}, {"eth0", two, 2}})) << line;
  }
}

TEST_F(LoginFileTest, bytes_that_are_no_text_are_passed_over) {
  put(std::string("\0\xFF\n\n\0", 5) + std::string(100'000, 'x'));
  EXPECT_TRUE(read_logins(path).empty());
}

TEST_F(LoginFileTest, so_many_lines_and_no_more) {
  std::string text;
  for (std::size_t i = 0; i <= max_kept_logins; ++i) text += "eth0 02:00:00:00:00:01 " + std::to_string(i) + "\n";
  put(text);
  EXPECT_EQ(read_logins(path).size(), max_kept_logins);
}

TEST_F(LoginFileTest, what_cannot_be_written_is_told) {
  const std::string nowhere = folder + "/missing/fcf.logins";
  EXPECT_EQ(write_logins(nowhere, {}), nowhere + ".new: cannot be written: No such file or directory");
  fs::create_directory(path);
  fs::create_directory(path + "/full");
  EXPECT_EQ(write_logins(path, {}), path + ": cannot be written: Is a directory");
}

// Nobody makes us write through a link that was put there.
TEST_F(LoginFileTest, a_link_is_not_followed) {
  put("mine");
  fs::create_symlink(path, path + ".new");
  EXPECT_NE(write_logins(path, {}), "");
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  EXPECT_EQ(text, "mine");
}

}  // namespace
}  // namespace fabricd
