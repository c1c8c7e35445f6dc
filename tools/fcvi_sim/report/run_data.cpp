#include "tools/fcvi_sim/report/run_data.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "tools/fcvi_sim/run/summary.hpp"

namespace sim::report {
namespace {

std::string verdicts_of(const Run& run) {
  return json_list(run.verdicts.all, [](const Verdict& verdict) {
    return JsonObject()
        .flag("held", verdict.held)
        .text("what", verdict.what)
        .text("expected", verdict.expected)
        .text("got", verdict.got)
        .number("conditions", static_cast<std::int64_t>(verdict.conditions))
        .end();
  });
}

std::string faults_of(const Run& run) {
  std::size_t at = 0;
  return json_list(run.scenario.faults, [&](const FaultSpec& fault) {
    const std::uint64_t times = at < run.result.faults.size() ? run.result.faults[at] : 0;
    ++at;
    return JsonObject()
        .text("note", fault.rule.note)
        .number("times", static_cast<std::int64_t>(times))
        .text("expected", to_string(fault.times))
        .flag("of_frames", !fault.event)
        .end();
  });
}

/// The position of the port's lane; -1: no frame of it was captured.
std::int64_t lane_of(const Run& run, const Frames& frames, std::size_t port) {
  const auto lane = frames.lane_named(run.scenario.ports[port].name);
  return lane ? static_cast<std::int64_t>(*lane) : -1;
}

std::string states_of(const Run& run, const Frames& frames) {
  return json_list(run.record.states, [&](const StateChange& change) {
    return JsonObject()
        .number("at", change.at - run.start)
        .number("lane", lane_of(run, frames, change.port))
        .text("port", run.scenario.ports[change.port].name)
        .text("connection", change.connection)
        .text("from", change.from)
        .text("to", change.to)
        .end();
  });
}

std::string rows_of(const Run& run) {
  const RowLog& log = run.record.rows;
  const std::string tables = json_list(log.rows(), [&](const RowLog::Row& entry) {
    const FiredRow& row = entry.row;
    std::string texts;
    for (const std::string_view text : {row.machine, row.source, row.event, row.target, row.clause})
      texts.append(script_text(text)).append(",");
    return "[" + texts + std::to_string(entry.times) + "," + std::to_string(entry.kept) + "]";
  });
  std::vector<std::int64_t> steps;
  std::vector<std::uint32_t> places, rows;
  for (runtime::TimeNs before = run.start; const RowLog::Fired& fired : log.fired()) {
    steps.push_back(fired.at - std::exchange(before, fired.at));
    places.push_back(fired.place);
    rows.push_back(fired.row);
  }
  return JsonObject()
      .raw("tables", tables)
      .raw("step", json_numbers(steps))
      .raw("place", json_numbers(places))
      .raw("row", json_numbers(rows))
      .end();
}

std::string constants_of(const Run& run) {
  std::vector<const Series*> constant;
  for (const Series& series : run.record.series)
    if (series.values.size() == 1) constant.push_back(&series);
  return json_list(constant, [](const Series* series) {
    return JsonObject()
        .text("group", series->group)
        .text("name", series->name)
        .text("unit", series->unit)
        .number("value", static_cast<std::int64_t>(series->values.front()))
        .end();
  });
}

/// Those that were ever something else than at the beginning.
std::string series_of(const Run& run) {
  std::vector<const Series*> changed;
  for (const Series& series : run.record.series)
    if (series.values.size() > 1) changed.push_back(&series);
  return json_list(changed, [&](const Series* series) {
    std::vector<runtime::TimeNs> steps;
    for (runtime::TimeNs before = run.start; const runtime::TimeNs at : series->at)
      steps.push_back(at - std::exchange(before, at));
    return JsonObject()
        .text("group", series->group)
        .text("name", series->name)
        .text("unit", series->unit)
        .raw("step", json_numbers(steps))
        .raw("value", json_numbers(series->values))
        .end();
  });
}

/// Where rows fire and values are measured: name, and lane as in the changes of states. Ports, then switches.
std::string places_of(const Run& run, const Frames& frames) {
  std::vector<std::string> places;
  for (std::size_t port = 0; port < run.scenario.ports.size(); ++port)
    places.push_back("[" + script_text(run.scenario.ports[port].name) + "," +
                     std::to_string(lane_of(run, frames, port)) + "]");
  for (const SwitchSpec& one : run.scenario.switches) places.push_back("[" + script_text(one.name) + ",-1]");
  return json_list(places, [](const std::string& place) { return place; });
}

std::string rows_left_out(const Run& run) {
  std::map<std::string_view, std::uint64_t> by_machine;
  for (const RowLog::Row& row : run.record.rows.rows())
    if (row.times > row.kept) by_machine[row.row.machine] += row.times - row.kept;
  JsonObject out;
  for (const auto& [machine, times] : by_machine) out.number(machine, static_cast<std::int64_t>(times));
  return out.end();
}

std::string ports_without_capture(const Run& run) {
  std::string names;
  for (const PortSpec& port : run.scenario.ports)
    if (!port.capture) names.append(names.empty() ? "" : ", ").append(port.name);
  return names;
}

}  // namespace

PageData run_data(const Run& run, const Frames& frames) {
  std::string head =
      JsonObject()
          .text("title", run.scenario.name)
          .text("source", "run")
          .text("broken", "")
          .number("left_out", static_cast<std::int64_t>(frames.left_out()))
          .number("seed", static_cast<std::int64_t>(run.scenario.seed))
          .text("summary", summary(run.scenario, run.result))
          .text("not_captured", ports_without_capture(run))
          .number("checked", static_cast<std::int64_t>(run.verdicts.checked))
          .number("failed", static_cast<std::int64_t>(run.verdicts.failures.size()))
          .raw("verdicts", verdicts_of(run))
          .raw("faults", faults_of(run))
          .raw("states", states_of(run, frames))
          .number("ports", static_cast<std::int64_t>(run.scenario.ports.size()))
          .raw("places", places_of(run, frames))
          .raw("rows_left_out", rows_left_out(run))
          .raw("constant", constants_of(run))
          .number("measured", static_cast<std::int64_t>(std::min(run.scenario.ports.size(), RunRecord::most_measured)))
          .number("queues_left_out", static_cast<std::int64_t>(run.record.queues_left_out))
          .number("values_left_out", static_cast<std::int64_t>(run.record.values_left_out))
          .end();
  return {.head = std::move(head), .rows = rows_of(run), .series = series_of(run)};
}

}  // namespace sim::report
