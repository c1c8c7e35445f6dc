// A runtime directory of a test's own, and what is in it.
#pragma once
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "fc2_fabric/drivers/fabric_service.hpp"
#include "tests/support/processes.hpp"

namespace support {
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
