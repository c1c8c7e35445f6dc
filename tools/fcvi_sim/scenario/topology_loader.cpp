// The scenario's topology: switches and the links between them.
#include <algorithm>
#include <bit>

#include "settings/reader.hpp"
#include "settings/units.hpp"
#include "tools/fcvi_sim/scenario/keys.hpp"
#include "tools/fcvi_sim/scenario/parts_loader.hpp"

namespace sim {
using namespace settings;
namespace {

constexpr Choice<TopologyKind> topologies[] = {{"fabric", TopologyKind::Fabric},
                                               {"point_to_point", TopologyKind::PointToPoint},
                                               {"private_loop", TopologyKind::PrivateLoop},
                                               {"tcp", TopologyKind::Tcp}};
constexpr Choice<fc2::Multipath> multipaths[] = {
    {"port_pair", fc2::Multipath::PortPair}, {"exchange", fc2::Multipath::Exchange}, {"frame", fc2::Multipath::Frame}};
constexpr Choice<fc2::DomainConflict> conflicts[] = {{"reassign", fc2::DomainConflict::Reassign},
                                                     {"isolate", fc2::DomainConflict::Isolate}};

enum class Pattern : std::uint8_t { Ring, Mesh, Hypercube };
constexpr Choice<Pattern> patterns[] = {
    {"ring", Pattern::Ring}, {"mesh", Pattern::Mesh}, {"hypercube", Pattern::Hypercube}};

// clang-format off
constexpr Range domains{1, fc2::max_domain}, priorities{1, 254};
const KeyTable& switch_keys() {
  static const KeyTable table{"switch", {
    {"name", Form::Text, "in this file and in diagrams", true},
    within({"count", Form::Number, "so many: NAME-1, NAME-2, ..."}, counts),
    within({"domain", Form::Number, "its Domain_ID, where that is free"}, domains),
    within({"priority", Form::Number, "how it is elected principal switch: the lowest is"}, priorities)}};
  return table;
}

/// `first`, then those of every link.
std::vector<Key> with_link_keys(std::vector<Key> first) {
  first.insert(first.end(), {{"line_rate", Form::LineRate, "of the link"},
                             {"latency", Form::Time, "of the link, each way"},
                             within({"bb_credit", Form::Number, "buffer-to-buffer credit; 0: no limit"}, bb_credits),
                             {"processing_time", Form::Time, "what a receiver needs for a frame"},
                             {"capture", Form::Flag, "whether it is an interface of the capture"}});
  return first;
}

const KeyTable& isl_keys() {
  static const KeyTable table{"isl", with_link_keys({
    {"between", Form::Text, "two switches", true, InList::Only},
    {"name", Form::Text, "by default both switches' names"}})};
  return table;
}

const KeyTable& pattern_keys() {
  static const KeyTable table{"isl_pattern", with_link_keys({
    {"pattern", Form::Choice, "ISLs between all switches", true, InList::No, nullptr, {"pattern", names_in<patterns>}}})};
  return table;
}

std::vector<const KeyTable*> all_isl_keys() { return {&isl_keys(), &pattern_keys()}; }

const KeyTable& loop_keys() {
  static const KeyTable table{"loop", {
    {"name", Form::Text, "what ports name", true},
    {"switch", Form::Text, "whose FL_Port is on it; by default the first"},
    {"line_rate", Form::LineRate, "of the whole loop"},
    {"latency", Form::Time, "from one port to the next"}}};
  return table;
}
// clang-format on

SwitchSpec load_switch(const Tree& tree, const Member& member) {
  const MapReader map(tree, member.what, switch_keys().names());
  SwitchSpec spec{.name = member.name(read_text(map.require("name"), "name"))};
  if (const Tree* domain = map.find("domain"); domain != nullptr && member.of_group)
    fail_expected(*domain, "domain", "none with count");
  map.optional("domain", spec.domain, read_number, domains);
  map.optional("priority", spec.priority, read_number, priorities);
  return spec;
}

using Ends = std::pair<std::size_t, std::size_t>;

/// Which of so many switches are linked.
std::vector<Ends> ends_of(Pattern pattern, std::size_t switches) {
  std::vector<Ends> ends;
  for (std::size_t one = 0; one < switches; ++one)
    for (std::size_t other = one + 1; other < switches; ++other) {
      const bool next = other == one + 1 || (one == 0 && other == switches - 1);
      if (pattern == Pattern::Mesh || (pattern == Pattern::Ring && next) ||
          (pattern == Pattern::Hypercube && std::has_single_bit(one ^ other)))
        ends.emplace_back(one, other);
    }
  return ends;
}

/// ISLs between all switches of the scenario.
std::vector<SwitchLinkSpec> load_pattern(const Tree& tree, const std::string& what,
                                         const std::vector<std::string_view>& switches, const fc2::LinkConfig& link) {
  const MapReader map(tree, what, pattern_keys().names());
  const Tree& choice = map.require("pattern");
  const Pattern pattern = read_choice(choice, "pattern", patterns);
  if (switches.size() < 2) fail_expected(choice, "pattern", "two switches at least");
  if (pattern == Pattern::Hypercube && !std::has_single_bit(switches.size()))
    fail_expected(choice, "pattern", "a number of switches that is a power of two for a hypercube");
  std::vector<SwitchLinkSpec> specs;
  for (const auto& [from, to] : ends_of(pattern, switches.size())) {
    SwitchLinkSpec spec{
        .name = std::string(switches[from]) + "-" + std::string(switches[to]), .from = from, .to = to, .link = link};
    load_link(map, spec.link);
    map.optional("capture", spec.capture, read_bool);
    specs.push_back(std::move(spec));
  }
  return specs;
}

SwitchLinkSpec load_switch_link(const Tree& tree, const std::string& what,
                                const std::vector<std::string_view>& switches, const fc2::LinkConfig& link) {
  const MapReader map(tree, what, isl_keys().names());
  const Tree& between = map.require("between");
  const auto& ends = read_list(between, "between");
  if (ends.size() != 2) fail_expected(between, "between", "two switches");
  SwitchLinkSpec spec{.name = {},
                      .from = read_position(ends[0], "between", switches),
                      .to = read_position(ends[1], "between", switches),
                      .link = link};
  if (spec.from == spec.to) fail_expected(between, "between", "two different switches");
  spec.name = std::string(switches[spec.from]) + "-" + std::string(switches[spec.to]);
  if (const Tree* name = map.find("name")) spec.name = read_text(*name, "name");
  load_link(map, spec.link);
  map.optional("capture", spec.capture, read_bool);
  return spec;
}

LoopSpec load_loop(const Tree& tree, std::size_t index, const std::vector<std::string_view>& switches,
                   const fc2::LinkConfig& link) {
  const MapReader map(tree, "loops[" + std::to_string(index) + "]", loop_keys().names());
  LoopSpec spec{.name = read_text(map.require("name"), "name"), .link = link};
  if (const Tree* at = map.find("switch")) spec.at_switch = read_position(*at, "switch", switches);
  load_link(map, spec.link);
  return spec;
}

template <class Specs>
void refuse_second(const Tree& tree, const Specs& specs, const std::string& name, const char* what) {
  const auto same = [&](const auto& spec) { return spec.name == name; };
  if (std::any_of(specs.begin(), specs.end(), same))
    throw BadInput{tree.where + ": two " + what + " have the name \"" + name + "\""};
}

std::vector<Group> load_switches(const MapReader& map, Scenario& scenario) {
  std::vector<Group> groups;
  const Tree* list = map.find("switches");
  if (list == nullptr) return groups;
  scenario.switches.clear();
  const std::string too_many = "more than " + std::to_string(fc2::max_domain) + " switches";
  std::size_t index = 0;
  for (const Tree& item : read_list(*list, "switches")) {
    const std::size_t first = scenario.switches.size();
    const std::string what = "switches[" + std::to_string(index++) + "]";
    const Group group = for_each_member(item, what, fc2::max_domain - first, too_many, [&](const Member& member) {
      SwitchSpec spec = load_switch(item, member);
      refuse_second(item, scenario.switches, spec.name, "switches");
      scenario.switches.push_back(std::move(spec));
    });
    if (!group.name.empty()) groups.push_back({group.name, first, group.count});
  }
  if (scenario.switches.empty()) fail_expected(*list, "switches", "at least one switch");
  return groups;
}

void load_switch_links(const Tree& list, Scenario& scenario, const fc2::LinkConfig& link) {
  const auto names = names_of(scenario.switches);
  std::size_t index = 0;
  for (const Tree& item : read_list(list, "isls")) {
    const std::string what = "isls[" + std::to_string(index++) + "]";
    std::vector<SwitchLinkSpec> specs;
    if (item.find("pattern") != nullptr)
      specs = load_pattern(item, what, names, link);
    else
      specs.push_back(load_switch_link(item, what, names, link));
    for (SwitchLinkSpec& spec : specs) {
      if (scenario.switch_links.size() == max_links)
        throw BadInput{item.where + ": more than " + std::to_string(max_links) + " ISLs"};
      refuse_second(item, scenario.switch_links, spec.name, "ISLs");
      scenario.switch_links.push_back(std::move(spec));
    }
  }
}

/// Switches of which none may know sooner of another than an ISL tells it.
void check_independence(const Tree& delay, const Scenario& scenario) {
  if (!scenario.fabric.has_independent_switches()) return;
  if (scenario.topology != TopologyKind::Fabric) fail_expected(delay, "directory_delay", "none but in a fabric");
  for (const SwitchLinkSpec& isl : scenario.switch_links) {
    const char* missing = isl.link.latency_ns == 0 ? "latency" : isl.link.bb_credit == 0 ? "bb_credit" : nullptr;
    if (missing != nullptr)
      throw BadInput{delay.where + ": directory_delay: the ISL \"" + isl.name + "\" has no " + missing +
                     ": with it every ISL needs a latency and bb_credit"};
  }
}

void load_loops(const MapReader& map, Scenario& scenario, const fc2::LinkConfig& link) {
  const Tree* list = map.find("loops");
  if (list == nullptr) return;
  if (scenario.topology != TopologyKind::Fabric) fail_expected(*list, "loops", "none but in a fabric");
  for (const Tree& item : read_list(*list, "loops")) {
    if (scenario.loops.size() == max_loops)
      throw BadInput{item.where + ": more than " + std::to_string(max_loops) + " loops"};
    LoopSpec spec = load_loop(item, scenario.loops.size(), names_of(scenario.switches), link);
    refuse_second(item, scenario.loops, spec.name, "loops");
    scenario.loops.push_back(std::move(spec));
  }
}

}  // namespace

std::vector<std::string_view> names_of(const std::vector<SwitchSpec>& switches) {
  std::vector<std::string_view> names;
  for (const SwitchSpec& spec : switches) names.push_back(spec.name);
  return names;
}

void load_link(const MapReader& map, fc2::LinkConfig& link) {
  map.optional("line_rate", link.bytes_per_second, read_line_rate);
  map.optional("latency", link.latency_ns, read_duration, runtime::TimeNs{0}, max_latency);
  map.optional("bb_credit", link.bb_credit, read_number, bb_credits);
  map.optional("processing_time", link.processing_ns, read_duration, runtime::TimeNs{0}, max_latency);
}

// clang-format off
const KeyTable& topology_keys() {
  static const KeyTable table{"topology", {
    {"kind", Form::Choice, "what joins the ports", false, InList::No, nullptr, {"topology_kind", names_in<topologies>}},
    {"line_rate", Form::LineRate, "of every link"},
    {"latency", Form::Time, "of every link, each way"},
    within({"bb_credit", Form::Number, "buffer-to-buffer credit of each end of a link; 0: no limit"}, bb_credits),
    {"processing_time", Form::Time, "what a port needs for a frame before the buffer is free again"},
    {"in_order", Form::Flag, "whether the fabric promises order"},
    {"switches", Form::None, "by default one, named switch", false, InList::Only, one<switch_keys>},
    {"isls", Form::None, "links between switches: single ones, or a pattern of all", false, InList::Only, all_isl_keys},
    {"loops", Form::None, "public loops", false, InList::Only, one<loop_keys>},
    {"multipath", Form::Choice, "which frames share one of several paths", false, InList::No, nullptr, {"multipath", names_in<multipaths>}},
    {"domain_conflict", Form::Choice, "what two switches of the same domain do", false, InList::No, nullptr, {"domain_conflict", names_in<conflicts>}},
    {"reconfiguration_delay", Form::Time, "from a failure to new paths"},
    {"directory_delay", Form::Time, "until what one switch learns of a port is known to all; 0: at once"}}};
  static const KeyTable with_tcp = [] {
    KeyTable all = table;
    all.keys.insert(all.keys.end(), tcp_keys().begin(), tcp_keys().end());
    return all;
  }();
  return with_tcp;
}
// clang-format on

std::vector<Group> load_topology(const Tree& tree, Scenario& scenario, fc2::LinkConfig& link, TcpSpec& tcp) {
  const MapReader map(tree, "topology", topology_keys().names());
  if (const Tree* choice = map.find("kind")) scenario.topology = read_choice(*choice, "kind", topologies);
  refuse_keys_of_others(map, scenario.topology);
  if (scenario.topology == TopologyKind::Tcp) link = usual_tcp_link;
  load_link(map, link);
  load_tcp(map, tcp);
  map.optional("in_order", scenario.in_order, read_bool);
  if (const Tree* choice = map.find("multipath"))
    scenario.fabric.multipath = read_choice(*choice, "multipath", multipaths);
  if (const Tree* choice = map.find("domain_conflict"))
    scenario.fabric.domain_conflict = read_choice(*choice, "domain_conflict", conflicts);
  map.optional("reconfiguration_delay", scenario.fabric.reconfiguration_delay, read_duration, runtime::TimeNs{0},
               max_time);
  map.optional("directory_delay", scenario.fabric.directory_delay, read_duration, runtime::TimeNs{0}, max_latency);
  scenario.in_order = scenario.in_order && scenario.fabric.multipath == fc2::Multipath::PortPair;
  std::vector<Group> groups = load_switches(map, scenario);
  load_loops(map, scenario, link);
  if (const Tree* list = map.find("isls")) load_switch_links(*list, scenario, link);
  if (const Tree* delay = map.find("directory_delay")) check_independence(*delay, scenario);
  return groups;
}

}  // namespace sim
