// A network interface as an RDMA device (RNIC) with one port, and a program's use of it.
#pragma once
#include <infiniband/verbs.h>

#include <atomic>
#include <optional>
#include <utility>

#include "iwarp/rdmap_stream.hpp"
#include "verbs/event_queue.hpp"
#include "verbs/interfaces.hpp"
#include "verbs/process.hpp"

#pragma GCC visibility push(default)  // for both libraries
namespace verbs {

/// What is so of every device.
struct Limits {
  static constexpr unsigned sges = iwarp::most_local_pieces;
  static constexpr int sges_of_read = 1;
  static constexpr std::uint32_t inline_octets = 1024;
  static constexpr int completions = 1 << 20;
  static constexpr int objects = 1 << 16;  // protection domains, completion queues, shared receive queues: of each
  static constexpr int regions = static_cast<int>(iwarp::MemoryTable::most_regions);  // of all devices together
};

/// What a program has of a device, by kind.
struct ObjectCounts {
  std::atomic<int> domains{0}, completion_queues{0}, shared_receives{0}, queue_pairs{0};
};

/// The place of one object among those that a device may have of its kind; free again when it goes.
class Place {
 public:
  /// Of an object that the library has for itself: it does not count.
  Place() = default;
  /// Nothing: there are as many as there may be.
  [[nodiscard]] static std::optional<Place> take(std::atomic<int>& taken, int most);
  Place(Place&& other) noexcept : taken_(std::exchange(other.taken_, nullptr)) {}
  Place& operator=(Place&&) = delete;
  ~Place() {
    if (taken_ != nullptr) --*taken_;
  }

 private:
  explicit Place(std::atomic<int>& taken) : taken_(&taken) {}
  std::atomic<int>* taken_ = nullptr;
};

class Device final : public ibv_device {
 public:
  /// Named "iw_" and the interface.
  Device(Process& process, const Interface& interface);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  void update(const Interface& interface) { interface_ = interface; }
  [[nodiscard]] Process& process() const { return process_; }
  [[nodiscard]] const Interface& interface() const { return interface_; }
  [[nodiscard]] bool has(const wire::IpAddress& ip) const;
  [[nodiscard]] const iwarp::Services& services() const { return services_; }
  [[nodiscard]] const iwarp::Config& config() const { return config_; }

  /// In network byte order: of the MAC address (EUI-64), or of the name.
  [[nodiscard]] std::uint64_t guid() const;
  [[nodiscard]] ibv_gid gid() const;
  [[nodiscard]] ibv_device_attr attributes() const;
  /// A queue pair that is connected has a socket: as many as files may be open.
  [[nodiscard]] static int most_queue_pairs();
  [[nodiscard]] ObjectCounts& counts() { return counts_; }
  [[nodiscard]] ibv_port_attr port_attributes() const;
  /// Those of rdma_cm_id that brings none: one for all. Inside.
  [[nodiscard]] ibv_context* shared_context();
  [[nodiscard]] ibv_pd* shared_domain();

 private:
  Process& process_;
  Interface interface_;
  const iwarp::Config config_;
  const iwarp::Services services_;
  ibv_pd* shared_domain_ = nullptr;
  ObjectCounts counts_;
};

/// One for each interface that the configuration has, with an IP address; a device stays when its interface goes.
/// Inside.
[[nodiscard]] std::vector<Device*> devices_of(Process& process);
/// Whose interface has this address. nullptr: none. Inside.
[[nodiscard]] Device* device_at(Process& process, const wire::IpAddress& ip);

/// An event of a device, and whom it is about.
struct AsyncEvent {
  ibv_async_event event{};
  Acknowledgements* source = nullptr;
};

class Context final : public verbs_context {
 public:
  explicit Context(Device& device);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  static Context& of(ibv_context* context);

  [[nodiscard]] Device& device() const { return device_; }
  [[nodiscard]] iwarp::drivers::Host& host() const { return device_.process().host(); }
  [[nodiscard]] EventQueue<AsyncEvent>& events() { return events_; }

 private:
  Device& device_;
  EventQueue<AsyncEvent> events_;
};

/// The device operations that inline functions of verbs.h call.
void set_operations(Context& context);

}  // namespace verbs
#pragma GCC visibility pop
