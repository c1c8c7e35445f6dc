#include "tools/fcvi_sim/network/fc_network.hpp"

#include <algorithm>

#include "fc2_fabric/link/link.hpp"

namespace sim {

class FcNetwork::LogoutWatch final : public fc2::PortListener {
 public:
  LogoutWatch(FcNetwork& network, std::size_t host, PeerListener& listener)
      : network_(network), host_(host), listener_(listener) {
    port().add_listener(*this);
  }
  ~LogoutWatch() { port().remove_listener(*this); }
  LogoutWatch(const LogoutWatch&) = delete;
  LogoutWatch& operator=(const LogoutWatch&) = delete;

 private:
  [[nodiscard]] fc2::NPort& port() { return network_.hosts_[host_]->port(); }
  void fabric_logged_in() override {}
  void fabric_login_failed() override {}
  void remote_port_logged_in(fc2::RemotePort&) override {}
  void remote_port_login_failed(fc2::RemotePort&) override {}
  void remote_port_logged_out(fc2::RemotePort& remote) override {
    listener_.peer_lost(host_, network_.host_with(remote.peer()));
  }
  FcNetwork& network_;
  const std::size_t host_;
  PeerListener& listener_;
};

FcNetwork::FcNetwork(runtime::Scheduler& scheduler, fc2::FramePool& pool, const Scenario& scenario,
                     fc2::CaptureInterfaces* capture, const Share* share)
    : scenario_(scenario), topology_(FcTopology::make(scheduler, pool, scenario, hosts_, capture, share)) {
  Random random(scenario.seed, "ports");
  for (const PortSpec& spec : scenario.ports) {
    const bool here = share == nullptr || share->has(spec);
    hosts_.push_back(here ? std::make_unique<FcHost>(scheduler, pool, spec, random) : nullptr);
    if (!here) FcHost::draw_for_another(random);
  }
  for (std::size_t i = 0; scenario.fabric.has_independent_switches() && i < scenario.ports.size(); ++i)
    host_of_name_.emplace(scenario.ports[i].port_name.value, i);
}

FcNetwork::~FcNetwork() = default;

std::optional<std::size_t> FcNetwork::host_with(wire::FcId address) const {
  for (std::size_t host = 0; host < hosts_.size(); ++host)
    if (has_address(host, address)) return host;
  return std::nullopt;
}

std::optional<std::size_t> FcNetwork::host_known_at(wire::FcId address) const {
  if (!scenario_.fabric.has_independent_switches() || topology_ == nullptr) return host_with(address);
  const std::optional<wire::Wwn> name = topology_->known_name(address);
  const auto found = name ? host_of_name_.find(name->value) : host_of_name_.end();
  return found == host_of_name_.end() ? std::nullopt : std::optional(found->second);
}

void FcNetwork::set_peer_listener(PeerListener& listener) {
  logout_watches_.clear();
  for (std::size_t host = 0; host < hosts_.size(); ++host) logout_watches_.emplace_back(*this, host, listener);
}

// FC-VI B.2.6.1 rule 8e: in class 2 what is not acknowledged within E_D_TOV.
runtime::TimeNs FcNetwork::frame_lifetime(bool class_2) const {
  const fc2::SwitchConfig fabric = fabric_config(scenario_);
  return class_2 ? fabric.e_d_tov : fabric.r_a_tov;
}

// Of a link with a switch: there the N_Port is at end b.
void FcNetwork::add_gauges(std::size_t host, std::vector<HostTransport::Gauge>& to) {
  hosts_[host]->add_gauges(to);
  const fc2::Link* link = link_of(host);
  std::uint64_t left = 0, taken = 0;
  if (link != nullptr) {
    const fc2::BufferCredit& credit = link->b.credit();
    left = credit.limit() - std::min<std::uint64_t>(credit.limit(), credit.outstanding());
    taken = link->b.buffers_taken();
  }
  to.push_back({"Buffer-to-buffer credit left", "", left});
  to.push_back({"Receive buffers taken", "", taken});
}

std::vector<std::string> FcNetwork::queue_names() const {
  return topology_ == nullptr ? std::vector<std::string>{} : topology_->queue_names();
}

// Without a fabric nothing waits in one: the values stay away with the names.
void FcNetwork::add_queue_lengths(std::vector<std::uint64_t>& to) {
  if (topology_ != nullptr) topology_->add_queue_lengths(to);
}

void FcNetwork::set_row_listener_of_switch(std::size_t index, FiredRowListener* listener) {
  if (topology_ != nullptr) topology_->set_row_listener_of_switch(index, listener);
}

void FcNetwork::visit_switches(const TallyVisitor& visit) const {
  topology_->visit_counters(
      [&](const std::string& name, const fc2::Counters& counters) { visit(name, tally_of(counters)); });
}

}  // namespace sim
