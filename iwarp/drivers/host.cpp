#include "iwarp/drivers/host.hpp"

#include <pthread.h>
#include <signal.h>

#include <exception>
#include <random>

#include "runtime/drivers/link_descriptor.hpp"

namespace iwarp::drivers {
namespace {

/// STags are hard to guess for who does not know them (RFC 5042 6.1.1).
std::uint64_t drawn_seed() {
  std::random_device chance;
  return std::uint64_t{chance()} << 32 | chance();
}

runtime::TimeNs monotonic_now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Host::Host(Progress progress) : scheduler_(std::max(monotonic_now(), runtime::second)), memory_(drawn_seed()) {
  if (progress == Progress::own_thread) start_thread();
}

Host::~Host() {
  io_.stop();
  if (thread_.joinable()) thread_.join();
}

/// Signals are for the program's own threads.
void Host::start_thread() {
  sigset_t all, before;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] {
    while (!io_.stopped()) {
      try {
        io_.run();
      } catch (const std::exception&) {
        // A handler that ran out of memory; the others go on.
      }
    }
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

runtime::TimeNs Host::now() const { return std::max(monotonic_now(), scheduler_.now()); }

void Host::enter() {
  int state = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  lock_.lock();
  cancel_state_ = state;
  settle();
}

void Host::leave() {
  scheduler_.run_until(scheduler_.now());
  release();
}

void Host::settle() {
  if (!abandoned_) scheduler_.run_until(now());
}

void Host::release() {
  arm();
  const int state = cancel_state_;
  lock_.unlock();
  pthread_setcancelstate(state, nullptr);
}

bool Host::try_enter() {
  int state = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  if (!lock_.try_lock()) return pthread_setcancelstate(state, nullptr), false;
  cancel_state_ = state;
  settle();
  return true;
}

bool Host::poll() {
  if (!try_enter()) return false;
  bool found = false;
  for (std::size_t i = 0; i < inputs_.size(); ++i) found |= inputs_[i]->read_now();
  leave();
  return found;
}

void Host::wait_for_input() {
  for (runtime::Input* const input : inputs_) input->wait_for_input();
}

void Host::run_for(std::chrono::milliseconds time) {
  io_.restart();
  io_.run_one_for(time);
  io_.poll();
}

/// A timer that fires too early does no harm: it sets the next one.
void Host::arm() {
  const runtime::TimeNs next = scheduler_.next_time();
  if (abandoned_ || next >= armed_for_) return;
  armed_for_ = next;
  timer_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(next)));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;  // another one was set
    enter();
    armed_for_ = runtime::never;
    leave();
  });
}

void Host::abandon_in_child() {
  abandoned_ = true;
  runtime::drivers::LinkDescriptor::close_all_in_child();
}

}  // namespace iwarp::drivers
