// What the streams of RDMA of one host share.
#pragma once
#include <algorithm>
#include <vector>

#include "iwarp/services.hpp"

namespace sim {

/// Who has streams of a core.
class RdmaOwner {
 public:
  /// Between events (state_machines/consistency.hpp).
  [[nodiscard]] virtual bool is_consistent() const = 0;

 protected:
  ~RdmaOwner() = default;
};

class RdmaCore {
 public:
  /// The same seed, the same STags. All references outlive it.
  RdmaCore(streams::Streams& streams, runtime::Scheduler& scheduler, fsm::RowListener& rows, std::uint64_t seed)
      : memory(seed), streams_(streams), scheduler_(scheduler), rows_(rows) {}
  /// `config`, which outlives them, is one stream's own.
  [[nodiscard]] iwarp::Services services(const iwarp::Config& config) {
    return {streams_, scheduler_, config, counters, *workspace_, memory, &rows_};
  }

  /// Until remove().
  void add(const RdmaOwner& owner) { owners_.push_back(&owner); }
  void remove(const RdmaOwner& owner) { std::erase(owners_, &owner); }
  [[nodiscard]] bool is_consistent() const {
    return std::ranges::all_of(owners_, [](const RdmaOwner* owner) { return owner->is_consistent(); });
  }

  iwarp::Counters counters;
  iwarp::MemoryTable memory;

 private:
  streams::Streams& streams_;
  runtime::Scheduler& scheduler_;
  fsm::RowListener& rows_;
  std::vector<const RdmaOwner*> owners_;
  const std::unique_ptr<iwarp::Workspace> workspace_ = std::make_unique<iwarp::Workspace>();
};

}  // namespace sim
