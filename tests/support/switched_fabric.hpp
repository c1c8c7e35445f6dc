// Switches, inter-switch links and N_Ports on them, in virtual time.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fc2_fabric/switch/fabric.hpp"
#include "fc2_fabric/node/n_port.hpp"
#include "fc2_fabric/node/remote_port.hpp"
#include "tests/support/test_fabric.hpp"

namespace support {

inline fc2::SwitchConfig switch_config(std::size_t index) {
  fc2::SwitchConfig config;
  config.name = "switch " + std::to_string(index);
  config.switch_name = {0x1000'02FC'FA00'0001 + (std::uint64_t{index} << 16)};
  config.fabric_name = config.switch_name;
  return config;
}

class SwitchedFabric {
 public:
  explicit SwitchedFabric(std::size_t switches = 0, fc2::FabricConfig config = {}) : fabric(scheduler, pool, config) {
    for (std::size_t i = 0; i < switches; ++i) add_switch();
  }
  /// Ports may be gone before the fabric; not the other way round.
  ~SwitchedFabric() {
    for (std::size_t i = 0; i < ports_.size(); ++i) detach(i);
  }

  fc2::Switch& add_switch() { return fabric.add_switch(switch_config(fabric.size())); }
  fc2::Switch& at(std::size_t index) { return fabric.at(index); }
  fc2::InterSwitchLink& join(std::size_t a, std::size_t b, fc2::LinkConfig config = isl) {
    return fabric.connect(at(a), at(b), config);
  }
  /// Attached to that switch; the port's index.
  std::size_t add_port(std::size_t at_switch, const TestFabric::Adjust& adjust = {}) {
    fc2::NPortConfig config = port_config(ports_.size());
    if (adjust) adjust(config, ports_.size());
    ports_.push_back(std::make_unique<fc2::NPort>(scheduler, pool, std::move(config)));
    switch_of_.push_back(nullptr);
    attach(ports_.size() - 1, at_switch);
    return ports_.size() - 1;
  }
  void attach(std::size_t port, std::size_t at_switch) {
    switch_of_[port] = &at(at_switch);
    at(at_switch).attach(*ports_[port], link);
  }
  void detach(std::size_t port) {
    if (switch_of_[port] != nullptr) switch_of_[port]->detach(*ports_[port]);
    switch_of_[port] = nullptr;
  }
  fc2::NPort& port(std::size_t index) { return *ports_.at(index); }
  fc2::Switch& switch_of(std::size_t port) { return *switch_of_.at(port); }
  [[nodiscard]] std::size_t size() const { return ports_.size(); }
  [[nodiscard]] wire::FcId id(std::size_t index) const { return ports_.at(index)->n_port_id(); }

  void run_for(runtime::TimeNs duration) { scheduler.run_until(scheduler.now() + duration); }
  bool log_in(std::size_t from, std::size_t to) {
    fc2::RemotePort& remote = port(from).remote_port(id(to));
    remote.log_in();
    run_for(runtime::second);
    return remote.logged_in();
  }
  /// Of all switches.
  [[nodiscard]] std::uint64_t discarded(fc2::Discard reason) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < fabric.size(); ++i) sum += at(i).counters().discarded(reason);
    return sum;
  }

  static constexpr fc2::LinkConfig isl{.latency_ns = 10 * runtime::microsecond, .bytes_per_second = 0};
  runtime::Scheduler scheduler;
  fc2::FramePool pool;
  fc2::LinkConfig link{.latency_ns = runtime::microsecond, .bytes_per_second = 0};

 private:
  std::vector<std::unique_ptr<fc2::NPort>> ports_;
  std::vector<fc2::Switch*> switch_of_;

 public:
  fc2::Fabric fabric;  // after the ports: it takes their links down when it goes
};

}  // namespace support
