// One NIC device of the in-process fabric: an N_Port, its resolver and its provider.
#pragma once
#include <memory>
#include <string>

#include "farp/directory.hpp"
#include "farp/resolver.hpp"
#include "fcvi/provider.hpp"
#include "vipl/configuration.hpp"
#include "vipl/node_identity.hpp"
#include "vipl/runtime.hpp"

namespace vipl {
class Domain;

class Device final : private farp::ReadyListener {
 public:
  static constexpr unsigned max_devices = 250;  // addresses 10.0.0.1 to 10.0.0.250

  /// VINICn has the IP address 10.0.0.(n + 1) and the Port_Name 20000C0001000000h + n. Attaches the port: its login
  /// begins.
  Device(Domain& domain, unsigned number);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// Logged in and registered: others can find it.
  [[nodiscard]] bool ready() const { return resolver_->ready(); }
  WaitPoint& ready_point() { return ready_point_; }
  fcvi::Provider& provider() { return *provider_; }
  farp::Directory& directory() { return *directory_; }
  [[nodiscard]] wire::FcId n_port_id() const { return port_->n_port_id(); }
  [[nodiscard]] const wire::IpAddress& address() const { return identity_.addresses.front(); }
  [[nodiscard]] const std::string& name() const { return configuration_.name; }
  [[nodiscard]] const NicConfiguration& configuration() const { return configuration_; }
  [[nodiscard]] const NodeIdentity& identity() const { return identity_; }

 private:
  void address_ready() override;

  Domain& domain_;
  const NicConfiguration configuration_;
  const NodeIdentity identity_;
  WaitPoint ready_point_;
  std::unique_ptr<fc2::NPort> port_;
  std::unique_ptr<farp::Resolver> resolver_;
  std::unique_ptr<farp::Directory> directory_;
  std::unique_ptr<fcvi::Provider> provider_;
};

}  // namespace vipl
