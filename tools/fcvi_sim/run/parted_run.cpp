#include "tools/fcvi_sim/run/parted_run.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <thread>

#include "tools/fcvi_sim/parts/share.hpp"
#include "tools/fcvi_sim/parts/thread_exchange.hpp"
#include "tools/fcvi_sim/run/frame_spool.hpp"
#include "tools/fcvi_sim/run/merged_record.hpp"
#include "tools/fcvi_sim/run/merged_result.hpp"
#include "tools/fcvi_sim/run/simulation.hpp"

namespace sim {
namespace {

using runtime::never;
using runtime::TimeNs;

/// The windows of one part.
class Windows {
 public:
  Windows(const Scenario& scenario, Simulation& simulation, Outbox& outbox, Exchange& exchange, TimeNs look_ahead)
      : scenario_(scenario), simulation_(simulation), outbox_(outbox), exchange_(exchange), look_ahead_(look_ahead),
        reached_(simulation.start()) {}
  /// Until the run is over in all parts.
  Driver::Outcome run();
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  enum class Phase : std::uint8_t { Logins, Programs, Logouts, Over };
  void meet();
  void end_phase();
  [[nodiscard]] std::optional<Driver::Outcome> stopped() const;
  [[nodiscard]] TimeNs window_end() const;
  [[nodiscard]] bool is_over(const Standing& standing) const { return standing.over_at != never; }

  const Scenario& scenario_;
  Simulation& simulation_;
  Outbox& outbox_;
  Exchange& exchange_;
  const TimeNs look_ahead_;
  Phase phase_ = Phase::Logins;
  TimeNs reached_;
  std::vector<Standing> standings_;  // of all parts, as they met last
  TimeNs next_ = 0;                  // the earliest event of all parts
  std::uint64_t count_ = 0;
};

Driver::Outcome Windows::run() {
  simulation_.await_ports();
  simulation_.run_before(reached_);  // programs begin, no event does
  for (;;) {
    meet();
    end_phase();
    if (phase_ == Phase::Over) return Driver::Outcome::Finished;
    if (const auto outcome = stopped()) return *outcome;
    reached_ = std::max(reached_, window_end());
    simulation_.run_before(reached_, phase_ == Phase::Logouts && simulation_.over_at() == never);
    ++count_;
  }
}

void Windows::meet() {
  const Standing own{reached_, simulation_.next_time(), outbox_.earliest(), simulation_.over_at()};
  const Exchange::Met met = exchange_.meet(own, outbox_.take());
  for (std::size_t part = 0; part < met.messages.size(); ++part)
    if (part != exchange_.part()) simulation_.deliver(met.messages[part]);
  standings_ = met.standings;
  next_ = never;
  for (const Standing& one : standings_) next_ = std::min({next_, one.next, one.sent});
}

/// All parts know the same, and come to the same conclusion. The next phase begins so late that no part is there yet.
void Windows::end_phase() {
  const auto over = [&](const Standing& one) { return is_over(one); };
  if (!std::all_of(standings_.begin(), standings_.end(), over)) return;
  TimeNs ended = 0;
  for (const Standing& one : standings_) ended = std::max(ended, one.over_at);
  switch (phase_) {
    case Phase::Logins:
      phase_ = Phase::Programs;
      next_ = std::min(next_, ended + scenario_.fabric.directory_delay);
      return simulation_.begin_programs(ended + scenario_.fabric.directory_delay);
    case Phase::Programs:
      phase_ = Phase::Logouts;
      next_ = std::min(next_, ended + scenario_.linger);
      return simulation_.log_out(ended);
    case Phase::Logouts:  // those that were ready before the last one have come this far
      phase_ = Phase::Over;
      return simulation_.run_before(ended);
    case Phase::Over: return;
  }
}

std::optional<Driver::Outcome> Windows::stopped() const {
  if (next_ <= simulation_.phase_limit()) return std::nullopt;
  return next_ == never ? Driver::Outcome::Stuck : Driver::Outcome::TimeLimit;
}

/// Who has logged out goes no further than the others surely will: the run ends with the last of them.
TimeNs Windows::window_end() const {
  TimeNs end = std::min(next_ > never - look_ahead_ ? never : next_ + look_ahead_, simulation_.phase_limit() + 1);
  if (phase_ != Phase::Logouts || simulation_.over_at() == never) return end;
  for (const Standing& one : standings_)
    if (!is_over(one)) end = std::min(end, one.reached);
  return end;
}

/// Empty without a ladder.
NoteSpool::Take drawing(Ladder* ladder) {
  if (ladder == nullptr) return {};
  return [ladder](std::uint64_t /*place*/, std::span<const std::uint8_t> note) { LadderNotes::draw(*ladder, note); };
}

/// The IUs of all parts into the result of part 0. False: there was no room for all.
bool enter_wire(const Scenario& scenario, TimeNs zero, NoteSpool& notes, Exchange& exchange, RunResult& result) {
  if (exchange.part() != 0) return notes.merge(exchange, {});
  fc2::FramePool pool;
  WireLog log(scenario, result.wire);
  log.start_clock(zero);
  return notes.merge(exchange, [&](std::uint64_t /*place*/, std::span<const std::uint8_t> note) {
    WireNotes::enter(log, pool, note);
  });
}

}  // namespace

PartedResult run_part(const Scenario& scenario, const ContentStore& contents, Exchange& exchange,
                      const PartOptions& options) {
  const Share share{exchange.part(), exchange.parts(), parts_of_switches(scenario, exchange.parts())};
  Outbox outbox(exchange.parts());
  FrameSpool frames;
  NoteSpool notes, wire;
  Outputs outputs{.check = options.check};
  if (options.captures) outputs.frames = &frames;
  if (options.ladders) outputs.notes = &notes;
  if (scenario.expectations.wire) outputs.wire = &wire;
  RunRecord record;
  if (options.reports) outputs.record = &record;
  PartedResult parted;
  parted.look_ahead = look_ahead(scenario, share.part_of_switch);
  if (options.capture != nullptr) options.capture->set_fault_notes(fault_notes_of(scenario));
  Simulation simulation(scenario, contents, outputs, share, outbox);
  Windows windows(scenario, simulation, outbox, exchange, parted.look_ahead);
  const Driver::Outcome outcome = windows.run();
  parted.windows = windows.count();
  parted.start = simulation.start();
  parted.result = merged(scenario, share, simulation.conclude(outcome), exchange);
  if ((options.captures && !frames.merge(exchange, options.capture, options.reports ? &record.hits : nullptr)) ||
      (options.ladders && !notes.merge(exchange, drawing(options.ladder))) ||
      (scenario.expectations.wire && !enter_wire(scenario, simulation.ready_at(), wire, exchange, parted.result)))
    parted.error = "frames: no room for a temporary file";
  if (options.reports) record = merged(std::move(record), exchange);
  if (options.record != nullptr) *options.record = std::move(record);
  return parted;
}

PartedResult run_in_threads(const Scenario& scenario, const ContentStore& contents, std::size_t parts,
                            const PartOptions& options) {
  MeetingPlace place(parts);
  std::vector<PartedResult> results(parts);
  std::vector<std::exception_ptr> errors(parts);
  const auto run = [&](std::size_t part) {
    try {
      PartOptions own = options;
      if (part != 0) own.capture = nullptr;
      if (part != 0) own.ladder = nullptr;
      if (part != 0) own.record = nullptr;
      results[part] = run_part(scenario, contents, *place.exchange_of(part), own);
    } catch (const PartLost&) {  // another one has the reason
    } catch (const std::exception& error) {
      errors[part] = std::current_exception();
      place.fail("part " + std::to_string(part) + ": " + error.what());
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t part = 1; part < parts; ++part) threads.emplace_back(run, part);
  run(0);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  return std::move(results[0]);
}

}  // namespace sim
