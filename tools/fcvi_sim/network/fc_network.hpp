// Hosts on Fibre Channel: their N_Ports, and a fabric, link or loop that joins them.
#pragma once
#include <list>
#include <unordered_map>

#include "tools/fcvi_sim/network/fc_host.hpp"
#include "tools/fcvi_sim/network/fc_topology.hpp"
#include "tools/fcvi_sim/network/network.hpp"

namespace sim {

class FcNetwork final : public Network {
 public:
  /// See make_network().
  FcNetwork(runtime::Scheduler& scheduler, fc2::FramePool& pool, const Scenario& scenario,
            fc2::CaptureInterfaces* capture, const Share* share = nullptr);
  ~FcNetwork() override;

  [[nodiscard]] HostTransport& host(std::size_t host) override { return *hosts_[host]; }
  [[nodiscard]] bool has_address(std::size_t host, wire::FcId address) const override {
    return hosts_[host] != nullptr && hosts_[host]->port().n_port_id() == address;
  }
  [[nodiscard]] std::optional<std::size_t> host_with(wire::FcId address) const override;

  [[nodiscard]] std::optional<std::size_t> host_known_at(wire::FcId address) const override;

  void attach(std::size_t host) override { topology_->attach(host); }
  void detach(std::size_t host) override { topology_->detach(host); }
  [[nodiscard]] bool is_attached(std::size_t host) const override {
    return topology_ != nullptr && topology_->is_attached(host);
  }
  void watch(std::size_t host, fc2::FrameTap* tap, LinkFaults faults) override {
    if (topology_ != nullptr) topology_->watch(host, tap, faults);
  }
  void unplug() override { topology_.reset(); }
  [[nodiscard]] Boundary* boundary() override { return topology_ == nullptr ? nullptr : topology_->boundary(); }

  void at_link(std::size_t host, LinkFunction& what) override { topology_->at_link(host, what); }
  void lip(std::size_t host) override { topology_->lip(host); }
  void replug(std::size_t host) override { topology_->replug(host); }
  void set_isl(std::size_t isl, bool up) override { topology_->set_isl(isl, up); }
  void set_switch(std::size_t index, bool up) override { topology_->set_switch(index, up); }
  void log_out(std::size_t host, std::size_t peer, bool implicit) override {
    hosts_[host]->log_out_from(address_of(host, peer), implicit);
  }

  FrameSent send_frame(std::size_t host, std::size_t peer, std::uint8_t type,
                       std::span<const std::uint8_t> data_field) override {
    if (hosts_[host]->port().waiting_frames() >= most_waiting) return FrameSent::Behind;
    const bool sent = hosts_[host]->send_frame(address_of(host, peer), wire::Type{type}, data_field);
    return sent ? FrameSent::Sent : FrameSent::NoLogin;
  }

  void set_peer_listener(PeerListener& listener) override;
  [[nodiscard]] runtime::TimeNs frame_lifetime(bool class_2) const override;
  [[nodiscard]] bool is_consistent() const override { return topology_ == nullptr || topology_->is_consistent(); }
  void visit_switches(const TallyVisitor& visit) const override;
  void add_gauges(std::size_t host, std::vector<HostTransport::Gauge>& to) override;
  [[nodiscard]] std::vector<std::string> queue_names() const override;
  void add_queue_lengths(std::vector<std::uint64_t>& to) override;
  void set_row_listener_of_switch(std::size_t index, FiredRowListener* listener) override;
  /// See FcTopology.
  [[nodiscard]] fc2::Link* link_of(std::size_t host) {
    return topology_ == nullptr ? nullptr : topology_->link_of(host);
  }

 private:
  class LogoutWatch;
  /// The N_Port_ID of `peer`, where switches are independent as `host` can learn it; 0: it has none.
  [[nodiscard]] wire::FcId address_of(std::size_t host, std::size_t peer) const {
    if (scenario_.fabric.has_independent_switches()) return topology_->known_address(host, peer);
    return hosts_[peer]->port().n_port_id();
  }

  const Scenario& scenario_;
  FcHosts hosts_;
  std::unordered_map<std::uint64_t, std::size_t> host_of_name_;  // by Port_Name, with independent switches
  std::list<LogoutWatch> logout_watches_;                        // of the peer listener, by host
  std::unique_ptr<FcTopology> topology_;                         // before the hosts go; nullptr: unplugged
};

}  // namespace sim
