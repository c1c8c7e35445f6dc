// A fabric in this process, with its devices and all that programs opened on them: the state behind the C API.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "fc2_fabric/switch.hpp"
#include "vi/handle_table.hpp"
#include "vi/transport.hpp"
#include "vipl/runtime.hpp"

namespace vipl {
class Device;
class NicObject;
struct Object;

/// Number of the device that VipOpenNic's name means: VINICn is n; VINIC and the names that programs have built in
/// are 0. Empty: there is no such device.
std::optional<unsigned> device_number(std::string_view name);

/// All calls but find() and get() are made with the runtime's lock held.
class Domain {
 public:
  static constexpr std::uint32_t max_handles = 1u << 20;  // NICs, VIs, queues, tags and connections together

  explicit Domain(Runtime& runtime);
  ~Domain();
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  /// This thread's simulation, else the process's domain; nullptr before the first VipOpenNic.
  static Domain* find();
  /// The same, but makes the process's domain. It is never destroyed: exit() must not wait.
  static Domain& get();
  /// Makes `domain` the one of this thread.
  static void enter(Domain* domain);

  Runtime& runtime() { return runtime_; }
  fc2::Scheduler& scheduler() { return scheduler_; }
  fc2::FramePool& pool() { return pool_; }
  fc2::Switch& fabric() { return fabric_; }
  /// Made on first use.
  Device& device(unsigned number);

  /// A handle of a program; nullptr when there are too many.
  void* add(const std::shared_ptr<Object>& object);
  void remove(void* handle);
  [[nodiscard]] Object* object(void* handle);
  void close_all_nics();

  /// Runs all that is due, until nothing more is.
  void settle();
  /// Rejects a request that came for a call which does not exist any more.
  void reject_later(Device& device, vi::ConnectionToken token) { rejects_.push_back({&device, token}); }
  /// Keeps an operation until the transport has answered it, whether its caller still waits or not.
  void keep(std::shared_ptr<vi::Operation> operation) {
    vi::Operation* const key = operation.get();
    under_way_.emplace(key, std::move(operation));
  }
  /// The one who calls keeps it meanwhile.
  [[nodiscard]] std::shared_ptr<vi::Operation> let_go(vi::Operation& operation) {
    auto node = under_way_.extract(&operation);
    return node.empty() ? nullptr : std::move(node.mapped());
  }

  /// Settles and waits until `ready()`. False: the deadline came first, or nothing can happen any more.
  template <class Ready>
  bool wait_until(WaitPoint& point, TimeNs deadline, Ready ready) {
    for (;;) {
      settle();
      if (ready()) return true;
      if (scheduler_.now() >= deadline || !runtime_.wait(point, deadline)) return false;
    }
  }
  /// When a time-out of VipXxx ends; 0xFFFFFFFF and more milliseconds are infinite.
  [[nodiscard]] TimeNs deadline(unsigned long timeout_ms) const;

 private:
  struct Reject {
    Device* device;
    vi::ConnectionToken token;
  };
  Runtime& runtime_;
  fc2::Scheduler scheduler_;
  fc2::FramePool pool_;
  fc2::Switch fabric_;
  std::map<vi::Operation*, std::shared_ptr<vi::Operation>> under_way_;  // only looked up: no order shows
  std::map<unsigned, std::unique_ptr<Device>> devices_;
  vi::HandleTable<std::shared_ptr<Object>> handles_{max_handles};
  std::map<std::uint32_t, NicObject*> nics_;
  std::vector<Reject> rejects_;
};

/// A time-out of VipXxx as the transport takes it.
TimeNs timeout_ns(unsigned long timeout_ms);

}  // namespace vipl
