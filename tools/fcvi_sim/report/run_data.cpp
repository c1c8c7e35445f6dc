#include "tools/fcvi_sim/report/run_data.hpp"

#include <algorithm>

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
  Interner tables;
  const std::string fired = json_list(run.record.rows, [&](const RowRecord& record) {
    const FiredRow& row = record.row;
    const std::uint32_t number =
        tables("[" + script_text(row.machine) + "," + script_text(row.source) + "," + script_text(row.event) + "," +
               script_text(row.target) + "," + script_text(row.clause) + "]");
    return "[" + std::to_string(record.at - run.start) + "," + std::to_string(record.port) + "," +
           std::to_string(number) + "]";
  });
  return JsonObject()
      .raw("tables", json_list(tables.texts(), [](const std::string& row) { return row; }))
      .raw("fired", fired)
      .number("left_out", static_cast<std::int64_t>(run.record.rows_left_out))
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
    std::vector<runtime::TimeNs> at = series->at;
    for (runtime::TimeNs& time : at) time -= run.start;
    return JsonObject()
        .text("group", series->group)
        .text("name", series->name)
        .text("unit", series->unit)
        .raw("at", json_numbers(at))
        .raw("value", json_numbers(series->values))
        .end();
  });
}

std::string port_names(const Run& run) {
  return json_list(run.scenario.ports, [](const PortSpec& port) { return script_text(port.name); });
}

std::string ports_without_capture(const Run& run) {
  std::string names;
  for (const PortSpec& port : run.scenario.ports)
    if (!port.capture) names.append(names.empty() ? "" : ", ").append(port.name);
  return names;
}

}  // namespace

std::string run_data(const Run& run, const Frames& frames) {
  return JsonObject()
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
      .raw("ports", port_names(run))
      .raw("rows", rows_of(run))
      .raw("series", series_of(run))
      .raw("constant", constants_of(run))
      .number("measured", static_cast<std::int64_t>(std::min(run.scenario.ports.size(), RunRecord::most_measured)))
      .end();
}

}  // namespace sim::report
