#include "tools/fcvi_sim/run/segment_rules.hpp"

#include <algorithm>

namespace sim {
namespace {

template <class T>
bool is_one_of(const std::vector<T>& list, const T& value) {
  return std::ranges::find(list, value) != list.end();
}

/// One of the ports, where there are some, has sent it, or gets it, as `match` says; the other end is one of the peers.
bool ends_match(const faults::Match& match, std::size_t from, std::size_t to, bool with_peers) {
  const auto fits = [&](std::size_t port, std::size_t peer) {
    return (match.links.empty() || is_one_of(match.links, port)) &&
           (!with_peers || match.peers.empty() || is_one_of(match.peers, peer));
  };
  return (match.sent && fits(from, to)) || (match.received && fits(to, from));
}

void invert(wire::MutableBytes octets, std::uint32_t bit) {
  octets[bit / 8 % octets.size()] ^= static_cast<std::uint8_t>(0x80U >> bit % 8);
}

}  // namespace

SegmentRules::SegmentRules(const Scenario& scenario, Chance chance)
    : scenario_(scenario), chance_(std::move(chance)), states_(scenario.faults.size()) {}

SegmentRules::Key SegmentRules::unmatched(const FaultSpec& fault, const SegmentMet& met,
                                          std::optional<std::size_t> workload) const {
  const faults::Match& match = fault.rule.match;
  const bool always = match.from == faults::Match::always && match.until == runtime::never;
  const bool in_time =
      zero_ != runtime::never && met.at >= zero_ && met.at - zero_ >= match.from && met.at - zero_ < match.until;
  if (!always && !in_time) return Key::Time;
  if (!ends_match(match, met.from, met.to, false)) return Key::Port;
  if (!match.message.empty() && match.message != met.name) return Key::Message;
  if (!match.connections.empty() && !(workload && is_one_of(match.connections, *workload))) return Key::Workload;
  if (!ends_match(match, met.from, met.to, true)) return Key::Peer;
  const bool has_crc = fault.segment->kind != SegmentFault::Kind::BadCrc || met.has_crc || fault.event;
  const auto holds = [&](const SegmentFieldRange& range) { return range.holds(met.form, met.octets); };
  return has_crc && std::ranges::all_of(fault.segment->fields, holds) ? Key::None : Key::Fields;
}

bool SegmentRules::matches(std::size_t fault, const SegmentMet& met, std::optional<std::size_t> workload) {
  const Key key = unmatched(scenario_.faults[fault], met, workload);
  if (key == Key::None) return true;
  State& state = states_[fault];
  if (key > state.nearest) state.nearest = key, state.nearest_count = 0;
  if (key == state.nearest) ++state.nearest_count;
  return false;
}

faults::RuleSet::NearMiss SegmentRules::near_miss(std::size_t fault) const {
  constexpr faults::RuleSet::Key keys[] = {faults::RuleSet::Key::Time,    faults::RuleSet::Key::Port,
                                           faults::RuleSet::Key::Message, faults::RuleSet::Key::Workload,
                                           faults::RuleSet::Key::Peer,    faults::RuleSet::Key::Fields};
  const State& state = states_[fault];
  if (state.seen != 0 || state.nearest_count == 0) return {};
  return {keys[static_cast<std::size_t>(state.nearest)], state.nearest_count};
}

bool SegmentRules::has_turn(std::size_t fault) {
  const faults::Rule& rule = scenario_.faults[fault].rule;
  const std::uint64_t turn = ++states_[fault].seen;
  if (!rule.turns.empty() && !is_one_of(rule.turns, turn)) return false;
  if (turn % rule.every != 0 || states_[fault].fired >= rule.limit) return false;
  return rule.probability >= 1 || chance_() < rule.probability;
}

// Every rule counts every segment that it matches, also those that an earlier rule takes.
SegmentRules::Verdict SegmentRules::judge(const SegmentMet& met, std::optional<std::size_t> workload) {
  Verdict verdict;
  for (std::size_t i = 0; i < states_.size() && !healed_; ++i) {
    const FaultSpec& fault = scenario_.faults[i];
    if (!fault.segment || fault.at || !matches(i, met, workload) || !has_turn(i)) continue;
    if (fault.event) {
      ++states_[i].fired;
      verdict.events.push_back(i);
    } else if (!verdict.fault) {
      ++states_[i].fired;
      verdict.fault = i;
    }
  }
  return verdict;
}

SegmentFate befall(const SegmentFault& fault, const SegmentMet& met) {
  using Fate = SegmentFate::Kind;
  switch (fault.kind) {
    case SegmentFault::Kind::Reset: return {Fate::Reset, fault.octets};
    case SegmentFault::Kind::Close: return {Fate::Close, fault.octets};
    case SegmentFault::Kind::Stall: return {Fate::Hold, fault.octets, fault.hold};
    case SegmentFault::Kind::Corrupt: invert(met.octets, fault.bit); return {.seal = !fault.crc_error};
    case SegmentFault::Kind::BadCrc: invert(met.octets.last(1), 0); return {};
    case SegmentFault::Kind::Rewrite:
      for (const SegmentPatch& patch : fault.patches) patch.field->write(met.form, met.octets, patch.value);
      return {.seal = true};
  }
  return {};
}

}  // namespace sim
