// What it costs to poll instead of to wait: 8-byte ping-pong between processes on a local fabric of their own, where
// cores are free and where they are not. usage: bench_poll_latency [SECONDS [CASE [wait|poll]]]; tests/bench/README.md.
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "vipl/vipl.h"

namespace bench {
namespace {
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

enum class Mode : std::uint8_t { Wait, Poll, Stop };
constexpr std::size_t columns = 4;  // waiting and polling: at work queues, at a completion queue
constexpr auto window = 250ms;      // all pairs of a case change their mode together, by the clock
constexpr std::uint64_t slots = 8, message_bytes = 8;

struct Case {
  const char* name;
  int cores, busy, pairs;  // cores: 0 is all
};

/// Half round trips of one mode: the sum, and how many took how long, in steps of a sixteenth of each power of two.
struct Sum {
  static constexpr std::size_t steps = 16, buckets = 32 * steps;
  double microseconds = 0, count = 0;
  std::array<std::uint32_t, buckets> histogram{};

  void add(double took) {
    microseconds += took;
    count += 1;
    const double bucket = std::log2(std::max(took, 1.0)) * steps;
    ++histogram[std::min(static_cast<std::size_t>(bucket), buckets - 1)];
  }
  void add(const Sum& other) {
    microseconds += other.microseconds;
    count += other.count;
    for (std::size_t i = 0; i < buckets; ++i) histogram[i] += other.histogram[i];
  }
  [[nodiscard]] double mean() const { return microseconds / count; }
  [[nodiscard]] double quantile(double part) const {
    double left = part * count;
    std::size_t i = 0;
    while (i + 1 < buckets && (left -= histogram[i]) > 0) ++i;
    return std::exp2((static_cast<double>(i) + 0.5) / steps);
  }
};
using Sums = std::array<Sum, columns>;

enum class Only { Neither, Wait, Poll } only = Only::Neither;
bool time_to_wait() {
  return only == Only::Neither ? Clock::now().time_since_epoch() / window % 2 == 0 : only == Only::Wait;
}
bool just_changed() { return only == Only::Neither && Clock::now().time_since_epoch() % window < window / 10; }

[[noreturn]] void give_up(const char* what, int result = -1) {
  std::fprintf(stderr, "%s failed (%d)\n", what, result);
  std::exit(1);
}
void check(VIP_RETURN result, const char* what) {
  if (result != VIP_SUCCESS) give_up(what, result);
}

/// A VI whose sends have no completion queue and whose receives have one or none.
class End {
 public:
  explicit End(bool with_queue) {
    check(VipOpenNic("VINIC", &nic_), "VipOpenNic");
    check(VipNSInit(nic_, nullptr), "VipNSInit");
    if (::posix_memalign(&memory_, VIP_DESCRIPTOR_ALIGNMENT, bytes) != 0) give_up("posix_memalign");
    std::memset(memory_, 0, bytes);
    VIP_MEM_ATTRIBUTES plain{};
    check(VipRegisterMem(nic_, memory_, bytes, &plain, &handle_), "VipRegisterMem");
    if (with_queue) check(VipCreateCQ(nic_, 64, &queue_), "VipCreateCQ");
    VIP_VI_ATTRIBUTES wanted{};
    wanted.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
    wanted.MaxTransferSize = 4096;
    check(VipCreateVi(nic_, &wanted, nullptr, queue_, &vi_), "VipCreateVi");
    for (std::uint64_t i = 0; i < slots; ++i) post_receive(i);
  }
  void serve(const std::string& service) {
    Address local(service), remote(service);
    own(local);
    VIP_VI_ATTRIBUTES ignored;
    VIP_CONN_HANDLE connection = nullptr;
    check(VipConnectWait(nic_, &local.net, VIP_INFINITE, &remote.net, &ignored, &connection), "VipConnectWait");
    check(VipConnectAccept(connection, vi_), "VipConnectAccept");
  }
  void connect(char* node, const std::string& service) {
    Address local(service), remote(service);
    own(local);
    VIP_VI_ATTRIBUTES ignored;
    check(VipNSGetHostByName(nic_, node, &remote.net, 0), "VipNSGetHostByName");
    remote.name(service);
    VIP_RETURN result = VIP_NO_MATCH;
    while ((result = VipConnectRequest(vi_, &local.net, &remote.net, VIP_INFINITE, &ignored)) == VIP_NO_MATCH)
      std::this_thread::sleep_for(1ms);
    check(result, "VipConnectRequest");
  }
  /// What comes is the mode in which the other end is to be waited for next.
  void send(Mode mode) {
    VIP_DESCRIPTOR* sent = descriptor(slots);
    data(slots)[0] = static_cast<std::uint8_t>(mode);
    check(VipPostSend(vi_, sent, handle_), "VipPostSend");
    VIP_RETURN result = VIP_NOT_DONE;
    if (mode == Mode::Wait)
      result = VipSendWait(vi_, VIP_INFINITE, &sent);
    else
      while ((result = VipSendDone(vi_, &sent)) == VIP_NOT_DONE) {}
    check(result, "send");
  }
  Mode receive(Mode mode) {
    VIP_DESCRIPTOR* received = nullptr;
    const VIP_RETURN result = queue_ != nullptr ? take_from_queue(mode, received) : take(mode, received);
    if (result != VIP_SUCCESS)
      std::fprintf(stderr, "status %x, ", received == nullptr ? 0 : static_cast<unsigned>(received->CS.Status));
    check(result, "receive");
    const std::uint64_t slot = static_cast<std::uint64_t>(received - static_cast<VIP_DESCRIPTOR*>(memory_));
    const auto next = static_cast<Mode>(data(slot)[0]);
    post_receive(slot);
    return next;
  }

 private:
  struct Address {
    union {
      VIP_NET_ADDRESS net;
      std::uint8_t room[4 + 16 + 64];
    };
    explicit Address(const std::string& service) : room{} {
      net.HostAddressLen = 16;
      name(service);
    }
    void name(const std::string& service) {
      net.DiscriminatorLen = static_cast<VIP_UINT16>(service.size());
      std::memcpy(room + 20, service.data(), service.size());
    }
  };
  void own(Address& address) {
    VIP_NIC_ATTRIBUTES about{};
    check(VipQueryNic(nic_, &about), "VipQueryNic");
    std::memcpy(address.room + 4, about.LocalNicAddress, 16);
  }
  VIP_RETURN take(Mode mode, VIP_DESCRIPTOR*& received) {
    if (mode == Mode::Wait) return VipRecvWait(vi_, VIP_INFINITE, &received);
    VIP_RETURN result;
    while ((result = VipRecvDone(vi_, &received)) == VIP_NOT_DONE) {}
    return result;
  }
  VIP_RETURN take_from_queue(Mode mode, VIP_DESCRIPTOR*& received) {
    VIP_VI_HANDLE vi;
    VIP_BOOLEAN is_receive;
    VIP_RETURN result = VIP_NOT_DONE;
    if (mode == Mode::Wait)
      result = VipCQWait(queue_, VIP_INFINITE, &vi, &is_receive);
    else
      while ((result = VipCQDone(queue_, &vi, &is_receive)) == VIP_NOT_DONE) {}
    return result == VIP_SUCCESS ? VipRecvDone(vi, &received) : result;
  }
  VIP_DESCRIPTOR* descriptor(std::uint64_t slot) {
    auto* made = static_cast<VIP_DESCRIPTOR*>(memory_) + slot;
    std::memset(made, 0, sizeof *made);
    made->CS.SegCount = 1;
    made->CS.Length = message_bytes;
    made->DS[0].Local.Data.Address = data(slot);
    made->DS[0].Local.Handle = handle_;
    made->DS[0].Local.Length = message_bytes;
    return made;
  }
  std::uint8_t* data(std::uint64_t slot) {
    return static_cast<std::uint8_t*>(memory_) + (slots + 1) * sizeof(VIP_DESCRIPTOR) + slot * message_bytes;
  }
  void post_receive(std::uint64_t slot) { check(VipPostRecv(vi_, descriptor(slot), handle_), "VipPostRecv"); }

  static constexpr std::size_t bytes = (slots + 1) * (sizeof(VIP_DESCRIPTOR) + message_bytes);
  VIP_NIC_HANDLE nic_ = nullptr;
  VIP_MEM_HANDLE handle_{};
  VIP_CQ_HANDLE queue_ = nullptr;
  VIP_VI_HANDLE vi_ = nullptr;
  void* memory_ = nullptr;
};

/// VipRecvDone on one connection, VipCQDone on another.
struct Links {
  explicit Links(bool server, int pair) : plain(false), queued(true) {
    std::string node = "bench-server-" + std::to_string(pair);
    for (End* end : {&plain, &queued}) {
      const std::string service = end == &plain ? "plain" : "queued";
      server ? end->serve(service) : end->connect(node.data(), service);
    }
  }
  End plain, queued;
};

void serve(int pair) {
  Links links(true, pair);
  for (End* end : {&links.plain, &links.queued})
    for (Mode mode = Mode::Wait; (mode = end->receive(mode)) != Mode::Stop;) end->send(mode);
}

/// Into two columns, the first for waiting.
void measure_for(End& end, double seconds, Sum* sums) {
  const auto stop = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  for (auto start = Clock::now(); start < stop;) {
    const bool waiting = time_to_wait();
    const Mode mode = waiting ? Mode::Wait : Mode::Poll;
    end.send(mode);
    end.receive(mode);
    const auto done = Clock::now();
    if (time_to_wait() == waiting && !just_changed())
      sums[waiting ? 0 : 1].add(std::chrono::duration<double, std::micro>(done - start).count() / 2);
    start = done;
  }
}

Sums measure(int pair, double seconds) {
  Links links(false, pair);
  Sums sums{};
  measure_for(links.plain, seconds / 2, &sums[0]);
  links.plain.send(Mode::Stop);
  measure_for(links.queued, seconds / 2, &sums[2]);
  links.queued.send(Mode::Stop);
  return sums;
}

pid_t run(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  body();
  std::exit(0);
}

void keep_to(int cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core = 0; core < cores; ++core) CPU_SET(core, &set);
  if (cores != 0 && ::sched_setaffinity(0, sizeof set, &set) != 0) give_up("sched_setaffinity");
}

/// In a process of its own, which all others of the case come from: the service too.
void run_case(const Case& chosen, double seconds, Sums* results) {
  keep_to(chosen.cores);
  std::string folder = (std::filesystem::temp_directory_path() / "fcvi-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) give_up("mkdtemp");
  ::setenv("FCVI_RUNTIME_DIR", folder.c_str(), 1);
  std::vector<pid_t> children, busy;
  for (int i = 0; i < chosen.busy; ++i)
    busy.push_back(run([] {
      for (volatile bool go_on = true; go_on;) {}
    }));
  for (int pair = 0; pair < chosen.pairs; ++pair) {
    children.push_back(run([&] {
      ::setenv("FCVI_NODE", ("bench-server-" + std::to_string(pair)).c_str(), 1);
      serve(pair);
    }));
    children.push_back(run([&] {
      ::setenv("FCVI_NODE", ("bench-client-" + std::to_string(pair)).c_str(), 1);
      const Sums sums = measure(pair, seconds);
      results[pair] = sums;
    }));
  }
  for (const pid_t child : children) {
    int status = 0;
    if (::waitpid(child, &status, 0) == child && status != 0)
      std::fprintf(stderr, "process %d ended with status %x\n", child, status);
  }
  for (const pid_t child : busy) ::kill(child, SIGKILL), ::waitpid(child, nullptr, 0);
}

void compare(const Case& chosen, double seconds) {
  const std::size_t bytes = static_cast<std::size_t>(chosen.pairs) * sizeof(Sums);
  void* const shared = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) give_up("mmap");
  auto* const results = static_cast<Sums*>(shared);
  const pid_t child = run([&] { run_case(chosen, seconds, results); });
  ::waitpid(child, nullptr, 0);
  Sums all{};
  for (int pair = 0; pair < chosen.pairs; ++pair)
    for (std::size_t i = 0; i < columns; ++i) all[i].add(results[pair][i]);
  const auto messages_of = [&](int pair) {
    double all_columns = 0;
    for (const Sum& sum : results[pair]) all_columns += sum.count;
    return all_columns;
  };
  double fewest = messages_of(0), messages = 0;
  for (int pair = 0; pair < chosen.pairs; ++pair)
    fewest = std::min(fewest, messages_of(pair)), messages += messages_of(pair);
  ::munmap(shared, bytes);
  if (only != Only::Neither) std::printf("round trips: %.0f of one pair at least, %.0f in all\n", fewest, messages);
  const auto print = [&](const char* what, const char* kind, auto value) {
    std::printf("%-40s%-8s", what, kind);
    for (std::size_t i = 0; i < columns; i += 2)
      std::printf(" %9.1f %9.1f %5.2f", value(all[i]), value(all[i + 1]), value(all[i + 1]) / value(all[i]));
    std::printf("\n");
  };
  print(chosen.name, "median", [](const Sum& sum) { return sum.quantile(0.5); });
  print("", "99 %", [](const Sum& sum) { return sum.quantile(0.99); });
  print("", "mean", [](const Sum& sum) { return sum.mean(); });
  std::fflush(stdout);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 12;
  if (seconds <= 0) {
    std::fprintf(stderr, "usage: bench_poll_latency [SECONDS [CASE [wait|poll]]]\n");
    return 2;
  }
  if (argc > 3) bench::only = argv[3][0] == 'w' ? bench::Only::Wait : bench::Only::Poll;
  const int cores = static_cast<int>(std::max(2U, std::thread::hardware_concurrency()));
  const std::vector<bench::Case> cases = {
      {"two cores, nobody else", 2, 0, 1},
      {"two cores, six busy processes", 2, 6, 1},
      {"one core, nobody else", 1, 0, 1},
      {"one core, eight processes of ours", 1, 0, 4},
      {"all cores, four times as many of ours", 0, 0, 2 * cores},
  };
  std::printf("%-48s %9s %9s %5s %9s %9s %5s\n", "half a round trip of 8 bytes, us", "RecvWait", "RecvDone", "",
              "CQWait", "CQDone", "");
  std::fflush(stdout);
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (argc <= 2 || std::strtoul(argv[2], nullptr, 10) == i + 1) bench::compare(cases[i], seconds);
}
