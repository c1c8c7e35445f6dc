// A run on another network than Fibre Channel: a simulation asks its hosts and links for nothing that only an N_Port
// has.
#include <gtest/gtest.h>

#include "loopback/provider.hpp"
#include "tools/fcvi_sim/run/expectations.hpp"
#include "tools/fcvi_sim/run/simulation.hpp"

namespace sim {
namespace {

/// On the loop-back transport.
class LoopbackHost final : public HostTransport {
 public:
  LoopbackHost(loopback::Hub& hub, const PortSpec& spec) : spec_(spec), provider_(hub, spec.addresses) {}
  void plug_in() { listener_->transport_ready(); }

  [[nodiscard]] const std::string& name() const override { return spec_.name; }
  vi::Transport& transport() override { return provider_; }
  [[nodiscard]] const wire::IpAddress& address() const override { return spec_.addresses.front(); }
  void set_ready_listener(TransportListener& listener) override { listener_ = &listener; }
  [[nodiscard]] std::string_view ready_means() const override { return "plugged in"; }
  bool leave() override { return false; }
  [[nodiscard]] std::vector<Held> held() const override { return {}; }
  [[nodiscard]] Tally tally() const override { return {.discarded = {{"nothing better to do", 2}}, .kept_bytes = 7}; }
  [[nodiscard]] bool is_consistent() const override { return provider_.is_consistent(); }

 private:
  const PortSpec& spec_;
  loopback::Provider provider_;
  TransportListener* listener_ = nullptr;
};

/// Hosts that need nothing to be joined.
class LoopbackNetwork final : public Network {
 public:
  LoopbackNetwork(runtime::Scheduler& scheduler, const Scenario& scenario) : hub_(scheduler) {
    for (const PortSpec& spec : scenario.ports) hosts_.push_back(std::make_unique<LoopbackHost>(hub_, spec));
    attached_.resize(hosts_.size());
  }
  [[nodiscard]] HostTransport& host(std::size_t host) override { return *hosts_[host]; }
  [[nodiscard]] bool has_address(std::size_t, wire::FcId) const override { return false; }
  [[nodiscard]] std::optional<std::size_t> host_with(wire::FcId) const override { return std::nullopt; }
  void attach(std::size_t host) override { attached_[host] = true, hosts_[host]->plug_in(); }
  void detach(std::size_t host) override { attached_[host] = false; }
  [[nodiscard]] bool is_attached(std::size_t host) const override { return attached_[host]; }
  void watch(std::size_t, fc2::FrameTap*, LinkFaults) override {}
  void unplug() override { attached_.assign(attached_.size(), false); }
  void at_link(std::size_t, LinkFunction&) override {}
  void lip(std::size_t) override {}
  void replug(std::size_t) override {}
  void set_isl(std::size_t, bool) override {}
  void set_switch(std::size_t, bool) override {}
  void log_out(std::size_t, std::size_t, bool) override {}
  void set_peer_listener(PeerListener&) override {}
  [[nodiscard]] runtime::TimeNs frame_lifetime(bool) const override { return 0; }
  [[nodiscard]] bool is_consistent() const override { return true; }
  void visit_switches(const TallyVisitor& visit) const override { visit("hub", {.discarded = {{"lost its way", 3}}}); }

 private:
  loopback::Hub hub_;
  std::vector<std::unique_ptr<LoopbackHost>> hosts_;
  std::vector<bool> attached_;
};

std::unique_ptr<Network> make_loopback(runtime::Scheduler& scheduler, fc2::FramePool&, const Scenario& scenario,
                                       fc2::CaptureInterfaces*) {
  return std::make_unique<LoopbackNetwork>(scheduler, scenario);
}

Scenario two_hosts() {
  Scenario scenario;
  scenario.name = "test";
  scenario.ports = {{.name = "client", .addresses = {wire::IpAddress::v4(10, 0, 0, 1)}},
                    {.name = "server", .addresses = {wire::IpAddress::v4(10, 0, 0, 2)}}};
  WorkloadSpec workload{.name = "w", .client = 0, .server = 1};
  workload.client_address = scenario.ports[0].addresses[0];
  workload.server_address = scenario.ports[1].addresses[0];
  workload.discriminator = "w";
  TransferSpec transfer;
  transfer.data.size_bytes = 100'000;
  transfer.message_bytes = 30'000;
  workload.transfers = {transfer};
  scenario.workloads = {workload};
  scenario.expectations.discards = {7, 7};
  return scenario;
}

// A scenario's programs connect, send and compare what came, and its expectations hold; what hosts and the rest of the
// network counted stands in the result. No frame of Fibre Channel was seen.
TEST(OtherNetwork, programs_and_expectations_run_on_it) {
  const Scenario scenario = two_hosts();
  const ContentStore contents(scenario.seed);
  Simulation simulation(scenario, contents, {.check = true}, make_loopback);
  const RunResult& result = simulation.run();
  EXPECT_EQ(check_expectations(scenario, result).failures, std::vector<std::string>{});
  EXPECT_EQ(result.workloads.at(0).transfers.at(0).bytes, 100'000u);
  EXPECT_EQ(result.frame_count, 0u);
  EXPECT_EQ(result.discard_reasons,
            (std::vector<std::string>{"client: nothing better to do 2", "server: nothing better to do 2",
                                      "hub: lost its way 3"}));
  EXPECT_EQ(result.kept_bytes, (std::vector<std::uint64_t>{7, 7}));
}

}  // namespace
}  // namespace sim
