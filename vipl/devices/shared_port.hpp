// The port that a NIC of VI over TCP shares with all processes of the user, by vitcp-portd (ruling V-12).
#pragma once
#include <map>
#include <vector>

#include "runtime/scheduler.hpp"
#include "vipl/devices/tcp_port.hpp"
#include "vipl/devices/tcp_shared.hpp"
#include "vitcp/drivers/port_client.hpp"

namespace vipl {

class SharedPort final : public TcpPort {
 public:
  /// A service for each address. `options`: of each, but for where it listens. Both outlive it.
  SharedPort(TcpShared& shared, const std::vector<streams::Address>& addresses,
             const vitcp::drivers::PortClientOptions& options, TcpPortUser& user);
  ~SharedPort() override;

  [[nodiscard]] bool listens() const override;
  [[nodiscard]] std::string trouble() const override;
  void waiting_changed(const vitcp::port_service::Wanted& wanted, std::size_t count) override;

 private:
  class Place;
  std::vector<std::unique_ptr<Place>> places_;  // at least one
};

}  // namespace vipl
