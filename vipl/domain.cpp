#include "vipl/domain.hpp"

#include <array>
#include <atomic>
#include <charconv>
#include <mutex>
#include <utility>

#include "vipl/device.hpp"
#include "vipl/objects.hpp"
#include "vipl/real_time.hpp"

namespace vipl {
namespace {

constexpr unsigned long first_infinite_ms = 0xFFFFFFFFUL;

// wild.md item 6: what programs of the time call their only NIC.
constexpr std::array<std::string_view, 7> built_in_names{"VINIC",       "/dev/clanvi0", "/dev/via_eth0", "/dev/via_lo",
                                                         "/etc/via_lo", "nic0",         "VINIC0"};

std::atomic<Domain*> process_domain{nullptr};
thread_local Domain* thread_domain = nullptr;

struct NoOperation final : vi::Operation {
  void done(vi::Return) override {}
};

std::uint32_t number_of(void* handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  return value <= 0xFFFFFFFFu ? static_cast<std::uint32_t>(value) : 0;
}

}  // namespace

std::optional<unsigned> device_number(std::string_view name) {
  for (const std::string_view known : built_in_names)
    if (name == known) return 0;
  if (!name.starts_with("VINIC")) return std::nullopt;
  name.remove_prefix(5);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = error == std::errc{} && end == name.data() + name.size() && name.front() != '0';
  return whole && number < Device::max_devices ? std::optional(number) : std::nullopt;
}

TimeNs timeout_ns(unsigned long timeout_ms) {
  if (timeout_ms >= first_infinite_ms) return vi::infinite;
  return static_cast<TimeNs>(timeout_ms) * fc2::millisecond;
}

Domain::Domain(Runtime& runtime)
    : runtime_(runtime), scheduler_(runtime.now()), fabric_(scheduler_, pool_, fc2::SwitchConfig{}) {}

Domain::~Domain() = default;

Domain* Domain::find() {
  return thread_domain != nullptr ? thread_domain : process_domain.load(std::memory_order_acquire);
}

Domain& Domain::get() {
  if (Domain* domain = find()) return *domain;
  static std::mutex making;
  const std::lock_guard lock(making);
  if (process_domain.load(std::memory_order_acquire) == nullptr)
    process_domain.store(&start_real_time_domain(), std::memory_order_release);
  return *process_domain.load(std::memory_order_acquire);
}

void Domain::enter(Domain* domain) { thread_domain = domain; }

Device& Domain::device(unsigned number) {
  auto& device = devices_[number];
  if (device == nullptr) device = std::make_unique<Device>(*this, number);
  return *device;
}

void* Domain::add(const std::shared_ptr<Object>& object) {
  const std::uint32_t number = handles_.insert(object);
  object->handle = reinterpret_cast<void*>(std::uintptr_t{number});
  if (object->kind == Object::Kind::Nic && number != 0) nics_[number] = static_cast<NicObject*>(object.get());
  return object->handle;
}

void Domain::remove(void* handle) {
  const std::uint32_t number = number_of(handle);
  std::shared_ptr<Object>* entry = handles_.find(number);
  if (entry == nullptr) return;
  const std::shared_ptr<Object> object = std::move(*entry);  // goes last: it may look here
  nics_.erase(number);
  handles_.erase(number);
}

Object* Domain::object(void* handle) {
  const std::shared_ptr<Object>* entry = handles_.find(number_of(handle));
  return entry == nullptr ? nullptr : entry->get();
}

void Domain::close_all_nics() {
  while (!nics_.empty()) nics_.begin()->second->close();
}

void Domain::settle() {
  static NoOperation nobody;
  scheduler_.run_until(runtime_.now());
  while (!rejects_.empty()) {
    for (const Reject& reject : std::exchange(rejects_, {}))
      reject.device->provider().connect_reject(reject.token, nobody);
    scheduler_.run_until(runtime_.now());
  }
  runtime_.set_alarm(scheduler_.next_time());
}

TimeNs Domain::deadline(unsigned long timeout_ms) const {
  const TimeNs timeout = timeout_ns(timeout_ms);
  return timeout >= fc2::never - scheduler_.now() ? fc2::never : scheduler_.now() + timeout;
}

}  // namespace vipl
