// The transport of a host on TCP: a VI/TCP provider over the emulated streams of that host, and what its RDMA shares.
#pragma once
#include <memory>

#include "streams/stream.hpp"
#include "tools/fcvi_sim/host/host_transport.hpp"
#include "tools/fcvi_sim/host/rdma_core.hpp"
#include "tools/fcvi_sim/scenario/random.hpp"
#include "tools/fcvi_sim/scenario/scenario.hpp"
#include "vitcp/provider.hpp"

namespace sim {

class TcpHost final : public HostTransport, private fsm::RowListener {
 public:
  /// Draws from `random` what the scenario leaves to chance. All references outlive it.
  TcpHost(runtime::Scheduler& scheduler, streams::Streams& streams, const PortSpec& spec, Random& random,
          std::uint64_t rdma_seed);

  // HostTransport
  [[nodiscard]] const std::string& name() const override { return spec_.name; }
  vi::Transport& transport() override { return provider_; }
  [[nodiscard]] const wire::IpAddress& address() const override { return spec_.addresses.front(); }
  void set_ready_listener(TransportListener& listener) override { listener_ = &listener; }
  void set_row_listener(FiredRowListener* listener) override { rows_ = listener; }
  [[nodiscard]] std::string_view ready_means() const override { return "listening"; }
  bool leave() override { return false; }
  [[nodiscard]] std::vector<Held> held() const override;
  [[nodiscard]] Tally tally() const override;
  void add_gauges(std::vector<Gauge>& to) const override;
  [[nodiscard]] bool is_consistent() const override {
    return provider_.is_consistent() && (!rdma_ || rdma_->is_consistent());
  }

  /// Made when it is first asked for.
  RdmaCore& rdma();

  /// It is plugged in: it listens from now on.
  void begin();
  /// Every call under way returns, and its VIs are detached.
  void end() { provider_.detach_all(); }

 private:
  // fsm::RowListener
  void row_fired(const fsm::Row& row) override {
    if (rows_ != nullptr) rows_->row_fired({row.machine, row.source, row.event, row.target, row.clause, row.index});
  }
  static void add_rdma(const iwarp::Counters& counters, Tally& tally);
  runtime::Scheduler& scheduler_;
  streams::Streams& streams_;
  const PortSpec& spec_;
  const std::uint64_t rdma_seed_;
  std::optional<RdmaCore> rdma_;
  vitcp::Provider provider_;
  TransportListener* listener_ = nullptr;
  FiredRowListener* rows_ = nullptr;
  bool listens_ = false;
};

}  // namespace sim
