#include "vipl/engine/memory_faults.hpp"

#include <pthread.h>
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>

namespace vipl {
namespace {

constexpr std::uint32_t sections_between_looks = 1024;
constexpr std::uintptr_t page_mask = 4095;  // some faults tell no more than the page

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

// A copy is left by a jump. The built-in ones keep three words, and the compiler the registers that
// this function needs.
#if CAUGHT_ACCESSES
struct Place {
  void* words[5];
};
#define SET_PLACE(place) __builtin_setjmp((place).words)
#define GO_TO_PLACE(place) __builtin_longjmp((place).words, 1)
#else
using Place = jmp_buf;
#define SET_PLACE(place) _setjmp(place)
#define GO_TO_PLACE(place) _longjmp(place, 1)
#endif

/// Where a thread continues when its access fails.
struct Landing {
  std::uintptr_t first, last;              // what it touches
  std::uintptr_t other_first, other_last;  // and this, which may be the same
  Landing* outer;                          // of the access that a signal handler of the program interrupted
  Place place;
};

/// A handler of the program that ours has called. By value: the program may leave it by a jump.
struct PassedOn {
  bool active;
  bool number_only;  // it knows neither siginfo nor context
  std::uintptr_t frame, context;
  std::size_t index;
};

struct ThreadState {
  Landing* landing;
  std::uint32_t sections_left;          // until the next look; none in a thread that blocks the signals
  std::uint32_t blocked_sections_left;  // in such a thread
  std::uint32_t sections;               // one in another: a signal's handler makes calls, too
  std::uintptr_t section_frame;         // of who entered the outermost; 0: not within one
  bool lets_signals_through;            // for this section
  sigset_t mask_before;
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

// A full list drops the last but one: later handlers most likely know the others.
void remember(Formers& list, const struct sigaction& action) {
  const std::size_t count = list.count.load(std::memory_order_relaxed);
  if (count != 0 && same(list.actions[count - 1], action)) return;
  const std::size_t place = count == Formers::most ? count - 1 : count;
  list.actions[place] = action;
  list.count.store(place + 1, std::memory_order_release);
}

void on_fault(int signal, siginfo_t* info, void* context);

void install(int signal) {
  struct sigaction present {
  }, ours{};
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

/// Contexts of signals lie close above the frames of their handlers. What else comes is no context: the program has
/// called the handler with the number alone.
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
  struct sigaction action {};
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
  if ((action.sa_flags & SA_SIGINFO) != 0)
    action.sa_sigaction(signal, info, context);
  else
    action.sa_handler(signal);
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

[[noreturn]] void land() { GO_TO_PLACE(self.landing->place); }

void unblock(const int signal) {
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, signal);
  pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
}

/// The thread continues in land() as if the access had called it. The return from the signal restores mask and stack.
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
  return (address >= (landing.first & ~page_mask) && address <= (landing.last | page_mask)) ||
         (address >= (landing.other_first & ~page_mask) && address <= (landing.other_last | page_mask));
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

// --- single accesses (vi/caught_access.hpp) -----------------------------------------------------------------

#if CAUGHT_ACCESSES
extern "C" {  // the linker's
[[gnu::visibility("hidden"), gnu::weak]] extern const vi::caught::Entry __start_vi_caught_accesses[],
    __stop_vi_caught_accesses[];
}

/// Where the thread continues; 0: the instruction is not in the table.
std::uintptr_t goes_on_at(std::uintptr_t instruction) {
  const auto target = [](const std::int32_t& offset) {
    return number(&offset) + static_cast<std::uintptr_t>(std::intptr_t{offset});
  };
  for (const vi::caught::Entry* entry = __start_vi_caught_accesses; entry != __stop_vi_caught_accesses; ++entry)
    if (target(entry->access) == instruction) return target(entry->goes_on_at);
  return 0;
}

bool go_on_after_access(ucontext_t& context) {
  greg_t& instruction = context.uc_mcontext.gregs[REG_RIP];
  const std::uintptr_t next = goes_on_at(static_cast<std::uintptr_t>(instruction));
  if (next == 0) return false;
  instruction = static_cast<greg_t>(next);
  return true;
}

/// A handler that takes the number alone has passed it on: the context lies where the kernel put it, above this frame,
/// below that of who entered the section or at the end of the thread's stack for signals.
ucontext_t* find_context(std::uintptr_t frame) {
  constexpr greg_t page_fault = 14;
  stack_t own{};
  sigaltstack(nullptr, &own);
  const bool on_own = (own.ss_flags & SS_ONSTACK) != 0;
  const std::uintptr_t end = (on_own ? number(own.ss_sp) + own.ss_size : self.section_frame) - sizeof(ucontext_t);
  for (std::uintptr_t at = (frame + 15) & ~std::uintptr_t{15}; at < end; at += 8) {
    auto* const context = reinterpret_cast<ucontext_t*>(at);
    const auto& registers = context->uc_mcontext.gregs;
    if (registers[REG_TRAPNO] == page_fault && goes_on_at(static_cast<std::uintptr_t>(registers[REG_RIP])) != 0)
      return context;
  }
  return nullptr;
}

bool is_caught(int signal, siginfo_t* info, void* context, std::uintptr_t frame) {
  if (self.section_frame == 0) return false;
  if (!is_by_access(signal, info, context, frame)) return false;
  ucontext_t* const found = is_context(context, frame) ? static_cast<ucontext_t*>(context) : find_context(frame);
  return found != nullptr && go_on_after_access(*found);
}
#else
bool is_caught(int, siginfo_t*, void*, std::uintptr_t) { return false; }
#endif

[[gnu::noinline]] void on_fault(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const std::uintptr_t frame = number(__builtin_frame_address(0));
  const Landing* const landing = self.landing;
  if (is_caught(signal, info, context, frame)) {
    errno = saved_errno;
    return;
  }
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

[[gnu::noinline]] bool run_guarded(const std::byte* host, const std::byte* other, std::size_t length_bytes,
                                   MemoryFaults::Body body, void* context) {
  Landing landing;
  const std::size_t to_last = std::max<std::size_t>(length_bytes, 1) - 1;
  landing.first = number(host);
  landing.last = number(host) + to_last;
  landing.other_first = number(other);
  landing.other_last = number(other) + to_last;
  landing.outer = self.landing;
  if (SET_PLACE(landing.place) != 0) {
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

void look_at_mask() {
  if (self.blocked_sections_left == 0)
    MemoryFaults::look_again();
  else
    --self.blocked_sections_left;
  if (self.sections_left != 0) return;
  sigset_t faults;
  sigemptyset(&faults);
  for (const int signal : MemoryFaults::signals) sigaddset(&faults, signal);
  pthread_sigmask(SIG_UNBLOCK, &faults, &self.mask_before);
  self.lets_signals_through = true;
}

[[gnu::noinline]] void enter_after_a_look(std::uintptr_t frame) {
  look_at_mask();
  self.section_frame = frame;
}

[[gnu::noinline]] void restore_mask() {
  self.lets_signals_through = false;
  pthread_sigmask(SIG_SETMASK, &self.mask_before, nullptr);
}

}  // namespace

bool MemoryFaults::catches_accesses() const {
#if CAUGHT_ACCESSES
  return +__start_vi_caught_accesses != +__stop_vi_caught_accesses;
#else
  return false;
#endif
}

bool MemoryFaults::run(const std::byte* host, std::size_t length_bytes, Body body, void* context) const {
  return run_guarded(host, host, length_bytes, body, context);
}

bool MemoryFaults::run_between(const std::byte* one, const std::byte* other, std::size_t length_bytes, Body body,
                               void* context) const {
  return run_guarded(one, other, length_bytes, body, context);
}

void MemoryFaults::enter() {
  if (self.sections++ != 0) return;
  const std::uintptr_t frame = number(__builtin_frame_address(0));
  if (self.sections_left == 0) [[unlikely]]
    return enter_after_a_look(frame);
  --self.sections_left;
  self.section_frame = frame;
}

void MemoryFaults::leave() {
  if (--self.sections != 0) return;
  self.section_frame = 0;
  if (self.lets_signals_through) restore_mask();
}

void MemoryFaults::look_again() {
  const bool blocked = blocks_signals();
  self.sections_left = blocked ? 0 : sections_between_looks;
  self.blocked_sections_left = blocked ? sections_between_looks : 0;
  if (installing.exchange(true, std::memory_order_acquire)) return;  // somebody else is at it
  for (const int signal : signals) install(signal);
  installing.store(false, std::memory_order_release);
}

const MemoryFaults& memory_faults() {
  static const MemoryFaults& faults = *new MemoryFaults;  // never destroyed: threads use it while the process ends
  return faults;
}

}  // namespace vipl
