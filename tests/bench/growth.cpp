// What a message costs when there is more of everything: connections, ports, posted descriptors, bytes; and what an
// idle connection takes of memory. Over the simulation core, in virtual time. tests/bench/README.md says how to read
// it, tests/bench/growth plots it.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fcvi/connection.hpp"
#include "fcvi/received_setup.hpp"
#include "tests/bench/heap_blocks.hpp"
#include "tests/support/many_hosts.hpp"

namespace {
using Clock = std::chrono::steady_clock;
using support::ManyHosts;

constexpr std::size_t switches = 64;  // of `ports`: each message crosses two of them, however many ports there are
constexpr std::size_t set_ups_at_once = 64;

struct Options {
  std::string_view what;
  std::size_t n = 0;
  std::size_t at_once = 1;   // messages under way; 0: all
  std::size_t messages = 0;  // of a round, rounded up to whole passes over all connections; 0: by itself
  std::size_t rounds = 5;
  std::uint64_t seed = 1;
  bool random = false;
  bool one_server = false;
  bool csv = false;
  vi::ReliabilityLevel level = vi::ReliabilityLevel::ReliableDelivery;
};

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "bench_growth: %s\n", what);
  std::exit(1);
}
void check(bool good, const char* what) {
  if (!good) fail(what);
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// A descriptor with its eight bytes of data: what a message touches of its program's memory is one cache line.
struct alignas(64) Line {
  vi::ControlSegment control;
  vi::Segment segment;
  std::uint64_t data = 0;
};
static_assert(sizeof(Line) == 64);

/// Lines of one end of each message, and their data where they are larger. Each NIC of that end registers all of it.
class Memory {
 public:
  Memory(std::size_t messages, std::size_t message_bytes)
      : lines_(messages), bytes_(message_bytes), data_(bytes_ > sizeof(Line::data) ? bytes_ : 0) {}

  /// Makes the descriptor of a message for that NIC; its memory handle.
  wire::MemHandle describe(std::size_t index, vi::Nic& nic) {
    const auto [entry, is_new] = handles_.try_emplace(&nic);
    Handles& handles = entry->second;
    if (is_new) {
      handles.lines = registered(nic, lines_.data(), lines_.size() * sizeof(Line));
      handles.data = data_.empty() ? handles.lines : registered(nic, data_.data(), data_.size());
    }
    Line& line = lines_[index];
    line.control.segment_count = 1;
    line.control.length_bytes = static_cast<std::uint32_t>(bytes_);
    line.segment = {address(data_.empty() ? static_cast<void*>(&line.data) : data_.data()), handles.data.value,
                    static_cast<std::uint32_t>(bytes_)};
    return handles.lines;
  }
  [[nodiscard]] std::size_t size() const { return lines_.size(); }
  Line& line(std::size_t index) { return lines_[index]; }
  std::vector<std::uint8_t>& data() { return data_; }
  static std::uint64_t address(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

 private:
  struct Handles {
    wire::MemHandle lines{}, data{};
  };
  static wire::MemHandle registered(vi::Nic& nic, void* at, std::size_t bytes) {
    wire::MemHandle handle{};
    check(nic.register_memory(address(at), static_cast<std::byte*>(at), bytes, {}, handle) == vi::Return::Success,
          "memory not registered");
    return handle;
  }
  std::vector<Line> lines_;
  std::size_t bytes_;
  std::vector<std::uint8_t> data_;
  std::unordered_map<vi::Nic*, Handles> handles_;
};

/// Where a message goes, again and again.
struct Message {
  vi::Vi* client;
  vi::Vi* server;
  std::uint64_t send, receive;  // descriptors
  wire::MemHandle send_handle, receive_handle;
};

vi::NicLimits limits(std::size_t n) {
  vi::NicLimits made;
  made.max_vis = std::max(made.max_vis, static_cast<std::uint32_t>(n));
  made.max_descriptors_per_queue = std::max(made.max_descriptors_per_queue, static_cast<std::uint32_t>(n));
  return made;
}

ManyHosts::Config config(const Options& options) {
  const bool ports = options.what == "ports", connections = options.what == "connections" || options.what == "memory";
  return {.switches = ports ? switches : 1,
          .ports = ports ? options.n : 2,
          .fabric = {},
          .one_link_apart = ports,
          .one_server = options.one_server,
          .connections = connections ? options.n : 1,
          .at_once = set_ups_at_once,
          .level = options.level,
          .limits = limits(options.n)};
}

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options), hosts_(config(options)), size_(options.what == "size" ? options.n : 8),
        per_connection_(options.what == "descriptors" ? options.n : 1),
        clients_(config(options).connection_count() * per_connection_, size_), servers_(clients_.size(), size_) {}

  // In this order.
  void register_ports();
  void connect();
  void make_messages();
  /// Once, so that all there is has grown; and looks whether each came where it should.
  void send_first();
  /// CPU time of each of the messages, in nanoseconds.
  double round(std::size_t passes);
  /// Of each round, so that it takes about a tenth of a second at least.
  [[nodiscard]] std::size_t passes() const {
    const std::size_t wanted = options_.messages != 0 ? options_.messages : 32'000'000 / (size_ + 320);
    return std::max<std::size_t>(1, (wanted + messages_.size() - 1) / messages_.size());
  }
  [[nodiscard]] std::size_t messages() const { return messages_.size(); }
  [[nodiscard]] std::size_t at_once() const { return options_.at_once == 0 ? messages_.size() : options_.at_once; }
  /// Data frames that all messages so far took each.
  [[nodiscard]] std::size_t frames_each() const { return std::max<std::size_t>(1, (size_ + 2079) / 2080); }

  ManyHosts& hosts() { return hosts_; }

 private:
  void check_data();
  void send(std::size_t first, std::size_t end);
  void send_all() {
    for (std::size_t i = 0; i < messages_.size(); i += at_once()) send(i, std::min(i + at_once(), messages_.size()));
  }

  const Options options_;
  ManyHosts hosts_;
  const std::size_t size_, per_connection_;
  Memory clients_, servers_;
  std::vector<Message> messages_;
};

void Bench::register_ports() {
  check(hosts_.register_all(), "not all ports registered");
  hosts_.fabric().run_for(runtime::second);
}

void Bench::connect() {
  check(hosts_.connect_all(), "not all connected");
  hosts_.fabric().run_for(30 * runtime::second);  // whatever rests has rested
}

void Bench::make_messages() {
  messages_.reserve(clients_.size());
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    const ManyHosts::Pair& pair = *hosts_.pairs()[i / per_connection_];
    const wire::MemHandle send = clients_.describe(i, pair.client.nic), receive = servers_.describe(i, pair.server.nic);
    clients_.line(i).data = i + 1;
    messages_.push_back({pair.client_vi, pair.server_vi, Memory::address(&clients_.line(i)),
                         Memory::address(&servers_.line(i)), send, receive});
  }
  for (std::size_t i = 0; i < clients_.data().size(); ++i) clients_.data()[i] = static_cast<std::uint8_t>(i * 37 + 1);
  if (options_.random) std::shuffle(messages_.begin(), messages_.end(), std::mt19937_64(options_.seed));
}

void Bench::send_first() {
  send_all();
  check_data();
}

void Bench::check_data() {
  for (std::size_t i = 0; i < messages_.size(); ++i)
    check(!clients_.data().empty() || servers_.line(i).data == i + 1, "a message did not arrive, or at another place");
  check(servers_.data() == clients_.data(), "other data than sent");
}

/// Posts them together, and lets them complete.
void Bench::send(std::size_t first, std::size_t end) {
  const std::uint64_t wanted = hosts_.completed() + 2 * (end - first);
  for (std::size_t i = first; i != end; ++i)
    messages_[i].server->post_receive(messages_[i].receive, messages_[i].receive_handle);
  for (std::size_t i = first; i != end; ++i)
    messages_[i].client->post_send(messages_[i].send, messages_[i].send_handle);
  runtime::Scheduler& scheduler = hosts_.fabric().scheduler;
  while (hosts_.completed() != wanted) check(scheduler.run_next(runtime::never), "a message was lost");
  std::uint64_t address = 0;
  for (std::size_t i = first; i != end; ++i) {
    check(messages_[i].client->send_done(address) == vi::Return::Success, "a send failed");
    check(messages_[i].server->receive_done(address) == vi::Return::Success, "a receive failed");
  }
}

/// By its name tests/bench/growth tells callgrind what to count.
[[gnu::noinline]] double Bench::round(std::size_t passes) {
  const double begun = cpu_ns();
  for (std::size_t pass = 0; pass != passes; ++pass) send_all();
  return (cpu_ns() - begun) / static_cast<double>(passes * messages_.size());
}

int measure_time(const Options& options) {
  const Clock::time_point start = Clock::now();
  Bench bench(options);
  bench.register_ports();
  bench.connect();
  bench.make_messages();
  bench.send_first();
  const double set_up = seconds_since(start);
  std::vector<double> rounds;
  for (std::size_t i = 0; i < options.rounds; ++i) rounds.push_back(bench.round(bench.passes()));
  std::sort(rounds.begin(), rounds.end());
  const double median = (rounds[rounds.size() / 2] + rounds[(rounds.size() - 1) / 2]) / 2;
  const std::string what(options.what);
  const char* const order = options.random ? "random" : "robin";
  const std::size_t messages = bench.passes() * bench.messages();
  if (options.csv)
    std::printf(
        "case,n,order,at_once,messages,rounds,ns_median,ns_min,ns_max,frames_each,set_up_s\n"
        "%s,%zu,%s,%zu,%zu,%zu,%.1f,%.1f,%.1f,%zu,%.3f\n",
        what.c_str(), options.n, order, bench.at_once(), messages, rounds.size(), median, rounds.front(), rounds.back(),
        bench.frames_each(), set_up);
  else
    std::printf(
        "%s %zu, %s, %zu under way: %.0f ns a message (%.0f to %.0f, %zu rounds of %zu), %.1f ns a frame, set up "
        "in %.2f s\n",
        what.c_str(), options.n, order, bench.at_once(), median, rounds.front(), rounds.back(), rounds.size(), messages,
        median / static_cast<double>(bench.frames_each()), set_up);
  return 0;
}

/// What a block of this size is, where one of the large classes has it.
std::string name_of(std::size_t block_bytes) {
  const auto has = [&](std::size_t size) { return size <= block_bytes && size + 16 > block_bytes; };
  if (has(sizeof(vi::Vi))) return " (vi::Vi)";
  if (has(sizeof(fcvi::Connection))) return " (fcvi::Connection)";
  if (has(sizeof(fcvi::ReceivedSetup))) return " (fcvi::ReceivedSetup)";
  return "";
}

std::string largest_parts(std::size_t ends) {
  std::string text;
  for (const bench::Blocks& blocks : bench::counted_blocks()) {
    const double share = static_cast<double>(blocks.count) / static_cast<double>(ends);
    if (static_cast<double>(blocks.bytes) * share < 8) break;
    char part[96];
    std::snprintf(part, sizeof part, "%s%zu B%s x %.3g", text.empty() ? "" : ", ", blocks.bytes,
                  name_of(blocks.bytes).c_str(), share);
    text += part;
  }
  return text;
}

int measure_memory(const Options& options) {
  Bench bench(options);
  bench.register_ports();
  bench.hosts().make_pairs();  // the bench's own
  const std::size_t before = bench::heap_bytes();
  bench::start_counting();
  for (const auto& pair : bench.hosts().pairs()) pair->make_vis();
  const std::size_t with_vis = bench::heap_bytes();
  bench.connect();
  bench::stop_counting();
  const std::size_t connected = bench::heap_bytes();
  bench.make_messages();  // the bench's own
  const std::size_t unused = bench::heap_bytes();
  bench.send_first();
  const std::size_t ends = 2 * options.n, used = bench::heap_bytes();
  const auto each = [&](std::size_t bytes) { return static_cast<double>(bytes) / static_cast<double>(ends); };
  const double sum = each(connected - before), vi = each(with_vis - before), more = each(used - unused);
  const std::string parts = largest_parts(ends);
  if (options.csv)
    std::printf(
        "case,n,bytes,vi_bytes,connection_bytes,after_message_bytes,parts\n"
        "memory,%zu,%.1f,%.1f,%.1f,%.1f,\"%s\"\n",
        options.n, sum, vi, sum - vi, more, parts.c_str());
  else
    std::printf(
        "memory %zu: %.0f heap bytes an idle connection's end with its VI: VI %.0f, connection %.0f; after the "
        "first message %.0f more; blocks: %s\n",
        options.n, sum, vi, sum - vi, more, parts.c_str());
  return 0;
}

constexpr char usage[] =
    "usage: bench_growth connections|ports|descriptors|size|memory N [OPTION VALUE]... [--csv]\n"
    "  N: connections of two nodes; ports, connected pairwise; descriptors on each queue of one connection; bytes of "
    "a\n"
    "     message; idle connections. Messages are 8-byte Sends unless N is their size.\n"
    "  --order robin|random (robin)   which connection is next; random: one permutation, again and again\n"
    "  --at-once K|all (1)            messages under way; with descriptors always all\n"
    "  --messages M, --rounds R (5)   of a round at least; the median of R rounds counts\n"
    "  --one-server                   of the ports one is the server of all others\n"
    "  --seed S (1)                   of the random order\n"
    "  --level delivery|reception|unreliable (delivery)\n";

[[noreturn]] void refuse() {
  std::fputs(usage, stderr);
  std::exit(2);
}

std::size_t number(std::string_view text, std::size_t least, std::size_t most) {
  char* end = nullptr;
  const std::string copy(text);
  const unsigned long long value = std::strtoull(copy.c_str(), &end, 10);
  if (copy.empty() || *end != '\0' || copy[0] == '-' || value < least || value > most) refuse();
  return value;
}

vi::ReliabilityLevel level(std::string_view name) {
  if (name == "delivery") return vi::ReliabilityLevel::ReliableDelivery;
  if (name == "reception") return vi::ReliabilityLevel::ReliableReception;
  if (name == "unreliable") return vi::ReliabilityLevel::UnreliableDelivery;
  refuse();
}

void set(Options& options, std::string_view name, std::string_view value) {
  if (name == "--order" && (value == "robin" || value == "random"))
    options.random = value == "random";
  else if (name == "--at-once")
    options.at_once = value == "all" ? 0 : number(value, 1, 1'000'000);
  else if (name == "--messages")
    options.messages = number(value, 1, 1'000'000'000);
  else if (name == "--rounds")
    options.rounds = number(value, 1, 1000);
  else if (name == "--seed")
    options.seed = number(value, 0, ~std::size_t{0});
  else if (name == "--level")
    options.level = level(value);
  else
    refuse();
}

Options read(int argc, char** argv) {
  if (argc < 3) refuse();
  Options options{.what = argv[1]};
  const auto known = {"connections", "ports", "descriptors", "size", "memory"};
  if (std::find(known.begin(), known.end(), options.what) == known.end()) refuse();
  const bool ports = options.what == "ports";
  options.n = number(argv[2], ports ? 2 : 1, options.what == "size" ? 1u << 30 : ports ? 65'536 : 1'000'000);
  if (ports && options.n % 2 != 0) refuse();
  for (int i = 3; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--csv")
      options.csv = true;
    else if (std::string_view(argv[i]) == "--one-server" && ports)
      options.one_server = true;
    else if (i + 1 < argc)
      set(options, argv[i], argv[i + 1]), ++i;  // its value
    else
      refuse();
  }
  if (options.what == "descriptors") options.at_once = 0;
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read(argc, argv);
  return options.what == "memory" ? measure_memory(options) : measure_time(options);
}
