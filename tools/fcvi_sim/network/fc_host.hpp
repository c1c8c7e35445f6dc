// The transport of a host on Fibre Channel: an N_Port with its resolver and FC-VI provider.
#pragma once
#include <memory>
#include <vector>

#include "farp/resolver.hpp"
#include "fc2_fabric/node/n_port.hpp"
#include "fcvi/provider.hpp"
#include "tools/fcvi_sim/host/host_transport.hpp"
#include "tools/fcvi_sim/scenario/random.hpp"
#include "tools/fcvi_sim/scenario/scenario.hpp"

namespace sim {

/// For listeners that know no machine.
[[nodiscard]] inline FiredRow fired(const fsm::Row& row) {
  return {row.machine, row.source, row.event, row.target, row.clause, row.index};
}

class FcHost final : public HostTransport,
                     private farp::ReadyListener,
                     private fsm::RowListener,
                     private fc2::ExchangeUser {
 public:
  /// Draws from `random` what the scenario leaves to chance.
  FcHost(runtime::Scheduler& scheduler, fc2::FramePool& pool, const PortSpec& spec, Random& random);
  /// What one would draw that is not made here.
  static void draw_for_another(Random& random);

  // HostTransport
  [[nodiscard]] const std::string& name() const override { return port_.config().name; }
  vi::Transport& transport() override { return provider_; }
  [[nodiscard]] const wire::IpAddress& address() const override { return provider_.config().address; }
  void set_ready_listener(TransportListener& listener) override;
  /// Without one the port takes its short cuts (fcvi::Services::takes_short_cuts).
  void set_row_listener(FiredRowListener* listener) override {
    rows_ = listener;
    port_.set_row_listener(listener != nullptr ? this : nullptr);
  }
  [[nodiscard]] std::string_view ready_means() const override { return "logged in and registered"; }
  bool leave() override;
  [[nodiscard]] std::vector<Held> held() const override;
  [[nodiscard]] Tally tally() const override;
  void add_gauges(std::vector<Gauge>& to) const override;
  [[nodiscard]] bool is_consistent() const override {
    return port_.is_consistent() && resolver_.is_consistent() && provider_.is_consistent();
  }

  /// For who plugs it in or takes note of its frames.
  fc2::NPort& port() { return port_; }
  /// Nothing happens where there is no such login.
  void log_out_from(wire::FcId peer, bool implicit);
  /// See Network.
  bool send_frame(wire::FcId to, wire::Type type, std::span<const std::uint8_t> data_field);

 private:
  // farp::ReadyListener
  void address_ready() override { listener_->transport_ready(); }
  // fsm::RowListener
  void row_fired(const fsm::Row& row) override { rows_->row_fired(fired(row)); }

  // fc2::ExchangeUser, of frames that no answer is expected to
  void sequence_received(fc2::Exchange& /*exchange*/, const wire::FcHeader& /*first*/,
                         std::span<const std::uint8_t> /*iu*/) override {}
  void exchange_failed(fc2::Exchange& /*exchange*/, fc2::ExchangeFailure /*failure*/) override {}

  fc2::NPort port_;
  farp::Resolver resolver_;
  fcvi::Provider provider_;
  TransportListener* listener_ = nullptr;
  FiredRowListener* rows_ = nullptr;
};

/// By position in the scenario's ports; nullptr: it is simulated elsewhere.
using FcHosts = std::vector<std::unique_ptr<FcHost>>;

/// Of a port or a switch.
[[nodiscard]] HostTransport::Tally tally_of(const fc2::Counters& counters);

}  // namespace sim
