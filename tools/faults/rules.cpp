#include "tools/faults/rules.hpp"

#include <algorithm>

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

bool RuleSet::in_time(const Match& match, runtime::TimeNs now) const {
  if (match.from == Match::always && match.until == runtime::never) return true;
  return zero_ != runtime::never && now >= zero_ && now - zero_ >= match.from && now - zero_ < match.until;
}

bool RuleSet::matches(const Match& match, std::size_t link, fc2::LinkDirection direction, const fc2::Frame& frame,
                      const FrameFacts& facts, runtime::TimeNs now) const {
  const bool sent = direction == fc2::LinkDirection::Sent;
  if (!(sent ? match.sent : match.received) || !in_time(match, now)) return false;
  if (!match.links.empty() && !is_one_of(match.links, link)) return false;
  if (!match.message.empty() && match.message != facts.message) return false;
  if (!match.peers.empty()) {
    const auto peer = port_of_(sent ? facts.header.d_id : facts.header.s_id);
    if (!peer || !is_one_of(match.peers, *peer)) return false;
  }
  if (match.reason && facts.reason() != match.reason) return false;
  return flags_match(match, facts) && fields_match(match, frame);
}

bool RuleSet::has_turn(std::size_t index) {
  const Rule& rule = rules_[index];
  const std::uint64_t turn = ++seen_[index];
  if (!rule.turns.empty() && !is_one_of(rule.turns, turn)) return false;
  return rule.probability >= 1 || chance_() < rule.probability;
}

// Every rule counts every frame that it matches, also those that an earlier rule takes.
RuleSet::Verdict RuleSet::judge(std::size_t link, fc2::LinkDirection direction, const fc2::Frame& frame,
                                runtime::TimeNs now) {
  if (healed_) return {};
  const auto facts = facts_of(frame);
  if (!facts) return {};
  Verdict verdict;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (!matches(rules_[i].match, link, direction, frame, *facts, now) || !has_turn(i)) continue;
    if (!rules_[i].action) {
      ++fired_[i];
      if (happened_) happened_(i, link, direction, frame);
    } else if (verdict.action == nullptr) {
      ++fired_[i];
      verdict = {&*rules_[i].action, static_cast<std::uint16_t>(i + 1)};
    }
  }
  return verdict;
}

void RuleSet::befell(std::size_t link, fc2::LinkDirection direction, const fc2::Frame& frame, const Verdict& verdict,
                     runtime::TimeNs) {
  if (happened_) happened_(verdict.rule - std::size_t{1}, link, direction, frame);
}

}  // namespace faults
