#include "tools/fcvi_sim/soak/child.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <sstream>
#include <stdexcept>

#include "tools/fcvi_sim/share/process.hpp"

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
  share::limit_processor_time(share::most_seconds_of_a_run);
  write_all(output, encoded(work()));
  ::_exit(0);
}

}  // namespace

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
    share::begin_child(parent);
    work_and_exit(work, ends[1], error_path);
  }
  ::close(ends[1]);
  const std::string text = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !text.empty()) return decoded(text);
  return {.kind = share::kind_of_death(status), .what = share::kind_of_death(status) + "\n"};
}

}  // namespace sim::soak
