// A share of a run, in steps.
#include "tools/fcvi_sim/run/simulation.hpp"

namespace sim {

void Simulation::make_far_sides() {
  observer_.learn_from_others(scheduler_);
  for (std::size_t i = 0; i < scenario_.workloads.size(); ++i) {
    const WorkloadSpec& workload = scenario_.workloads[i];
    if (is_here(workload.client) == is_here(workload.server)) continue;
    const PortSpec& far = scenario_.ports[is_here(workload.client) ? workload.server : workload.client];
    result_.workloads[i].far = &far_sides_.emplace_back(*outbox_, share_->part_of(far), i);
  }
}

void Simulation::deliver(std::span<const std::uint8_t> messages) {
  for (ByteReader reader(messages); !reader.at_end();) {
    const auto kind = reader.get<MessageKind>();
    if (kind == MessageKind::Workload)
      ToFarSide::deliver(reader, result_.workloads);
    else
      network_->boundary()->deliver(kind, reader);
  }
}

// --- phases ------------------------------------------------------------------------------------------------------

Task<> Simulation::noted(Task<> program) {
  co_await program;
  if (--open_programs_ == 0) over_at_ = scheduler_.now();
}

void Simulation::spawn(Task<> program) {
  if (share_ == nullptr) return driver_.spawn(std::move(program));
  ++open_programs_;
  driver_.spawn(noted(std::move(program)));
}

void Simulation::await_ports() {
  phase_limit_ = start_ + scenario_.time_limit;
  spawn(all_ready());
}

Task<> Simulation::programs_at(runtime::TimeNs at) {
  co_await sleep_until_first(at);
  start_clocks();
  spawn_workloads();
  background_.start();
  programs_run_ = true;
}

void Simulation::begin_programs(runtime::TimeNs at) {
  over_at_ = runtime::never;
  spawn(programs_at(at));
}

void Simulation::log_out(runtime::TimeNs ended) {
  over_at_ = runtime::never;
  phase_limit_ = ended + scenario_.linger + logout_limit;
  spawn(log_out_of_fabric(ended));
}

const RunResult& Simulation::conclude(Driver::Outcome outcome) {
  result_.outcome = outcome;
  end_background();
  collect();
  for (WorkloadResult& workload : result_.workloads) workload.far = nullptr;
  return result_;
}

}  // namespace sim
