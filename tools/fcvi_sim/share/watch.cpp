#include "tools/fcvi_sim/share/watch.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace sim::share {

Watch::~Watch() {
  if (process_ >= 0) ::close(process_);
}

void Watch::begin(const Place& place) {
  begun_ = true;
  heard();
  if (place.machine != own_place().machine) return;
  process_ = static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(place.pid), 0));
  gone_ = process_ < 0 && errno == ESRCH;
}

bool Watch::is_dead() const {
  if (!begun_) return false;
  pollfd process{process_, POLLIN, 0};
  if (process_ >= 0) return ::poll(&process, 1, 0) > 0;  // a process that is stopped is silent, and lives
  return gone_ || Clock::now() - heard_ > longest_silence;
}

bool Watch::is_due() {
  const auto now = Clock::now();
  if (now - told_ < says_something_every) return false;
  told_ = now;
  return true;
}

}  // namespace sim::share
