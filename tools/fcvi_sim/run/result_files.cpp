#include "tools/fcvi_sim/run/result_files.hpp"

#include <algorithm>
#include <boost/json/src.hpp>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <cmath>
#include <sstream>
#include <string_view>

#include "settings/utf8.hpp"
#include "tools/fcvi_sim/run/statistics.hpp"
#include "tools/fcvi_sim/scenario/status_text.hpp"

namespace sim {
namespace {
namespace json = boost::json;

/// "0.000136655"
std::string seconds(runtime::TimeNs time) {
  const std::string fraction = std::to_string(time % runtime::second);
  return std::to_string(time / runtime::second) + "." + std::string(9 - fraction.size(), '0') + fraction;
}

/// Of the first character; 0: it is none of UTF-8, or one that XML 1.0 has no place for, however it is written.
std::size_t character_bytes(std::string_view text) {
  const std::size_t size = settings::utf8_character_bytes(text);
  if (size == 1) return static_cast<unsigned char>(text[0]) >= 0x20 || text[0] == '\n' || text[0] == '\t' ? 1 : 0;
  const bool is_no_character = text.starts_with("\xEF\xBF\xBE") || text.starts_with("\xEF\xBF\xBF");
  return is_no_character ? 0 : size;
}

/// U+FFFD in place of what is not UTF-8: names of files and of scenarios may be anything.
std::string printable(std::string_view text) {
  std::string all;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    all += bytes == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, bytes);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return all;
}

template <class T>
json::value text_of(const std::optional<T>& value) {
  return value ? json::value(to_string(*value)) : json::value(nullptr);
}

json::value transfer_of(const TransferSpec& spec, const TransferResult& got) {
  return {{"operation", to_string(spec.operation)},
          {"direction", spec.initiator == Side::Client ? "client_to_server" : "server_to_client"},
          {"begun", got.begun},
          {"ended", got.ended},
          {"different", got.different},
          {"lost", got.lost},
          {"messages", got.messages},
          {"bytes", got.bytes},
          {"duration_ns", got.duration},
          {"ius", got.traffic.ius},
          {"frames", got.traffic.frames},
          {"unexpected_status",
           got.unexpected_status ? json::value(status_text(*got.unexpected_status)) : json::value(nullptr)}};
}

/// null where no times were noted.
json::value messages_of(const Logs& logs, const std::vector<runtime::TimeNs>& fault_moments) {
  const auto seen = statistics_of(logs);
  if (!seen) return nullptr;
  json::object latency;
  for (const LatencyPoint point : latency_points) {
    const runtime::TimeNs value = seen->latency(point);
    latency[to_string(point)] = value == runtime::never ? json::value(nullptr) : json::value(value);
  }
  const auto recovery = recovery_of(logs, fault_moments).time;
  return {{"count", seen->count},
          {"missing", seen->missing},
          {"latency_ns", std::move(latency)},
          {"bytes_per_second", seen->bytes_per_second()},
          {"messages_per_second", seen->messages_per_second()},
          {"recovery_ns", recovery ? json::value(*recovery) : json::value(nullptr)}};
}

json::value group_of(const RunOfFile& run, const WorkloadGroup& group) {
  const Logs logs = logs_of(std::span(run.result.workloads).subspan(group.first, group.count));
  json::array survivors;
  for (const std::string& name : survivors_of(run.scenario, run.result, group)) survivors.emplace_back(printable(name));
  const auto fairness = fairness_of(logs);
  return {{"name", printable(group.name)},
          {"workloads", group.count},
          {"survivors", std::move(survivors)},
          {"messages", messages_of(logs, run.result.fault_moments)},
          {"fairness", fairness ? json::value(std::round(*fairness * 1000) / 1000) : json::value(nullptr)}};
}

json::array background_of(const Scenario& scenario, const RunResult& result) {
  json::array all;
  for (std::size_t i = 0; i < result.background.size(); ++i)
    all.push_back({{"name", printable(scenario.background[i].name)},
                   {"frames", result.background[i].sent},
                   {"bytes", result.background[i].sent * scenario.background[i].data_bytes},
                   {"without_login", result.background[i].without_login},
                   {"behind", result.background[i].behind}});
  return all;
}

json::value cause_of(const std::optional<wire::rdmap::Cause>& cause) {
  if (!cause) return nullptr;
  return {{"layer", static_cast<int>(cause->layer)},
          {"type", cause->type},
          {"code", cause->code},
          {"text", to_string(*cause)}};
}

json::value rdma_end_of(const RdmaEndResult& end) {
  return {{"start", end.start},
          {"end", to_string(end.ending)},
          {"found", cause_of(end.found)},
          {"told", cause_of(end.told)},
          {"completions", end.completions.size()},
          {"fpdus_sent", end.fpdus_sent},
          {"fpdus_received", end.fpdus_received}};
}

json::value rdma_of(const WorkloadSpec& spec, const WorkloadResult& got) {
  json::array operations;
  for (std::size_t i = 0; i < got.rdma.operations.size(); ++i)
    operations.push_back({{"operation", to_string(spec.rdma->operations[i].action)},
                          {"begun", got.rdma.operations[i].begun},
                          {"ended", got.rdma.operations[i].ended}});
  return {{"name", printable(spec.name)},
          {"setup_ns", got.rdma.startup_duration},
          {"client", rdma_end_of(got.rdma.ends.client)},
          {"server", rdma_end_of(got.rdma.ends.server)},
          {"ius", got.traffic.ius},
          {"frames", got.traffic.frames},
          {"operations", std::move(operations)}};
}

json::value workload_of(const WorkloadSpec& spec, const WorkloadResult& got,
                        const std::vector<runtime::TimeNs>& fault_moments) {
  if (spec.rdma) return rdma_of(spec, got);
  json::array transfers;
  for (std::size_t i = 0; i < got.transfers.size(); ++i)
    transfers.push_back(transfer_of(spec.transfers[i], got.transfers[i]));
  return {{"name", printable(spec.name)},
          {"connect", text_of(got.connect)},
          {"disconnect", text_of(got.disconnect)},
          {"setup_ns", got.setup_duration},
          {"client_state", to_string(got.client_state)},
          {"server_state", to_string(got.server_state)},
          {"ius", got.traffic.ius},
          {"frames", got.traffic.frames},
          {"gave_up", printable(got.broken)},
          {"transfers", std::move(transfers)},
          {"messages", messages_of({&got.log}, fault_moments)}};
}

json::array expectations_of(const Verdicts& verdicts) {
  json::array all;
  for (const Verdict& verdict : verdicts.all)
    all.push_back({{"what", printable(verdict.what)},
                   {"expected", printable(verdict.expected)},
                   {"got", printable(verdict.got)},
                   {"held", verdict.held}});
  return all;
}

json::array faults_of(const Scenario& scenario, const RunResult& result) {
  json::array all;
  for (std::size_t i = 0; i < result.faults.size(); ++i)
    all.push_back({{"effect", scenario.faults[i].rule.note}, {"times", result.faults[i]}});
  return all;
}

}  // namespace

std::string json_line(const RunOfFile& run) {
  const RunResult& result = run.result;
  json::array workloads;
  for (std::size_t i = 0; i < result.workloads.size(); ++i)
    workloads.push_back(workload_of(run.scenario.workloads[i], result.workloads[i], result.fault_moments));
  json::array groups;
  for (const WorkloadGroup& group : run.scenario.workload_groups) groups.push_back(group_of(run, group));
  json::array reasons;
  for (const std::string& reason : result.discard_reasons) reasons.emplace_back(printable(reason));
  json::object ius;
  for (const auto& [name, count] : result.ius) ius[name] = count;
  const json::value line{{"file", printable(run.file)},
                         {"run", printable(run.label)},
                         {"scenario", printable(run.scenario.name)},
                         {"seed", run.scenario.seed},
                         {"held", run.verdicts.failures.empty()},
                         {"simulated_ns", result.duration},
                         {"frames", result.frame_count},
                         {"frame_bytes", result.byte_count},
                         {"ius", std::move(ius)},
                         {"discards", result.discards},
                         {"discard_reasons", std::move(reasons)},
                         {"asynchronous_errors", result.asynchronous_errors},
                         {"workloads", std::move(workloads)},
                         {"groups", std::move(groups)},
                         {"background", background_of(run.scenario, result)},
                         {"faults", faults_of(run.scenario, result)},
                         {"expectations", expectations_of(run.verdicts)}};
  return json::serialize(line) + "\n";
}

std::string json_line_of_death(const std::string& file, const std::string& label, const std::string& how) {
  const json::value line{{"file", printable(file)}, {"run", printable(label)}, {"held", false}, {"died", how}};
  return json::serialize(line) + "\n";
}

JunitResults::Suite JunitResults::suite_of(const RunOfFile& run) {
  return {run.scenario.name, run.result.duration, run.verdicts.all};
}

std::string JunitResults::text() const {
  boost::property_tree::ptree document;
  auto& suites = document.add_child("testsuites", {});
  for (const Suite& suite : suites_) {
    auto& element = suites.add_child("testsuite", {});
    const auto failed = std::ranges::count(suite.cases, false, &Verdict::held);
    element.put("<xmlattr>.name", printable(suite.name));
    element.put("<xmlattr>.tests", suite.cases.size());
    element.put("<xmlattr>.failures", failed);
    element.put("<xmlattr>.time", seconds(suite.simulated));
    for (const Verdict& verdict : suite.cases) {
      auto& one = element.add_child("testcase", {});
      one.put("<xmlattr>.classname", printable(suite.name));
      one.put("<xmlattr>.name", printable(verdict.what));
      if (!verdict.held)
        one.put("failure.<xmlattr>.message", printable("expected " + verdict.expected + ", got " + verdict.got));
    }
  }
  std::ostringstream out;
  boost::property_tree::write_xml(out, document, boost::property_tree::xml_writer_make_settings<std::string>(' ', 2));
  return out.str();
}

}  // namespace sim
