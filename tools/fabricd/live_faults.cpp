#include "tools/fabricd/live_faults.hpp"

#include <algorithm>
#include <utility>

#include "fc2_fabric/drivers/crossbar.hpp"
#include "fc2_fabric/frame/frame_header.hpp"
#include "settings/units.hpp"

namespace fabricd {
using settings::format_count;

namespace {
constexpr runtime::TimeNs look_for_delayed = 5 * runtime::millisecond;  // for the last delayed frame

bool is_way_mark(const fc2::Frame& frame) {
  return frame.size_bytes >= fc2::frame_header_bytes && fc2::r_ctl_of(frame) == fc2::drivers::Crossbar::way_mark;
}
}  // namespace

LiveFaults::LiveFaults(runtime::Scheduler& scheduler, Befell befell)
    : scheduler_(scheduler), befell_(std::move(befell)),
      rules_(
          {},
          [this](std::size_t, std::size_t) {
            random_ = random_ * 6364136223846793005U + 1442695040888963407U;
            return static_cast<double>(random_ >> 11) * 0x1p-53;
          },
          [this](wire::FcId id) { return number_at(id); }) {
  rules_.start_clock(0);  // of the scheduler
  rules_.set_listener([this](std::size_t rule, std::size_t, fc2::LinkDirection, const fc2::Frame& frame) {
    befell_(live_[rule].id, rules_.rules()[rule].note, frame);
  });
}

// --- rules -------------------------------------------------------------------------------------------------------

bool LiveFaults::Called::look_at(const FaultLink& link, std::size_t number) {
  const bool is = std::any_of(names.begin(), names.end(), [&](const auto& name) { return link.is_called(name); });
  if (is == has(number)) return false;
  if (is)
    links.push_back(number);
  else
    forget(number);
  return true;
}

std::vector<std::size_t> LiveFaults::Called::numbers() const {
  return names.empty() || !links.empty() ? links : std::vector{no_link};
}

// Times count from now.
void LiveFaults::add(LiveRule added) {
  const runtime::TimeNs now = scheduler_.now();
  faults::Match& match = added.rule.match;
  if (match.from != faults::Match::always || match.until != runtime::never)
    match.from = now + std::max<runtime::TimeNs>(match.from, 0);
  if (match.until != runtime::never) match.until += now;
  const std::size_t rule = rules_.add(std::move(added.rule));
  live_.push_back({++last_id_, {std::move(added.ports)}, {std::move(added.peers)}, std::move(added.text)});
  Live& live = live_.back();
  if (live.ports.names.empty()) ++rules_of_all_;
  for (auto& [number, link] : links_) {
    if (live.ports.look_at(*link.link, number)) ++link.rules;
    live.peers.look_at(*link.link, number);
  }
  set_ports(rule);
}

bool LiveFaults::add(std::vector<LiveRule> rules, std::vector<Id>& ids) {
  if (rules.size() > max_live_rules - live_.size()) return false;
  for (LiveRule& rule : rules) {
    add(std::move(rule));
    ids.push_back(last_id_);
  }
  settle_all();
  return true;
}

void LiveFaults::remove_at(std::size_t rule) {
  const Live& live = live_[rule];
  for (auto& [number, link] : links_)
    if (is_on(live, number)) release(link);
  if (live.ports.names.empty()) --rules_of_all_;
  for (const std::size_t number : live.ports.links) --links_.at(number).rules;
  rules_.remove(rule);
  live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(rule));
}

bool LiveFaults::remove(Id rule) {
  const auto found = std::find_if(live_.begin(), live_.end(), [&](const Live& live) { return live.id == rule; });
  if (found == live_.end()) return false;
  remove_at(static_cast<std::size_t>(found - live_.begin()));
  settle_all();
  return true;
}

void LiveFaults::remove_all() {
  while (!live_.empty()) remove_at(live_.size() - 1);
  settle_all();
}

std::string LiveFaults::miss_of(std::size_t rule) const {
  if (rules_.fired(rule) != 0) return {};
  const std::uint64_t matched = rules_.matched(rule);
  if (const std::uint64_t late = rules_.came_late(rule); late != 0)
    return format_count(matched) + " matched; an earlier rule took " + format_count(late) + " at its turn";
  if (matched == 1) return "1 frame matched, not at its turn";
  if (matched != 0) return format_count(matched) + " frames matched, none at its turn";
  const faults::RuleSet::NearMiss near = rules_.near_miss(rule);
  if (near.frames == 0) return "no frame passed";
  return "no frame matched; " + format_count(near.frames) + " came nearest, and failed at " +
         std::string(to_string(near.key));
}

bool LiveFaults::is_over(std::size_t rule) const {
  const faults::Rule& known = rules_.rules()[rule];
  const auto is_past = [&](std::uint64_t turn) { return turn <= rules_.matched(rule); };
  const bool turns_over = !known.turns.empty() && std::all_of(known.turns.begin(), known.turns.end(), is_past);
  return turns_over || scheduler_.now() >= known.match.until || rules_.fired(rule) >= known.limit;
}

std::vector<LiveFaults::State> LiveFaults::states() const {
  std::vector<State> states;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    const Called& ports = live_[i].ports;
    State& state = states.emplace_back(State{live_[i].id,
                                             live_[i].text,
                                             rules_.matched(i),
                                             rules_.fired(i),
                                             miss_of(i),
                                             {},
                                             ports.names.empty(),
                                             is_over(i)});
    for (const auto& [number, link] : links_)
      if (is_on(live_[i], number)) state.links.push_back(link.link->text());
  }
  return states;
}

// --- links -------------------------------------------------------------------------------------------------------

LiveFaults::Links::iterator LiveFaults::find(const FaultLink& link) {
  return std::find_if(links_.begin(), links_.end(), [&](const auto& entry) { return entry.second.link == &link; });
}

void LiveFaults::add(FaultLink& link) { look_at(*links_.emplace(++last_number_, Link{&link}).first); }

void LiveFaults::look_at(FaultLink& link) {
  if (const auto found = find(link); found != links_.end()) look_at(*found);
}

void LiveFaults::look_at(Links::value_type& entry) {
  auto& [number, link] = entry;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    Live& live = live_[i];
    const bool port = live.ports.look_at(*link.link, number), peer = live.peers.look_at(*link.link, number);
    if (port && live.ports.has(number)) ++link.rules;
    if (port && !live.ports.has(number)) --link.rules, release(link);
    if (port || peer) set_ports(i);
  }
  settle(entry);
}

void LiveFaults::remove(FaultLink& gone) {
  const auto found = find(gone);
  if (found == links_.end()) return;
  auto& [number, link] = *found;
  if (link.attached) {
    link.faulty->sent.link_broke();
    link.faulty->received.link_broke();
    gone.set_faults(nullptr, nullptr);
  }
  for (std::size_t i = 0; i < live_.size(); ++i) {
    const bool port = live_[i].ports.forget(number), peer = live_[i].peers.forget(number);
    if (port || peer) set_ports(i);
  }
  links_.erase(found);
}

std::optional<std::size_t> LiveFaults::number_at(wire::FcId id) const {
  for (const auto& [number, link] : links_)
    if (link.link->has_address(id)) return number;
  return std::nullopt;
}

// Off the direct path before the first frame is judged, and back behind the last one that was delayed.
void LiveFaults::settle(Links::value_type& entry) {
  auto& [number, link] = entry;
  if (is_wanted(number)) {
    fc2::FaultPolicy& policy = *this;
    if (link.faulty == nullptr) link.faulty = std::make_unique<fc2::FaultyLink>(scheduler_, policy, number);
    link.link->set_faults(&link.faulty->sent, &link.faulty->received);
    if (!std::exchange(link.attached, true)) link.link->watch(true);
  } else if (link.attached && link.delayed() != 0) {
    settle_soon();
  } else if (std::exchange(link.attached, false)) {
    link.link->set_faults(nullptr, nullptr);
    link.link->watch(false);
  }
}

bool LiveFaults::is_wanted(std::size_t link) const {
  for (std::size_t i = 0; i < live_.size(); ++i)
    if (is_on(live_[i], link) && !is_over(i)) return true;
  return false;
}

void LiveFaults::settle_soon() {
  if (!leaving_.pending()) scheduler_.schedule_after(leaving_, look_for_delayed);
}

void LiveFaults::settle_when_one_ends() {
  runtime::TimeNs first = runtime::never;
  for (const faults::Rule& rule : rules_.rules())
    if (rule.match.until > scheduler_.now()) first = std::min(first, rule.match.until);
  if (ending_.pending()) scheduler_.cancel(ending_);
  if (first != runtime::never) scheduler_.schedule(ending_, first);
}

void LiveFaults::settle_all() {
  for (auto& entry : links_) settle(entry);
  settle_when_one_ends();
}

std::vector<std::string> LiveFaults::passed_by(const std::vector<Id>& rules) const {
  std::vector<std::string> texts;
  const auto is_on_link = [this](Id id, std::size_t number) {
    const std::size_t at = rule_of(id);
    return at != live_.size() && is_on(live_[at], number);
  };
  for (const auto& [number, link] : links_) {
    const bool wanted = std::any_of(rules.begin(), rules.end(), [&, at = number](Id id) { return is_on_link(id, at); });
    if (wanted && link.link->is_passed_by()) texts.push_back(link.link->text());
  }
  return texts;
}

// --- frames ------------------------------------------------------------------------------------------------------

void LiveFaults::release(Link& link) {
  if (!link.attached) return;
  link.link->hasten();
  link.faulty->sent.release();
  link.faulty->received.release();
  link.late.clear();
}

std::size_t LiveFaults::rule_of(Id id) const {
  const auto found = std::find_if(live_.begin(), live_.end(), [&](const Live& live) { return live.id == id; });
  return static_cast<std::size_t>(found - live_.begin());
}

// One that is there no more has released what it delayed.
bool LiveFaults::lets_order_hold(Id rule) const {
  const std::size_t at = rule_of(rule);
  if (at == live_.size()) return true;
  const faults::Rule& known = rules_.rules()[at];
  const bool chooses = !known.turns.empty() || known.every != 1 || known.probability < 1;
  return !chooses && is_over(at);
}

// Only a frame that passes otherwise, or comes late, is set behind others: what is damaged or lost has no order.
LiveFaults::Verdict LiveFaults::in_order(Link& link, fc2::LinkDirection direction, const Verdict& verdict,
                                         runtime::TimeNs now) {
  const bool is_late = verdict.action != nullptr && verdict.action->apply == fc2::fault::delay;
  if (verdict.action != nullptr && !is_late) return verdict;
  std::erase_if(link.late, [now](const Late& late) { return late.arrival < now; });
  const runtime::TimeNs wanted = now + (is_late ? verdict.action->delay : 0);
  runtime::TimeNs arrival = wanted;
  for (const Late& late : link.late)
    if (late.direction == direction && lets_order_hold(late.rule)) arrival = std::max(arrival, late.arrival);
  if (is_late) {
    const Id rule = live_[verdict.rule - std::size_t{1}].id;
    std::erase_if(link.late, [&](const Late& late) { return late.direction == direction && late.rule == rule; });
    link.late.push_back({rule, direction, arrival});
  }
  if (arrival == wanted) return verdict;
  later_.delay = arrival - now;
  return {&later_, verdict.rule};
}

// A way mark is no frame of Fibre Channel: it only tells a library that its frames have come.
LiveFaults::Verdict LiveFaults::judge(std::size_t number, fc2::LinkDirection direction, const fc2::Frame& frame,
                                      runtime::TimeNs now) {
  Link& link = links_.at(number);
  if (!concerns(link)) return {};
  if (link.delayed() >= max_delayed) {
    unjudged_ += is_way_mark(frame) ? 0 : 1;
    return {};
  }
  const Verdict verdict = is_way_mark(frame) ? Verdict{} : rules_.judge(number, direction, frame, now);
  return in_order(link, direction, verdict, now);
}

// Without a rule a frame has only been set behind others.
void LiveFaults::befell(std::size_t link, fc2::LinkDirection direction, const fc2::Frame& frame, const Verdict& verdict,
                        runtime::TimeNs now) {
  if (verdict.rule == 0) return;
  rules_.befell(link, direction, frame, verdict, now);
  if (is_over(verdict.rule - std::size_t{1})) settle_soon();
}

}  // namespace fabricd
