#include "tools/fcvi_sim/run/background.hpp"

namespace sim {

Background::Background(runtime::Scheduler& scheduler, const Scenario& scenario, Network& network,
                       std::vector<BackgroundResult>& results, const std::function<bool(std::size_t)>& is_here)
    : scheduler_(scheduler), network_(network) {
  for (std::size_t i = 0; i < scenario.background.size(); ++i) {
    const BackgroundSpec& spec = scenario.background[i];
    if (is_here && !is_here(spec.from)) continue;
    flows_.emplace_back(*this, spec, results[i], Random(scenario.seed, "background " + spec.name));
  }
}

void Background::start() {
  for (Flow& flow : flows_) flow.start();
}

void Background::stop() {
  for (Flow& flow : flows_) flow.stop();
}

Background::Flow::Flow(Background& owner, const BackgroundSpec& spec, BackgroundResult& result, Random random)
    : owner_(owner), spec_(spec), result_(result), pace_(spec.pace, random), data_field_(spec.data_bytes) {
  random.fill(data_field_);
}

void Background::Flow::start() {
  zero_ = owner_.scheduler_.now();
  owner_.scheduler_.schedule_after(*this, spec_.start + pace_.first_gap());
}

void Background::Flow::fire(runtime::TimeNs now) {
  if (spec_.until != runtime::never && now - zero_ >= spec_.until) return;
  using Sent = Network::FrameSent;
  Sent last = Sent::Sent;
  std::uint64_t left = spec_.pace.burst;
  for (; left > 0; --left) {
    last = owner_.network_.send_frame(spec_.from, spec_.to, spec_.type, data_field_);
    if (last != Sent::Sent) break;
    ++result_.sent;
  }
  // What is refused now, all of it is; and so soon no room comes that would be missed.
  runtime::TimeNs gap = pace_.next_gap();
  for (; last != Sent::Sent && gap < runtime::microsecond && now - zero_ + gap < spec_.until; gap += pace_.next_gap())
    left += spec_.pace.burst;
  (last == Sent::Behind ? result_.behind : result_.without_login) += left;
  owner_.scheduler_.schedule_after(*this, gap);
}

}  // namespace sim
