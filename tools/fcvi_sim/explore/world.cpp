#include "tools/fcvi_sim/explore/world.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "fc2_fabric/frame/frame_header.hpp"
#include "tools/fcvi_sim/explore/program.hpp"
#include "tools/fcvi_sim/host/rdma_program.hpp"
#include "wire/header_fields.hpp"

namespace sim::explore {
namespace {

// Changes of the fabric's state are told within this (FC-LS RSCN, gathered).
constexpr runtime::TimeNs settling = 50 * runtime::millisecond;
constexpr runtime::TimeNs longest_run = 10'000 * runtime::second;
// More than any run of a few messages needs: beyond, something repeats itself for ever.
constexpr std::uint64_t most_events = 200'000;
// From the end of the faults until all is as if they had never been: links that came up, paths, logins that were lost
// in the middle and are asked for again (R_A_TOV, twice that for ELS and CT).
constexpr int recovery_r_a_tov = 4;
constexpr int address_tries = 3;  // FARP-REQ, and two retries

std::uint32_t hash_of(std::span<const std::uint8_t> bytes) {
  std::uint32_t hash = 0x811C9DC5;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x01000193;
  return hash;
}

/// One message of one frame, confirmed by the far side's memory, then the client disconnects. The programs wait longer
/// than every timer that a fault may have left running: a question to the name server is asked again after 2 * R_A_TOV.
WorkloadSpec new_connection(const WorkloadSpec& old, std::size_t longest_discriminator, runtime::TimeNs timeout,
                            ConnectionRecord::Phase phase) {
  using Phase = ConnectionRecord::Phase;
  const std::string what = phase == Phase::Faults ? "again" : phase == Phase::Meanwhile ? "meanwhile" : "anew";
  WorkloadSpec workload{.name = old.name + ", " + what, .client = old.client, .server = old.server};
  workload.client_address = old.client_address;
  workload.server_address = old.server_address;
  workload.discriminator = what + " " + old.discriminator.substr(0, longest_discriminator - 10);
  workload.attributes = old.attributes;
  workload.attributes.reliability = vi::ReliabilityLevel::ReliableReception;
  workload.connect_timeout = timeout;
  workload.clean_up = true;
  TransferSpec transfer;
  transfer.data.size_bytes = transfer.message_bytes = 100;
  workload.transfers = {transfer};
  return workload;
}

}  // namespace

void World::Until::wake(bool held) {
  if (!program_) return;
  held_ = held;
  world_.scheduler_.cancel(*this);
  world_.driver_.wake(std::exchange(program_, nullptr));
}

World::World(const Scenario& scenario, const FaultList& faults, fc2::FramePool& pool, Sabotage sabotage,
             fc2::Capture* capture)
    : World(Unattached{}, scenario, faults, pool, std::move(sabotage), capture) {
  for (std::size_t i = 0; i < scenario.ports.size(); ++i) {
    network_->attach(i);
    network_->watch(i, capture == nullptr ? nullptr : &capture->add_interface(scenario.ports[i].name),
                    injector_.add_link());
  }
  if (octets_) network_->watch_segments(&*octets_, nullptr);
}

World::World(const Scenario& scenario, fc2::FramePool& pool, fc2::Capture* capture)
    : World(Unattached{}, scenario, FaultList{}, pool, Sabotage{}, capture) {
  PortControl& control = *this;
  own_faults_.emplace(
      scheduler_, scenario, control, [this](wire::FcId id) { return network_->host_with(id); },
      [this](const FaultSpec& spec, std::size_t port, fc2::LinkDirection, const fc2::Frame& frame) {
        own_fault_befell(spec, port, frame);
      });
  turns_.resize(scenario.faults.size());
  background_results_.resize(scenario.background.size());
  background_.emplace(scheduler_, scenario, *network_, background_results_);
  std::vector<std::string> notes;
  for (const FaultSpec& fault : scenario.faults) notes.push_back("fault: " + fault.rule.note);
  if (capture != nullptr) capture->set_fault_notes(std::move(notes));
  for (std::size_t i = 0; i < scenario.ports.size(); ++i) {
    watches_.emplace_back(*this, capture == nullptr ? nullptr : &capture->add_interface(scenario.ports[i].name));
    attach(i);
  }
  if (octets_) watch_streams(capture);
}

World::World(Unattached, const Scenario& scenario, const FaultList& faults, fc2::FramePool& pool, Sabotage sabotage,
             fc2::Capture* capture)
    : scenario_(scenario), sabotage_(std::move(sabotage)), pool_(pool), driver_(scheduler_),
      network_(make_network(scheduler_, pool, scenario, capture)),
      injector_(scheduler_, faults,
                [this](std::size_t link, wire::FcId address) { return network_->has_address(link, address); }) {
  record_.faults = faults;
  if (scenario.topology == TopologyKind::Tcp) octets_.emplace(faults);
  record_.in_order = scenario.in_order || scenario.topology != TopologyKind::Fabric;
  const bool class_2 =
      std::any_of(scenario.ports.begin(), scenario.ports.end(), [](const PortSpec& port) { return port.class_2; });
  record_.frame_lifetime = network_->frame_lifetime(class_2);
  for (std::size_t i = 0; i < scenario.ports.size(); ++i)
    nodes_.push_back(std::make_unique<Node>(driver_, network_->host(i), i));
  network_->set_peer_listener(*this);
  driver_.set_observer([this] { observe(); });
}

// Links first: every call that is under way ends, and its program and operation are still there to hear it.
World::~World() {
  network_->unplug();
  driver_.abandon();
}

// --- the scenario's own faults -----------------------------------------------------------------------------------

void World::attach(std::size_t port) {
  network_->attach(port);
  network_->watch(port, &watches_[port], own_faults_->rules_for(port));
}

void World::set_plugged(std::size_t port, bool plugged) {
  if (network_->is_attached(port) == plugged) return;
  if (plugged)
    attach(port);
  else
    network_->detach(port);
}

void World::at_link(std::size_t port, LinkFunction& what) {
  if (network_->is_attached(port)) network_->at_link(port, what);
}

void World::lip(std::size_t port) {
  if (network_->is_attached(port)) network_->lip(port);
}

void World::replug(std::size_t port) {
  if (!network_->is_attached(port)) return;
  network_->replug(port);
  network_->watch(port, &watches_[port], own_faults_->rules_for(port));
}

void World::log_out(std::size_t port, std::size_t peer, bool implicit) { network_->log_out(port, peer, implicit); }

void World::Watch::frame_passed(runtime::TimeNs at, const fc2::Frame& frame, bool outbound) {
  if (capture_ != nullptr) capture_->frame_passed(at, frame, outbound);
  if (!outbound) return;
  ++world_.record_.frames;
  world_.note(hash_of(frame.content()));
}

// As a list of an exploration would have it: what is damaged is lost where it arrives.
void World::own_fault_befell(const FaultSpec& spec, std::size_t port, const fc2::Frame& frame) {
  const fc2::FaultAction& action = *spec.rule.action;
  Fault fault{.kind = Fault::Kind::Lose, .frame = record_.frames};
  if (action.apply == fc2::fault::duplicate) fault = {Fault::Kind::Duplicate, record_.frames, action.delay};
  if (action.apply == fc2::fault::delay) fault = {Fault::Kind::Delay, record_.frames, action.delay};
  if (action.apply == fc2::fault::reorder) {
    const bool briefly = action.longest_hold <= longest_hold;
    fault = briefly ? Fault{Fault::Kind::Reorder, record_.frames, 0, action.frames}
                    : Fault{Fault::Kind::Delay, record_.frames, action.longest_hold};
    last_own_arrival_ = std::max(last_own_arrival_, scheduler_.now() + action.longest_hold);
  }
  last_own_arrival_ = std::max(last_own_arrival_, scheduler_.now() + action.delay * action.frames);
  // Its buffer's R_RDY never comes: where credit is short the link is reset, and others lose by that.
  if (action.loses_frame() && scenario_.ports[port].link.bb_credit != 0) credit_lost_ = true;
  note_own_fault(spec, fault);
  note_hit(frame, fault);
}

void World::note_own_fault(const FaultSpec& spec, const Fault& fault) {
  record_.faults.push_back(fault);
  ++record_.faults_applied;
  const auto rule = static_cast<std::size_t>(&spec - scenario_.faults.data());
  turns_[rule].push_back(own_faults_->matched(rule));
}

void World::watch_streams(fc2::Capture* capture) {
  stream_watch_.emplace(*this, capture);
  own_faults_->set_segment_listener(
      [this](const FaultSpec& spec, const SegmentMet& met) { own_fault_befell(spec, met); });
  network_->watch_segments(&*stream_watch_, &stream_watch_->tap());
}

SegmentFate World::StreamWatch::segment_met(const SegmentMet& met) {
  ++world_.record_.frames;
  world_.note(hash_of(met.octets));
  return traffic_.segment_met(met);
}

// What stands still for long, or again and again, says nothing for as long as nobody's timer lasts.
void World::own_fault_befell(const FaultSpec& spec, const SegmentMet& met) {
  using Kind = SegmentFault::Kind;
  constexpr runtime::TimeNs longest = 20 * runtime::second;
  Fault fault{.kind = Fault::Kind::Invert, .frame = record_.frames};
  const SegmentFault& segment = *spec.segment;
  if (segment.kind == Kind::Reset) fault.kind = Fault::Kind::Reset;
  if (segment.kind == Kind::Close) fault.kind = Fault::Kind::Close;
  if (segment.kind == Kind::Stall) {
    const bool ends = segment.hold != runtime::never;
    held_back_ = ends && held_back_ != runtime::never ? held_back_ + segment.hold : runtime::never;
    fault.kind = held_back_ > longest ? Fault::Kind::Silence : Fault::Kind::Delay;
    fault.delay = ends ? segment.hold : 0;
    if (ends) last_own_arrival_ = std::max(last_own_arrival_, met.at + segment.hold);
  }
  note_own_fault(spec, fault);
}

bool World::befell_port() const {
  const auto times = own_faults_ ? own_faults_->times() : std::vector<std::uint64_t>();
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i] != 0 && scenario_.faults[i].event) return true;
  return false;
}

void World::begin_faults() {
  if (own_faults_) {
    own_faults_->start_clock();
    background_->start();
    return;
  }
  injector_.set_witness(
      [this](std::uint32_t number, const fc2::Frame& frame, const Fault* fault) { witness(number, frame, fault); });
  injector_.set_tampering(sabotage_.frame);
  injector_.begin();
  if (!octets_) return;
  octets_->set_witness(
      [this](std::uint32_t number, const SegmentMet& met, const Fault* fault) { witness(number, met, fault); });
  octets_->begin();
}

void World::end_faults() {
  if (own_faults_) {
    own_faults_->heal();
    if (held_back_ == runtime::never) record_.stalled_until = scheduler_.now();
    network_->release_segments();
    background_->stop();
    record_.port_befallen = credit_lost_ || befell_port();
    return;
  }
  injector_.end();
  record_.frames = injector_.frames();
  record_.faults_applied = injector_.applied();
  if (!octets_) return;
  octets_->end();
  record_.frames = octets_->octets();
  record_.faults_applied = octets_->applied();
}

// What up to two faults do to frames is over at once: explorations show it.
bool World::needs_recovery() const { return own_faults_ && (record_.port_befallen || record_.faults.size() > 2); }

runtime::TimeNs World::last_arrival() const {
  if (octets_ && !own_faults_) return octets_->last_arrival();
  return own_faults_ ? last_own_arrival_ : injector_.last_arrival();
}

// --- a run -------------------------------------------------------------------------------------------------------

void World::peer_lost(std::size_t host, std::optional<std::size_t> peer) {
  record_.logouts.push_back({scheduler_.now(), nodes_[host]->name(), peer ? nodes_[*peer]->name() : std::string()});
}

void World::log_in() {
  const auto ready = [](World& world) -> Task<> {
    for (const auto& node : world.nodes_) co_await node->ready();
    co_await world.driver_.sleep(settling);
  };
  driver_.spawn(ready(*this));
  run_programs();
  record_.timers_before = scheduler_.pending_count();
  record_.r_a_tov = network_->frame_lifetime(false);
  const auto one_at_a_time = [](const auto& spec) { return spec.link.bb_credit == 1; };
  if (std::ranges::any_of(scenario_.ports, one_at_a_time) || std::ranges::any_of(scenario_.switch_links, one_at_a_time))
    record_.standstill = address_tries * network_->frame_lifetime(true);  // E_D_TOV each
  for (const PortSpec& port : scenario_.ports)  // the longest of all: what one end may have to wait for
    record_.ulp_timeout = std::max(record_.ulp_timeout, port.ulp_timeout != 0 ? port.ulp_timeout : record_.r_a_tov);
}

World::Pair& World::make_pair(const WorkloadSpec& workload, std::uint32_t salt) {
  Pair& pair = pairs_.emplace_back();
  pair.workload = &workload;
  pair.record = &record_.connections.emplace_back();
  pair.record->name = workload.name;
  pair.record->began = scheduler_.now();
  pair.record->reliability = workload.attributes.reliability;
  pair.record->rejected = workload.reject;
  pair.record->holds = workload.hold + workload.second_hold;
  pair.record->permits_write = workload.attributes.enable_rdma_write;
  pair.record->permits_read = workload.attributes.enable_rdma_read;
  pair.record->replies = std::ranges::any_of(
      workload.transfers, [](const TransferSpec& transfer) { return transfer.reply_bytes.has_value(); });
  End* ends = pair.record->ends;
  for (const Side side : {Side::Client, Side::Server})
    ends[static_cast<int>(side)].messages = messages_of(workload, side, salt);
  pair.ends[0] = std::make_unique<Probe>(*nodes_[workload.client], workload, ends[0], ends[1].messages);
  pair.ends[1] = std::make_unique<Probe>(*nodes_[workload.server], workload, ends[1], ends[0].messages);
  pair.ends[0]->set_peer(*pair.ends[1]);
  pair.ends[1]->set_peer(*pair.ends[0]);
  return pair;
}

void World::spawn(Pair& pair) {
  const WorkloadSpec& workload = *pair.workload;
  const auto later = [](Driver& driver, runtime::TimeNs delay, Task<> program) -> Task<> {
    co_await driver.sleep(delay);
    co_await program;
  };
  Probe &client = *pair.ends[0], &server = *pair.ends[1];
  Task<> of_client = workload.peer_to_peer ? peer_program(*this, workload, client, Side::Client)
                                           : client_program(*this, workload, client);
  Task<> of_server = workload.peer_to_peer ? peer_program(*this, workload, server, Side::Server)
                                           : server_program(*this, workload, server);
  driver_.spawn(later(driver_, workload.start + workload.server_start, std::move(of_server)));
  driver_.spawn(later(driver_, workload.start, std::move(of_client)));
}

void World::spawn_rdma(const WorkloadSpec& workload, ConnectionRecord::Phase phase) {
  RdmaRecord& record = record_.rdma.emplace_back(RdmaRecord{workload.name, &*workload.rdma, phase});
  const auto host = [&](std::size_t port) {
    return RdmaHost{*network_->rdma(port), scenario_.ports[port].tcp.segment_bytes};
  };
  driver_.spawn(rdma_program(driver_, host(workload.client), host(workload.server),
                             {workload, record_.rdma.size() - 1, scenario_.seed}, record.result));
}

void World::run_programs() {
  if (!record_.came_to_an_end) return;
  const runtime::TimeNs limit = longest_run - std::min(longest_run, scheduler_.now());
  try {
    record_.came_to_an_end = driver_.run(limit) == Driver::Outcome::Finished;
  } catch (const std::runtime_error&) {  // too many events
    record_.came_to_an_end = false;
  }
}

void World::sleep(runtime::TimeNs time) {
  const auto sleeper = [](Driver& driver, runtime::TimeNs delay) -> Task<> { co_await driver.sleep(delay); };
  driver_.spawn(sleeper(driver_, time));
  run_programs();
}

void World::connect_anew(ConnectionRecord::Phase phase) {
  const runtime::TimeNs timeout = 3 * (record_.ulp_timeout + record_.r_a_tov);
  auto salt = static_cast<std::uint32_t>(1000 + pairs_.size());
  std::vector<Pair*> made;
  for (const WorkloadSpec& workload : scenario_.workloads) {
    if (workload.rdma) {
      WorkloadSpec& again = new_workloads_.emplace_back(workload);
      again.name += ", anew";
      again.start = 0;
      spawn_rdma(again, phase);
      continue;
    }
    const WorkloadSpec& again = new_workloads_.emplace_back(new_connection(
        workload, nodes_[workload.server]->transport().capabilities().max_discriminator_bytes, timeout, phase));
    made.push_back(&make_pair(again, salt++));
    made.back()->record->phase = phase;
    spawn(*made.back());
  }
  run_programs();
}

void World::disconnect_again() {
  for (Pair& pair : pairs_)
    for (const auto& end : pair.ends)
      if (end->vi().state() == vi::State::Error) driver_.spawn(explore::disconnect_again(*this, *end));
  run_programs();
}

// What programs left in Error: a VI that is not Idle cannot be destroyed (VI-DG 3.2.2).
void World::disconnect_left() {
  for (Pair& pair : pairs_)
    for (const auto& end : pair.ends)
      if (!cleans_up(*pair.workload) && end->vi().state() == vi::State::Error)
        driver_.spawn(explore::disconnect_again(*this, *end));
  run_programs();
}

// Longer than what the timers allow, one after the other. Many faults leave somebody who asks an address that nobody
// has: PLOGI, two ABTS, then LOGO with all its tries, and two ABTS of the last one (ruling 282).
void World::rest() {
  if (!record_.came_to_an_end) return;
  sleep(4 * record_.ulp_timeout + (needs_recovery() ? 9 : 3) * record_.r_a_tov);
}

const Record& World::run(Ladder* ladder) {
  ladder_ = ladder;
  log_in();
  begin_faults();
  std::uint32_t salt = 0;
  for (const WorkloadSpec& workload : scenario_.workloads)
    if (workload.rdma)
      spawn_rdma(workload, ConnectionRecord::Phase::Faults);
    else
      spawn(make_pair(workload, salt++));
  run_programs();
  end_faults();
  if (sabotage_.before_new_connection) sabotage_.before_new_connection(*this);
  if (needs_recovery()) {
    // Of a login that only one end knows of, the first who uses it hears: a program would try again.
    sleep(std::max<runtime::TimeNs>(last_arrival() - scheduler_.now(), 0) + recovery_r_a_tov * record_.r_a_tov);
    disconnect_again();
    connect_anew(ConnectionRecord::Phase::Faults);
    sleep(2 * record_.r_a_tov);
    disconnect_again();
  } else if (last_arrival() >= scheduler_.now()) {
    connect_anew(ConnectionRecord::Phase::Meanwhile);
    sleep(std::max<runtime::TimeNs>(last_arrival() - scheduler_.now(), 0) + settling);
  }
  connect_anew(ConnectionRecord::Phase::Afterwards);
  disconnect_left();
  if (asks_at_the_end_) look_for_contradictions();
  if (sabotage_.before_rest) sabotage_.before_rest(*this);
  rest();
  collect();
  if (sabotage_.record) sabotage_.record(record_);
  return record_;
}

void World::collect() {
  driver_.set_observer({});
  if (asks_at_the_end_) look_for_contradictions();
  for (Pair& pair : pairs_)
    for (const auto& end : pair.ends) end->observe();
  if (record_.came_to_an_end)
    for (Pair& pair : pairs_)
      for (const auto& end : pair.ends) end->finish();
  for (const auto& node : nodes_) record_.holdings.push_back({node->name(), node->held()});
  for (const auto& node : nodes_) record_.unexpected_events += node->host_transport().tally().unexpected_events;
  network_->visit_switches([this](const std::string&, const HostTransport::Tally& tally) {
    record_.unexpected_events += tally.unexpected_events;
  });
  record_.frames_held = pool_.outstanding();
  record_.timers_after = scheduler_.pending_count();
  for (const RdmaRecord& stream : record_.rdma)
    for (const RdmaEndResult* end : {&stream.result.ends.client, &stream.result.ends.server}) {
      note(hash_of(std::span(reinterpret_cast<const std::uint8_t*>(end->start.data()), end->start.size())));
      note(static_cast<std::uint64_t>(end->ending));
      for (const SeenRdmaCompletion& completion : end->completions)
        note(static_cast<std::uint64_t>(completion.outcome));
    }
  for (const ConnectionRecord& connection : record_.connections)
    for (const End& end : connection.ends) {
      for (const CallRecord& call : end.calls) note(static_cast<std::uint64_t>(call.result));
      for (const Descriptor& send : end.sends) note(send.status);
      for (const Descriptor& receive : end.receives) note(receive.status);
    }
}

void World::look_for_contradictions() {
  if (!record_.inconsistent.empty()) return;
  if (!network_->is_consistent()) record_.inconsistent = "the links and switches";
  for (const auto& node : nodes_)
    if (record_.inconsistent.empty() && !node->is_consistent()) record_.inconsistent = "port " + node->name();
}

void World::observe() {
  if (scheduler_.fired_count() > most_events * (1 + scenario_.workloads.size()))
    throw std::runtime_error("more events than a run can need");
  if (!asks_at_the_end_) look_for_contradictions();
  for (Pair& pair : pairs_) {
    for (int side = 0; side < 2; ++side) {
      Probe& end = *pair.ends[side];
      end.observe();
      if (ladder_ == nullptr) continue;
      const std::string_view state = end.vi().endpoint_state_name();
      auto shown = std::find_if(shown_states_.begin(), shown_states_.end(),
                                [&](const auto& entry) { return entry.first == &end; });
      if (shown == shown_states_.end()) shown = shown_states_.insert(shown, {&end, "Idle"});
      if (shown->second == state) continue;
      const std::size_t port = side == 0 ? pair.workload->client : pair.workload->server;
      ladder_->state(scheduler_.now(), port, pair.record->name, shown->second, state);
      shown->second = state;
    }
  }
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    Until& until = **next++;
    if (until.condition_holds()) until.wake(true);
  }
}

void World::note_hit(const fc2::Frame& frame, const Fault& fault) {
  const wire::FcHeader header = fc2::header_of(frame);
  const wire::Bytes data_field = frame.content().subspan(wire::FcHeader::size());
  const bool fc_vi =
      header.type == wire::Type::fc_vi && !wire::is_link_control(header.r_ctl) && wire::fcvi::has_opcode(data_field);
  record_.hits.push_back({fault.kind, fc_vi, fc_vi ? wire::fcvi::opcode_of(data_field) : wire::fcvi::Opcode{}});
}

void World::witness(std::uint32_t number, const fc2::Frame& frame, const Fault* fault) {
  const auto content = frame.content();
  note(hash_of(content));
  const wire::FcHeader header = fc2::header_of(frame);
  const wire::Bytes data_field = content.subspan(wire::FcHeader::size());
  if (fault != nullptr) note_hit(frame, *fault);
  if (ladder_ == nullptr) return;
  std::size_t port = 0;
  bool outbound = false;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (network_->has_address(i, header.s_id)) {
      port = i;
      outbound = true;
    } else if (network_->has_address(i, header.d_id) && !outbound)
      port = i;
  }
  if (fault != nullptr)
    ladder_->state(scheduler_.now(), port, "fault", "frame " + std::to_string(number), to_string(*fault));
  const bool first = frame.sof == wire::Sof::i3 || frame.sof == wire::Sof::i2;
  ladder_->frame({scheduler_.now(), port, outbound, first, frame.eof != wire::Eof::n, number}, header, data_field);
}

void World::witness(std::uint32_t number, const SegmentMet& met, const Fault* fault) {
  note(hash_of(met.octets));
  if (ladder_ == nullptr) return;
  if (fault != nullptr)
    ladder_->state(scheduler_.now(), met.from, "fault", "octet " + std::to_string(fault->frame), to_string(*fault));
  const std::string text = "octets " + std::to_string(number) + " to " +
                           std::to_string(number + met.stream_octets - 1) + ": " +
                           (met.vi != nullptr ? met.vi->header.to_string() : std::string(met.name));
  (void)ladder_->arrow({.row_kind = RowKind::Data,
                        .at = met.at,
                        .from = met.from,
                        .to = met.to,
                        .text = text,
                        .frames = 1,
                        .bytes = met.payload_bytes},
                       text, met.name);
}

}  // namespace sim::explore
