#include "tools/fcvi_sim/scenario/rdma_names.hpp"

#include <algorithm>
#include <string>

#include "tools/fcvi_sim/scenario/rdma_workload.hpp"

namespace sim {
namespace {

using machines::iwarp::Failure;
using wire::rdmap::Cause;
using wire::rdmap::Layer;

constexpr Failure failures[] = {Failure::NotReachable, Failure::TimedOut,    Failure::PeerClosed,
                                Failure::Rejected,     Failure::NotAdmitted, Failure::Invalid,
                                Failure::Crossing,     Failure::NotAgreed,   Failure::Withdrawn};

struct NamedCause {
  Cause cause;
  std::string name;
};

/// All of which to_string() knows each part.
const std::vector<NamedCause>& named_causes() {
  static const std::vector<NamedCause> all = [] {
    std::vector<NamedCause> made;
    for (const Layer layer : {Layer::rdma, Layer::ddp, Layer::llp})
      for (std::uint8_t type = 0; type < 3; ++type)
        for (unsigned code = 0; code <= 0xFF; ++code) {
          const Cause cause{layer, type, static_cast<std::uint8_t>(code)};
          std::string name = to_string(cause);
          if (name.find("unknown") == std::string::npos) made.push_back({cause, std::move(name)});
        }
    return made;
  }();
  return all;
}

const std::vector<std::string>& startup_names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> made;
    for (const Failure failure : failures) made.push_back("start-up " + std::string(fsm::to_string(failure)));
    return made;
  }();
  return all;
}

}  // namespace

std::string_view rdma_failure_name(Failure failure) { return fsm::to_string(failure); }

std::vector<std::string_view> rdma_failure_names() {
  std::vector<std::string_view> names;
  for (const Failure failure : failures) names.push_back(rdma_failure_name(failure));
  return names;
}

std::string_view rdma_error_name(const Cause& cause) {
  const auto found = std::ranges::find(named_causes(), cause, &NamedCause::cause);
  return found == named_causes().end() ? std::string_view("another error") : std::string_view(found->name);
}

std::vector<std::string_view> rdma_error_names() {
  std::vector<std::string_view> names;
  for (const NamedCause& one : named_causes()) names.push_back(one.name);
  names.emplace_back("another error");
  return names;
}

std::string_view rdma_startup_name(Failure failure) { return startup_names()[static_cast<std::size_t>(failure)]; }

std::vector<std::string_view> rdma_startup_names() { return {startup_names().begin(), startup_names().end()}; }

std::string_view to_string(RdmaAction action) {
  switch (action) {
    case RdmaAction::Send: return "Send";
    case RdmaAction::RdmaWrite: return "RDMA Write";
    case RdmaAction::RdmaRead: return "RDMA Read";
    case RdmaAction::Invalidate: return "Invalidate";
    case RdmaAction::Wait: return "wait";
    case RdmaAction::Terminate: return "Terminate";
    case RdmaAction::Close: return "close";
    case RdmaAction::Abort: return "abort";
  }
  return "?";
}

std::string_view to_string(RdmaOutcome outcome) {
  switch (outcome) {
    case RdmaOutcome::Success: return "success";
    case RdmaOutcome::Flushed: return "flushed";
    case RdmaOutcome::LocalProtection: return "local_protection";
    case RdmaOutcome::LocalLength: return "local_length";
    case RdmaOutcome::Refused: return "refused";
  }
  return "?";
}

std::string_view to_string(RdmaEnding ending) {
  switch (ending) {
    case RdmaEnding::None: return "none";
    case RdmaEnding::Closed: return "closed";
    case RdmaEnding::Lost: return "lost";
    case RdmaEnding::GivenUp: return "given_up";
  }
  return "?";
}

}  // namespace sim
