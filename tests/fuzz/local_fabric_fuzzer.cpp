// Any bytes on the local fabric's socket, at each program that reads from it. The first byte chooses: 0 the service, 1
// the service after a port's Hello, 2 after that of a control connection; 3 a process's link, 4 the same after a
// Welcome; 5 `fcvi-fabricd status`, 6 the same after a Welcome. The rest comes in one piece, then the connection ends.
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "fc2_fabric/drivers/local_fabric_link.hpp"
#include "property.hpp"
#include "tests/support/test_fabric.hpp"
#include "tools/fabricd/control_client.hpp"
#include "tools/fabricd/service.hpp"
#include "tools/fabricd/status.hpp"

namespace {
using namespace fc2::drivers;
using Input = std::vector<std::uint8_t>;

[[noreturn]] void fail(const char* what) { wire::fuzz::fail(what, "local fabric"); }

/// A runtime directory of this process's own.
class Directory {
 public:
  Directory() {
    std::string name = (std::filesystem::temp_directory_path() / "fcvi-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) fail("cannot make a directory");
    std::string error;
    directory_ = RuntimeDirectory::open(name, error);
    if (!directory_) fail("cannot use the directory");
    spdlog::set_level(spdlog::level::off);
  }
  ~Directory() { std::filesystem::remove_all(directory_->path()); }
  [[nodiscard]] const RuntimeDirectory& get() const { return *directory_; }
  [[nodiscard]] services::Instance take() const {
    auto taken = services::Instance::take(fabric_place(get()), "fcvi-fabricd", SOCK_STREAM);
    if (!taken.instance) fail("cannot listen");
    return std::move(*taken.instance);
  }

 private:
  std::optional<RuntimeDirectory> directory_;
};

Input record(RecordKind kind, const Input& body) {
  Input bytes(record_header_bytes);
  RecordHeader{.kind = kind, .body_bytes = static_cast<std::uint32_t>(body.size())}.write(
      std::span(bytes).first<record_header_bytes>());
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}
Input hello(Hello::Role role) {
  return record(RecordKind::Hello, Hello{.role = role, .process_id = 1, .name = "fuzz"}.write());
}
Input welcome() { return record(RecordKind::Welcome, Welcome{}.write()); }

Input after(const Input& first, wire::Bytes rest) {
  Input all = first;
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

/// True if it came so far; the limit ends what hangs.
template <class Reached>
bool eventually(Reached reached) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!reached()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() { ::close(descriptor_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  const int descriptor_;
};

/// Small enough for the socket to hold it: whoever reads may be this same thread.
void write_all(int descriptor, const Input& bytes) {
  static_cast<void>(::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}
void hang_up(int descriptor) { ::shutdown(descriptor, SHUT_WR); }

/// What came until the other end closed, or `enough` says so.
template <class Enough, class Turn>
Input read_until(int descriptor, Enough enough, Turn turn) {
  Input all;
  std::uint8_t bytes[4096];
  const bool ended = eventually([&] {
    turn();
    const ssize_t count = ::recv(descriptor, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count > 0) all.insert(all.end(), bytes, bytes + count);
    return count == 0 || (count < 0 && errno != EAGAIN) || enough(all);
  });
  if (!ended) fail("a connection neither ends nor goes on");
  return all;
}

// --- the service -------------------------------------------------------------------------------------------------

/// Afterwards no link of it is left, and a port that speaks the protocol is welcome; unless the input was
/// a good "stop".
void flood_service(const Directory& directory, const Input& input) {
  boost::asio::io_context io{1};
  fabricd::Service service(io, directory.take(), {});
  const auto turn = [&] { io.poll(); };
  const Descriptor flood(connect_to_service(directory.get()));
  write_all(flood.get(), input);
  hang_up(flood.get());
  read_until(
      flood.get(), [&](const Input&) { return io.stopped(); }, turn);  // until the service closes it, or has ended
  if (::access(fabric_place(directory.get()).socket_path().c_str(), F_OK) != 0) return;
  {
    const runtime::CoreSection section(service.core());
    if (!service.status().ports.empty() || service.status().captures != 0) fail("a link that ended stays");
    if (service.core().pool().outstanding() > 1000) fail("frames pile up");
  }
  const Descriptor honest(connect_to_service(directory.get()));
  write_all(honest.get(), hello(Hello::Role::Port));
  const std::size_t expected = welcome().size();
  const Input answer = read_until(
      honest.get(), [&](const Input& all) { return all.size() >= expected; }, turn);
  if (answer.size() < expected || answer[0] != static_cast<std::uint8_t>(RecordKind::Welcome))
    fail("a good Hello is not welcome");
}

// --- a process's link --------------------------------------------------------------------------------------------

/// A service that says what it is told.
class FalseService {
 public:
  explicit FalseService(const Directory& directory) : instance_(directory.take()) {}
  ~FalseService() {
    if (descriptor_ >= 0) ::close(descriptor_);
    ::close(instance_.listener());
  }
  bool accept() {
    if (descriptor_ < 0) descriptor_ = ::accept4(instance_.listener(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    return descriptor_ >= 0;
  }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  services::Instance instance_;
  int descriptor_ = -1;
};

struct Process {
  explicit Process(const Directory& directory) {
    const runtime::CoreSection section(core);
    LocalFabricOptions options;
    options.runtime_directory = directory.get().path();
    options.start_service = false;
    link.emplace(port, io, core, options);
  }
  ~Process() {
    {
      const runtime::CoreSection section(core);
      link.reset();
    }
    io.poll();
    if (core.pool().outstanding() != 0) fail("a frame's buffer is not returned");
    if (port.counters().unexpected_events != 0) fail("an event without a row");
  }
  boost::asio::io_context io{1};
  FabricCore core{io};
  fc2::NPort port{core.scheduler(), core.pool(), support::port_config(0)};
  std::optional<LocalFabricLink> link;
};

void flood_link(const Directory& directory, const Input& input) {
  FalseService service(directory);
  Process process(directory);
  eventually([&] { return process.io.poll(), service.accept(); });
  write_all(service.descriptor(), input);
  hang_up(service.descriptor());
  read_until(
      service.descriptor(), [](const Input&) { return false; }, [&] { process.io.poll(); });
  const runtime::CoreSection section(process.core);
  if (process.link->up()) fail("a link that ended is up");
  if (process.link->trouble().empty()) fail("no reason for a link that is down");
}

void expect_link_works(const Directory& directory) {
  FalseService service(directory);
  Process process(directory);
  eventually([&] { return process.io.poll(), service.accept(); });
  write_all(service.descriptor(), welcome());
  if (!eventually([&] { return process.io.poll(), process.link->up(); })) fail("a good Welcome brings no link");
}

// --- fcvi-fabricd status -----------------------------------------------------------------------------------------

void flood_status(const Directory& directory, const Input& input) {
  FalseService service(directory);
  std::thread speaker([&] {
    eventually([&] { return service.accept(); });
    write_all(service.descriptor(), input);
    hang_up(service.descriptor());
  });
  fabricd::ControlClient client;
  std::string answer;
  const bool understood = client.connect(directory.get()) && client.request("status") && client.receive_answer(answer);
  speaker.join();
  if (!understood && client.error().empty()) return;  // a Refusal or Done may have no text
  static_cast<void>(fabricd::to_text(answer));
  static_cast<void>(fabricd::tells_of_fcoe(answer));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Directory directory;
  if (size < 1) return 0;
  const wire::Bytes rest(data + 1, size - 1);
  switch (data[0] % 7) {
    case 0: flood_service(directory, after({}, rest)); break;
    case 1: flood_service(directory, after(hello(Hello::Role::Port), rest)); break;
    case 2: flood_service(directory, after(hello(Hello::Role::Control), rest)); break;
    case 3: flood_link(directory, after({}, rest)), expect_link_works(directory); break;
    case 4: flood_link(directory, after(welcome(), rest)), expect_link_works(directory); break;
    case 5: flood_status(directory, after({}, rest)); break;
    default: flood_status(directory, after(welcome(), rest));
  }
  return 0;
}
