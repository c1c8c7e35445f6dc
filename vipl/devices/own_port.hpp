// The port of a NIC of VI over TCP that no other process shares.
#pragma once
#include <vector>

#include "vipl/devices/tcp_port.hpp"

namespace vipl {

class OwnPort final : public TcpPort, private streams::ListenerUser {
 public:
  /// Listens at each address, or, where one cannot be had, at none. Both outlive it.
  OwnPort(streams::Streams& streams, const std::vector<streams::Address>& addresses, TcpPortUser& user);

  [[nodiscard]] bool listens() const override { return failure_.empty(); }
  [[nodiscard]] std::string failure() const override { return failure_; }
  void waiting_changed(const vitcp::port_service::Wanted&, std::size_t) override {}

 private:
  void accepted(std::unique_ptr<streams::Stream> stream) override { user_.stream_accepted(std::move(stream)); }

  TcpPortUser& user_;
  std::vector<std::unique_ptr<streams::Listener>> listeners_;
  std::string failure_;
};

}  // namespace vipl
