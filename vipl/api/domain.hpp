// The NICs of this process and all that programs opened on them: the state behind the C API.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "vi/transport.hpp"
#include "vipl/devices/devices.hpp"
#include "vipl/engine/completion_port.hpp"
#include "vipl/engine/engine.hpp"
#include "vipl/engine/handle_slots.hpp"
#include "vipl/engine/memory_gate.hpp"
#include "vipl/engine/pool.hpp"
#include "vipl/engine/trace.hpp"

namespace vipl {
class NicObject;
class QueueObject;
class ViObject;
struct Object;

template <class Base>
class Pending;

/// Calls are made inside the engine, but for those that say otherwise.
class Domain final : private CompletionPort::Directory {
 public:
  explicit Domain(Runtime& runtime);
  ~Domain() override;
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  /// Any thread: this thread's simulation, else the process's domain; nullptr before the first VipOpenNic, and in a
  /// child process before its own.
  static Domain* find();
  /// The same, but makes the process's domain. It is never destroyed: exit() must not wait.
  static Domain& get();
  /// Any thread: this thread belongs to a simulation.
  static bool in_simulation();
  /// Makes `domain` the one of this thread.
  static void enter(Domain* domain);

  /// Any thread.
  Engine& engine() { return engine_; }
  Runtime& runtime() { return engine_.runtime(); }
  MemoryGate& memory_gate() { return memory_gate_; }

  runtime::Scheduler& scheduler() { return engine_.scheduler(); }
  /// The NIC of this configuration; made on first use, and known by its name from then on.
  Device& device(const NicConfiguration& configuration, const NodeIdentity& identity);
  /// One that nobody opened: the next device() makes it anew.
  void forget(const Device& device) { devices_.forget(device); }
  /// The process ends: what others cannot notice at once is told. Waits for nobody for long.
  void say_goodbye();

  /// Any thread: nullptr for anything but a valid handle of this kind. Without the engine's lock the object may be
  /// gone the next moment: only ports of VIs and completion queues may be used then.
  template <class T>
  [[nodiscard]] T* find(void* handle) const {
    Object* const found = slots_.find(handle, static_cast<unsigned>(T::its_kind));
    if (found == nullptr && trace::any()) trace::because_of_handle(handle, static_cast<unsigned>(T::its_kind));
    return static_cast<T*>(found);
  }
  /// A handle of a program; nullptr when there are too many.
  void* add(Object& object);
  void remove(Object& object);
  void* add_nic(const std::shared_ptr<NicObject>& nic);
  void remove_nic(NicObject& nic);
  std::shared_ptr<ViObject> take_vi();
  std::shared_ptr<QueueObject> take_queue();
  CompletionPort::Directory& directory() { return *this; }
  void close_all_nics();

  /// Rejects a request that came for a call which does not exist any more.
  void reject_later(Device& device, vi::ConnectionToken token);
  /// Keeps an operation until the transport has answered it, whether its caller still waits or not.
  void keep(std::shared_ptr<vi::Operation> operation) {
    vi::Operation* const key = operation.get();
    under_way_.emplace(key, std::move(operation));
  }
  /// The one who calls keeps it meanwhile.
  std::shared_ptr<vi::Operation> let_go(vi::Operation& operation) {
    auto node = under_way_.extract(&operation);
    return node.empty() ? nullptr : std::move(node.mapped());
  }

 private:
  bool entry_taken(const CompletionPort::Entry& entry) override;
  void report_catastrophe();

  HandleSlots<Object> slots_;
  MemoryGate memory_gate_;
  Engine engine_;
  Pool<ViObject> vis_;
  Pool<QueueObject> queues_;
  std::map<vi::Operation*, std::shared_ptr<vi::Operation>> under_way_;  // only looked up: no order shows
  Devices devices_;
  std::map<void*, std::shared_ptr<NicObject>> nics_;
};

/// A time-out of VipXxx as the transport takes it; 0xFFFFFFFF and more milliseconds are infinite.
TimeNs timeout_ns(unsigned long timeout_ms);
/// When it ends, if it begins now.
TimeNs deadline(const Runtime& runtime, unsigned long timeout_ms);

}  // namespace vipl
