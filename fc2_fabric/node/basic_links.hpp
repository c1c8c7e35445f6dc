// Basic link services (FC-FS) as they are sent: ABTS, and what answers it.
#pragma once
#include <cstdint>
#include <span>

#include "fc2_fabric/node/port_services.hpp"
#include "wire/fc_header.hpp"

namespace fc2 {
class RemotePorts;

class BasicLinks {
 public:
  BasicLinks(const PortServices& port, const RemotePorts& remote_ports) : port_(port), remote_ports_(remote_ports) {}
  /// One frame. It waits where its port may have moved (FC-VI 7.7).
  void send(const wire::FcHeader& header, std::span<const std::uint8_t> payload) const;
  /// BA_ACC, also for an exchange that is not known (FC-FS 23.6.1.1).
  void accept_abort(const wire::FcHeader& abts) const;

 private:
  const PortServices& port_;
  const RemotePorts& remote_ports_;
};

}  // namespace fc2
