#include "tools/fcvi_sim/run/simulation.hpp"

#include <algorithm>
#include <utility>

#include "fc2_fabric/frame/counters.hpp"
#include "tools/fcvi_sim/host/endpoint.hpp"
#include "tools/fcvi_sim/host/program.hpp"
#include "tools/fcvi_sim/host/rdma_program.hpp"

namespace sim {
namespace {
constexpr runtime::TimeNs logout_poll = runtime::microsecond;

/// Of its label at a port there are two where the port is connected to itself.
std::string name_of(const Endpoint* endpoint) {
  return endpoint->label() + " " + std::to_string(reinterpret_cast<std::uintptr_t>(endpoint));
}
}  // namespace

std::vector<std::string> fault_notes_of(const Scenario& scenario) {
  std::vector<std::string> notes;
  for (const FaultSpec& fault : scenario.faults) notes.push_back("fault: " + fault.rule.note);
  return notes;
}

Simulation::Simulation(const Scenario& scenario, const ContentStore& contents, Outputs outputs,
                       const NetworkMaker& make)
    : Simulation(scenario, contents, outputs, nullptr, nullptr, make) {}

Simulation::Simulation(const Scenario& scenario, const ContentStore& contents, Outputs outputs, const Share& share,
                       Outbox& outbox)
    : Simulation(scenario, contents, outputs, &share, &outbox,
                 [&](auto& scheduler, auto& pool, const Scenario& all, fc2::CaptureInterfaces* capture) {
                   return make_network(scheduler, pool, all, capture, &share);
                 }) {
  network_->boundary()->open(outbox);
  make_far_sides();
}

Simulation::Simulation(const Scenario& scenario, const ContentStore& contents, Outputs outputs, const Share* share,
                       Outbox* outbox, const NetworkMaker& make)
    : scenario_(scenario), contents_(contents), outputs_(outputs), share_(share), outbox_(outbox),
      watches_states_(states_matter()), start_(scheduler_.now()),
      observer_(result_, scenario, outputs.ladder, outputs.draw()), driver_(scheduler_),
      network_(make ? make(scheduler_, pool_, scenario, captured())
                    : make_network(scheduler_, pool_, scenario, captured())),
      faults_(
          scheduler_, scenario, *this, [this](wire::FcId id) { return network_->host_known_at(id); },
          [this](const FaultSpec& fault, std::size_t port, fc2::LinkDirection direction, const fc2::Frame& frame) {
            observer_.fault(scheduler_.now(), fault, port, direction == fc2::LinkDirection::Sent, frame);
          }),
      background_(scheduler_, scenario, *network_, background_results(),
                  [this](std::size_t port) { return is_here(port); }) {
  result_.workloads.resize(scenario.workloads.size());
  for (std::size_t i = 0; i < scenario.workloads.size(); ++i) {
    const WorkloadSpec& workload = scenario.workloads[i];
    result_.workloads[i].transfers.resize(workload.transfers.size());
    if (workload.notes_times()) result_.workloads[i].log.expected = workload.message_count();
  }
  for (std::size_t i = 0; i < scenario.ports.size(); ++i)
    nodes_.push_back(is_here(i) ? std::make_unique<Node>(driver_, network_->host(i), i) : nullptr);
  if (outputs.record != nullptr) record_rows();  // before their first: links come up
  if (scenario.topology == TopologyKind::Tcp) {
    streams_.emplace(result_, scenario, *network_, faults_, outputs.ladder, outputs.capture);
    network_->watch_segments(&*streams_, &*streams_);
  }
  for (std::size_t i = 0; i < scenario.ports.size(); ++i) {
    taps_.push_back(&observer_.tap(i, capture_of(scenario.ports[i])));
    if (is_here(i)) attach(i);
  }
  if (outputs.capture != nullptr) outputs.capture->set_fault_notes(fault_notes_of(scenario));
  if (outputs.record != nullptr) begin_measurement();
  if (outputs.draw() && scenario.fabric.has_independent_switches()) note_for_ladder();
  if (scenario.expectations.wire && scenario.fabric.has_independent_switches()) note_for_wire();
  if (outputs.check || states_matter()) driver_.set_observer([this] { observe(); });
}

std::vector<BackgroundResult>& Simulation::background_results() {
  result_.background.resize(scenario_.background.size());
  return result_.background;
}

// Links go down first: every call that is under way ends, and its program is still there to hear it.
Simulation::~Simulation() {
  for (const auto& node : nodes_)
    if (node != nullptr) node->set_row_listener(nullptr);
  for (std::size_t i = 0; i < scenario_.switches.size(); ++i) network_->set_row_listener_of_switch(i, nullptr);
  for (std::size_t port = 0; port < nodes_.size(); ++port)
    if (network_->is_attached(port)) network_->watch(port, nullptr, {});
  network_->unplug();
  driver_.abandon();
}

// --- ports -------------------------------------------------------------------------------------------------------

void Simulation::attach(std::size_t port) {
  network_->attach(port);
  network_->watch(port, taps_[port], faults_.rules_for(port));
}

void Simulation::set_plugged(std::size_t port, bool plugged) {
  if (network_->is_attached(port) == plugged) return;
  if (plugged)
    attach(port);
  else
    network_->detach(port);
}

void Simulation::at_link(std::size_t port, LinkFunction& what) {
  if (network_->is_attached(port)) network_->at_link(port, what);
}

void Simulation::lip(std::size_t port) {
  if (network_->is_attached(port)) network_->lip(port);
}

void Simulation::replug(std::size_t port) {
  if (!network_->is_attached(port)) return;
  network_->replug(port);
  network_->watch(port, taps_[port], faults_.rules_for(port));
}

void Simulation::log_out(std::size_t port, std::size_t peer, bool implicit) { network_->log_out(port, peer, implicit); }

// --- programs ----------------------------------------------------------------------------------------------------

Task<> Simulation::all_ready() {
  for (const auto& node : nodes_) {
    if (node == nullptr) continue;
    result_.not_ready = node->name();
    result_.awaited = node->host_transport().ready_means();
    co_await node->ready();
  }
  result_.not_ready.clear();
}

// With independent switches: then the last registration is known to all of them.
Task<> Simulation::all_ready_everywhere() {
  co_await all_ready();
  if (scenario_.fabric.has_independent_switches()) co_await driver_.sleep_first(scenario_.fabric.directory_delay);
}

Task<> Simulation::start_later(Task<> program, runtime::TimeNs delay) {
  co_await driver_.sleep(delay);
  co_await program;
}

void Simulation::start_clocks() {
  ready_at_ = scheduler_.now();
  wire_ ? wire_->start_clock(ready_at_) : observer_.start_clock(ready_at_);
  faults_.start_clock();
  if (streams_) streams_->start_clock(ready_at_);
}

void Simulation::spawn_workloads() {
  for (std::size_t i = 0; i < scenario_.workloads.size(); ++i) spawn_workload(i);
}

void Simulation::spawn_workload(std::size_t index) {
  const WorkloadSpec& workload = scenario_.workloads[index];
  WorkloadResult& result = result_.workloads[index];
  if (workload.rdma) return spawn(rdma_of(index));
  const auto server = [&](auto program) {
    if (nodes_[workload.server] != nullptr)
      spawn(start_later(program(*nodes_[workload.server]), workload.start + workload.server_start));
  };
  const auto client = [&](auto program) {
    if (nodes_[workload.client] != nullptr) spawn(start_later(program(*nodes_[workload.client]), workload.start));
  };
  if (workload.peer_to_peer) {
    client([&](Node& node) { return peer_program(node, workload, Side::Client, contents_, result); });
    server([&](Node& node) { return peer_program(node, workload, Side::Server, contents_, result); });
    return;
  }
  server([&](Node& node) { return server_program(node, workload, contents_, result); });
  client([&](Node& node) { return client_program(node, workload, contents_, result); });
}

Task<> Simulation::rdma_of(std::size_t index) {
  const WorkloadSpec& workload = scenario_.workloads[index];
  const auto host = [&](std::size_t port) {
    return RdmaHost{*network_->rdma(port), scenario_.ports[port].tcp.segment_bytes};
  };
  return rdma_program(driver_, host(workload.client), host(workload.server), {workload, index, scenario_.seed},
                      result_.workloads[index].rdma);
}

// Programs end before their last answers have arrived: a host that pulled the plug at once would lose them.
runtime::TimeNs Simulation::time_to_settle() const {
  runtime::TimeNs longest = 0;
  for (const PortSpec& port : scenario_.ports) longest = std::max(longest, port.link.latency_ns);
  return 8 * longest + 100 * runtime::microsecond;
}

Task<> Simulation::log_out_of_fabric(runtime::TimeNs ended) {
  if (scenario_.fabric.has_independent_switches()) {
    co_await sleep_until_first(ended + scenario_.linger + time_to_know(scenario_));
    heal();
    end_background();
    co_await sleep_until_first(ended + scenario_.linger + time_to_settle());
  } else {
    co_await driver_.sleep(scenario_.linger);
    heal();
    co_await driver_.sleep(time_to_settle());
  }
  co_await leave_fabric();
}

// A port is offline as soon as it asks; the LOGO is over when the F_Port has answered.
Task<> Simulation::leave_fabric() {
  std::vector<std::uint64_t> replies;
  std::vector<bool> leaves;  // not so where a link went down and did not come back in time
  for (std::size_t port = 0; port < nodes_.size(); ++port) {
    replies.push_back(observer_.f_port_replies(port));
    leaves.push_back(nodes_[port] != nullptr && network_->host(port).leave());
  }
  const bool first = scenario_.fabric.has_independent_switches();
  for (std::size_t port = 0; port < nodes_.size(); ++port)
    while (leaves[port] && observer_.f_port_replies(port) == replies[port])
      if (first)
        co_await driver_.sleep_first(logout_poll);
      else
        co_await driver_.sleep(logout_poll);
}

void Simulation::end_background() {
  if (!std::exchange(programs_run_, false)) return;
  background_.stop();
  if (!scenario_.background.empty())
    wrong_addresses_before_logout_ = discards_as(to_string(fc2::Discard::WrongAddress));
}

void Simulation::heal() {
  faults_.heal();
  network_->release_segments();
}

runtime::TimeNs Simulation::time_left() const {
  const runtime::TimeNs used = scheduler_.now() - start_;
  return used < scenario_.time_limit ? scenario_.time_limit - used : 0;
}

const RunResult& Simulation::run() { return run(std::vector<Task<>>{}); }

const RunResult& Simulation::run(std::vector<Task<>> programs) {
  driver_.spawn(all_ready_everywhere());
  result_.outcome = driver_.run(time_left());
  if (result_.outcome == Driver::Outcome::Finished) {
    start_clocks();
    spawn_workloads();
    for (Task<>& program : programs) driver_.spawn(std::move(program));
    background_.start();
    programs_run_ = true;
    result_.outcome = driver_.run(time_left());
    if (!scenario_.fabric.has_independent_switches() || result_.outcome != Driver::Outcome::Finished) end_background();
  }
  if (result_.outcome == Driver::Outcome::Finished) {
    driver_.spawn(log_out_of_fabric(scheduler_.now()));
    result_.outcome = driver_.run(scenario_.linger + logout_limit);
  }
  collect();
  return result_;
}

bool Simulation::states_matter() const {
  return outputs_.draw() || outputs_.record != nullptr ||
         std::any_of(scenario_.workloads.begin(), scenario_.workloads.end(), [](const WorkloadSpec& workload) {
           return workload.expect.client_states || workload.expect.server_states;
         });
}

void Simulation::observe() {
  if (outputs_.check) check_owners();
  if (watches_states_) watch_states();
  if (measurement_) measurement_->take(scheduler_.now());
}

void Simulation::check_owners() {
  if (!result_.inconsistent.empty()) return;
  for (const auto& node : nodes_)
    if (node != nullptr && !node->is_consistent()) result_.inconsistent = "port " + node->name();
  if (!network_->is_consistent()) result_.inconsistent = "the links and switches";
}

void Simulation::RowNote::row_fired(const FiredRow& row) { record.rows.note(scheduler.now(), place, row); }

fc2::FrameTap* Simulation::capture_of(const PortSpec& port) {
  if (!port.capture || streams_) return nullptr;
  fc2::CaptureInterfaces* const all = captured();
  if (outputs_.record != nullptr && outputs_.frames != nullptr)
    return &ordered_->add_interface(outputs_.frames->add_port(port.name));
  if (outputs_.record == nullptr || outputs_.capture == nullptr)
    return all == nullptr ? nullptr : &all->add_interface(port.name);
  fc2::FrameTap& interface = outputs_.capture->add_interface(port.name);
  fc2::FrameTap& noting = fault_notes_.emplace_back(*outputs_.record, *outputs_.capture, interface);
  return ordered_ ? &ordered_->add_interface(noting) : &noting;
}

fc2::CaptureInterfaces* Simulation::captured() {
  fc2::CaptureInterfaces* all = outputs_.capture;
  if (outputs_.frames != nullptr) all = outputs_.frames;
  if (all == nullptr || !scenario_.fabric.has_independent_switches()) return all;
  if (ordered_) return &*ordered_;
  ordered_.emplace(scheduler_, [all](std::string_view name) -> fc2::FrameTap& { return all->add_interface(name); });
  if (outputs_.frames != nullptr) outputs_.frames->follow(ordered_->instant());
  return &*ordered_;
}

void Simulation::FaultNote::frame_passed(runtime::TimeNs at, const fc2::Frame& frame, bool outbound) {
  next.frame_passed(at, frame, outbound);
  if (frame.fault != 0) record.hits.push_back({capture.frame_count(), frame.fault - std::size_t{1}});
}

// The switches of the scenario are the places behind its ports.
void Simulation::record_rows() {
  const auto note_of = [this](std::size_t place) {
    return &row_notes_.emplace_back(*outputs_.record, scheduler_, place);
  };
  if (scenario_.fabric.has_independent_switches()) outputs_.record->rows.order_instants();
  for (std::size_t port = 0; port < nodes_.size(); ++port)
    if (nodes_[port] != nullptr) nodes_[port]->set_row_listener(note_of(port));
  for (std::size_t i = 0; i < scenario_.switches.size(); ++i)
    if (share_ == nullptr || share_->has_switch(i)) network_->set_row_listener_of_switch(i, note_of(nodes_.size() + i));
}

void Simulation::begin_measurement() {
  std::vector<std::string> names;
  for (const auto& node : nodes_) names.push_back(node == nullptr ? "" : node->name());
  const bool once = scenario_.fabric.has_independent_switches();
  measurement_.emplace(*outputs_.record, *network_, std::move(names), once);
  if (once) measurement_->take(start_);  // the same instant in all parts
}

void Simulation::conclude_record() {
  if (!measurement_ || !scenario_.fabric.has_independent_switches()) return;
  measurement_->conclude();
  outputs_.record->conclude();
}

void Simulation::watch_states() {
  for (std::size_t port = 0; port < nodes_.size(); ++port) {
    if (nodes_[port] == nullptr) continue;
    for (Endpoint* endpoint : nodes_[port]->endpoints()) {
      const auto known = states_.try_emplace({port, name_of(endpoint)}, "Idle").first;
      const std::string_view state = endpoint->vi().endpoint_state_name();
      if (known->second == state) continue;
      state_changed(port, *endpoint, known->second, state);
      known->second = state;
    }
  }
}

void Simulation::note_for_ladder() {
  ladder_notes_.emplace(scheduler_, [this](runtime::TimeNs instant, OrderedNotes::Place place, auto note) {
    if (outputs_.notes != nullptr)
      outputs_.notes->add(instant, place, note);
    else
      LadderNotes::draw(*outputs_.ladder, note);
  });
  observer_.set_notes(*ladder_notes_);
}

void Simulation::note_for_wire() {
  if (outputs_.wire == nullptr) wire_.emplace(scenario_, result_.wire);
  wire_notes_.emplace(scheduler_, [this](runtime::TimeNs instant, OrderedNotes::Place place, auto note) {
    if (outputs_.wire != nullptr)
      outputs_.wire->add(instant, place, note);
    else
      WireNotes::enter(*wire_, pool_, note);
  });
  observer_.set_wire_notes(*wire_notes_);
}

void Simulation::state_changed(std::size_t port, const Endpoint& endpoint, std::string_view from, std::string_view to) {
  if (ladder_notes_)
    ladder_notes_->state(port, endpoint.label(), from, to);
  else if (outputs_.ladder != nullptr)
    outputs_.ladder->state(scheduler_.now(), port, endpoint.label(), from, to);
  if (outputs_.record != nullptr)
    outputs_.record->states.push_back({scheduler_.now(), port, endpoint.label(), from, to});
  for (std::size_t i = 0; i < scenario_.workloads.size(); ++i) {
    const WorkloadSpec& workload = scenario_.workloads[i];
    if (workload.name != endpoint.label()) continue;
    if (port == workload.client) result_.workloads[i].client_states.push_back(to);
    if (port == workload.server) result_.workloads[i].server_states.push_back(to);
  }
}

void Simulation::collect_errors() {
  for (std::size_t port = 0; port < nodes_.size(); ++port) {
    if (nodes_[port] == nullptr) continue;
    for (const Node::Error& error : nodes_[port]->errors())
      result_.errors.push_back({error.at - ready_at_, port, error.code});
  }
  std::stable_sort(result_.errors.begin(), result_.errors.end(),
                   [](const SeenError& left, const SeenError& right) { return left.at < right.at; });
  result_.asynchronous_errors = result_.errors.size();
}

void Simulation::collect_completions() {
  for (WorkloadResult& workload : result_.workloads)
    for (auto* queue :
         {&workload.client_sends, &workload.client_receives, &workload.server_sends, &workload.server_receives})
      for (SeenCompletion& completion : *queue) completion.at -= ready_at_;
  for (WorkloadResult& workload : result_.workloads)
    for (RdmaEndResult* end : {&workload.rdma.ends.client, &workload.rdma.ends.server})
      for (SeenRdmaCompletion& completion : end->completions) completion.at -= ready_at_;
  for (WorkloadResult& workload : result_.workloads) {
    for (MessageTime& message : workload.log.messages) message.at -= ready_at_;
    if (workload.log.first == runtime::never) continue;
    workload.log.first -= ready_at_;
    workload.log.last_due -= ready_at_;
    if (workload.log.count != 0) workload.log.end -= ready_at_;
  }
}

// What changed in a program's last step, the observer did not see: the endpoint ended with it.
void Simulation::collect_last_states() {
  const auto add = [](std::vector<std::string_view>& states, bool ended, vi::State last) {
    const std::string_view before = states.empty() ? to_string(vi::State::Idle) : states.back();
    if (ended && before != to_string(last)) states.push_back(to_string(last));
  };
  for (WorkloadResult& workload : result_.workloads) {
    add(workload.client_states, workload.client_ended, workload.client_state);
    add(workload.server_states, workload.server_ended, workload.server_state);
  }
}

std::uint64_t Simulation::discards_as(std::string_view reason) const {
  std::uint64_t times = 0;
  const auto add = [&](const std::string& /*name*/, const HostTransport::Tally& tally) {
    for (const HostTransport::Tally::Discarded& discarded : tally.discarded)
      if (discarded.reason == reason) times += discarded.times;
  };
  for (const auto& node : nodes_)
    if (node != nullptr) add(node->name(), node->host_transport().tally());
  network_->visit_switches(add);
  return times;
}

void Simulation::collect() {
  if (ordered_) ordered_->flush();
  if (ladder_notes_) ladder_notes_->flush();
  if (wire_notes_) wire_notes_->flush();
  conclude_record();
  result_.duration = scheduler_.now() - start_;
  std::size_t place = 0;
  const auto add = [&](const std::string& name, const HostTransport::Tally& tally) {
    result_.unexpected_events += tally.unexpected_events;
    for (const HostTransport::Tally::Discarded& discarded : tally.discarded) {
      result_.discards += discarded.times;
      result_.discard_reasons.push_back(discard_text(name, discarded.reason, discarded.times));
      result_.discard_places.push_back(place);
    }
    ++place;
  };
  for (const auto& node : nodes_) {
    const HostTransport::Tally tally = node == nullptr ? HostTransport::Tally{} : node->host_transport().tally();
    if (node != nullptr)
      add(node->name(), tally);
    else
      ++place;
    result_.kept_bytes.push_back(tally.kept_bytes);
    result_.pool_refusals.push_back(tally.pool_refusals);
  }
  if (!scenario_.background.empty())
    result_.background_discards = discards_as(to_string(fc2::Discard::UnknownType)) +
                                  discards_as(to_string(fc2::Discard::WrongAddress)) - wrong_addresses_before_logout_;
  collect_errors();
  collect_completions();
  collect_last_states();
  result_.faults = faults_.times();
  for (const runtime::TimeNs moment : faults_.moments()) result_.fault_moments.push_back(moment - ready_at_);
  result_.fault_matches = faults_.matches();
  network_->visit_switches([&](const std::string& name, const HostTransport::Tally& tally) {
    const auto named = [&](const SwitchSpec& spec) { return spec.name == name; };
    const auto found = std::find_if(scenario_.switches.begin(), scenario_.switches.end(), named);
    place = nodes_.size() + static_cast<std::size_t>(found - scenario_.switches.begin());
    add(name, tally);
  });
}

}  // namespace sim
