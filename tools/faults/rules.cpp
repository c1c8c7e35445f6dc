#include "tools/faults/rules.hpp"

#include <algorithm>
#include <cassert>

namespace faults {
namespace {

template <class T>
bool is_one_of(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool flags_match(const Match& match, const FrameFacts& facts) {
  if (match.flags.empty() && match.flags_clear.empty()) return true;
  if (!facts.device_header) return false;
  const std::vector<std::string> set = facts.flags();
  const auto is_set = [&](const std::string& flag) { return is_one_of(set, flag); };
  return std::all_of(match.flags.begin(), match.flags.end(), is_set) &&
         std::none_of(match.flags_clear.begin(), match.flags_clear.end(), is_set);
}

bool fields_match(const Match& match, const fc2::Frame& frame) {
  return std::all_of(match.fields.begin(), match.fields.end(),
                     [&](const FieldRange& range) { return range.holds(frame.content()); });
}

}  // namespace

RuleSet::RuleSet(std::vector<Rule> rules, Chance chance, PortOf port_of, ConnectionOf connection_of)
    : rules_(std::move(rules)), seen_(rules_.size()), fired_(rules_.size()), late_(rules_.size()),
      nearest_(rules_.size()), chance_(std::move(chance)), port_of_(std::move(port_of)),
      connection_of_(std::move(connection_of)),
      asks_connection_(std::ranges::any_of(rules_, [](const Rule& rule) { return !rule.match.connections.empty(); })) {
  assert(!asks_connection_ || connection_of_);
}

std::size_t RuleSet::add(Rule rule) {
  assert(rule.match.connections.empty() || connection_of_);
  asks_connection_ = asks_connection_ || !rule.match.connections.empty();
  rules_.push_back(std::move(rule));
  seen_.push_back(0);
  fired_.push_back(0);
  late_.push_back(0);
  nearest_.emplace_back();
  return rules_.size() - 1;
}

void RuleSet::remove(std::size_t rule) {
  const auto at = static_cast<std::ptrdiff_t>(rule);
  rules_.erase(rules_.begin() + at);
  seen_.erase(seen_.begin() + at);
  fired_.erase(fired_.begin() + at);
  late_.erase(late_.begin() + at);
  nearest_.erase(nearest_.begin() + at);
}

void RuleSet::set_ports(std::size_t rule, std::vector<std::size_t> links, std::vector<std::size_t> peers) {
  rules_[rule].match.links = std::move(links);
  rules_[rule].match.peers = std::move(peers);
}

bool RuleSet::in_time(const Match& match, runtime::TimeNs now) const {
  if (match.from == Match::always && match.until == runtime::never) return true;
  return zero_ != runtime::never && now >= zero_ && now - zero_ >= match.from && now - zero_ < match.until;
}

RuleSet::Key RuleSet::unmatched(const Match& match, const Met& met) const {
  const bool sent = met.direction == fc2::LinkDirection::Sent;
  const FrameFacts& facts = met.facts;
  if (!(sent ? match.sent : match.received)) return Key::Direction;
  if (!in_time(match, met.now)) return Key::Time;
  if (!match.links.empty() && !is_one_of(match.links, met.link)) return Key::Port;
  if (!match.message.empty() && match.message != facts.message) return Key::Message;
  if (!match.connections.empty() && !(met.connection && is_one_of(match.connections, *met.connection)))
    return Key::Workload;
  if (!match.peers.empty()) {
    const auto peer = port_of_(sent ? facts.header.d_id : facts.header.s_id);
    if (!peer || !is_one_of(match.peers, *peer)) return Key::Peer;
  }
  if (match.reason && facts.reason() != match.reason) return Key::Reason;
  if (!flags_match(match, facts)) return Key::Flags;
  return fields_match(match, met.frame) ? Key::None : Key::Fields;
}

bool RuleSet::matches(std::size_t rule, const Met& met) {
  const Key key = unmatched(rules_[rule].match, met);
  if (key == Key::None) return true;
  nearest_[rule].add({key, 1});
  return false;
}

RuleSet::NearMiss RuleSet::near_miss(std::size_t rule) const { return seen_[rule] == 0 ? nearest_[rule] : NearMiss{}; }

std::string_view to_string(RuleSet::Key key) {
  switch (key) {
    using enum RuleSet::Key;
    case Direction: return "direction";
    case Time: return "from, until";
    case Port: return "port";
    case Message: return "message";
    case Workload: return "workload";
    case Peer: return "peer";
    case Reason: return "reason";
    case Flags: return "flags";
    case Fields: return "fields";
    case None: return "nothing";
  }
  return "?";
}

bool RuleSet::has_turn(std::size_t index, std::size_t link) {
  const Rule& rule = rules_[index];
  const std::uint64_t turn = ++seen_[index];
  if (!rule.turns.empty() && !is_one_of(rule.turns, turn)) return false;
  if (turn % rule.every != 0 || fired_[index] >= rule.limit) return false;
  return rule.probability >= 1 || chance_(index, link) < rule.probability;
}

// Every rule counts every frame that it matches, also those that an earlier rule takes.
RuleSet::Verdict RuleSet::judge(std::size_t link, fc2::LinkDirection direction, const fc2::Frame& frame,
                                runtime::TimeNs now) {
  if (healed_) return {};
  const auto facts = facts_of(frame);
  if (!facts) return {};
  const Met met{link, direction, frame, *facts, now, asks_connection_ ? connection_of_(*facts, frame) : std::nullopt};
  Verdict verdict;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (!matches(i, met) || !has_turn(i, link)) continue;
    if (!rules_[i].action) {
      ++fired_[i];
      if (happened_) happened_(i, link, direction, frame);
    } else if (verdict.action == nullptr) {
      ++fired_[i];
      verdict = {&*rules_[i].action, static_cast<std::uint16_t>(i + 1)};
    } else {
      ++late_[i];
    }
  }
  return verdict;
}

void RuleSet::befell(std::size_t link, fc2::LinkDirection direction, const fc2::Frame& frame, const Verdict& verdict,
                     runtime::TimeNs) {
  if (happened_) happened_(verdict.rule - std::size_t{1}, link, direction, frame);
}

}  // namespace faults
