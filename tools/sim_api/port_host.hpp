// The host of a port: N_Port, resolver and FC-VI provider; of a peer without provider.
#pragma once
#include <optional>

#include "farp/resolver.hpp"
#include "fc2_fabric/node/n_port.hpp"
#include "fcvi/provider.hpp"
#include "tools/fcvi_sim/host/host_transport.hpp"

namespace fcvi::sim::detail {

/// FC-VI of a peer: what comes was seen at the link, nobody answers.
class Listening final : public fc2::DataFrameUser {
 public:
  explicit Listening(fc2::NPort& port);
  ~Listening();
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  void data_frame_received(const fc2::ReceivedFrame& /*frame*/) override {}
  bool abort_received(wire::FcId /*source*/, wire::OxId /*ox_id*/) override { return true; }
  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first,
                         std::span<const std::uint8_t> iu) override;
  void exchange_failed(fc2::Exchange& /*exchange*/, fc2::ExchangeFailure /*failure*/) override {}
  fc2::NPort& port_;
};

struct PortHostConfig {
  fc2::NPortConfig port;
  farp::ResolverConfig resolver;
  fcvi::ProviderConfig provider;
  bool is_peer = false;
};

class PortHost final : public ::sim::HostTransport, private farp::ReadyListener {
 public:
  PortHost(runtime::Scheduler& scheduler, fc2::FramePool& pool, const PortHostConfig& config);

  [[nodiscard]] fc2::NPort& port() { return port_; }
  [[nodiscard]] bool is_peer() const { return listening_.has_value(); }
  [[nodiscard]] bool is_ready() const { return ready_; }
  void link_went() { ready_ = false; }

  // HostTransport; not of a peer
  [[nodiscard]] const std::string& name() const override { return port_.config().name; }
  vi::Transport& transport() override { return *provider_; }
  [[nodiscard]] const wire::IpAddress& address() const override { return address_; }
  void set_ready_listener(::sim::TransportListener& listener) override { listener_ = &listener; }
  [[nodiscard]] std::string_view ready_means() const override { return "logged in and registered"; }
  bool leave() override { return false; }
  [[nodiscard]] std::vector<Held> held() const override { return {}; }
  [[nodiscard]] Tally tally() const override { return {}; }
  [[nodiscard]] bool is_consistent() const override { return port_.is_consistent() && resolver_.is_consistent(); }

 private:
  void address_ready() override;

  fc2::NPort port_;
  farp::Resolver resolver_;
  const wire::IpAddress address_;
  std::optional<fcvi::Provider> provider_;
  std::optional<Listening> listening_;
  ::sim::TransportListener* listener_ = nullptr;
  bool ready_ = false;
};

}  // namespace fcvi::sim::detail
