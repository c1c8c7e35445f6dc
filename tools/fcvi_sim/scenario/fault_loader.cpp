// The list "faults" of a scenario: each item one fault, which becomes one rule or more. A new action is a row of
// `actions`, and its function.
#include <algorithm>
#include <array>

#include "settings/units.hpp"
#include "tools/faults/iu_flags.hpp"
#include "tools/fcvi_sim/scenario/keys.hpp"
#include "tools/fcvi_sim/scenario/match_loader.hpp"
#include "tools/fcvi_sim/scenario/message_names.hpp"
#include "tools/fcvi_sim/scenario/parts_loader.hpp"
#include "wire/text.hpp"

namespace sim {
using namespace settings;
namespace {
// Of what the keys of faults may be.
constexpr Range copy_counts{1, 1000}, bits{0, 8 * (24 + 2112) - 1}, cut_sizes{0, 24 + 2112}, segment_octets{0, 65'535};

constexpr Choice<bool> crcs[] = {{"bad", true}, {"good", false}};
constexpr auto fc_vi_type = static_cast<std::uint64_t>(wire::Type::fc_vi);

using Keys = std::array<std::string_view, 4>;
// --- what befalls frames: each reads the keys of its own, and says what it does

using Load = void(const MapReader& map, FaultSpec& spec);
using Note = std::string(const fc2::FaultAction& action);

void load_nothing(const MapReader& /*map*/, FaultSpec& /*spec*/) {}
void load_silence(const MapReader& map, FaultSpec& /*spec*/) { static_cast<void>(map.require("port")); }
void load_duplicate(const MapReader& map, FaultSpec& spec) {
  map.optional("by", spec.rule.action->delay, read_duration, runtime::TimeNs{0}, max_time);
  map.optional("copies", spec.rule.action->frames, read_number, copy_counts);
}
void load_delay(const MapReader& map, FaultSpec& spec) {
  spec.rule.action->delay = read_duration(map.require("by"), "by", 0, max_time);
}
void load_reorder(const MapReader& map, FaultSpec& spec) {
  map.optional("frames", spec.rule.action->frames, read_number, frame_counts);
  map.optional("longest_hold", spec.rule.action->longest_hold, read_duration, runtime::TimeNs{0}, max_time);
}
void load_crc(const MapReader& map, fc2::FaultAction& action) {
  if (const Tree* tree = map.find("crc")) action.crc_error = read_choice(*tree, "crc", crcs);
}
void load_corrupt(const MapReader& map, FaultSpec& spec) {
  map.optional("bit", spec.rule.action->bit, read_number, bits);
  load_crc(map, *spec.rule.action);
}
void load_truncate(const MapReader& map, FaultSpec& spec) {
  spec.rule.action->size_bytes = static_cast<std::uint16_t>(read_bytes(map.require("bytes"), "bytes", cut_sizes));
  load_crc(map, *spec.rule.action);
}
// What only FC-VI frames have is not written into others.
void load_rewrite(const MapReader& map, FaultSpec& spec) {
  const Tree& set = map.require("set");
  std::string& note = spec.rule.note;
  for (const auto& [name, value] : MapReader(set, "set", faults::field_names()).tree().entries) {
    const faults::FrameField* field = faults::find_field(name);
    const std::uint64_t number = read_number(value, name, {0, field->max()});
    spec.rule.action->patches.push_back(field->patch(number));
    note.append(note.empty() ? "rewritten: " : ", ").append(name).append(" ");
    note += wire::text::hex_h(number, 2U * field->size);
    if (field->fcvi) spec.rule.match.fields.push_back({faults::find_field("type"), fc_vi_type, fc_vi_type});
  }
}

std::string note_drop(const fc2::FaultAction&) { return "lost"; }
std::string note_silence(const fc2::FaultAction&) { return "lost: silence"; }
std::string note_partition(const fc2::FaultAction&) { return "lost: partition"; }
std::string note_duplicate(const fc2::FaultAction& action) {
  const std::string text = action.frames == 1 ? "duplicated" : "duplicated " + format_count(action.frames) + " times";
  return action.delay == 0 ? text : text + ", " + format_duration(action.delay) + " apart";
}
std::string note_delay(const fc2::FaultAction& action) { return "delayed by " + format_duration(action.delay); }
std::string note_reorder(const fc2::FaultAction& action) {
  return "overtaken by " + format_count(action.frames) + (action.frames == 1 ? " frame" : " frames");
}
std::string note_corrupt(const fc2::FaultAction& action) {
  return "corrupted, bit " + std::to_string(action.bit) + (action.crc_error ? "" : ", CRC good");
}
std::string note_truncate(const fc2::FaultAction& action) {
  return "cut to " + format_bytes(action.size_bytes) + (action.crc_error ? "" : ", CRC good");
}

// --- what befalls ports, and what joins them

/// Reads what it befalls. False: it does not exist there.
using LoadEvent = bool(const MapReader& map, const Names& names, PortEvent& event);

std::size_t port_in(const MapReader& map, std::string_view key, const Names& names) {
  return read_position(map.require(key), key, names.ports);
}
bool load_port(const MapReader& map, const Names& names, PortEvent& event) {
  event.port = port_in(map, "port", names);
  return true;
}
// Primitive sequences are a link's, LIP is a loop's.
bool load_port_with_link(const MapReader& map, const Names& names, PortEvent& event) {
  return load_port(map, names, event) && !names.on_loop[event.port];
}
bool load_port_on_loop(const MapReader& map, const Names& names, PortEvent& event) {
  return load_port(map, names, event) && names.on_loop[event.port];
}
bool load_isl(const MapReader& map, const Names& names, PortEvent& event) {
  event.port = read_position(map.require("isl"), "isl", names.switch_links);
  return true;
}
bool load_switch(const MapReader& map, const Names& names, PortEvent& event) {
  event.port = read_position(map.require("switch"), "switch", names.switches);
  return true;
}
bool load_log_out(const MapReader& map, const Names& names, PortEvent& event) {
  load_port(map, names, event);
  event.peer = port_in(map, "peer", names);
  const Tree* implicit = map.find("implicit");
  if (implicit != nullptr && read_bool(*implicit, "implicit")) event.apply = port_event::implicit_log_out;
  if (event.peer == event.port) fail_expected(*map.find("peer"), "peer", "another port");
  return true;
}

// --- what befalls VI segments, over TCP: the same

using LoadSegment = void(const MapReader& map, SegmentFault& fault);
using NoteSegment = std::string(const SegmentFault& fault);

void load_octets(const MapReader& map, SegmentFault& fault) {
  map.optional("octets", fault.octets, read_number, segment_octets);
}
void load_stall(const MapReader& map, SegmentFault& fault) {
  load_octets(map, fault);
  map.optional("for", fault.hold, read_duration, runtime::TimeNs{1}, max_time);
}
void load_segment_delay(const MapReader& map, SegmentFault& fault) {
  fault.hold = read_duration(map.require("by"), "by", 0, max_time);
}
void load_segment_corrupt(const MapReader& map, SegmentFault& fault) {
  map.optional("bit", fault.bit, read_number, bits);
  if (const Tree* tree = map.find("crc")) fault.crc_error = read_choice(*tree, "crc", crcs);
}
void load_no_segment_key(const MapReader& /*map*/, SegmentFault& /*fault*/) {}
void load_segment_rewrite(const MapReader& map, SegmentFault& fault) {
  fault.patches = read_segment_patches(map.require("set"), "set");
}

std::string behind_octets(const SegmentFault& fault) {
  return fault.octets == 0 ? "" : ", octet " + format_count(fault.octets);
}
std::string note_reset(const SegmentFault& fault) { return "connection reset" + behind_octets(fault); }
std::string note_close(const SegmentFault& fault) { return "stream closed" + behind_octets(fault); }
std::string note_stall(const SegmentFault& fault) {
  const std::string how_long = fault.hold == runtime::never ? "" : " for " + format_duration(fault.hold);
  return "stream stalled" + how_long + behind_octets(fault);
}
std::string note_segment_delay(const SegmentFault& fault) { return "delayed by " + format_duration(fault.hold); }
std::string note_segment_corrupt(const SegmentFault& fault) {
  return "corrupted, bit " + std::to_string(fault.bit) + (fault.crc_error ? "" : ", CRC good");
}
std::string note_bad_crc(const SegmentFault& /*fault*/) { return "wrong CRC"; }
std::string note_segment_rewrite(const SegmentFault& /*fault*/) { return "rewritten"; }

/// How an action befalls segments; its keys besides those of a match.
struct OnSegments {
  SegmentFault::Kind kind;
  Keys keys;
  LoadSegment* load;
  NoteSegment* note;
};
constexpr OnSegments resets{SegmentFault::Kind::Reset, {"octets"}, load_octets, note_reset};
constexpr OnSegments closes{SegmentFault::Kind::Close, {"octets"}, load_octets, note_close};
constexpr OnSegments stalls{SegmentFault::Kind::Stall, {"octets", "for"}, load_stall, note_stall};
constexpr OnSegments delays_segments{SegmentFault::Kind::Stall, {"by"}, load_segment_delay, note_segment_delay};
constexpr OnSegments corrupts_segments{
    SegmentFault::Kind::Corrupt, {"bit", "crc"}, load_segment_corrupt, note_segment_corrupt};
constexpr OnSegments breaks_crc{SegmentFault::Kind::BadCrc, {}, load_no_segment_key, note_bad_crc};
constexpr OnSegments rewrites_segments{
    SegmentFault::Kind::Rewrite, {"set"}, load_segment_rewrite, note_segment_rewrite};
/// What a segment has not.
constexpr std::string_view keys_of_frames[] = {"flags", "flags_clear", "reason"};

/// What a topology has to offer.
using Exists = bool(TopologyKind topology);
bool with_frames(TopologyKind topology) { return topology != TopologyKind::Tcp; }
bool with_segments(TopologyKind topology) { return topology == TopologyKind::Tcp; }
bool anywhere(TopologyKind) { return true; }
bool in_fabric(TopologyKind topology) { return topology == TopologyKind::Fabric; }
bool where_ports_move(TopologyKind topology) { return with_frames(topology) && topology != TopologyKind::PointToPoint; }

/// An action: all that the rest of the loader knows of it.
struct Action {
  std::string_view name;
  Keys keys = {};                       // its own, besides "action" and match_keys
  Keys needs = {};                      // of all that it has: those that must be there
  bool matches = true;                  // it has match_keys
  bool certain = true;                  // a rule that comes to its turn for sure must do so once
  bool both_ways = false;               // by default; else what the port sends
  bool groups = false;                  // between groups of ports: becomes a rule for each direction
  bool names_peer = false;              // "peer" is whom it befalls, not who sent the frame
  fc2::FaultFunction* apply = nullptr;  // of frames: what happens, its keys, and how captures and diagrams call it
  Load* load = load_nothing;
  Note* note = nullptr;                 // none: `load` has said it
  PortEventFunction* befall = nullptr;  // of ports, links and switches: the same
  LoadEvent* load_event = nullptr;
  const char* event_note = "";
  const OnSegments* on_segments = nullptr;  // it also befalls segments
  Exists* exists = with_frames;             // else those of frames and ports

  /// What it begins has an end.
  [[nodiscard]] constexpr bool lasts() const { return std::find(keys.begin(), keys.end(), "for") != keys.end(); }
};
namespace fault = fc2::fault;
// clang-format off
constexpr Action actions[] = {
    {.name = "drop", .apply = fault::drop, .note = note_drop},
    {.name = "duplicate", .keys = {"by", "copies"},
     .apply = fault::duplicate, .load = load_duplicate, .note = note_duplicate},
    {.name = "delay", .keys = {"by"}, .needs = {"by"}, .apply = fault::delay, .load = load_delay, .note = note_delay,
     .on_segments = &delays_segments},
    {.name = "reorder", .keys = {"frames", "longest_hold"},
     .apply = fault::reorder, .load = load_reorder, .note = note_reorder},
    {.name = "corrupt", .keys = {"bit", "crc"}, .apply = fault::corrupt, .load = load_corrupt, .note = note_corrupt,
     .on_segments = &corrupts_segments},
    {.name = "truncate", .keys = {"bytes", "crc"}, .needs = {"bytes"},
     .apply = fault::truncate, .load = load_truncate, .note = note_truncate},
    {.name = "rewrite", .keys = {"set"}, .needs = {"set"},
     .apply = fault::rewrite, .load = load_rewrite,
     .on_segments = &rewrites_segments},
    {.name = "reset", .on_segments = &resets, .exists = with_segments},
    {.name = "close", .on_segments = &closes, .exists = with_segments},
    {.name = "stall", .on_segments = &stalls, .exists = with_segments},
    {.name = "bad_crc", .on_segments = &breaks_crc, .exists = with_segments},
    {.name = "silence", .keys = {"port", "from", "until", "times"}, .needs = {"port"},
     .matches = false, .certain = false,
     .both_ways = true, .apply = fault::drop, .load = load_silence, .note = note_silence},
    {.name = "partition", .keys = {"ports", "from", "until", "times"}, .needs = {"ports"},
     .matches = false, .certain = false,
     .groups = true, .apply = fault::drop, .note = note_partition},
    {.name = "link_down", .keys = {"at", "for"}, .needs = {"port"},
     .befall = port_event::link_down, .load_event = load_port, .event_note = "link down", .exists = anywhere},
    {.name = "log_out", .keys = {"at", "implicit"}, .needs = {"port", "peer"}, .names_peer = true,
     .befall = port_event::log_out, .load_event = load_log_out, .event_note = "logout"},
    {.name = "isl_down", .keys = {"at", "for", "isl"}, .needs = {"isl"},
     .befall = port_event::isl_down, .load_event = load_isl, .event_note = "ISL down", .exists = in_fabric},
    {.name = "switch_down", .keys = {"at", "for", "switch"}, .needs = {"switch"},
     .befall = port_event::switch_down, .load_event = load_switch, .event_note = "switch down", .exists = in_fabric},
    {.name = "cut", .keys = {"at", "for"}, .needs = {"port"},
     .befall = port_event::cut, .load_event = load_port_with_link, .event_note = "link cut"},
    {.name = "nos", .keys = {"at"}, .needs = {"port"},
     .befall = port_event::nos, .load_event = load_port_with_link, .event_note = "NOS"},
    {.name = "ols", .keys = {"at"}, .needs = {"port"},
     .befall = port_event::ols, .load_event = load_port_with_link, .event_note = "OLS"},
    {.name = "link_reset", .keys = {"at"}, .needs = {"port"},
     .befall = port_event::link_reset, .load_event = load_port_with_link, .event_note = "LR"},
    {.name = "lip", .keys = {"at"}, .needs = {"port"},
     .befall = port_event::lip, .load_event = load_port_on_loop, .event_note = "LIP"},
    {.name = "replug", .keys = {"at"}, .needs = {"port"}, .befall = port_event::replug, .load_event = load_port,
     .event_note = "plugged in elsewhere", .exists = where_ports_move}};
// clang-format on

bool is_of(const Action& action, TopologyKind topology) {
  return topology == TopologyKind::Tcp ? action.on_segments != nullptr || action.exists == anywhere
                                       : action.exists != with_segments;
}

const Action& action_named(const Tree& tree, TopologyKind topology) {
  std::vector<std::string_view> known;
  for (const Action& action : actions) {
    if (!is_of(action, topology)) continue;
    if (tree.kind == Tree::Kind::Scalar && tree.scalar == action.name) return action;
    known.push_back(action.name);
  }
  fail_choice(tree, "action", known);
}

// clang-format off
/// Of all actions; each has some of them.
const std::vector<Key>& all_keys() {
  static const std::vector<Key> keys{
    {"message", Form::Choice, "the name of an IU, sequence or link service; over TCP of a VI segment", false, InList::No, nullptr, {"message", all_message_names}},
    {"port", Form::Text, "the frame is on this port's link; or whom it befalls"},
    {"direction", Form::Choice, "by that port", false, InList::No, nullptr, {"direction", direction_names}},
    {"peer", Form::Text, "the port at the other end"},
    {"flags", Form::Text, "FCVI_FLAGS that are set", false, InList::Only},
    {"flags_clear", Form::Text, "FCVI_FLAGS that are not set", false, InList::Only},
    {"reason", Form::Choice, "Reason Code", false, InList::No, nullptr, {"reason", faults::reason_names}},
    {"fields", Form::BoundsByName, "of the frame, or VI segment", false, InList::No, nullptr, {"field", all_field_names}},
    {"from", Form::Time, "not before, after all ports are ready"},
    {"until", Form::Time, "not from then on"},
    within({"nth", Form::Number, "which of these frames, from 1", false, InList::Also}, frame_counts),
    within({"every", Form::Number, "each n-th of them"}, frame_counts),
    within({"limit", Form::Number, "so often at most"}, frame_counts),
    {"probability", Form::Share, "of those; chance comes from the seed"},
    {"times", Form::Bound, "an expectation: how often it happens"},
    {"workload", Form::Text, "the frame is of that workload's connection, or of one of that group", false, InList::Also},
    {"by", Form::Time, "so much later"},
    within({"copies", Form::Number, "how often it arrives again"}, copy_counts),
    within({"frames", Form::Number, "so many overtake it"}, frame_counts),
    {"longest_hold", Form::Time, "it waits no longer for them"},
    within({"bit", Form::Number, "which is inverted, from the first of the header"}, bits),
    within({"octets", Form::Number, "so many of the segment go on before"}, segment_octets),
    {"crc", Form::Choice, "of what arrives", false, InList::No, nullptr, {"crc", names_in<crcs>}},
    within({"bytes", Form::Bytes, "what is left of the frame, its header included"}, cut_sizes),
    {"set", Form::NumbersByName, "fields and their new values", false, InList::No, nullptr, {"field", all_field_names}},
    {"ports", Form::Text, "these and all others are cut off from each other", false, InList::Only},
    {"at", Form::Time, "when, after all ports are ready"},
    {"for", Form::Time, "how long it lasts; by default for good"},
    {"implicit", Form::Flag, "the login is forgotten, nothing is sent"},
    {"isl", Form::Text, "the link between switches"},
    {"switch", Form::Text, "the switch"}};
  return keys;
}
// clang-format on

std::vector<std::string_view> keys_of(const Action& action, TopologyKind topology) {
  std::vector<std::string_view> keys{"action"};
  if (action.matches) keys.insert(keys.end(), std::begin(match_keys), std::end(match_keys));
  if (action.matches) keys.insert(keys.end(), {"times", "workload"});
  const bool segments = topology == TopologyKind::Tcp && action.on_segments != nullptr;
  for (const std::string_view key : segments ? action.on_segments->keys : action.keys)
    if (!key.empty()) keys.push_back(key);
  return keys;
}

class FaultLoader {
 public:
  FaultLoader(const Tree& tree, const Names& names, TopologyKind topology, std::size_t index)
      : names_(names), ports_(names.ports), topology_(topology),
        action_(action_named(action_of(tree, index), topology)),
        map_(tree, "faults[" + std::to_string(index) + "]", keys_of(action_, topology)) {}
  /// Refuses what the topology does not have.
  void check() const;
  std::vector<FaultSpec> load();

 private:
  static const Tree& action_of(const Tree& tree, std::size_t index) {
    if (tree.kind != Tree::Kind::Map)
      fail_expected(tree, "faults[" + std::to_string(index) + "]", "a mapping with an action");
    const Tree* action = tree.find("action");
    if (action != nullptr) return *action;
    std::string misspelt;
    for (const auto& [key, value] : tree.entries)
      if (!settings::nearest(key, {"action"}).empty()) misspelt = "; is \"" + key + "\" meant to be it?";
    throw BadInput{tree.where + ": faults[" + std::to_string(index) + "]: action is missing" + misspelt};
  }
  void load_match(FaultSpec& spec);
  void load_workloads(const Tree& tree, faults::Match& match);
  void load_times(FaultSpec& spec, bool certain);
  void load_event(FaultSpec& spec);
  void load_segment(FaultSpec& spec);
  [[noreturn]] void refuse_action() const;
  std::vector<FaultSpec> between_groups();
  [[nodiscard]] bool befalls_messages() const { return action_.befall == nullptr; }
  std::size_t port(std::string_view key) { return read_position(map_.require(key), key, ports_); }

  const Names& names_;
  const std::vector<std::string_view>& ports_;
  const TopologyKind topology_;
  const Action& action_;
  MapReader map_;
};

/// A workload, a group of them, or a list of such.
void FaultLoader::load_workloads(const Tree& tree, faults::Match& match) {
  if (tree.kind == Tree::Kind::List) {
    if (tree.items.empty()) fail_expected(tree, "workload", "one at least");
    for (const Tree& item : tree.items) load_workloads(item, match);
    return;
  }
  const std::string name = read_text(tree, "workload");
  const std::size_t before = match.connections.size();
  for (std::size_t i = 0; i < names_.workloads.size(); ++i)
    if (name == names_.workloads[i] || name == names_.workload_groups[i]) match.connections.push_back(i);
  if (match.connections.size() != before) return;
  std::vector<std::string_view> known = names_.workloads;
  for (const std::string_view group : names_.workload_groups)
    if (!group.empty() && std::find(known.begin(), known.end(), group) == known.end()) known.push_back(group);
  fail_choice(tree, "workload", known);
}

void FaultLoader::load_match(FaultSpec& spec) {
  faults::Match& match = spec.rule.match;
  if (const Tree* tree = map_.find("workload")) {
    load_workloads(*tree, match);
    if (with_frames(topology_) && !match.message.empty() && !match.message.starts_with("FCVI_"))
      fail_expected(*map_.find("message"), "message", "one of FC-VI, as workload says");
  }
  if (map_.find("port") != nullptr) match.links = {port("port")};
  if (map_.find("peer") != nullptr && !action_.names_peer) match.peers = {port("peer")};
  match.sent = true;
  match.received = action_.both_ways;
  load_passage(map_, match);
}

// What is certain to happen once must happen: a rule that never came to its turn is a mistake in the scenario.
void FaultLoader::load_times(FaultSpec& spec, bool certain) {
  const std::uint64_t limit = spec.rule.limit;
  if (certain) spec.times.min = std::clamp<std::uint64_t>(spec.rule.turns.size(), 1, limit);
  map_.optional("times", spec.times, read_bound);
  if (spec.times.min > limit)
    fail_expected(*map_.find("times"), "times", "no more than limit, which is " + format_count(limit));
}

void FaultLoader::check() const {
  const bool on_segments = with_segments(topology_) && action_.on_segments != nullptr;
  if (!on_segments && !action_.exists(topology_)) refuse_action();
}

void FaultLoader::refuse_action() const {
  fail_expected(map_.require("action"), "action", "one that the topology has there");
}

void FaultLoader::load_event(FaultSpec& spec) {
  PortEvent event{.apply = action_.befall, .lasts = action_.lasts()};
  if (!action_.load_event(map_, names_, event)) refuse_action();
  map_.optional("for", event.duration, read_duration, runtime::TimeNs{1}, max_time);
  map_.optional("at", spec.at, read_duration, runtime::TimeNs{0}, max_time);
  const bool by_frame = map_.find("message") != nullptr || map_.find("fields") != nullptr;
  if (spec.at)
    for (const std::string_view key : {"direction", "flags", "flags_clear", "reason", "from", "until", "nth", "every",
                                       "limit", "probability", "workload"})
      if (const Tree* tree = map_.find(key); tree != nullptr)
        throw BadInput{tree->where + ": " + std::string(key) + ": expected with a message, and not with at"};
  if (spec.at.has_value() == by_frame)
    throw BadInput{map_.tree().where + ": expected either at (a time) or a message, at which it happens"};
  spec.event = event;
}

// Frames from either group to the other are lost; the fabric's services are heard by all.
std::vector<FaultSpec> FaultLoader::between_groups() {
  FaultSpec there;
  load_match(there);
  std::vector<std::size_t> group, others;
  for (const Tree& item : read_list(map_.require("ports"), "ports"))
    group.push_back(read_position(item, "ports", ports_));
  for (std::size_t i = 0; i < ports_.size(); ++i)
    if (std::find(group.begin(), group.end(), i) == group.end()) others.push_back(i);
  if (group.empty() || others.empty()) fail_expected(*map_.find("ports"), "ports", "some of the ports, not all");
  there.rule.action = {.apply = action_.apply};
  there.rule.note = action_.note(*there.rule.action);
  load_times(there, action_.certain);
  FaultSpec back = there;
  there.rule.match.links = back.rule.match.peers = group;
  there.rule.match.peers = back.rule.match.links = others;
  return {there, back};
}

// What a port event waits for is a segment, too; nothing befalls that.
void FaultLoader::load_segment(FaultSpec& spec) {
  refuse_keys_of_frames(map_, keys_of_frames);
  SegmentFault fault;
  if (const Tree* tree = map_.find("message")) spec.rule.match.message = read_known(*tree, "message", segment_names());
  map_.optional("fields", fault.fields, read_segment_fields);
  if (action_.on_segments != nullptr) {
    fault.kind = action_.on_segments->kind;
    action_.on_segments->load(map_, fault);
  }
  spec.segment = std::move(fault);
}

std::vector<FaultSpec> FaultLoader::load() {
  if (action_.groups) return between_groups();
  FaultSpec spec;
  if (with_segments(topology_))
    load_segment(spec);
  else
    load_contents(map_, spec.rule.match);
  load_match(spec);
  load_turns(map_, spec.rule);
  if (!befalls_messages()) {
    load_event(spec);
    spec.rule.note = action_.event_note;
    const bool once = map_.find("every") == nullptr && map_.find("limit") == nullptr;
    if (!spec.at && spec.rule.turns.empty() && once) spec.rule.turns = {1};
    load_times(spec, true);
    return {spec};
  }
  if (spec.segment) {
    spec.rule.note = action_.on_segments->note(*spec.segment);
    load_times(spec, spec.rule.probability >= 1);
    return {spec};
  }
  spec.rule.action = {.apply = action_.apply};
  action_.load(map_, spec);
  if (action_.note != nullptr) spec.rule.note = action_.note(*spec.rule.action);
  load_times(spec, action_.certain && spec.rule.probability >= 1);
  return {spec};
}

}  // namespace

std::vector<const KeyTable*> fault_keys() {
  static const std::vector<KeyTable> tables = [] {
    std::vector<KeyTable> made;
    for (const Action& action : actions) {
      KeyTable& table = made.emplace_back(KeyTable{"fault", {}, action.name});
      std::vector<std::string_view> names = keys_of(action, TopologyKind::Fabric);
      for (const std::string_view name : keys_of(action, TopologyKind::Tcp))
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
      for (const std::string_view name : names) {
        const auto known = std::ranges::find(all_keys(), name, &Key::name);
        if (known == all_keys().end()) continue;
        table.keys.push_back(*known);
        table.keys.back().required = std::ranges::find(action.needs, name) != action.needs.end();
      }
    }
    return made;
  }();
  std::vector<const KeyTable*> all;
  for (const KeyTable& table : tables) all.push_back(&table);
  return all;
}

std::vector<FaultSpec> load_faults(const Tree& tree, const Names& names, TopologyKind topology) {
  std::vector<FaultSpec> faults;
  std::size_t index = 0;
  for (const Tree& item : read_list(tree, "faults")) {
    if (index == max_faults) throw BadInput{item.where + ": more than " + std::to_string(max_faults) + " faults"};
    FaultLoader loader(item, names, topology, index++);
    loader.check();
    for (FaultSpec& spec : loader.load()) faults.emplace_back(std::move(spec)).where = item.where;
  }
  return faults;
}

}  // namespace sim
