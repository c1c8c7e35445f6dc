// One simulated host: an N_Port with its resolver, FC-VI provider and NIC.
#pragma once
#include <string>
#include <vector>

#include "farp/resolver.hpp"
#include "fc2_fabric/node/n_port.hpp"
#include "fc2_fabric/switch/switch.hpp"
#include "fcvi/provider.hpp"
#include "tools/fcvi_sim/host/driver.hpp"
#include "tools/fcvi_sim/host/memory.hpp"
#include "tools/fcvi_sim/scenario/random.hpp"
#include "tools/fcvi_sim/scenario/scenario.hpp"
#include "vi/nic.hpp"

namespace sim {
class Endpoint;

/// The switch of a scenario.
fc2::SwitchConfig fabric_config(const Scenario& scenario);

class Node final : private vi::Listener, private farp::ReadyListener {
 public:
  /// Draws from `random` what the scenario leaves to chance.
  Node(Driver& driver, fc2::FramePool& pool, const PortSpec& spec, std::size_t index, Random& random);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() = default;

  [[nodiscard]] const std::string& name() const { return port_.config().name; }
  [[nodiscard]] Driver& driver() { return driver_; }
  fc2::NPort& port() { return port_; }
  farp::Resolver& resolver() { return resolver_; }
  fcvi::Provider& provider() { return provider_; }
  vi::Nic& nic() { return nic_; }
  Region allocate(std::uint64_t size_bytes, vi::MemoryAttributes attributes) {
    return addresses_.allocate(nic_, size_bytes, attributes);
  }
  /// co_await: others can find this port.
  Signal& ready() { return ready_; }
  /// In the order of their making.
  [[nodiscard]] const std::vector<Endpoint*>& endpoints() const { return endpoints_; }
  struct Error {
    runtime::TimeNs at;
    vi::ErrorCode code;
  };
  /// Asynchronous ones, in the order of time.
  [[nodiscard]] const std::vector<Error>& errors() const { return errors_; }

 private:
  friend class Endpoint;
  // vi::Listener
  void work_completed(vi::Vi& vi, bool receive_queue) override;
  void completion_queued(vi::CompletionQueue&) override {}
  void asynchronous_error(vi::Vi* vi, vi::CompletionQueue* queue, std::uint64_t descriptor_address,
                          std::uint32_t op_code, vi::ResourceCode resource, vi::ErrorCode error) override;
  // farp::ReadyListener
  void address_ready() override { ready_.set(); }

  Driver& driver_;
  Signal ready_;
  std::vector<Error> errors_;
  std::vector<Endpoint*> endpoints_;
  fc2::NPort port_;
  farp::Resolver resolver_;
  fcvi::Provider provider_;
  vi::Nic nic_;
  AddressSpace addresses_;
};

}  // namespace sim
