// A network interface as an RDMA device (RNIC) with one port, and a program's use of it.
#pragma once
#include <infiniband/verbs.h>

#include <atomic>

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
  static constexpr int objects = 1 << 20;  // protection domains, completion queues
  static constexpr int regions = 1 << 23;  // half of the STags
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
