// What messages and connections cost over TCP within this host, below the library: two processes, each a provider over
// sockets and one thread. tests/bench/README.md says how to read it.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>
#include <vector>

#include "runtime/drivers/real_time_core.hpp"
#include "streams/drivers/listening_socket.hpp"
#include "streams/drivers/socket_streams.hpp"
#include "vi/nic.hpp"
#include "vitcp/provider.hpp"

namespace {
using Clock = std::chrono::steady_clock;

struct Options {
  std::string_view what;
  std::size_t bytes = 8, at_once = 32, idle = 0;
  double seconds = 1;
  bool crc = false, wait = false;
};

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "bench_vitcp: %s\n", what);
  std::exit(1);
}
void check(bool good, const char* what) {
  if (!good) fail(what);
}
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// What this process (RUSAGE_SELF), or its child that has ended, has used, with the kernel's work for it.
double cpu_seconds(int whose = RUSAGE_SELF) {
  rusage usage{};
  ::getrusage(whose, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// --- one process ---------------------------------------------------------------------------------------------------

/// Polled, as by a program that calls VipRecvDone in a loop, or waiting in epoll.
class PollingCore final : public runtime::drivers::RealTimeCore {
 public:
  using RealTimeCore::RealTimeCore;
  void add_input(runtime::Input& input) override { inputs_.push_back(&input); }
  void remove_input(runtime::Input& input) override { std::erase(inputs_, &input); }
  void poll() {
    const runtime::CoreSection section(*this);
    for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i]->read_now();
  }

 private:
  std::vector<runtime::Input*> inputs_;
};

struct alignas(64) Descriptor {
  vi::ControlSegment control;
  vi::Segment segments[2];
};

template <class Base>
struct Call : Base {
  void done(vi::Return value) override { result = value; }
  std::optional<vi::Return> result;
};
using ConnectCall = Call<vi::ConnectOperation>;
using WaitCall = Call<vi::ConnectWaitOperation>;
using PlainCall = Call<vi::Operation>;

/// What the other process needs for RDMA.
struct Told {
  std::uint64_t data = 0;
  std::uint32_t handle = 0;
};

class Process final : private vi::Listener {
 public:
  static constexpr std::size_t arena_bytes = std::size_t{16} << 20, descriptors = 1024;

  Process(const Options& options, std::uint16_t port, std::uint64_t seed)
      : options_(options), streams_(io_, core_, core_.scheduler()),
        provider_(streams_, core_.scheduler(), config(options, port, seed)), nic_(provider_, *this, limits()),
        arena_(static_cast<std::byte*>(std::aligned_alloc(4096, arena_bytes))) {
    std::memset(arena_, 1, arena_bytes);
    check(nic_.register_memory(address(arena_), arena_, arena_bytes,
                               {.enable_rdma_write = true, .enable_rdma_read = true}, handle_) == vi::Return::Success,
          "memory not registered");
  }
  void listen() {
    inside([&] { check(!provider_.listen(), "cannot listen"); });
  }
  template <class Calls>
  void inside(const Calls& calls) {
    const runtime::CoreSection section(core_);
    calls();
  }
  template <class Done>
  void until(const Done& done) {
    for (unsigned i = 0; !done(); ++i)
      if (options_.wait)
        io_.restart(), io_.run_one();
      else if (core_.poll(); i % 1024 == 0)
        io_.restart(), io_.poll();
  }
  vi::Vi& create() {
    vi::Vi* vi = nullptr;
    const vi::ViAttributes wanted{.reliability = vi::ReliabilityLevel::ReliableDelivery,
                                  .max_transfer_size_bytes = 4u << 20,
                                  .enable_rdma_write = true,
                                  .enable_rdma_read = true};
    check(nic_.create_vi(wanted, nullptr, nullptr, vi) == vi::Return::Success, "no VI");
    return *vi;
  }
  void connect(vi::Vi& vi) {
    for (vi::Return result = vi::Return::NoMatch; result != vi::Return::Success;) {
      ConnectCall call;
      inside([&] { provider_.connect_request(vi, at('c'), at('s'), runtime::never, call); });
      until([&] { return call.result.has_value(); });
      result = *call.result;
      check(result == vi::Return::Success || result == vi::Return::NoMatch, "not connected");
    }
  }
  void disconnect(vi::Vi& vi) {
    PlainCall call;
    inside([&] { provider_.disconnect(vi, call); });
    until([&] { return call.result.has_value(); });
  }
  void accept(vi::Vi& vi) {
    WaitCall call;
    inside([&] { provider_.connect_wait(at('s'), runtime::never, call); });
    until([&] { return call.result.has_value(); });
    PlainCall accepted;
    inside([&] { provider_.connect_accept(call.token, vi, accepted); });
    check(accepted.result == vi::Return::Success, "not accepted");
  }

  // Inside.
  void post_receive(vi::Vi& vi, std::size_t slot) {
    Descriptor& descriptor = descriptor_at(slot);
    descriptor.control = {.segment_count = 1, .length_bytes = static_cast<std::uint32_t>(options_.bytes)};
    descriptor.segments[0] = data(slot);
    vi.post_receive(address(&descriptor), handle_);
  }
  void post_send(vi::Vi& vi, std::size_t slot, bool immediate = false) {
    Descriptor& descriptor = descriptor_at(slot);
    descriptor.control = {.segment_count = 1,
                          .control = static_cast<std::uint16_t>(immediate ? vi::control::immediate : 0),
                          .length_bytes = static_cast<std::uint32_t>(options_.bytes)};
    descriptor.segments[0] = data(slot);
    vi.post_send(address(&descriptor), handle_);
  }
  void post_rdma(vi::Vi& vi, std::size_t slot, bool read) {
    Descriptor& descriptor = descriptor_at(slot);
    descriptor.control = {
        .segment_count = 2,
        .control = static_cast<std::uint16_t>(read ? vi::control::op_rdma_read : vi::control::op_rdma_write),
        .length_bytes = static_cast<std::uint32_t>(options_.bytes)};
    descriptor.segments[0] = {remote_.data + data_offset(slot), remote_.handle, 0};
    descriptor.segments[1] = data(slot);
    vi.post_send(address(&descriptor), handle_);
  }

  [[nodiscard]] Told told() const { return {address(arena_) + descriptors * sizeof(Descriptor), handle_.value}; }
  void set_remote(const Told& remote) { remote_ = remote; }
  std::uint64_t sent = 0, received = 0;
  bool end_seen = false;      // a message with immediate data came
  std::vector<vi::Vi*> lost;  // their peers went
  [[nodiscard]] const vitcp::ProviderCounters& counters() const { return provider_.counters(); }

 private:
  static vi::NicLimits limits() {
    vi::NicLimits made;
    made.max_descriptors_per_queue = 2048;
    return made;
  }
  static vitcp::ProviderConfig config(const Options& options, std::uint16_t port, std::uint64_t seed) {
    vitcp::ProviderConfig config;
    config.addresses = {wire::IpAddress::v4(127, 0, 0, 1)};
    config.port = port;
    config.ask_for_crc = options.crc;
    config.number_seed = seed;
    return config;
  }
  static std::uint64_t address(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }
  [[nodiscard]] vi::NetAddress at(char discriminator) const {
    const std::array<std::uint8_t, 1> octets{static_cast<std::uint8_t>(discriminator)};
    return vi::NetAddress::make(provider_.config().addresses.front(), octets);
  }
  Descriptor& descriptor_at(std::size_t slot) { return reinterpret_cast<Descriptor*>(arena_)[slot % descriptors]; }
  /// Messages share memory where there is not enough for each.
  [[nodiscard]] std::size_t data_offset(std::size_t slot) const {
    const std::size_t room = arena_bytes - descriptors * sizeof(Descriptor);
    return slot % std::max<std::size_t>(1, std::min<std::size_t>(32, room / std::max<std::size_t>(1, options_.bytes))) *
           options_.bytes;
  }
  [[nodiscard]] vi::Segment data(std::size_t slot) const {
    return {told().data + data_offset(slot), handle_.value, static_cast<std::uint32_t>(options_.bytes)};
  }

  // vi::Listener
  bool completed(vi::Vi&, bool receive_queue, std::uint64_t descriptor, bool error) override {
    const auto* done = reinterpret_cast<const Descriptor*>(descriptor);
    const bool flushed = (done->control.status & vi::status::flushed) != 0;
    check(!error || flushed, "a descriptor completed in error");
    if (error) return true;  // at the end
    ++(receive_queue ? received : sent);
    if (receive_queue && (done->control.status & vi::status::immediate) != 0) end_seen = true;
    return true;
  }
  void state_changed(vi::Vi& vi) override {
    if (vi.state() == vi::State::Error) lost.push_back(&vi);
  }
  void asynchronous_error(vi::Vi*, vi::CompletionQueue*, std::uint64_t, std::uint32_t, vi::ResourceCode,
                          vi::ErrorCode) override {}

  const Options& options_;
  boost::asio::io_context io_;
  PollingCore core_{io_};
  streams::drivers::SocketStreams streams_;
  vitcp::Provider provider_;
  vi::Nic nic_;
  std::byte* arena_;
  wire::MemHandle handle_{};
  Told remote_;
};

// --- what the server does ------------------------------------------------------------------------------------------

/// Answers each message (`latency`), or the last one.
[[noreturn]] void serve_messages(Process& process, vi::Vi& vi, const Options& options) {
  const bool answers = options.what == "latency";
  const std::size_t posted = std::min<std::size_t>(4 * options.at_once, 512);
  process.inside([&] {
    for (std::size_t slot = 0; slot != posted; ++slot) process.post_receive(vi, slot);
  });
  for (std::uint64_t handled = 0;;) {
    process.until([&] { return process.received != handled; });
    process.inside([&] {
      for (; handled != process.received; ++handled) {
        process.post_receive(vi, (handled + posted) % posted);
        if (answers || process.end_seen) process.post_send(vi, posted + handled % 64);
        process.end_seen = false;
      }
    });
  }
}

[[noreturn]] void serve_connections(Process& process, const Options& options) {
  std::vector<vi::Vi*> free;
  for (std::size_t i = 0; i != options.at_once; ++i) free.push_back(&process.create());
  for (;;) {
    process.accept(*free.back());
    free.pop_back();
    while (!process.lost.empty()) {
      vi::Vi* const vi = process.lost.back();
      process.lost.pop_back();
      process.disconnect(*vi);
      free.push_back(vi);
    }
    check(!free.empty(), "clients go on before their connections have ended");
  }
}

[[noreturn]] void serve(const Options& options, std::uint16_t port, int ready) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Process process(options, port, 2);
  process.listen();
  const Told told = process.told();
  check(::write(ready, &told, sizeof told) == sizeof told, "no client");
  if (options.what == "connect") serve_connections(process, options);
  for (std::size_t i = 0; i != options.idle; ++i) process.accept(process.create());
  vi::Vi& vi = process.create();
  process.accept(vi);
  serve_messages(process, vi, options);
}

// --- what the client measures --------------------------------------------------------------------------------------

void print(const char* what, double value) { std::printf("\"%s\": %.6g, ", what, value); }

/// Those of the warm-up, which the server's part has too, are not in `messages`.
void print_messages(const Options& options, const Process& process, std::uint64_t messages, double took, double cpu) {
  const auto count = static_cast<double>(std::max<std::uint64_t>(1, messages));
  print("messages", count);
  print("messages_per_s", count / took);
  print("megabytes_per_s", count * static_cast<double>(options.bytes) / took / 1e6);
  print("cpu_us_a_message", cpu / count * 1e6);
  print("writes_a_message",
        static_cast<double>(process.counters().writes) / static_cast<double>(process.counters().messages_sent));
}

/// `at_once` under way; the last one is answered when it has arrived.
void stream(Process& process, vi::Vi& vi, const Options& options) {
  const auto post = [&](std::uint64_t number) {
    const std::size_t slot = number % options.at_once;
    options.what == "send" ? process.post_send(vi, slot) : process.post_rdma(vi, slot, options.what == "read");
  };
  process.inside([&] { process.post_receive(vi, 1000); });
  std::uint64_t posted = 0;
  const auto run = [&](double seconds) {
    const auto start = Clock::now();
    while (seconds_since(start) < seconds) {
      process.inside([&] {
        for (; posted - process.sent < options.at_once; ++posted) post(posted);
      });
      process.until([&] { return process.sent + options.at_once / 2 >= posted; });
    }
    process.until([&] { return process.sent == posted; });
  };
  run(options.seconds / 5);
  const std::uint64_t before = posted;
  const double cpu = cpu_seconds();
  const auto start = Clock::now();
  run(options.seconds);
  process.inside([&] { process.post_send(vi, 999, true); });
  process.until([&] { return process.received == 1; });
  print_messages(options, process, posted - before, seconds_since(start), cpu_seconds() - cpu);
}

/// One at a time.
void measure_latency(Process& process, vi::Vi& vi, const Options& options) {
  std::vector<double> halves;
  std::uint64_t round = 0;
  const auto run = [&](double seconds) {
    for (const auto start = Clock::now(); seconds_since(start) < seconds; ++round) {
      const auto begun = Clock::now();
      process.inside([&] {
        process.post_receive(vi, (round + 1) % 32);
        process.post_send(vi, 32 + round % 32);
      });
      process.until([&] { return process.received > round; });
      halves.push_back(seconds_since(begun) / 2 * 1e6);
    }
  };
  process.inside([&] { process.post_receive(vi, 0); });
  run(options.seconds / 5);
  halves.clear();
  const std::uint64_t before = round;
  const double cpu = cpu_seconds();
  const auto start = Clock::now();
  run(options.seconds);
  const double took = seconds_since(start), used = cpu_seconds() - cpu;
  std::sort(halves.begin(), halves.end());
  print("p50_us", halves[halves.size() / 2]);
  print("p99_us", halves[halves.size() * 99 / 100]);
  print_messages(options, process, round - before, took, used);
}

/// Connections.
std::uint64_t measure_connections(Process& process, const Options& options) {
  vi::Vi& vi = process.create();
  std::uint64_t count = 0;
  const auto start = Clock::now();
  for (; seconds_since(start) < options.seconds; ++count) {
    process.connect(vi);
    process.disconnect(vi);
  }
  print("connections_per_s", static_cast<double>(count) / seconds_since(start));
  return count;
}

/// How much the server did.
std::uint64_t measure(const Options& options, std::uint16_t port, int ready) {
  Told told;
  check(::read(ready, &told, sizeof told) == sizeof told, "no server");
  Process process(options, port, 1);
  process.set_remote(told);
  if (options.what == "connect") return measure_connections(process, options);
  for (std::size_t i = 0; i != options.idle; ++i) process.connect(process.create());
  vi::Vi& vi = process.create();
  process.connect(vi);
  options.what == "latency" ? measure_latency(process, vi, options) : stream(process, vi, options);
  return process.counters().messages_sent;
}

// --- the yardstick of `connect` ------------------------------------------------------------------------------------

void read_to_the_end(int socket) {
  char octet = 0;
  while (::read(socket, &octet, 1) > 0) {}
  ::close(socket);
}

/// Plain TCP, blocking: connect, accept, and the end in order, both ways.
void measure_plain(const Options& options) {
  const auto listening = streams::drivers::listening_socket({wire::IpAddress::v4(127, 0, 0, 1), 0});
  check(listening.has_value(), "cannot listen");
  const auto to = streams::drivers::endpoint_of(*streams::drivers::local_address_of(listening->number()));
  ::fcntl(listening->number(), F_SETFL, 0);
  const pid_t server = ::fork();
  if (server == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) read_to_the_end(::accept(listening->number(), nullptr, nullptr));
  }
  std::uint64_t count = 0;
  const auto start = Clock::now();
  for (; seconds_since(start) < options.seconds; ++count) {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    check(::connect(socket, to.data(), static_cast<socklen_t>(to.size())) == 0, "not connected");
    ::shutdown(socket, SHUT_WR);
    read_to_the_end(socket);
  }
  std::printf("{\"connections_per_s\": %.6g}\n", static_cast<double>(count) / seconds_since(start));
  ::kill(server, SIGKILL);
  ::waitpid(server, nullptr, 0);
}

// --- arguments -----------------------------------------------------------------------------------------------------

[[noreturn]] void usage() {
  std::fprintf(stderr,
               "usage: bench_vitcp send|write|read|latency|connect|plain-connect [--bytes N] [--at-once N] [--idle N]\n"
               "                   [--seconds S] [--crc] [--wait]\n");
  std::exit(2);
}

Options read_arguments(std::span<char*> arguments) {
  Options options;
  if (arguments.size() < 2) usage();
  options.what = arguments[1];
  static constexpr std::array<std::string_view, 6> known{"send",    "write",   "read",
                                                         "latency", "connect", "plain-connect"};
  if (std::find(known.begin(), known.end(), options.what) == known.end()) usage();
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    const auto number = [&] { return i + 1 < arguments.size() ? std::strtod(arguments[++i], nullptr) : -1; };
    if (word == "--crc")
      options.crc = true;
    else if (word == "--wait")
      options.wait = true;
    else if (word == "--bytes")
      options.bytes = static_cast<std::size_t>(number());
    else if (word == "--at-once")
      options.at_once = static_cast<std::size_t>(number());
    else if (word == "--idle")
      options.idle = static_cast<std::size_t>(number());
    else if (word == "--seconds")
      options.seconds = number();
    else
      usage();
  }
  const bool fits = options.bytes <= 4u << 20 && options.at_once >= 1 && options.at_once <= 128 && options.idle <= 8192;
  if (!fits || !(options.seconds > 0)) usage();
  return options;
}

std::uint16_t free_port() {
  const auto socket = streams::drivers::listening_socket({wire::IpAddress::v4(127, 0, 0, 1), 0});
  check(socket.has_value(), "no port");
  return streams::drivers::local_address_of(socket->number())->port;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_arguments({argv, static_cast<std::size_t>(argc)});
  if (options.what == "plain-connect") return measure_plain(options), 0;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  const std::uint16_t port = free_port();
  int ready[2];
  check(::pipe(ready) == 0, "no pipe");
  const pid_t server = ::fork();
  check(server >= 0, "no process");
  if (server == 0) serve(options, port, ready[1]);
  ::close(ready[1]);
  std::printf("{");
  const auto done = static_cast<double>(measure(options, port, ready[0]));
  ::kill(server, SIGKILL);
  ::waitpid(server, nullptr, 0);
  print("server_cpu_us", cpu_seconds(RUSAGE_CHILDREN) / done * 1e6);
  std::printf("\"at_once\": %zu}\n", options.at_once);
  std::fflush(stdout);
  ::_exit(0);  // connections end with the process
}
