#include "tools/vitcp_portd/status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/src.hpp>  // the library's only translation unit here: nothing to link

namespace vitcp_portd {
namespace json = boost::json;
using namespace vitcp::port_service;

namespace {
double seconds(runtime::TimeNs time) { return static_cast<double>(time) / static_cast<double>(runtime::second); }

std::string hex(const wire::vitcp::Discriminator& discriminator) {
  std::string text;
  for (const std::uint8_t octet : discriminator.view()) text += fmt::format("{:02x}", octet);
  return text;
}

json::array clients_of(const Status& status) {
  json::array clients;
  for (const auto& client : status.clients)
    clients.push_back(json::object{{"process", client.process_id}, {"name", client.name}, {"waits", client.waits}});
  return clients;
}

json::array waiters_of(const Status& status) {
  json::array waiters;
  for (const Waiter& waiter : status.waiters) {
    const auto is_it = [&](const Status::Client& client) { return client.id == waiter.client; };
    const auto client = std::find_if(status.clients.begin(), status.clients.end(), is_it);
    json::object one{{"discriminator", hex(waiter.wanted.called)},
                     {"text", wire::text::quoted(waiter.wanted.called.view())},
                     {"process", client != status.clients.end() ? client->process_id : 0},
                     {"peer_to_peer", waiter.wanted.peer_to_peer},
                     {"seconds", seconds(status.now - waiter.since)}};
    if (waiter.wanted.calling) one["calling"] = hex(*waiter.wanted.calling);
    if (waiter.wanted.from) one["from"] = wire::to_string(*waiter.wanted.from);
    if (waiter.wanted.at) one["at"] = wire::to_string(*waiter.wanted.at);
    waiters.push_back(std::move(one));
  }
  return waiters;
}

json::array half_open_of(const Status& status) {
  json::array streams;
  for (const auto& stream : status.half_open)
    streams.push_back(json::object{{"from", wire::to_string(stream.ends.from)},
                                   {"phase", to_string(stream.phase)},
                                   {"octets", stream.octets},
                                   {"seconds", seconds(status.now - stream.since)}});
  return streams;
}

json::object counters_of(const Counters& counters) {
  json::object all{{"accepted", counters.accepted}};
  for (const Fate fate : fates) all[to_string(fate)] = counters.of(fate);
  all["not_taken"] = counters.not_taken;
  all["returned"] = counters.returned;
  return all;
}

std::string counts_in(const json::object& counts, std::string_view indent) {
  std::string text;
  for (const auto& [name, count] : counts)
    if (count.to_number<std::uint64_t>() != 0)
      text += fmt::format("{}{}: {}\n", indent, std::string(name), count.to_number<std::uint64_t>());
  return text;
}

// Its counters are all of its numbers but these.
std::string text_of_nic(const json::object& nic) {
  const auto number = [&](const char* key) { return nic.at(key).to_number<std::uint64_t>(); };
  std::string text =
      fmt::format("NIC {} of process {} ({}): {} connected, {} ending\n", nic.at("nic").as_string().c_str(),
                  number("process_id"), nic.at("program").as_string().c_str(), number("connected"), number("ending"));
  json::object counters = nic;
  for (const char* key : {"nic", "process_id", "program", "addresses", "port", "connected", "ending", "refused"})
    counters.erase(key);
  text += counts_in(counters, "  ");
  const std::string refused = counts_in(nic.at("refused").as_object(), "    ");
  return refused.empty() ? text : text + "  refused:\n" + refused;
}

// A text of ours, or of something else: every look may fail.
std::string text_of_object(const json::object& status) {
  if (status.contains("nic")) return text_of_nic(status);
  std::string text =
      fmt::format("vitcp-portd at {}: process {}, {:.0f} s{}\n", status.at("listen").as_string().c_str(),
                  status.at("process_id").to_number<std::uint64_t>(), status.at("uptime_seconds").to_number<double>(),
                  status.at("listens").as_bool() ? "" : "; " + std::string(status.at("trouble").as_string()));
  for (const auto& one : status.at("processes").as_array())
    text += fmt::format("  process {} ({}), waits for {}\n", one.at("process").to_number<std::uint64_t>(),
                        one.at("name").as_string().c_str(), one.at("waits").to_number<std::uint64_t>());
  for (const auto& one : status.at("waiters").as_array()) {
    const auto* const at = one.as_object().if_contains("at");
    text +=
        fmt::format("  {} {} is waited for by process {}{}{}, {:.0f} s\n", one.at("discriminator").as_string().c_str(),
                    one.at("text").as_string().c_str(), one.at("process").to_number<std::uint64_t>(),
                    at != nullptr ? " at " + std::string(at->as_string()) : "",
                    one.at("peer_to_peer").as_bool() ? ", peer to peer" : "", one.at("seconds").to_number<double>());
  }
  for (const auto& one : status.at("half_open").as_array())
    text += fmt::format("  from {}: {}, {} octets, {:.1f} s\n", one.at("from").as_string().c_str(),
                        one.at("phase").as_string().c_str(), one.at("octets").to_number<std::uint64_t>(),
                        one.at("seconds").to_number<double>());
  return text + counts_in(status.at("counters").as_object(), "  ");
}
}  // namespace

std::string to_json(const Status& status) {
  return json::serialize(json::object{
      {"listen", to_string(status.listen)},
      {"listens", status.state.listens},
      {"trouble", status.state.trouble},
      {"process_id", status.process_id},
      {"uptime_seconds", seconds(status.now - status.started_at)},
      {"half_open_limit", status.limits.half_open},
      {"request_seconds", seconds(status.limits.request_time)},
      {"processes", clients_of(status)},
      {"waiters", waiters_of(status)},
      {"half_open", half_open_of(status)},
      {"counters", counters_of(status.counters)},
  });
}

std::string to_text(const std::string& text) try {
  return text_of_object(json::parse(text).as_object());
} catch (const std::exception&) {
  return {};
}

}  // namespace vitcp_portd
