// The paths between ports: memory that the service makes for two ports, of which it keeps nothing but who has it.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "fc2_fabric/drivers/link_records.hpp"
#include "tools/service_common/log_budget.hpp"

namespace fabricd {
class PortSession;

/// Two ports have one path at most, and get the next when both have let go of the last: so one process cannot make
/// others map more and more. What two ports do not get goes by the service.
class Paths {
 public:
  /// `slots` of each ring; 0: there are no paths. `most` at once: it bounds the memory of all.
  Paths(std::uint32_t slots, std::size_t most) : slots_(slots), most_(most) {}
  Paths(const Paths&) = delete;
  Paths& operator=(const Paths&) = delete;

  /// Both ends hear of it, if there can be one now.
  void make(PortSession& from, PortSession& to, runtime::TimeNs now);
  /// What a port says of a path of its own; of any other it means nothing.
  void said(PortSession& port, const fc2::drivers::PathEnd& end);
  /// All of a port end: both ends of each hear of it.
  void end_all(PortSession& port, fc2::drivers::PathEnd::Cause cause);
  /// Of that port, that an end uses or has not let go of: frames may be in their memory.
  [[nodiscard]] std::size_t count_of(const PortSession& port) const;
  /// That somebody uses, or has not let go of.
  [[nodiscard]] std::size_t count() const { return by_number_.size(); }
  /// Wanted, and not made: there are as many as there may be, or memory, open files or room in a list are lacking.
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

  /// An end that refused its path asks in vain: with each refusal for twice as many requests, 2 to this power at most.
  static constexpr unsigned most_doublings = 10;
  /// Pairs of ports that are remembered: 4,096 ports that talk with 16 others each.
  static constexpr std::size_t max_pairs = 65'536;

 private:
  struct Pair {
    PortSession* ends[2];
    std::uint32_t number = 0;  // of its path; 0: it has none
    bool ended = false;
    bool held[2] = {false, false};
    unsigned refused_by_ends = 0;
    unsigned requests_in_vain = 0;  // to come
  };
  using Pairs = std::map<PortSession*, std::shared_ptr<Pair>>;
  Pair* pair_of(PortSession& from, PortSession& to);
  void make_for(Pair& pair, runtime::TimeNs now);
  void refuse(const Pair& pair, std::string_view reason, runtime::TimeNs now);
  void end(Pair& pair, fc2::drivers::PathEnd::Cause cause);
  void released(Pair& pair, int side);
  void forget(PortSession& port);

  const std::uint32_t slots_;
  const std::size_t most_;
  std::unordered_map<const PortSession*, Pairs> pairs_;  // each twice
  std::unordered_map<std::uint32_t, Pair*> by_number_;
  std::size_t pair_count_ = 0;
  std::uint32_t made_ = 0;
  std::uint64_t refused_ = 0;
  services::LogBudget log_budget_;
};

}  // namespace fabricd
