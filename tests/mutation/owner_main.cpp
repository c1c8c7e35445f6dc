// The main() of each test program in a build of tools/mutation --owners. Started with FCVI_OWNER_SERVER set
// it is a server: for each line of standard input it runs some tests in a child, which is cheaper than a
// process from scratch.
//
//   request: MUTANT CPU_SECONDS WALL_SECONDS FILTER
//   answer:  passed MICROSECONDS TEST | failed - TEST | crashed - TEST | endless - TEST      (TEST: the last
//   that began)
#include "tests/mutation/owner_mutant.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <sstream>
#include <string>

namespace {

using Clock = std::chrono::steady_clock;
constexpr rlim_t most_memory_bytes = rlim_t{6} << 30;

struct Request {
  int mutant = 0;
  unsigned cpu_s = 0, wall_s = 0;
  std::string filter;
};

class Teller final : public testing::EmptyTestEventListener {
 public:
  explicit Teller(int pipe) : pipe_(pipe) {}

 private:
  void OnTestStart(const testing::TestInfo& test) override {
    if (failed_) return;  // what is skipped then begins, too
    const std::string line = std::string(test.test_suite_name()) + "." + test.name() + "\n";
    static_cast<void>(!::write(pipe_, line.data(), line.size()));
  }
  void OnTestPartResult(const testing::TestPartResult& result) override { failed_ = failed_ || result.failed(); }
  bool failed_ = false;
  int pipe_;
};

void limit(int what, rlim_t most) {
  const rlimit bounds{most, most};
  ::setrlimit(what, &bounds);
}

[[noreturn]] void run_as_child(const Request& request, int pipe) {
  ::setpgid(0, 0);
  limit(RLIMIT_CPU, request.cpu_s);
  limit(RLIMIT_AS, most_memory_bytes);
  limit(RLIMIT_CORE, 0);
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (const int standard : {0, 1, 2}) ::dup2(nowhere, standard);
  ::setenv("FCVI_OWNER_MUTANT", std::to_string(request.mutant).c_str(), 1);
  owner_mutant::chosen = request.mutant;
  testing::GTEST_FLAG(filter) = request.filter;
  testing::GTEST_FLAG(fail_fast) = true;
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new Teller(pipe));
  std::exit(RUN_ALL_TESTS());
}

// What the child wrote until it ended, or until the time is over; false then.
bool listen(int pipe, Clock::time_point end, std::string& heard) {
  char buffer[4096];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd one{pipe, POLLIN, 0};
    if (left <= 0 || ::poll(&one, 1, static_cast<int>(left)) == 0) return false;
    const auto size = ::read(pipe, buffer, sizeof buffer);
    if (size <= 0) return true;
    heard.append(buffer, static_cast<std::size_t>(size));
  }
}

std::string last_line(const std::string& text) {
  if (text.empty()) return "-";
  const auto before = text.rfind('\n', text.size() - 2);
  return text.substr(before == std::string::npos ? 0 : before + 1,
                     text.size() - 1 - (before == std::string::npos ? 0 : before + 1));
}

std::string outcome(bool ended, int status) {
  if (!ended || (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))) return "endless";
  if (WIFSIGNALED(status)) return "crashed";
  return WEXITSTATUS(status) == 0 ? "passed" : WEXITSTATUS(status) == 1 ? "failed" : "crashed";
}

void serve(const Request& request) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
  const auto begin = Clock::now();
  const pid_t child = ::fork();
  if (child == 0) run_as_child(request, ends[1]);
  ::close(ends[1]);
  std::string heard;
  int status = 0;
  const bool ended = listen(ends[0], begin + std::chrono::seconds(request.wall_s), heard);
  ::kill(-child, SIGKILL);  // and its own children; an ended one keeps its status
  if (!ended) ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  ::close(ends[0]);
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count();
  std::cout << outcome(ended, status) << ' ' << took << ' ' << last_line(heard) << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  if (std::getenv("FCVI_OWNER_SERVER") == nullptr) return RUN_ALL_TESTS();
  for (std::string line; std::getline(std::cin, line);) {
    Request request;
    std::istringstream(line) >> request.mutant >> request.cpu_s >> request.wall_s >> request.filter;
    serve(request);
  }
}
