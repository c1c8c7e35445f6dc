#include "tools/fcvi_perf/session.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace perf {
namespace {

enum class Kind : std::uint64_t { Hello = 1, Welcome, Refused, Start, Ready, Done, Bye };

/// What the two ends say to each other; the fields that its kind has.
struct Message {
  explicit Message(Kind is = Kind::Bye) : kind(is) {}
  Kind kind;
  Job job;              // Hello
  Memory memory;        // Hello, Welcome
  Phase phase;          // Start
  Tally tally;          // Done
  char text[200] = {};  // Welcome: the discriminator of the connections; Refused: why
};

/// A VI for messages one at a time. Both ends wait: nothing is measured meanwhile.
class Control {
 public:
  explicit Control(VIP_NIC_HANDLE nic) : nic_(nic) {
    void* room = nullptr;
    if (::posix_memalign(&room, VIP_DESCRIPTOR_ALIGNMENT, slots * sizeof(Slot)) != 0) fail("no memory");
    std::memset(room, 0, slots * sizeof(Slot));
    slots_ = static_cast<Slot*>(room);
    check(VipRegisterMem(nic_, room, slots * sizeof(Slot), nullptr, &memory_), "VipRegisterMem");
    VIP_VI_ATTRIBUTES wanted{};
    wanted.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
    wanted.MaxTransferSize = sizeof(Message);
    check(VipCreateVi(nic_, &wanted, nullptr, nullptr, &vi_), "VipCreateVi");
    for (std::size_t i = 1; i < slots; ++i) check(VipPostRecv(vi_, describe(slots_[i]), memory_), "VipPostRecv");
  }
  ~Control() {
    if (end_vi(vi_) == 0) return;
    VipDeregisterMem(nic_, slots_, memory_);
    std::free(slots_);
  }
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  [[nodiscard]] VIP_VI_HANDLE vi() const { return vi_; }

  void send(const Message& message) {
    VIP_DESCRIPTOR* done = nullptr;
    slots_[0].message = message;
    check(VipPostSend(vi_, describe(slots_[0]), memory_), "VipPostSend");
    judge(VipSendWait(vi_, patience_ms, &done), done);
  }
  Message receive(VIP_ULONG timeout_ms) {
    VIP_DESCRIPTOR* done = nullptr;
    judge(VipRecvWait(vi_, timeout_ms, &done), done);
    Slot& slot =
        slots_[(reinterpret_cast<std::uint8_t*>(done) - reinterpret_cast<std::uint8_t*>(slots_)) / sizeof(Slot)];
    if (done->CS.Length != sizeof(Message) || slot.message.job.magic != Job::expected_magic)
      fail("the other end is no fcvi-perf of this version");
    const Message message = slot.message;
    check(VipPostRecv(vi_, describe(slot), memory_), "VipPostRecv");
    return message;
  }

  static constexpr VIP_ULONG patience_ms = 60000;

 private:
  struct alignas(VIP_DESCRIPTOR_ALIGNMENT) Slot {
    VIP_DESCRIPTOR descriptor;
    Message message;
  };
  static constexpr std::size_t slots = 5;  // one to send

  VIP_DESCRIPTOR* describe(Slot& slot) {
    VIP_DESCRIPTOR* descriptor = &slot.descriptor;
    std::memset(descriptor, 0, sizeof *descriptor);
    descriptor->CS.SegCount = 1;
    descriptor->CS.Length = sizeof(Message);
    descriptor->DS[0].Local.Data.Address = &slot.message;
    descriptor->DS[0].Local.Handle = memory_;
    descriptor->DS[0].Local.Length = sizeof(Message);
    return descriptor;
  }
  static void judge(VIP_RETURN result, const VIP_DESCRIPTOR* done) {
    if (result == VIP_SUCCESS) return;
    if (done == nullptr) fail(std::string("the other end: ") + result_text(result));
    fail(std::string("the other end: ") + status_text(done->CS.Status));
  }

  VIP_NIC_HANDLE nic_;
  Slot* slots_ = nullptr;
  VIP_MEM_HANDLE memory_ = 0;
  VIP_VI_HANDLE vi_ = nullptr;
};

void accept(VIP_NIC_HANDLE nic, const std::string& discriminator, VIP_VI_HANDLE vi, VIP_ULONG timeout_ms) {
  net_address local, remote;
  VIP_VI_ATTRIBUTES theirs;
  VIP_CONN_HANDLE connection = nullptr;
  for (;;) {
    local_address(nic, discriminator.c_str(), &local);
    std::memset(&remote, 0, sizeof remote);
    check(VipConnectWait(nic, &local.address, timeout_ms, &remote.address, &theirs, &connection), "VipConnectWait");
    const VIP_RETURN result = VipConnectAccept(connection, vi);
    if (result == VIP_SUCCESS) return;
    if (result != VIP_TIMEOUT && result != VIP_NOT_REACHABLE) check(result, "VipConnectAccept");  // else it went away
  }
}

void set_discriminator(net_address& address, const std::string& text) {
  address.address.DiscriminatorLen = static_cast<VIP_UINT16>(text.size());
  std::memcpy(address.room + offsetof(VIP_NET_ADDRESS, HostAddress) + address.address.HostAddressLen, text.data(),
              text.size());
}

void put_text(Message& message, const std::string& text) { text.copy(message.text, sizeof message.text - 1); }

Tally run(Endpoint& end, const Job& job, const Phase& phase, Role role, Samples& samples) {
  return job.measure == Measure::Latency ? run_latency(end, job, phase, role, samples)
                                         : run_bandwidth(end, job, phase, role);
}

/* ---- server ---------------------------------------------------------------------------------------------- */

bool may_serve(Endpoint& end, Control& control, const Job& job) {
  std::string why = why_not(job);
  if (why.empty()) why = end.why_not(job);
  if (why.empty()) return true;
  Message refused(Kind::Refused);
  put_text(refused, why);
  control.send(refused);
  return false;
}

bool is_possible(const Job& job, const Phase& phase) {
  return phase.bytes <= job.max_bytes && (phase.iterations != 0 || phase.duration_ns != 0);
}

void serve_phases(Endpoint& end, Control& control, const Job& job) {
  const auto samples = std::make_unique<Samples>();
  for (;;) {
    const Message start = control.receive(VIP_INFINITE);
    if (start.kind != Kind::Start || start.phase.bytes == 0) return;
    if (!is_possible(job, start.phase)) fail("the client asks for something impossible");
    prepare_phase(end, job, start.phase, Role::Server);
    control.send(Message(Kind::Ready));
    Message done(Kind::Done);
    done.tally = run(end, job, start.phase, Role::Server, *samples);
    control.send(done);
  }
}

/* ---- client ---------------------------------------------------------------------------------------------- */

class Client {
 public:
  Client(Endpoint& end, const Options& options, Address server)
      : end_(end), options_(options), job_(options.job), server_(server), control_(end.nic()) {}

  void connect() {
    if (const std::string why = end_.why_not(job_); !why.empty()) refuse("%s", why.c_str());
    end_.prepare(job_, false);
    net_address local;
    VIP_VI_ATTRIBUTES theirs;
    local_address(end_.nic(), "fcvi-perf", &local);
    const VIP_RETURN met = connect_patiently(control_.vi(), &local, &server_, options_.connect_ms, &theirs);
    if (met == VIP_NO_MATCH && options_.ends == Ends::Processes)
      fail(options_.peer_text() + ": nobody waits there; a NIC within one process needs --threads");
    check(met, options_.peer_text());
    const Message welcome = greet();
    end_.set_peer(welcome.memory);
    set_discriminator(server_, welcome.text);
    for (std::uint64_t i = 0; i < job_.connections; ++i)
      check(connect_patiently(end_.vi(i), &local, &server_, options_.connect_ms, &theirs), options_.peer_text());
  }

  void measure(std::uint64_t bytes, Result& result) {
    result.bytes = bytes;
    const auto warm_up = std::make_unique<Samples>();
    if (const std::uint64_t count = options_.warm_up_of(bytes); count != 0) run_phase({bytes, count, 0}, *warm_up);
    const Phase phase{bytes, options_.duration_ns != 0 ? 0 : options_.iterations, options_.duration_ns};
    result.client = run_phase(phase, result.samples);
    result.server = server_tally_;
  }

  void leave() { control_.send(Message(Kind::Bye)); }

 private:
  Message greet() {
    Message hello(Kind::Hello);
    hello.job = job_;
    hello.memory = end_.memory();
    control_.send(hello);
    Message answer = control_.receive(Control::patience_ms);
    answer.text[sizeof answer.text - 1] = '\0';
    if (answer.kind == Kind::Refused) refuse("the server: %s", answer.text);
    if (answer.kind != Kind::Welcome || std::strlen(answer.text) > 127) fail("the server answers nonsense");
    return answer;
  }

  Tally run_phase(const Phase& phase, Samples& samples) {
    prepare_phase(end_, job_, phase, Role::Client);
    Message start(Kind::Start);
    start.phase = phase;
    control_.send(start);
    if (control_.receive(Control::patience_ms).kind != Kind::Ready) fail("the server answers nonsense");
    const Tally tally = run(end_, job_, phase, Role::Client, samples);
    server_tally_ = control_.receive(Control::patience_ms).tally;
    return tally;
  }

  Endpoint& end_;
  const Options& options_;
  const Job& job_;
  Address server_;
  Control control_;
  Tally server_tally_;
};

}  // namespace

void serve(Endpoint& end, const std::string& discriminator, const std::function<void()>& serving) {
  Control control(end.nic());
  serving();
  accept(end.nic(), discriminator, control.vi(), VIP_INFINITE);
  const Message hello = control.receive(Control::patience_ms);
  if (hello.kind != Kind::Hello) fail("the client says nonsense");
  const Job& job = hello.job;
  if (!may_serve(end, control, job)) return;
  end.prepare(job, is_passive(job, Role::Server));
  end.set_peer(hello.memory);
  Message welcome(Kind::Welcome);
  const std::string connections = "fcvi-perf." + std::to_string(::getpid()) + "." + std::to_string(now_ns());
  put_text(welcome, connections);
  welcome.memory = end.memory();
  control.send(welcome);
  for (std::uint64_t i = 0; i < job.connections; ++i) accept(end.nic(), connections, end.vi(i), Control::patience_ms);
  serve_phases(end, control, job);
  end.release();
}

void measure(Endpoint& end, const Options& options, Address server, const std::function<void()>& connected,
             const std::function<void(const Result&)>& each) {
  Client client(end, options, server);
  client.connect();
  connected();
  for (const std::uint64_t bytes : options.sizes) {
    const auto result = std::make_unique<Result>();
    client.measure(bytes, *result);
    each(*result);
  }
  client.leave();
  end.release();
}

}  // namespace perf
