#include "verbs/configuration.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstdio>

#include "settings/file.hpp"
#include "settings/reader.hpp"

namespace verbs {
namespace {
using settings::MapReader;
using settings::Tree;

constexpr std::uint64_t max_file_bytes = 1U << 20;
constexpr runtime::TimeNs longest = 3600 * runtime::second;
const std::vector<std::string_view> terms_keys{"framing",          "crc",           "markers",
                                               "revision",         "peer_to_peer",  "first_fpdu_delay",
                                               "await_first_fpdu", "refused_retry", "immediate_data"};

Framing read_framing(const Tree& tree, std::string_view key) {
  static constexpr settings::Choice<Framing> framings[] = {
      {"mpa", Framing::mpa}, {"ift", Framing::ift}, {"sctp", Framing::sctp}};
  return settings::read_choice(tree, key, framings);
}

void read_terms(const MapReader& map, Terms& terms) {
  map.optional("framing", terms.framing, read_framing);
  map.optional("crc", terms.crc, settings::read_bool);
  map.optional("markers", terms.markers, settings::read_bool);
  map.optional("revision", terms.revision, settings::read_number, settings::Range{1, 2});
  map.optional("immediate_data", terms.immediate_data, settings::read_bool);
  map.optional("peer_to_peer", terms.peer_to_peer, settings::read_bool);
  map.optional("first_fpdu_delay", terms.first_fpdu_delay, settings::read_duration, runtime::TimeNs{0},
               runtime::second);
  map.optional("await_first_fpdu", terms.await_first_fpdu, settings::read_bool);
  map.optional("refused_retry", terms.refused_retry, settings::read_duration, runtime::TimeNs{0}, longest);
  if (terms.framing != Framing::mpa && terms.markers)
    settings::fail_expected(*map.find(map.find("markers") != nullptr ? "markers" : "framing"), "markers",
                            "no markers with framing ift or sctp (MPA alone has them)");
}

Rule read_rule(const Tree& tree, std::size_t position, const Terms& terms) {
  std::vector<std::string_view> known = terms_keys;
  known.insert(known.end(), {"peer", "port"});
  const MapReader map(tree, "rules[" + std::to_string(position) + "]", known);
  Rule rule{.terms = terms};
  if (const Tree* const peer = map.find("peer")) rule.peer = settings::read_address(*peer, "peer");
  if (const Tree* const port = map.find("port"))
    rule.port = static_cast<std::uint16_t>(settings::read_number(*port, "port", {1, 65'535}));
  read_terms(map, rule.terms);
  return rule;
}

void read_limits(const MapReader& map, Configuration& into) {
  map.optional("startup_timeout", into.startup.startup_timeout, settings::read_duration, runtime::millisecond, longest);
  map.optional("close_timeout", into.startup.close_timeout, settings::read_duration, runtime::millisecond, longest);
  map.optional("half_open", into.startup.half_open, settings::read_number, settings::Range{1, 65'536});
  map.optional("depth", into.depth, settings::read_number, settings::Range{1, 65'536});
  map.optional("reads", into.reads, settings::read_number, settings::Range{1, 255});
}

Configuration read(const Tree& tree) {
  std::vector<std::string_view> known = terms_keys;
  known.insert(known.end(), {"rules", "interfaces", "startup_timeout", "close_timeout", "half_open", "depth", "reads"});
  const MapReader map(tree, "the file", known);
  Configuration configuration;
  read_terms(map, configuration.terms);
  read_limits(map, configuration);
  if (const Tree* const names = map.find("interfaces"))
    for (const Tree& one : settings::read_list(*names, "interfaces"))
      configuration.interfaces.push_back(settings::read_text(one, "interfaces"));
  if (const Tree* const rules = map.find("rules"))
    for (const Tree& one : settings::read_list(*rules, "rules"))
      configuration.rules.push_back(read_rule(one, configuration.rules.size(), configuration.terms));
  return configuration;
}

}  // namespace

const Terms& Configuration::terms_for(const wire::IpAddress& peer, std::uint16_t port) const {
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const Rule& one) {
    return one.peer.value_or(peer) == peer && one.port.value_or(port) == port;
  });
  return rule == rules.end() ? terms : rule->terms;
}

bool Configuration::has_interface(const std::string& name) const {
  return interfaces.empty() || std::find(interfaces.begin(), interfaces.end(), name) != interfaces.end();
}

settings::Result<Configuration> parse_configuration(const std::string& text, const std::string& name) {
  const auto tree = settings::parse_yaml(text, name);
  if (!tree) return tree.error();
  try {
    return read(*tree);
  } catch (const settings::BadInput& error) {
    return error;
  }
}

Configuration configuration_of_environment() {
  const char* const path = ::secure_getenv("IWARP_CONFIG");
  if (path == nullptr || *path == '\0') return {};
  const auto text = settings::read_file(path, max_file_bytes);
  const auto configuration = text ? parse_configuration(*text, path) : settings::Result<Configuration>(text.error());
  if (configuration) return *configuration;
  std::fprintf(stderr, "iwarp: %s\n", configuration.error().message.c_str());
  return {};
}

}  // namespace verbs
