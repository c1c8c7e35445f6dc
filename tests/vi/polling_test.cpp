// Programs that poll the status of a descriptor themselves (VI-ARCH 6.4.2): in which order a completion writes. The
// page of the descriptor is read-only; each write to it faults, is noted, and is carried out by itself.
#include <csignal>

#if defined(__x86_64__)
#include <sys/mman.h>
#include <ucontext.h>

#include <array>

#include "tests/vi/bench.hpp"

namespace vi::testing {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr long long trap_flag = 0x100;  // of RFLAGS: a trap after the next instruction

struct Watched {
  std::byte* page = nullptr;
  std::array<std::size_t, 16> offsets{};
  std::size_t count = 0;
};
Watched watched;

long long& flags_of(void* context) { return static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL]; }

/// With ThreadSanitizer a store is probed before by an instruction of its own (caught_access.hpp).
bool is_probe([[maybe_unused]] std::size_t offset) {
#if defined(__SANITIZE_THREAD__)
  return watched.count != 0 && watched.offsets[watched.count - 1] == offset;
#else
  return false;
#endif
}

void on_fault(int, siginfo_t* info, void* context) {
  const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(info->si_addr) - watched.page);
  if (offset >= page_bytes || watched.count == watched.offsets.size()) {
    std::signal(SIGSEGV, SIG_DFL);  // not ours
    return;
  }
  if (!is_probe(offset)) watched.offsets[watched.count++] = offset;
  mprotect(watched.page, page_bytes, PROT_READ | PROT_WRITE);
  flags_of(context) |= trap_flag;
}

void on_step(int, siginfo_t*, void* context) {
  mprotect(watched.page, page_bytes, PROT_READ);
  flags_of(context) &= ~trap_flag;
}

class Polling : public ::testing::Test {
 protected:
  Polling() {
    watched = {};
    watched.page =
        static_cast<std::byte*>(mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = on_fault;
    sigaction(SIGSEGV, &action, &old_fault_);
    action.sa_sigaction = on_step;
    sigaction(SIGTRAP, &action, &old_trap_);
  }
  ~Polling() override {
    sigaction(SIGSEGV, &old_fault_, nullptr);
    sigaction(SIGTRAP, &old_trap_, nullptr);
    munmap(watched.page, page_bytes);
  }
  /// A copy of the descriptor in the watched page.
  Posted watch(Bench& bench, const Posted& model) {
    std::copy_n(model.host, sizeof(ControlSegment) + sizeof(Segment), watched.page);
    const auto address = reinterpret_cast<std::uint64_t>(watched.page);
    EXPECT_EQ(bench.nic.memory().register_region(address, watched.page, page_bytes, {}, handle), Return::Success);
    return {watched.page};
  }
  /// The offsets that `complete` writes, in order.
  template <class Complete>
  std::vector<std::size_t> written(Complete complete) {
    mprotect(watched.page, page_bytes, PROT_READ);
    complete();
    mprotect(watched.page, page_bytes, PROT_READ | PROT_WRITE);
    return {watched.offsets.begin(), watched.offsets.begin() + static_cast<std::ptrdiff_t>(watched.count)};
  }
  wire::MemHandle handle{};

 private:
  struct sigaction old_fault_ = {}, old_trap_ = {};
};

TEST_F(Polling, receive_status_comes_last) {
  // VI-ARCH 6.4.1, 6.4.2: who sees Done sees length and immediate data.
  Bench bench;
  bench.connect();
  const auto posted = watch(bench, bench.receive(4));
  bench.vi->post_receive(posted.address(), handle);
  const ReceiveWork work = bench.claim();
  const auto offsets = written([&] { bench.vi->complete_receive(work, 0, status::op_receive, 3, 0xCAFE); });
  EXPECT_EQ(posted.status(), status::done | status::op_receive | status::immediate);
  EXPECT_THAT(offsets, ::testing::UnorderedElementsAre(offsetof(ControlSegment, immediate_data),
                                                       offsetof(ControlSegment, length_bytes),
                                                       offsetof(ControlSegment, status)));
  EXPECT_EQ(offsets.back(), offsetof(ControlSegment, status));
}

TEST_F(Polling, send_status_comes_last) {
  // VI-ARCH 6.4.1: of a send too.
  Bench bench;
  bench.connect();
  const auto posted = watch(bench, bench.send("abc"));
  bench.vi->post_send(posted.address(), handle);
  const SendWork work = bench.begin();
  const auto offsets = written([&] { bench.vi->complete_send(work, 0); });
  EXPECT_EQ(posted.status(), status::done | status::op_send);
  EXPECT_THAT(offsets,
              ::testing::ElementsAre(offsetof(ControlSegment, length_bytes), offsetof(ControlSegment, status)));
}

}  // namespace
}  // namespace vi::testing
#endif
