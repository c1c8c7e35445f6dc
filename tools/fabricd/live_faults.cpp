#include "tools/fabricd/live_faults.hpp"

#include <algorithm>
#include <utility>

#include "fc2_fabric/drivers/crossbar.hpp"
#include "fc2_fabric/frame/frame_header.hpp"
#include "settings/units.hpp"

namespace fabricd {
using settings::format_count;

namespace {
constexpr std::size_t no_port = 0;                                // links count from 1
constexpr runtime::TimeNs look_again = 5 * runtime::millisecond;  // for the last delayed frame

bool is_way_mark(const fc2::Frame& frame) {
  return frame.size_bytes >= fc2::frame_header_bytes && fc2::r_ctl_of(frame) == fc2::drivers::Crossbar::way_mark;
}
}  // namespace

LiveFaults::LiveFaults(runtime::Scheduler& scheduler, Befell befell)
    : scheduler_(scheduler), befell_(std::move(befell)),
      rules_(
          {},
          [this] {
            random_ = random_ * 6364136223846793005U + 1442695040888963407U;
            return static_cast<double>(random_ >> 11) * 0x1p-53;
          },
          [this](wire::FcId id) { return number_at(id); }) {
  rules_.start_clock(0);  // of the scheduler
  rules_.set_listener([this](std::size_t rule, std::size_t, fc2::LinkDirection, const fc2::Frame& frame) {
    befell_(live_[rule].id, frame);
  });
}

// --- rules -------------------------------------------------------------------------------------------------------

bool LiveFaults::add(std::vector<LiveRule> rules, std::vector<Id>& ids) {
  if (rules.size() > max_live_rules - live_.size()) return false;
  const runtime::TimeNs now = scheduler_.now();
  for (LiveRule& added : rules) {
    faults::Match& match = added.rule.match;
    if (match.from != faults::Match::always || match.until != runtime::never)
      match.from = now + std::max<runtime::TimeNs>(match.from, 0);
    if (match.until != runtime::never) match.until += now;
    rules_.add(std::move(added.rule));
    live_.push_back({++last_id_, std::move(added.ports), std::move(added.peers), std::move(added.text)});
    ids.push_back(last_id_);
  }
  ports_changed();
  return true;
}

bool LiveFaults::remove(Id rule) {
  const auto found = std::find_if(live_.begin(), live_.end(), [&](const Live& live) { return live.id == rule; });
  if (found == live_.end()) return false;
  rules_.remove(static_cast<std::size_t>(found - live_.begin()));
  live_.erase(found);
  ports_changed();
  return true;
}

void LiveFaults::remove_all() {
  while (!live_.empty()) {
    rules_.remove(live_.size() - 1);
    live_.pop_back();
  }
  ports_changed();
}

bool LiveFaults::is_on(std::size_t rule, const Link& link) const {
  const auto& links = rules_.rules()[rule].match.links;
  return links.empty() || std::find(links.begin(), links.end(), link.number) != links.end();
}

std::string LiveFaults::miss_of(std::size_t rule) const {
  if (rules_.fired(rule) != 0) return {};
  const std::uint64_t matched = rules_.matched(rule);
  if (matched == 1) return "1 frame matched, not at its turn";
  if (matched != 0) return format_count(matched) + " frames matched, none at its turn";
  const faults::RuleSet::NearMiss near = rules_.near_miss(rule);
  if (near.frames == 0) return "no frame passed";
  return "no frame matched; " + format_count(near.frames) + " came nearest, and failed at " + std::string(near.key);
}

std::vector<LiveFaults::State> LiveFaults::states() const {
  std::vector<State> states;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    State& state = states.emplace_back(
        State{live_[i].id, live_[i].text, rules_.matched(i), rules_.fired(i), miss_of(i), {}, live_[i].ports.empty()});
    for (const Link& link : links_)
      if (is_on(i, link)) state.links.push_back(link.link->text());
  }
  return states;
}

// --- links -------------------------------------------------------------------------------------------------------

void LiveFaults::add(FaultLink& link) {
  links_.push_back({&link, ++last_number_, nullptr});
  ports_changed();
}

void LiveFaults::remove(FaultLink& link) {
  const auto found = std::find_if(links_.begin(), links_.end(), [&](const Link& known) { return known.link == &link; });
  if (found == links_.end()) return;
  if (found->attached) {
    found->faulty->sent.link_broke();
    found->faulty->received.link_broke();
    link.set_faults(nullptr, nullptr);
  }
  links_.erase(found);
  ports_changed();
}

std::vector<std::size_t> LiveFaults::numbers_of(const std::vector<std::string>& names) const {
  if (names.empty()) return {};
  std::vector<std::size_t> numbers;
  for (const Link& link : links_)
    if (std::any_of(names.begin(), names.end(), [&](const auto& name) { return link.link->is_called(name); }))
      numbers.push_back(link.number);
  if (numbers.empty()) numbers.push_back(no_port);
  return numbers;
}

std::optional<std::size_t> LiveFaults::number_at(wire::FcId id) const {
  for (const Link& link : links_)
    if (link.link->has_address(id)) return link.number;
  return std::nullopt;
}

void LiveFaults::ports_changed() {
  for (std::size_t i = 0; i < live_.size(); ++i)
    rules_.set_ports(i, numbers_of(live_[i].ports), numbers_of(live_[i].peers));
  for (Link& link : links_) {
    link.concerned = false;
    for (std::size_t i = 0; i < live_.size() && !link.concerned; ++i) link.concerned = is_on(i, link);
    settle(link);
  }
}

// Off the direct path before the first frame is judged, and back behind the last one that was delayed.
void LiveFaults::settle(Link& link) {
  if (link.concerned) {
    fc2::FaultPolicy& policy = *this;
    if (link.faulty == nullptr) link.faulty = std::make_unique<fc2::FaultyLink>(scheduler_, policy, link.number);
    link.link->set_faults(&link.faulty->sent, &link.faulty->received);
    if (!std::exchange(link.attached, true)) link.link->watch(true);
  } else if (link.attached && link.delayed() != 0) {
    if (!leaving_.pending()) scheduler_.schedule_after(leaving_, look_again);
  } else if (std::exchange(link.attached, false)) {
    link.link->set_faults(nullptr, nullptr);
    link.link->watch(false);
  }
}

void LiveFaults::look_at_leaving() {
  for (Link& link : links_) settle(link);
}

bool LiveFaults::has_rules_on(const FaultLink& link) const {
  return std::any_of(links_.begin(), links_.end(),
                     [&](const Link& known) { return known.link == &link && known.concerned; });
}

std::vector<std::string> LiveFaults::passed_by() const {
  std::vector<std::string> texts;
  for (const Link& link : links_)
    if (link.concerned && link.link->is_passed_by()) texts.push_back(link.link->text());
  return texts;
}

// --- frames ------------------------------------------------------------------------------------------------------

LiveFaults::Link* LiveFaults::find(std::size_t number) {
  if (last_judged_ < links_.size() && links_[last_judged_].number == number) return &links_[last_judged_];
  for (last_judged_ = 0; last_judged_ < links_.size(); ++last_judged_)
    if (links_[last_judged_].number == number) return &links_[last_judged_];
  return nullptr;
}

// A way mark is no frame of Fibre Channel: it only tells a library that its frames have come.
LiveFaults::Verdict LiveFaults::judge(std::size_t number, fc2::LinkDirection direction, const fc2::Frame& frame,
                                      runtime::TimeNs now) {
  const Link* const link = find(number);
  if (link == nullptr || !link->concerned || is_way_mark(frame) || link->delayed() >= max_delayed) return {};
  return rules_.judge(number, direction, frame, now);
}

void LiveFaults::befell(std::size_t link, fc2::LinkDirection direction, const fc2::Frame& frame, const Verdict& verdict,
                        runtime::TimeNs now) {
  rules_.befell(link, direction, frame, verdict, now);
}

}  // namespace fabricd
