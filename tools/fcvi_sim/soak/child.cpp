#include "tools/fcvi_sim/soak/child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace sim::soak {
namespace {

std::string read_all(int descriptor) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t size = ::read(descriptor, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(size));
  }
}

void write_all(int descriptor, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t size = ::write(descriptor, text.data() + done, text.size() - done);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    done += static_cast<std::size_t>(size);
  }
}

[[noreturn]] void work_and_exit(const std::function<Outcome()>& work, int output, const std::string& error_path) {
  const char* path = error_path.empty() ? "/dev/null" : error_path.c_str();
  if (const int errors = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666); errors >= 0) ::dup2(errors, STDERR_FILENO);
  limit_processor_time(most_seconds_of_a_run);
  write_all(output, encoded(work()));
  ::_exit(0);
}

}  // namespace

void limit_processor_time(int seconds) {
  const itimerval timer{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

void begin_child(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
}

std::string kind_of_death(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return "ended early";
  if (WTERMSIG(wait_status) == SIGPROF)
    return "needed more than " + std::to_string(most_seconds_of_a_run) + " s of processor time";
  return std::string("died of ") + ::strsignal(WTERMSIG(wait_status));
}

std::string encoded(const Outcome& outcome) {
  std::ostringstream text;
  text << outcome.frames << ' ' << outcome.digest << '\n' << outcome.kind << '\n';
  for (const auto& turns : outcome.turns) {
    for (const std::uint64_t turn : turns) text << turn << ',';
    text << ';';
  }
  text << '\n' << outcome.what;
  return text.str();
}

Outcome decoded(const std::string& text) {
  Outcome outcome;
  std::istringstream input(text);
  std::string line, turn;
  input >> outcome.frames >> outcome.digest;
  std::getline(input, line);
  std::getline(input, outcome.kind);
  std::getline(input, line);
  std::istringstream rules(line);
  for (std::string rule; std::getline(rules, rule, ';');) {
    outcome.turns.emplace_back();
    for (std::istringstream turns(rule); std::getline(turns, turn, ',');)
      outcome.turns.back().push_back(std::stoull(turn));
  }
  while (std::getline(input, line)) outcome.what += line + "\n";
  return outcome;
}

Outcome in_child(const std::function<Outcome()>& work, const std::string& error_path) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for a child process");
  std::fflush(nullptr);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) throw std::runtime_error("no child process can be started");
  if (child == 0) {
    begin_child(parent);
    work_and_exit(work, ends[1], error_path);
  }
  ::close(ends[1]);
  const std::string text = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !text.empty()) return decoded(text);
  return {.kind = kind_of_death(status), .what = kind_of_death(status) + "\n"};
}

}  // namespace sim::soak
