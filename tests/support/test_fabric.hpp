// A switch with N_Ports on it, in virtual time.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fc2_fabric/frame/frame.hpp"
#include "fc2_fabric/node/n_port.hpp"
#include "fc2_fabric/node/remote_port.hpp"
#include "runtime/scheduler.hpp"
#include "fc2_fabric/switch/switch.hpp"

namespace support {

inline fc2::NPortConfig port_config(std::size_t index) {
  fc2::NPortConfig config;
  config.name = "port " + std::to_string(index);
  config.port_name = {0x2000'02FC'F000'0001 + index};
  config.node_name = {0x1000'02FC'F000'0001 + index};
  return config;
}

class TestFabric {
 public:
  using Adjust = std::function<void(fc2::NPortConfig&, std::size_t index)>;

  /// `ports` N_Ports, not attached yet; port 0 gets N_Port_ID 010100h, port 1 010200h, ... when they log in in order.
  explicit TestFabric(std::size_t ports, fc2::SwitchConfig config = {}, const Adjust& adjust = {})
      : fabric(scheduler, pool, std::move(config)) {
    for (std::size_t i = 0; i < ports; ++i) add_port(adjust);
  }
  /// Ports may be gone before the fabric; not the other way round.
  ~TestFabric() {
    for (auto& port : ports_) fabric.detach(*port);
  }

  fc2::NPort& add_port(const Adjust& adjust = {}) {
    fc2::NPortConfig config = port_config(ports_.size());
    if (adjust) adjust(config, ports_.size());
    return *ports_.emplace_back(std::make_unique<fc2::NPort>(scheduler, pool, std::move(config)));
  }
  fc2::NPort& port(std::size_t index) { return *ports_.at(index); }
  [[nodiscard]] std::size_t size() const { return ports_.size(); }

  void attach(std::size_t index) { fabric.attach(port(index), link); }
  void detach(std::size_t index) { fabric.detach(port(index)); }
  /// From now on every frame to and from that port is lost, and the fabric does not notice.
  void silence(std::size_t index) { fabric.set_fault(port(index), &silence_); }
  /// Attaches all, and lets the fabric logins complete.
  void bring_up() {
    for (std::size_t i = 0; i < size(); ++i) attach(i);
    run_for(runtime::second);
  }
  /// PLOGI from one port to another.
  bool log_in(std::size_t from, std::size_t to) {
    fc2::RemotePort& remote = port(from).remote_port(port(to).n_port_id());
    remote.log_in();
    run_for(runtime::second);
    return remote.logged_in();
  }
  void run_for(runtime::TimeNs duration) { scheduler.run_until(scheduler.now() + duration); }
  /// Until `done`, at most for `limit`. True if it came so far.
  bool run_until(const std::function<bool()>& done, runtime::TimeNs limit = 100 * runtime::second) {
    const runtime::TimeNs end = scheduler.now() + limit;
    while (!done() && scheduler.run_next(end)) {}
    return done();
  }

  runtime::Scheduler scheduler;
  fc2::FramePool pool;
  fc2::LinkConfig link{.latency_ns = runtime::microsecond, .bytes_per_second = 0};

 private:
  struct Silence final : fc2::FrameFault {
    void carry(fc2::Channel&, fc2::FramePtr) override {}
  };
  std::vector<std::unique_ptr<fc2::NPort>> ports_;
  Silence silence_;

 public:
  fc2::Switch fabric;  // after the ports: it takes their links down when it goes
};

}  // namespace support
