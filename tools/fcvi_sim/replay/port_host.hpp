// The real implementation of a captured port: N_Port, resolver and FC-VI provider.
#pragma once
#include <list>
#include <set>

#include "farp/directory.hpp"
#include "fc2_fabric/node/n_port.hpp"
#include "fcvi/provider.hpp"
#include "tools/fcvi_sim/host/host_transport.hpp"
#include "tools/fcvi_sim/replay/port_traits.hpp"

namespace sim::replay {

class PortHost final : public HostTransport, private farp::ReadyListener {
 public:
  PortHost(runtime::Scheduler& scheduler, fc2::FramePool& pool, const PortTraits& traits);

  [[nodiscard]] fc2::NPort& port() { return port_; }
  [[nodiscard]] fcvi::Provider& provider() { return provider_; }

  void log_in(wire::FcId port) { port_.remote_port(port).log_in(); }
  /// Lists the ports of the fabric, with the addresses of these nodes.
  void list_ports(std::set<std::string> wanted);

  // HostTransport
  [[nodiscard]] const std::string& name() const override { return port_.config().name; }
  vi::Transport& transport() override { return provider_; }
  [[nodiscard]] const wire::IpAddress& address() const override { return provider_.config().address; }
  void set_ready_listener(TransportListener& listener) override { listener_ = &listener; }
  [[nodiscard]] std::string_view ready_means() const override { return "logged in and registered"; }
  bool leave() override;
  [[nodiscard]] std::vector<Held> held() const override { return {}; }
  [[nodiscard]] Tally tally() const override { return {}; }
  [[nodiscard]] bool is_consistent() const override {
    return port_.is_consistent() && resolver_.is_consistent() && provider_.is_consistent();
  }

 private:
  struct Listing final : farp::DirectoryListener {
    explicit Listing(std::set<std::string> names) : wanted(std::move(names)) {}
    void directory_listed(std::span<const farp::DirectoryEntry>) override {}
    void directory_failed(farp::DirectoryFailure) override {}
    [[nodiscard]] bool wants_addresses_of(const std::string& name) const override { return wanted.contains(name); }
    const std::set<std::string> wanted;
  };
  void address_ready() override;

  fc2::NPort port_;
  farp::Resolver resolver_;
  fcvi::Provider provider_;
  std::list<Listing> listings_;
  farp::Directory directory_;
  TransportListener* listener_ = nullptr;
};

}  // namespace sim::replay
