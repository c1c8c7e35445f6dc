// The list "background" of a scenario.
#include <algorithm>
#include <set>

#include "settings/units.hpp"
#include "tools/fcvi_sim/scenario/keys.hpp"
#include "tools/fcvi_sim/scenario/pace_loader.hpp"
#include "tools/fcvi_sim/scenario/parts_loader.hpp"

namespace sim {
using namespace settings;
namespace {
constexpr Range data_fields{1, 2112};

constexpr Choice<std::uint8_t> fc4s[] = {{"fcp", 0x08}, {"ip", 0x05}, {"nvme", 0x28}};  // TYPE of FC-FS

}  // namespace

// clang-format off
const KeyTable& background_keys() {
  static const KeyTable table = [] {
    KeyTable own{"background", {
      {"name", Form::Text, "in results", true},
      {"from", Form::Text, "the port that sends", true},
      {"to", Form::Text, "the port that the frames go to", true},
      {"type", Form::Choice, "the FC-4", false, InList::No, nullptr, {"fc4", names_in<fc4s>}},
      within({"frame_bytes", Form::Bytes, "of each frame's data field, 1 to 2112"}, data_fields),
      {"start", Form::Time, "after all ports are ready"},
      {"until", Form::Time, "the same; by default until the programs have ended"}}};
    own.keys.insert(own.keys.end(), pace_keys().begin(), pace_keys().end());
    own.alternatives = {"interval", "rate"};
    own.needs_alternative = true;
    return own;
  }();
  return table;
}
// clang-format on

std::vector<BackgroundSpec> load_background(const Tree& tree, const std::vector<PortSpec>& ports,
                                            const std::vector<std::string_view>& names_of_ports) {
  std::vector<BackgroundSpec> flows;
  std::set<std::string> names;
  for (const Tree& item : read_list(tree, "background")) {
    if (flows.size() == max_background)
      throw BadInput{item.where + ": more than " + format_count(max_background) + " flows of background"};
    const MapReader map(item, "background[" + std::to_string(flows.size()) + "]", background_keys().names());
    BackgroundSpec spec{.name = read_text(map.require("name"), "name"),
                        .from = read_position(map.require("from"), "from", names_of_ports),
                        .to = read_position(map.require("to"), "to", names_of_ports)};
    if (!names.insert(spec.name).second)
      throw BadInput{item.where + ": two flows of background have the name \"" + spec.name + "\""};
    if (spec.from == spec.to) fail_expected(*map.find("to"), "to", "another port");
    if (const Tree* type = map.find("type")) spec.type = read_choice(*type, "type", fc4s);
    map.optional("frame_bytes", spec.data_bytes, read_bytes, data_fields);
    map.optional("start", spec.start, read_duration, runtime::TimeNs{0}, max_time);
    map.optional("until", spec.until, read_duration, runtime::TimeNs{0}, max_time);
    spec.data_bytes = std::min<std::uint32_t>(
        {spec.data_bytes, ports[spec.from].receive_data_field_bytes, ports[spec.to].receive_data_field_bytes});
    load_pace(map, spec.data_bytes, spec.pace);
    if (spec.pace.loop != PaceSpec::Loop::Open) throw BadInput{item.where + ": background needs an interval or a rate"};
    flows.push_back(std::move(spec));
  }
  return flows;
}

}  // namespace sim
