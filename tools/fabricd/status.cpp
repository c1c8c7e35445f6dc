#include "tools/fabricd/status.hpp"

#include <fmt/format.h>

#include <boost/json/src.hpp>  // the library's only translation unit here: nothing to link

#include "tools/fabricd/fault_status.hpp"
#include "tools/fabricd/fcoe_status.hpp"
#include "tools/fabricd/nic_status.hpp"
#include "tools/fabricd/port_session.hpp"
#include "tools/fabricd/rates.hpp"

namespace fabricd {
namespace json = boost::json;

std::string text_of_types(const wire::ct::Fc4Types& types) {
  std::string text;
  for (unsigned code = 0; code < 256; ++code) {
    const auto type = static_cast<wire::Type>(code);
    if (!types.has(type)) continue;
    const std::string name = type == wire::Type::fc_vi ? "FC-VI"
                             : type == wire::Type::fcp ? "FCP"
                                                       : fmt::format("{:02X}h", code);
    text += (text.empty() ? "" : " ") + name;
  }
  return text;
}

PortStatus describe(const PortSession& session, const fc2::NameDatabase::Port* registered, const Rates& rates,
                    runtime::TimeNs now) {
  const fc2::FPort& port = session.f_port();
  PortStatus status;
  status.name = session.hello().name;
  status.node = session.node_name();
  status.process_id = session.hello().process_id;
  status.logged_in = port.logged_in();
  if (status.logged_in) {
    status.n_port_id = to_string(port.address());
    status.port_name = to_string(port.login().port_name);
    status.node_name = to_string(port.login().node_name);
  }
  if (registered != nullptr) {
    for (const auto& address : registered->addresses) status.addresses.push_back(to_string(address));
    status.fc4_types = text_of_types(registered->types);
  }
  const Rates::PerSecond rate = rates.of(port, now);
  status.in_per_second = rate.in;
  status.out_per_second = rate.out;
  status.frames_in = port.frames_from_port();
  status.frames_out = port.frames_to_port();
  status.frames_waiting = port.waiting();
  status.stalled = port.stalled();
  status.watched = session.is_watched();
  status.uptime = now - session.since();
  return status;
}

namespace {
double seconds(runtime::TimeNs time) { return static_cast<double>(time / runtime::millisecond) / 1000; }

json::object to_object(const PortStatus& port) {
  return {{"name", port.name},
          {"node", port.node},
          {"process_id", port.process_id},
          {"logged_in", port.logged_in},
          {"n_port_id", port.n_port_id},
          {"port_name", port.port_name},
          {"node_name", port.node_name},
          {"addresses", json::array(port.addresses.begin(), port.addresses.end())},
          {"frames_in", port.frames_in},
          {"frames_out", port.frames_out},
          {"frames_waiting", port.frames_waiting},
          {"stalled", port.stalled},
          {"paths", port.paths},
          {"watched", port.watched},
          {"frames_in_per_second", port.in_per_second},
          {"frames_out_per_second", port.out_per_second},
          {"fc4_types", port.fc4_types},
          {"uptime_seconds", seconds(port.uptime)}};
}

std::string joined(const json::array& texts) {
  std::string line;
  for (const json::value& text : texts) line += (line.empty() ? "" : " ") + std::string(text.as_string());
  return line.empty() ? "-" : line;
}

// An older service does not tell of paths.
std::string notes_of(const json::object& port) {
  std::string notes = port.at("stalled").as_bool() ? " (takes no frames)" : "";
  if (const json::value* paths = port.if_contains("paths"); paths != nullptr && paths->to_number<std::size_t>() != 0)
    notes += fmt::format(" (paths: {})", paths->to_number<std::size_t>());
  if (const json::value* watched = port.if_contains("watched"); watched != nullptr && watched->as_bool())
    notes += " (watched)";
  return notes;
}

std::string text_of(const json::object& port) {
  const bool logged_in = port.at("logged_in").as_bool();
  const auto text = [&](const char* key) { return logged_in ? std::string(port.at(key).as_string()) : "-"; };
  const json::value* const node = port.if_contains("node");  // an older service does not tell
  const std::string name = node != nullptr ? std::string(node->as_string()) : "";
  return fmt::format(
      "{:<8} {:<16} {:<9} {:<23} {:>12} {:>12} {:>9.1f} {:>9.1f} {:>9.1f}  {}{}{}\n",
      port.at("process_id").to_number<std::uint32_t>(), std::string(port.at("name").as_string()), text("n_port_id"),
      text("port_name"), port.at("frames_in").to_number<std::uint64_t>(),
      port.at("frames_out").to_number<std::uint64_t>(), port.at("frames_in_per_second").to_number<double>(),
      port.at("frames_out_per_second").to_number<double>(), port.at("uptime_seconds").to_number<double>(),
      name.empty() ? "" : name + " ", joined(port.at("addresses").as_array()), notes_of(port));
}

// An older service does not tell.
std::string text_of_history(const json::object& service) {
  if (!service.contains("history_frames")) return {};
  std::string text = fmt::format("  kept for capture --last: {} frames of {:.1f} s\n",
                                 service.at("history_frames").to_number<std::uint64_t>(),
                                 service.at("history_seconds").to_number<double>());
  const auto files = service.at("failure_files").to_number<std::uint64_t>();
  const auto lost = service.at("failures_lost").to_number<std::uint64_t>();
  if (files + lost != 0) text += fmt::format("  files about failures: {} written, {} could not be\n", files, lost);
  return text;
}

// The same.
std::string text_of_operator(const json::object& service) {
  std::string text;
  if (const json::value* rules = service.if_contains("faults"); rules != nullptr && !rules->as_array().empty())
    text += "fault rules:\n" + text_of_faults(rules->as_array());
  if (const json::value* count = service.if_contains("faults_unjudged");
      count != nullptr && count->to_number<std::uint64_t>() != 0)
    text +=
        fmt::format("  {} frames passed no rule, because too many were delayed\n", count->to_number<std::uint64_t>());
  if (const json::value* down = service.if_contains("links_down"); down != nullptr && !down->as_array().empty())
    text += "links down: " + joined(down->as_array()) + "\n";
  return text;
}

std::string text_of_service(const json::object& service) {
  std::string text =
      fmt::format("fcvi-fabricd, process {}, up {:.1f} s, {} frames forwarded\n",
                  service.at("process_id").to_number<std::uint32_t>(), service.at("uptime_seconds").to_number<double>(),
                  service.at("frames_forwarded").to_number<std::uint64_t>());
  for (const auto& [reason, count] : service.at("discarded").as_object())
    text += fmt::format("  discarded, {}: {}\n", std::string(reason), count.to_number<std::uint64_t>());
  text += text_of_history(service);
  text += text_of_operator(service);
  const json::array& ports = service.at("ports").as_array();
  const json::value* fcoe = service.if_contains("fcoe");
  if (fcoe != nullptr) text += text_of_fcoe(fcoe->as_object());
  if (ports.empty()) return text + (fcoe != nullptr ? "no links to processes of this host\n" : "no links\n");
  text += fmt::format("{:<8} {:<16} {:<9} {:<23} {:>12} {:>12} {:>9} {:>9} {:>9}  {}\n", "PROCESS", "NAME", "N_PORT_ID",
                      "PORT_NAME", "FRAMES IN", "FRAMES OUT", "IN/S", "OUT/S", "UP (S)", "NODE AND ADDRESSES");
  for (const json::value& port : ports) text += text_of(port.as_object());
  return text;
}
}  // namespace

std::string to_json(const Status& status) {
  json::object discarded;
  status.counters.for_each_discard(
      [&](fc2::Discard reason, std::uint64_t times) { discarded[to_string(reason)] = times; });
  json::array ports;
  for (const PortStatus& port : status.ports) ports.push_back(to_object(port));
  json::object object{{"process_id", status.process_id},
                      {"uptime_seconds", seconds(status.uptime)},
                      {"frames_forwarded", status.frames_forwarded},
                      {"captures", status.captures},
                      {"paths", status.paths},
                      {"paths_refused", status.paths_refused},
                      {"history_frames", status.history_frames},
                      {"history_seconds", seconds(status.history_extent)},
                      {"failure_files", status.failure_files},
                      {"failures_lost", status.failures_lost},
                      {"discarded", discarded},
                      {"faults", to_array(status.faults)},
                      {"faults_unjudged", status.faults_unjudged},
                      {"links_down", json::array(status.links_down.begin(), status.links_down.end())},
                      {"ports", ports}};
  if (status.fcoe) object["fcoe"] = to_object(*status.fcoe);
  return json::serialize(object);
}

std::string with_nics(const std::string& service, const std::vector<std::string>& nics) {
  boost::system::error_code error;
  json::object object;
  if (!service.empty()) {
    json::value value = json::parse(service, error);
    if (error || !value.is_object()) return {};
    object = std::move(value.as_object());
  }
  json::array array;
  for (const std::string& nic : nics) {
    json::value value = json::parse(nic, error);
    if (!error && value.is_object()) array.push_back(std::move(value));
  }
  object["nics"] = std::move(array);
  return json::serialize(object);
}

bool tells_of_fcoe(const std::string& text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  return !error && value.is_object() && value.as_object().contains("fcoe");
}

std::string to_text(const std::string& text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  if (error || !value.is_object()) return {};
  try {
    const json::object& all = value.as_object();
    std::string lines = all.contains("process_id") ? text_of_service(all) : "no fcvi-fabricd runs\n";
    if (const json::value* nics = all.if_contains("nics"))
      for (const json::value& nic : nics->as_array()) lines += text_of_nic(nic.as_object());
    return lines;
  } catch (const std::exception&) {  // a member is missing, or of another kind
    return {};
  }
}

}  // namespace fabricd
