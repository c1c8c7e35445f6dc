#include "vipl/memory_faults.hpp"

#include <pthread.h>
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>

namespace vipl {
namespace {

constexpr std::uint32_t accesses_between_looks = 1024;
constexpr std::uintptr_t page_mask = 4095;  // some faults tell no more than the page

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

/// Where a thread goes on when its access fails.
struct Landing {
  std::uintptr_t first, last;  // what it touches
  Landing* outer;              // of the access that a signal handler of the program interrupted
  jmp_buf place;
};

/// A handler of the program that ours has called. By value: the program may leave it by a jump.
struct PassedOn {
  bool active;
  bool number_only;              // it knows neither siginfo nor context
  std::uintptr_t frame, context;
  std::size_t index;
};

struct ThreadState {
  Landing* landing;
  std::uint32_t accesses_left;          // until the next look; none in a thread that blocks the signals
  std::uint32_t blocked_accesses_left;  // in such a thread
  PassedOn passed_on;
};
// A handler must find it without a call that allocates.
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadState self{};

// --- what the program had installed ------------------------------------------------------------------------

/// Those that were found in place of ours, the latest last. Written by one thread at a time, read by handlers.
struct Formers {
  static constexpr std::size_t most = 16;
  std::array<struct sigaction, most> actions;
  std::atomic<std::size_t> count;
};
constinit std::array<Formers, MemoryFaults::signals.size()> formers_of{};
constinit std::atomic<bool> installing{false};

Formers& formers(int signal) { return formers_of[signal == MemoryFaults::signals[0] ? 0 : 1]; }

bool is_default(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN);
}

bool same(const struct sigaction& one, const struct sigaction& other) {
  return one.sa_flags == other.sa_flags && one.sa_sigaction == other.sa_sigaction;
}

// A full list forgets the latest but one: who comes after is most likely to know the others.
void remember(Formers& list, const struct sigaction& action) {
  const std::size_t count = list.count.load(std::memory_order_relaxed);
  if (count != 0 && same(list.actions[count - 1], action)) return;
  const std::size_t place = count == Formers::most ? count - 1 : count;
  list.actions[place] = action;
  list.count.store(place + 1, std::memory_order_release);
}

void on_fault(int signal, siginfo_t* info, void* context);

void install(int signal) {
  struct sigaction present{}, ours{};
  if (sigaction(signal, nullptr, &present) != 0) return;
  ours.sa_sigaction = on_fault;
  if ((present.sa_flags & SA_SIGINFO) != 0 && present.sa_sigaction == ours.sa_sigaction) return;
  remember(formers(signal), present);
  // As the program wants it. Where it wants nothing, a stack that has overflowed is no place for a handler.
  const int kept = present.sa_flags & (SA_ONSTACK | SA_RESTART);
  ours.sa_flags = SA_SIGINFO | (is_default(present) ? SA_ONSTACK : kept);
  sigemptyset(&ours.sa_mask);
  sigaction(signal, &ours, nullptr);
}

// --- handing on ---------------------------------------------------------------------------------------------

/// Contexts of signals lie close above the frames of their handlers. What else comes is no context: the program has called
/// the handler with the number alone.
bool is_context(const void* context, std::uintptr_t frame) {
  constexpr std::uintptr_t close = 1u << 20;
  return number(context) > frame && number(context) - frame < close;
}

/// A handler that takes the number alone gets a context all the same, but a siginfo that nobody filled in.
bool is_filled_in(int signal, const siginfo_t* info, const void* context, std::uintptr_t frame) {
  return is_context(context, frame) && info->si_signo == signal;
}

/// Not by another process, or by raise(): it comes again when the access is tried again.
bool is_by_access(int signal, const siginfo_t* info, const void* context, std::uintptr_t frame) {
  return !is_filled_in(signal, info, context, frame) || info->si_code > 0;
}

/// A handler that ours has called calls ours: the one before it is meant.
bool came_back(const void* context, std::uintptr_t frame) {
  const PassedOn& former = self.passed_on;
  if (!former.active || frame >= former.frame) return false;
  return number(context) == former.context || (former.number_only && !is_context(context, frame));
}

void take_default_action(int signal, bool will_fault_again) {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  if (!will_fault_again) raise(signal);
}

void call(const struct sigaction& action, int signal, siginfo_t* info, void* context) {
  sigset_t mask = action.sa_mask, own;
  sigemptyset(&own);
  sigaddset(&own, signal);
  pthread_sigmask(SIG_BLOCK, &mask, nullptr);  // the return from the signal restores what was
  if ((action.sa_flags & SA_NODEFER) != 0) pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  if ((action.sa_flags & SA_SIGINFO) != 0) action.sa_sigaction(signal, info, context);
  else action.sa_handler(signal);
}

void pass_on(int signal, siginfo_t* info, void* context, std::uintptr_t frame) {
  const bool back = came_back(context, frame);
  const bool by_access = is_by_access(signal, info, context, frame);
  const std::size_t left = back ? self.passed_on.index : formers(signal).count.load(std::memory_order_acquire);
  if (left == 0) return take_default_action(signal, by_access);
  const struct sigaction action = formers(signal).actions[left - 1];
  if (is_default(action)) {
    if (action.sa_handler == SIG_IGN && !by_access) return;
    return take_default_action(signal, by_access);
  }
  const PassedOn before = self.passed_on;
  self.passed_on = {true, (action.sa_flags & SA_SIGINFO) == 0, frame, number(context), left - 1};
  call(action, signal, info, context);
  self.passed_on = before;
}

// --- the library's own accesses -----------------------------------------------------------------------------

[[noreturn]] void land() { _longjmp(self.landing->place, 1); }

void unblock(const int signal) {
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, signal);
  pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
}

/// The thread goes on in land() as if the access had called it. The return from the signal restores mask and stack.
void go_on_in_land(int signal, void* context) {
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  constexpr greg_t red_zone_bytes = 128, direction_flag = 0x400;
  machine.gregs[REG_RSP] = ((machine.gregs[REG_RSP] - red_zone_bytes) & ~greg_t{15}) - greg_t{8};
  machine.gregs[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(&land));
  machine.gregs[REG_EFL] &= ~direction_flag;
  static_cast<void>(signal);
#elif defined(__aarch64__)
  machine.sp &= ~std::uintptr_t{15};
  machine.pc = reinterpret_cast<std::uintptr_t>(&land);
  static_cast<void>(signal);
#else
  static_cast<void>(machine);
  unblock(signal);
  land();
#endif
}

bool is_touched(const Landing& landing, std::uintptr_t address) {
  return address >= (landing.first & ~page_mask) && address <= (landing.last | page_mask);
}

/// The machine tells it too, but for memory that has failed.
std::uintptr_t fault_address(const void* context) {
  [[maybe_unused]] const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_CR2]);
#elif defined(__aarch64__)
  return machine.fault_address;
#else
  return 0;
#endif
}

[[gnu::noinline]] void on_fault(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const std::uintptr_t frame = number(__builtin_frame_address(0));
  const Landing* const landing = self.landing;
  if (landing != nullptr && !came_back(context, frame)) {
    if (!is_context(context, frame)) {
      unblock(signal);
      land();
    }
    const bool told = is_filled_in(signal, info, context, frame) && is_touched(*landing, number(info->si_addr));
    if (is_by_access(signal, info, context, frame) && (told || is_touched(*landing, fault_address(context))))
      return go_on_in_land(signal, context);
  }
  pass_on(signal, info, context, frame);
  errno = saved_errno;
}

[[gnu::noinline]] bool run_guarded(const std::byte* host, std::size_t length_bytes, MemoryFaults::Body body, void* context) {
  Landing landing;
  landing.first = number(host);
  landing.last = number(host) + std::max<std::size_t>(length_bytes, 1) - 1;
  landing.outer = self.landing;
  if (_setjmp(landing.place) != 0) {
    self.landing = landing.outer;
    return false;
  }
  self.landing = &landing;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  body(context);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  self.landing = landing.outer;
  return true;
}

bool blocks_signals() {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return sigismember(&mask, SIGSEGV) != 0 || sigismember(&mask, SIGBUS) != 0;
}

[[gnu::noinline]] bool run_after_a_look(const std::byte* host, std::size_t length_bytes, MemoryFaults::Body body, void* context) {
  if (self.blocked_accesses_left == 0) MemoryFaults::look_again();
  else --self.blocked_accesses_left;
  if (self.accesses_left != 0) return run_guarded(host, length_bytes, body, context);
  sigset_t faults, before;
  sigemptyset(&faults);
  for (const int signal : MemoryFaults::signals) sigaddset(&faults, signal);
  pthread_sigmask(SIG_UNBLOCK, &faults, &before);
  const bool there = run_guarded(host, length_bytes, body, context);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return there;
}

}  // namespace

bool MemoryFaults::run(const std::byte* host, std::size_t length_bytes, Body body, void* context) const {
  if (self.accesses_left == 0) return run_after_a_look(host, length_bytes, body, context);
  --self.accesses_left;
  return run_guarded(host, length_bytes, body, context);
}

void MemoryFaults::look_again() {
  const bool blocked = blocks_signals();
  self.accesses_left = blocked ? 0 : accesses_between_looks;
  self.blocked_accesses_left = blocked ? accesses_between_looks : 0;
  if (installing.exchange(true, std::memory_order_acquire)) return;  // somebody else is at it
  for (const int signal : signals) install(signal);
  installing.store(false, std::memory_order_release);
}

const MemoryFaults& memory_faults() {
  static const MemoryFaults& faults = *new MemoryFaults;  // never destroyed: threads use it while the process ends
  return faults;
}

}  // namespace vipl
