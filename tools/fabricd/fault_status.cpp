#include "tools/fabricd/fault_status.hpp"

#include <fmt/format.h>

#include "settings/units.hpp"

namespace fabricd {
namespace json = boost::json;

json::array to_array(const std::vector<LiveFaults::State>& states) {
  json::array rules;
  for (const LiveFaults::State& state : states) {
    json::object rule{{"id", state.id},
                      {"rule", state.text},
                      {"matched", state.matched},
                      {"fired", state.fired},
                      {"any_port", state.any_port},
                      {"over", state.over},
                      {"links", json::array(state.links.begin(), state.links.end())}};
    if (state.fired == 0) rule["miss"] = state.miss;
    rules.push_back(std::move(rule));
  }
  return rules;
}

namespace {
std::string places_of(const json::object& rule) {
  const json::array& links = rule.at("links").as_array();
  if (rule.at("any_port").as_bool()) return fmt::format("on all links, {} now", links.size());
  if (links.empty()) return "on no link: no port is called so now";
  std::string text = "on the link of ";
  for (const json::value& link : links) text += (&link == links.begin() ? "" : ", ") + std::string(link.as_string());
  return text;
}
}  // namespace

std::string text_of_faults(const json::array& rules) {
  std::string text;
  for (const json::value& value : rules) {
    const json::object& rule = value.as_object();
    const auto fired = rule.at("fired").to_number<std::uint64_t>();
    text += fmt::format("{}  {}\n   fired {}, of {} frames that matched; {}\n", rule.at("id").to_number<unsigned>(),
                        std::string(rule.at("rule").as_string()), settings::format_count(fired),
                        settings::format_count(rule.at("matched").to_number<std::uint64_t>()), places_of(rule));
    if (rule.at("over").as_bool()) text += "   its time or limit is over\n";
    if (fired == 0) text += "   " + std::string(rule.at("miss").as_string()) + "\n";
  }
  return text;
}

}  // namespace fabricd
