#include "tools/fcvi_sim/soak/worker.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "tools/fcvi_sim/soak/child.hpp"

namespace sim::soak {
namespace {

/// Before the rest of an outcome, in the byte order of the machine.
struct Head {
  std::uint64_t frames, digest, size_bytes;  // of the failure's text behind it; 0: it passed
};

bool read_whole(int socket, void* to, std::size_t size_bytes) {
  for (std::size_t done = 0; done < size_bytes;) {
    const ssize_t size = ::read(socket, static_cast<char*>(to) + done, size_bytes - done);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    done += static_cast<std::size_t>(size);
  }
  return true;
}

bool send_whole(int socket, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t size = ::send(socket, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    done += static_cast<std::size_t>(size);
  }
  return true;
}

std::string message_of(const Outcome& outcome) {
  const std::string text = outcome.passed() ? "" : outcome.kind + "\n" + outcome.what;
  const Head head{outcome.frames, outcome.digest, text.size()};
  return std::string(reinterpret_cast<const char*>(&head), sizeof head) + text;
}

}  // namespace

Worker::Worker(const Run& run) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::runtime_error("no socket for a worker process");
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  child_ = ::fork();
  if (child_ < 0) throw std::runtime_error("no worker process can be started");
  if (child_ == 0) {
    ::close(ends[0]);
    begin_child(parent);
    serve(ends[1], run);
  }
  ::close(ends[1]);
  socket_ = ends[0];
}

Worker::~Worker() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  if (socket_ >= 0) ::close(socket_);
}

void Worker::serve(int socket, const Run& run) {
  Seeds work;
  while (read_whole(socket, &work, sizeof work)) {
    for (std::uint64_t i = 0; i < work.count; ++i) {
      limit_processor_time(most_seconds_of_a_run);
      if (!send_whole(socket, message_of(run(work.first + i)))) ::_exit(0);
    }
  }
  ::_exit(0);
}

void Worker::give(Seeds seeds) {
  work_ = seeds;
  // A process that died is found by take().
  static_cast<void>(send_whole(socket_, std::string(reinterpret_cast<const char*>(&seeds), sizeof seeds)));
}

void Worker::take(std::vector<Result>& to) {
  std::array<char, 65536> buffer;
  const ssize_t size = ::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) return take_death(to);
  text_.append(buffer.data(), static_cast<std::size_t>(size));
  std::size_t done = 0;
  Head head{};
  while (text_.size() - done >= sizeof head) {
    std::memcpy(&head, text_.data() + done, sizeof head);
    if (text_.size() - done < sizeof head + head.size_bytes) break;
    const std::string failure = text_.substr(done + sizeof head, head.size_bytes);
    done += sizeof head + head.size_bytes;
    Outcome outcome{.frames = head.frames, .digest = head.digest, .kind = failure.substr(0, failure.find('\n'))};
    if (!failure.empty()) outcome.what = failure.substr(failure.find('\n') + 1);
    to.push_back({work_.first++, std::move(outcome)});
    --work_.count;
  }
  text_.erase(0, done);
}

void Worker::take_death(std::vector<Result>& to) {
  int status = 0;
  ::waitpid(child_, &status, 0);
  child_ = -1;
  if (is_idle()) return;
  const std::string kind = kind_of_death(status);
  to.push_back({work_.first++, {.kind = kind, .what = kind + "\n"}});
  --work_.count;
}

}  // namespace sim::soak
