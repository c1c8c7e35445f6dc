#include "vipl/api/domain.hpp"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "runtime/drivers/link_descriptor.hpp"
#include "vipl/api/objects.hpp"
#include "vipl/api/real_time.hpp"

namespace vipl {
namespace {

constexpr unsigned long first_infinite_ms = 0xFFFFFFFFUL;

std::atomic<Domain*> process_domain{nullptr};
// Every call reads it: without a call of the linker's.
[[gnu::tls_model("initial-exec")]] constinit thread_local Domain* thread_domain = nullptr;
FutexLock making;  // the process's domain

/// In the child of a fork() there are neither our threads nor whoever held our locks. What the parent had is left as it
/// is, and nothing of the child finds it. Its links end with the parent, whether the child lives on or not.
void forget_in_child() {
  runtime::drivers::LinkDescriptor::close_all_in_child();
  process_domain.store(nullptr);
  thread_domain = nullptr;
  new (&making) FutexLock;
}

std::uint64_t first_generation() {
  static std::atomic<std::uint64_t> domains{0};
  return domains.fetch_add(1) << 24;
}

/// At exit() what the program was told is sent has to be on its way; and logins on Ethernet do not end by themselves.
void say_goodbye_at_exit() {
  const auto say_goodbye = [] {
    if (Domain* domain = process_domain.load()) domain->say_goodbye();
  };
  static const int registered = std::atexit(say_goodbye);
  if (registered != 0) throw std::bad_alloc();
}

struct NoOperation final : vi::Operation {
  void done(vi::Return) override {}
};

}  // namespace

TimeNs timeout_ns(unsigned long timeout_ms) {
  if (timeout_ms >= first_infinite_ms) return runtime::never;
  return static_cast<TimeNs>(timeout_ms) * runtime::millisecond;
}

TimeNs deadline(const Runtime& runtime, unsigned long timeout_ms) {
  const TimeNs timeout = timeout_ns(timeout_ms), now = runtime.now();
  return timeout >= runtime::never - now ? runtime::never : now + timeout;
}

// --- which domain ----------------------------------------------------------------------------------------

Domain* Domain::find() {
  return thread_domain != nullptr ? thread_domain : process_domain.load(std::memory_order_acquire);
}

Domain& Domain::get() {
  if (Domain* domain = find()) return *domain;
  const std::lock_guard lock(making);
  if (process_domain.load() == nullptr) {
    static const int registered = pthread_atfork(nullptr, nullptr, forget_in_child);
    if (registered != 0) throw std::bad_alloc();
    process_domain.store(&start_real_time_domain());
  }
  return *process_domain.load();
}

bool Domain::in_simulation() { return thread_domain != nullptr; }
void Domain::enter(Domain* domain) { thread_domain = domain; }

// --- what is in it ---------------------------------------------------------------------------------------

Domain::Domain(Runtime& runtime) : slots_(first_generation()), engine_(runtime), devices_(engine_) {
  engine_.set_failure_handler([this] { report_catastrophe(); });
}

Domain::~Domain() = default;

Device& Domain::device(const NicConfiguration& configuration, const NodeIdentity& identity) {
  Device& device = devices_.find_or_make(configuration, identity);
  if (device.needs_goodbye()) say_goodbye_at_exit();
  return device;
}

void Domain::say_goodbye() {
  if (!engine_.try_enter()) return;
  devices_.say_goodbye();
  engine_.leave();
}

void* Domain::add(Object& object) {
  object.handle = slots_.insert(object, static_cast<unsigned>(object.kind));
  return object.handle;
}

void Domain::remove(Object& object) {
  if (object.handle != nullptr) slots_.erase(object.handle);
  object.handle = nullptr;
}

void* Domain::add_nic(const std::shared_ptr<NicObject>& nic) {
  if (add(*nic) != nullptr) nics_[nic->handle] = nic;
  return nic->handle;
}

void Domain::remove_nic(NicObject& nic) {
  slots_.erase(nic.handle);
  nics_.erase(nic.handle);  // it keeps its number: errors on their way tell it
}

std::shared_ptr<ViObject> Domain::take_vi() { return vis_.take(*this); }
std::shared_ptr<QueueObject> Domain::take_queue() { return queues_.take(*this); }

void Domain::close_all_nics() {
  while (!nics_.empty()) nics_.begin()->second->close();
}

void Domain::reject_later(Device& device, vi::ConnectionToken token) {
  static NoOperation nobody;
  engine_.later([&device, token] { device.transport().connect_reject(token, nobody); });
}

bool Domain::entry_taken(const CompletionPort::Entry& entry) {
  ViObject* vi = find<ViObject>(entry.vi);
  return vi != nullptr && vi->port(entry.receive_queue).entry_taken(entry.vi);
}

void Domain::report_catastrophe() {
  try {
    for (const auto& [handle, nic] : nics_) nic->report_catastrophe();
  } catch (const std::exception&) {
    // There is no memory to tell that there is no memory.
  }
}

}  // namespace vipl
