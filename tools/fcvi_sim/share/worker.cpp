#include "tools/fcvi_sim/share/worker.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "tools/fcvi_sim/share/process.hpp"

namespace sim::share {
namespace {

constexpr std::size_t note_bytes = 501;  // with its end
char* own_note = nullptr;                // of this process, if it is a worker's

bool read_whole(int socket, void* to, std::size_t size_bytes) {
  for (std::size_t done = 0; done < size_bytes;) {
    const ssize_t size = ::read(socket, static_cast<char*>(to) + done, size_bytes - done);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    done += static_cast<std::size_t>(size);
  }
  return true;
}

bool send_whole(int socket, const void* bytes, std::size_t size_bytes) {
  for (std::size_t done = 0; done < size_bytes;) {
    const ssize_t size = ::send(socket, static_cast<const char*>(bytes) + done, size_bytes - done, MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    done += static_cast<std::size_t>(size);
  }
  return true;
}

}  // namespace

void note_for_death(std::string_view what) {
  if (own_note == nullptr) return;
  own_note[what.copy(own_note, note_bytes - 1)] = 0;
}

Worker::Worker(const Run& run) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::runtime_error("no socket for a worker process");
  void* page = ::mmap(nullptr, note_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw std::runtime_error("no memory for a worker process");
  note_ = static_cast<char*>(page);
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  child_ = ::fork();
  if (child_ < 0) throw std::runtime_error("no worker process can be started");
  if (child_ == 0) {
    ::close(ends[0]);
    own_note = note_;
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
  if (note_ != nullptr) ::munmap(note_, note_bytes);
}

void Worker::serve(int socket, const Run& run) {
  Pieces work;
  while (read_whole(socket, &work, sizeof work)) {
    for (std::uint64_t i = 0; i < work.count; ++i) {
      note_for_death({});
      const std::string text = run(work.first + i);
      const std::uint64_t size_bytes = text.size();
      if (!send_whole(socket, &size_bytes, sizeof size_bytes) || !send_whole(socket, text.data(), text.size()))
        ::_exit(0);
    }
  }
  ::_exit(0);
}

void Worker::give(Pieces pieces) {
  work_ = pieces;
  // A process that died is found by take().
  static_cast<void>(send_whole(socket_, &pieces, sizeof pieces));
}

void Worker::take(std::vector<Result>& to) {
  std::array<char, 65536> buffer;
  const ssize_t size = ::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) return take_death(to);
  text_.append(buffer.data(), static_cast<std::size_t>(size));
  std::size_t done = 0;
  std::uint64_t size_bytes = 0;
  while (text_.size() - done >= sizeof size_bytes) {
    std::memcpy(&size_bytes, text_.data() + done, sizeof size_bytes);
    if (text_.size() - done - sizeof size_bytes < size_bytes) break;
    to.push_back({.piece = work_.first++, .text = text_.substr(done + sizeof size_bytes, size_bytes)});
    done += sizeof size_bytes + size_bytes;
    --work_.count;
  }
  text_.erase(0, done);
}

void Worker::take_death(std::vector<Result>& to) {
  int status = 0;
  ::waitpid(child_, &status, 0);
  child_ = -1;
  if (is_idle()) return;
  to.push_back({.piece = work_.first++, .death = kind_of_death(status), .note = note_});
  --work_.count;
}

}  // namespace sim::share
