#include "vipl/engine/memory_gate.hpp"

#include <sched.h>
#include <time.h>

#include "vipl/engine/cancellation.hpp"

namespace vipl {
namespace {

/// The others stay for tens of instructions, unless they are preempted: let them run.
class Patience {
 public:
  void wait() {
    constexpr timespec pause{0, 50'000};  // for threads of a priority that a yield does not pass by
    if (++times_ < 64)
      sched_yield();
    else
      nanosleep(&pause, nullptr);
  }

 private:
  const Cancellation held_{Cancellation::Held};
  int times_ = 0;
};

// The thread's stripe and one; 0: it has none yet. Every post reads it: without a call of the linker's.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::size_t own_stripe = 0;

[[gnu::noinline]] void choose_stripe(std::size_t of) {
  static std::atomic<std::size_t> threads{0};
  own_stripe = threads.fetch_add(1, std::memory_order_relaxed) % of + 1;
}

}  // namespace

MemoryGate::Reader::Stripe& MemoryGate::stripe() {
  if (own_stripe == 0) [[unlikely]]
    choose_stripe(stripe_count);
  return stripes_[own_stripe - 1];
}

[[gnu::noinline]] void MemoryGate::Reader::Stripe::enter_after_writer() {
  Patience patience;
  do {
    state.fetch_sub(1);
    while ((state.load() & writing) != 0) patience.wait();
  } while ((state.fetch_add(1) & writing) != 0);
}

MemoryGate::Writer::Writer(MemoryGate& gate) : gate_(gate) {
  Patience patience;
  for (auto& stripe : gate_.stripes_) stripe.state.fetch_or(writing);
  for (auto& stripe : gate_.stripes_)
    while (stripe.state.load() != writing) patience.wait();
}

MemoryGate::Writer::~Writer() {
  for (auto& stripe : gate_.stripes_) stripe.state.fetch_and(~writing);
}

}  // namespace vipl
