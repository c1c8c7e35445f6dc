#include "tools/fabricd/paths.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "fc2_fabric/drivers/frame_ring.hpp"
#include "tools/fabricd/port_session.hpp"

namespace fabricd {
using fc2::drivers::PathEnd;
using fc2::drivers::PathRecord;
using fc2::drivers::RingPair;
using runtime::drivers::SharedMemory;

Paths::Pair* Paths::pair_of(PortSession& from, PortSession& to) {
  std::shared_ptr<Pair>& pair = pairs_[&from][&to];
  if (pair != nullptr) return pair.get();
  if (pair_count_ >= max_pairs) {
    pairs_[&from].erase(&to);
    return nullptr;
  }
  ++pair_count_;
  pair = std::make_shared<Pair>(Pair{.ends = {&from, &to}});
  pairs_[&to][&from] = pair;
  return pair.get();
}

void Paths::make(PortSession& from, PortSession& to, runtime::TimeNs now) {
  if (slots_ == 0 || &from == &to || !from.may_have_paths() || !to.may_have_paths()) return;
  Pair* const pair = pair_of(from, to);
  if (pair == nullptr) return refuse(Pair{.ends = {&from, &to}}, "there are too many", now);
  if (pair->number != 0) return;
  if (pair->requests_in_vain != 0)
    --pair->requests_in_vain;
  else
    make_for(*pair, now);
}

// Nothing is told before everything is there.
void Paths::make_for(Pair& pair, runtime::TimeNs now) {
  if (by_number_.size() >= most_) return refuse(pair, "there are as many as there may be (--max-paths)", now);
  const auto memory = SharedMemory::make(RingPair::size_bytes(slots_));
  fc2::drivers::OpenFiles files[2];
  for (const int side : {0, 1}) {
    if (!pair.ends[side]->may_hear_of_path()) return refuse(pair, "an end does not read what it is told", now);
    if (memory) files[side] = pair.ends[1 - side]->files_of_path(memory.descriptor());
    if (files[side].empty()) return refuse(pair, "no memory or open files are left", now);
  }
  while (++made_ == 0 || by_number_.contains(made_)) {}
  pair.number = made_;
  pair.ended = false;
  by_number_[made_] = &pair;
  for (const int side : {0, 1}) {
    const PortSession& other = *pair.ends[1 - side];
    pair.held[side] = true;
    pair.ends[side]->tell_path({.peer = other.f_port().address(),
                                .side = static_cast<std::uint8_t>(side),
                                .slot_count = slots_,
                                .number = made_,
                                .process_id = other.hello().process_id},
                               std::move(files[side]));
  }
}

void Paths::refuse(const Pair& pair, std::string_view reason, runtime::TimeNs now) {
  ++refused_;
  if (!log_budget_.allows(now)) return;
  if (const auto left_out = log_budget_.take_left_out(); left_out != 0)
    spdlog::warn("{} more paths were not made", left_out);
  spdlog::warn("no path from {} to {}: {}", pair.ends[0]->description(), pair.ends[1]->description(), reason);
}

void Paths::said(PortSession& port, const PathEnd& end) {
  const auto found = by_number_.find(end.number);
  if (found == by_number_.end()) return;
  Pair& pair = *found->second;
  const int side = pair.ends[0] == &port ? 0 : 1;
  if (pair.ends[side] != &port) return;
  if (!pair.ended) {
    pair.refused_by_ends = std::min(pair.refused_by_ends + 1, most_doublings);
    pair.requests_in_vain = (1U << pair.refused_by_ends) - 1;
    this->end(pair, PathEnd::Cause::Service);
  }
  if (end.cause == PathEnd::Cause::Released) released(pair, side);
}

void Paths::end(Pair& pair, PathEnd::Cause cause) {
  const std::uint32_t number = pair.number;
  if (number == 0 || (pair.ended && cause == PathEnd::Cause::Service)) return;
  pair.ended = true;
  for (const int side : {0, 1}) {
    if (!pair.held[side]) continue;
    const PathEnd told{.peer = pair.ends[1 - side]->f_port().address(), .cause = cause, .number = number};
    if (!pair.ends[side]->tell_path_end(told)) released(pair, side);  // it never heard of that path
  }
  if (cause != PathEnd::Cause::PeerGone) return;
  released(pair, 0);
  released(pair, 1);
}

void Paths::released(Pair& pair, int side) {
  pair.held[side] = false;
  if (pair.held[1 - side] || pair.number == 0) return;
  by_number_.erase(pair.number);
  pair.number = 0;
}

std::size_t Paths::count_of(const PortSession& port) const {
  const auto found = pairs_.find(&port);
  if (found == pairs_.end()) return 0;
  return static_cast<std::size_t>(std::count_if(found->second.begin(), found->second.end(),
                                                [](const auto& pair) { return pair.second->number != 0; }));
}

void Paths::end_all(PortSession& port, PathEnd::Cause cause) {
  const auto found = pairs_.find(&port);
  if (found == pairs_.end()) return;
  for (const auto& [other, pair] : found->second) end(*pair, cause);
  if (cause == PathEnd::Cause::PeerGone) forget(port);
}

void Paths::forget(PortSession& port) {
  const Pairs gone = std::move(pairs_[&port]);
  pairs_.erase(&port);
  for (const auto& [other, pair] : gone) {
    --pair_count_;
    Pairs& others = pairs_[other];
    others.erase(&port);
    if (others.empty()) pairs_.erase(other);
  }
}

}  // namespace fabricd
