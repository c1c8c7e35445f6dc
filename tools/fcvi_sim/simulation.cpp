#include "tools/fcvi_sim/simulation.hpp"

#include <algorithm>

#include "tools/fcvi_sim/endpoint.hpp"
#include "tools/fcvi_sim/program.hpp"

namespace sim {
namespace {
constexpr fc2::TimeNs logout_poll = fc2::microsecond,
                      logout_limit = 25 * fc2::second;  // R_A_TOV twice, and some
}  // namespace

Simulation::Simulation(const Scenario& scenario, const ContentStore& contents, Outputs outputs)
    : scenario_(scenario),
      contents_(contents),
      outputs_(outputs),
      start_(scheduler_.now()),
      observer_(result_, scenario, outputs.ladder),
      driver_(scheduler_),
      switch_(std::make_unique<fc2::Switch>(scheduler_, pool_, fc2::SwitchConfig{})) {
  result_.workloads.resize(scenario.workloads.size());
  for (std::size_t i = 0; i < scenario.workloads.size(); ++i)
    result_.workloads[i].transfers.resize(scenario.workloads[i].transfers.size());
  Random random(scenario.seed, "ports");
  for (std::size_t i = 0; i < scenario.ports.size(); ++i) {
    const PortSpec& spec = scenario.ports[i];
    nodes_.push_back(std::make_unique<Node>(driver_, pool_, spec, i, random));
    fc2::FrameTap* capture = nullptr;
    if (outputs.capture != nullptr && spec.capture) capture = &outputs.capture->add_interface(spec.name);
    switch_->attach(nodes_[i]->port(), spec.link);
    switch_->tap(nodes_[i]->port(), &observer_.tap(i, capture));
  }
  if (outputs.ladder != nullptr) driver_.set_observer([this] { watch_states(); });
}

// Links go down first: every call that is under way ends, and its program is still there to hear it.
Simulation::~Simulation() {
  for (const auto& node : nodes_) switch_->tap(node->port(), nullptr);
  switch_.reset();
  driver_.abandon();
}

Task<> Simulation::all_ready() {
  for (const auto& node : nodes_) {
    result_.not_ready = node->name();
    co_await node->ready();
  }
  result_.not_ready.clear();
}

Task<> Simulation::start_later(Task<> program, fc2::TimeNs delay) {
  co_await driver_.sleep(delay);
  co_await program;
}

void Simulation::spawn_workloads() {
  for (std::size_t i = 0; i < scenario_.workloads.size(); ++i) {
    const WorkloadSpec& workload = scenario_.workloads[i];
    Node &server = *nodes_[workload.server], &client = *nodes_[workload.client];
    WorkloadResult& result = result_.workloads[i];
    if (workload.peer_to_peer) {
      driver_.spawn(start_later(peer_program(client, server, workload, Side::Client, contents_, result), workload.start));
      driver_.spawn(start_later(peer_program(server, client, workload, Side::Server, contents_, result),
                                workload.start + workload.server_start));
      continue;
    }
    driver_.spawn(start_later(server_program(server, workload, contents_, result), workload.start + workload.server_start));
    driver_.spawn(start_later(client_program(client, server, workload, contents_, result), workload.start));
  }
}

// Programs end before their last answers have arrived: a host that pulled the plug at once would lose them.
fc2::TimeNs Simulation::time_to_settle() const {
  fc2::TimeNs longest = 0;
  for (const PortSpec& port : scenario_.ports) longest = std::max(longest, port.link.latency_ns);
  return 8 * longest + 100 * fc2::microsecond;
}

// A port is offline as soon as it asks; the LOGO is over when the F_Port has answered.
Task<> Simulation::log_out() {
  co_await driver_.sleep(time_to_settle());
  std::vector<std::uint64_t> replies;
  for (std::size_t port = 0; port < nodes_.size(); ++port) {
    replies.push_back(observer_.f_port_replies(port));
    nodes_[port]->port().log_out_of_fabric();
  }
  for (std::size_t port = 0; port < nodes_.size(); ++port)
    while (observer_.f_port_replies(port) == replies[port]) co_await driver_.sleep(logout_poll);
}

fc2::TimeNs Simulation::time_left() const {
  const fc2::TimeNs used = scheduler_.now() - start_;
  return used < scenario_.time_limit ? scenario_.time_limit - used : 0;
}

const RunResult& Simulation::run() { return run(std::vector<Task<>>{}); }

const RunResult& Simulation::run(std::vector<Task<>> programs) {
  driver_.spawn(all_ready());
  result_.outcome = driver_.run(time_left());
  if (result_.outcome == Driver::Outcome::Finished) {
    spawn_workloads();
    for (Task<>& program : programs) driver_.spawn(std::move(program));
    result_.outcome = driver_.run(time_left());
  }
  if (result_.outcome == Driver::Outcome::Finished) {
    driver_.spawn(log_out());
    result_.outcome = driver_.run(logout_limit);
  }
  collect();
  return result_;
}

void Simulation::watch_states() {
  for (std::size_t port = 0; port < nodes_.size(); ++port) {
    for (const Endpoint* endpoint : nodes_[port]->endpoints()) {
      const auto [known, added] = states_.try_emplace(endpoint, "Idle");
      const std::string_view state = const_cast<Endpoint*>(endpoint)->vi().endpoint_state_name();
      if (known->second == state) continue;
      outputs_.ladder->state(scheduler_.now(), port, endpoint->label(), known->second, state);
      known->second = state;
    }
  }
}

void Simulation::collect() {
  result_.duration = scheduler_.now() - start_;
  const auto add = [this](const std::string& name, const fc2::Counters& counters) {
    result_.discards += counters.discarded();
    result_.unexpected_events += counters.unexpected_events;
    for (int reason = 0; reason < static_cast<int>(fc2::Discard::Count); ++reason) {
      const auto which = static_cast<fc2::Discard>(reason);
      if (counters.discarded(which) != 0)
        result_.discard_reasons.push_back(name + ": " + std::string(to_string(which)) + " " +
                                          std::to_string(counters.discarded(which)));
    }
  };
  for (const auto& node : nodes_) {
    add(node->name(), node->port().counters());
    result_.asynchronous_errors += node->asynchronous_errors();
  }
  add(switch_->config().name, switch_->counters());
}

}  // namespace sim
