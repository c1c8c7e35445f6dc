#include "tools/fcvi_sim/run/result_files.hpp"

#include <algorithm>
#include <boost/json/src.hpp>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <sstream>

#include "tools/fcvi_sim/scenario/status_text.hpp"

namespace sim {
namespace {
namespace json = boost::json;

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
          {"messages", got.messages},
          {"bytes", got.bytes},
          {"duration_ns", got.duration},
          {"ius", got.traffic.ius},
          {"frames", got.traffic.frames},
          {"unexpected_status",
           got.unexpected_status ? json::value(status_text(*got.unexpected_status)) : json::value(nullptr)}};
}

json::value workload_of(const WorkloadSpec& spec, const WorkloadResult& got) {
  json::array transfers;
  for (std::size_t i = 0; i < got.transfers.size(); ++i)
    transfers.push_back(transfer_of(spec.transfers[i], got.transfers[i]));
  return {{"name", spec.name},
          {"connect", text_of(got.connect)},
          {"disconnect", text_of(got.disconnect)},
          {"setup_ns", got.setup_duration},
          {"client_state", to_string(got.client_state)},
          {"server_state", to_string(got.server_state)},
          {"ius", got.traffic.ius},
          {"frames", got.traffic.frames},
          {"gave_up", got.broken},
          {"transfers", std::move(transfers)}};
}

json::array expectations_of(const Verdicts& verdicts) {
  json::array all;
  for (const Verdict& verdict : verdicts.all)
    all.push_back(
        {{"what", verdict.what}, {"expected", verdict.expected}, {"got", verdict.got}, {"held", verdict.held}});
  return all;
}

json::array faults_of(const Scenario& scenario, const RunResult& result) {
  json::array all;
  for (std::size_t i = 0; i < result.faults.size(); ++i)
    all.push_back({{"effect", scenario.faults[i].rule.note}, {"times", result.faults[i]}});
  return all;
}

/// "0.000136655"
std::string seconds(runtime::TimeNs time) {
  const std::string fraction = std::to_string(time % runtime::second);
  return std::to_string(time / runtime::second) + "." + std::string(9 - fraction.size(), '0') + fraction;
}

// XML 1.0 has no place for other control characters, however they are written.
std::string printable(std::string text) {
  const auto control = [](unsigned char c) { return c < 0x20 && c != '\n' && c != '\t'; };
  std::ranges::replace_if(text, control, '?');
  return text;
}

}  // namespace

std::string json_line(const RunOfFile& run) {
  const RunResult& result = run.result;
  json::array workloads;
  for (std::size_t i = 0; i < result.workloads.size(); ++i)
    workloads.push_back(workload_of(run.scenario.workloads[i], result.workloads[i]));
  json::object ius;
  for (const auto& [name, count] : result.ius) ius[name] = count;
  const json::value line{{"file", run.file},
                         {"run", run.label},
                         {"scenario", run.scenario.name},
                         {"seed", run.scenario.seed},
                         {"held", run.verdicts.failures.empty()},
                         {"simulated_ns", result.duration},
                         {"frames", result.frame_count},
                         {"frame_bytes", result.byte_count},
                         {"ius", std::move(ius)},
                         {"discards", result.discards},
                         {"discard_reasons", json::value_from(result.discard_reasons)},
                         {"asynchronous_errors", result.asynchronous_errors},
                         {"workloads", std::move(workloads)},
                         {"faults", faults_of(run.scenario, result)},
                         {"expectations", expectations_of(run.verdicts)}};
  return json::serialize(line) + "\n";
}

void JunitResults::add(const RunOfFile& run) {
  suites_.push_back({run.scenario.name, run.result.duration, run.verdicts.all});
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
