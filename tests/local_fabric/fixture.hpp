// A runtime directory of a test's own, and what is in it.
#pragma once
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fc2_fabric/drivers/runtime_directory.hpp"

namespace support {
using namespace std::chrono_literals;
inline constexpr auto generous = 60s;  // ends a test that hangs, no more

/// True if it came so far.
inline bool eventually(const std::function<bool()>& done, std::chrono::milliseconds limit = generous) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    ::usleep(1000);
  }
  return true;
}

/// A child process; killed at the end if it still runs.
class Child {
 public:
  explicit Child(const std::function<int()>& body) : pid_(::fork()) {
    if (pid_ == 0) ::_exit(body());
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    kill(SIGKILL);
    kill(SIGCONT);
    wait();
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  void kill(int signal) const { ::kill(pid_, signal); }
  /// Still to be waited for.
  [[nodiscard]] bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
  }
  /// Exit status; -1: a signal ended it.
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_;
};

class LocalFabricTest : public testing::Test {
 public:
  LocalFabricTest() {
    std::string name = (std::filesystem::temp_directory_path() / "fcvi-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    directory_path = name;
    ::setenv("FCVI_RUNTIME_DIR", name.c_str(), 1);
    ::setenv("FCVI_FABRICD", FCVI_FABRICD_PROGRAM, 1);
  }
  ~LocalFabricTest() override {
    command("stop");
    std::filesystem::remove_all(directory_path);
  }

  /// Runs fcvi-fabricd and waits for its end; its output is in `output`.
  int command(const std::string& arguments) {
    const std::string file = directory_path + "/output";
    const int status =
        std::system((std::string(FCVI_FABRICD_PROGRAM) + " " + arguments + " > " + file + " 2>&1").c_str());
    std::string text(std::filesystem::exists(file) ? std::filesystem::file_size(file) : 0, '\0');
    if (std::FILE* opened = std::fopen(file.c_str(), "rb")) {
      text.resize(std::fread(text.data(), 1, text.size(), opened));
      std::fclose(opened);
    }
    output = text;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  /// Of the service that runs; 0: none.
  pid_t service() {
    if (command("status --json") != 0) return 0;
    const std::string key = "\"process_id\":";
    return static_cast<pid_t>(std::strtol(output.c_str() + output.find(key) + key.size(), nullptr, 10));
  }
  void kill_service(int signal) {
    const pid_t pid = service();
    ASSERT_GT(pid, 0) << output;  // 0 would be everybody who runs this test
    ::kill(pid, signal);
  }
  bool start_service(const std::string& arguments = "--idle-seconds 60") {
    return command("--daemonize " + arguments) == 0 && eventually([&] { return service() != 0; });
  }
  [[nodiscard]] std::string path(const std::string& name) const { return directory_path + "/" + name; }

  std::string directory_path, output;
};

}  // namespace support
