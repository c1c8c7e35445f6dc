#include "tools/fcvi_sim/soak/trial.hpp"

#include "tools/fcvi_sim/explore/invariants.hpp"
#include "tools/fcvi_sim/explore/world.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"

namespace sim::soak {
namespace {

Outcome bad(const std::string& why) { return {.kind = "bad scenario", .what = why + "\n"}; }

// Of so many runs one asks all owners after each event, the others at their end: which is twice as quick.
constexpr std::uint64_t owners_every = 16;

}  // namespace

std::string unsuitable(const Scenario& scenario) {
  constexpr std::uint64_t most_bytes = 1u << 20, most_messages = 1000;
  if (scenario.workloads.empty()) return "has no workload";
  for (const WorkloadSpec& workload : scenario.workloads) {
    std::uint64_t bytes = 0, messages = 0;
    for (const TransferSpec& transfer : workload.transfers) {
      if (!transfer.data.path.empty())
        return "workload " + workload.name + " has data of a file: expected {random: SIZE}";
      bytes += transfer.data.size_bytes * transfer.repeat;
      messages += transfer.message_count() * transfer.repeat;
    }
    if (bytes > most_bytes || messages > most_messages)
      return "workload " + workload.name + ": expected at most 1 MiB, in no more than 1,000 messages";
  }
  return {};
}

Outcome judged(const Scenario& scenario, fc2::FramePool& pool, fc2::Capture* capture) {
  explore::World world(scenario, pool, capture);
  if (scenario.seed % owners_every != 0) world.ask_owners_at_the_end();
  const explore::Record& record = world.run();
  Outcome outcome{.frames = record.frames, .digest = record.digest, .turns = world.turns()};
  for (const explore::Violation& violation : explore::check_invariants(record)) {
    if (outcome.kind.empty()) outcome.kind = violation.invariant;
    outcome.what += std::string(violation.invariant) + ": " + violation.what + "\n";
  }
  return outcome;
}

Outcome judged(const std::string& text, fc2::FramePool& pool, fc2::Capture* capture) {
  const auto scenario = read_scenario(text, "scenario", "", {});
  if (!scenario) return bad(scenario.error().message);
  if (const std::string why = unsuitable(*scenario); !why.empty()) return bad(why);
  return judged(*scenario, pool, capture);
}

}  // namespace sim::soak
