// The list "faults" of a scenario: each item one fault, which becomes one rule or more.
#include <algorithm>

#include "settings/units.hpp"
#include "tools/fcvi_sim/scenario/message_names.hpp"
#include "tools/fcvi_sim/scenario/parts_loader.hpp"

namespace sim {
using namespace settings;
namespace {
using Kind = fc2::FaultAction::Kind;

enum class Fault : std::uint8_t {
  Drop,
  Duplicate,
  Delay,
  Reorder,
  Corrupt,
  Truncate,
  Rewrite,
  Silence,
  Partition,
  LinkDown,
  LogOut,
  IslDown,
  SwitchDown,
  Cut,
  Nos,
  Ols,
  LinkReset,
  Lip,
  Replug
};
constexpr Choice<Fault> kinds[] = {{"drop", Fault::Drop},
                                   {"duplicate", Fault::Duplicate},
                                   {"delay", Fault::Delay},
                                   {"reorder", Fault::Reorder},
                                   {"corrupt", Fault::Corrupt},
                                   {"truncate", Fault::Truncate},
                                   {"rewrite", Fault::Rewrite},
                                   {"silence", Fault::Silence},
                                   {"partition", Fault::Partition},
                                   {"link_down", Fault::LinkDown},
                                   {"log_out", Fault::LogOut},
                                   {"isl_down", Fault::IslDown},
                                   {"switch_down", Fault::SwitchDown},
                                   {"cut", Fault::Cut},
                                   {"nos", Fault::Nos},
                                   {"ols", Fault::Ols},
                                   {"link_reset", Fault::LinkReset},
                                   {"lip", Fault::Lip},
                                   {"replug", Fault::Replug}};

struct EventOf {
  Fault fault;
  PortEvent::Kind kind;
  const char* note;
};
constexpr EventOf events[] = {{Fault::LinkDown, PortEvent::Kind::LinkDown, "link down"},
                              {Fault::LogOut, PortEvent::Kind::LogOut, "logout"},
                              {Fault::IslDown, PortEvent::Kind::SwitchLinkDown, "ISL down"},
                              {Fault::SwitchDown, PortEvent::Kind::SwitchDown, "switch down"},
                              {Fault::Cut, PortEvent::Kind::Cut, "link cut"},
                              {Fault::Nos, PortEvent::Kind::Nos, "NOS"},
                              {Fault::Ols, PortEvent::Kind::Ols, "OLS"},
                              {Fault::LinkReset, PortEvent::Kind::LinkReset, "LR"},
                              {Fault::Lip, PortEvent::Kind::Lip, "LIP"},
                              {Fault::Replug, PortEvent::Kind::Replug, "plugged in elsewhere"}};
/// nullptr: it befalls frames.
const EventOf* event_of(Fault fault) {
  const auto found =
      std::find_if(std::begin(events), std::end(events), [&](const EventOf& event) { return event.fault == fault; });
  return found == std::end(events) ? nullptr : found;
}

/// What a topology has to offer ...
bool exists_in(Fault fault, TopologyKind topology) {
  if (fault == Fault::Replug) return topology != TopologyKind::PointToPoint;
  const bool of_fabric = fault == Fault::IslDown || fault == Fault::SwitchDown;
  return !of_fabric || topology == TopologyKind::Fabric;
}
/// ... and a port's place in it. Primitive sequences are a link's, LIP is a loop's.
bool exists_at(Fault fault, bool on_loop) {
  if (fault == Fault::Lip) return on_loop;
  return !on_loop || (fault != Fault::Cut && fault != Fault::Nos && fault != Fault::Ols && fault != Fault::LinkReset);
}
enum class Direction : std::uint8_t { Sent, Received, Both };
constexpr Choice<Direction> directions[] = {
    {"sent", Direction::Sent}, {"received", Direction::Received}, {"both", Direction::Both}};
constexpr Choice<bool> crcs[] = {{"bad", true}, {"good", false}};
constexpr std::uint64_t most_frames = 1'000'000;
constexpr auto fc_vi_type = static_cast<std::uint64_t>(wire::Type::fc_vi);

/// The keys that say which frames, and those of each fault besides.
const std::vector<std::string_view> match_keys{"action", "message",     "port",        "direction", "peer",
                                               "flags",  "flags_clear", "reason",      "fields",    "from",
                                               "until",  "nth",         "probability", "times"};

std::vector<std::string_view> keys_of(Fault fault) {
  std::vector<std::string_view> keys = match_keys;
  const auto with = [&](std::initializer_list<std::string_view> more) {
    keys.insert(keys.end(), more);
    return keys;
  };
  switch (fault) {
    case Fault::Drop: return keys;
    case Fault::Duplicate: return with({"by", "copies"});
    case Fault::Delay: return with({"by"});
    case Fault::Reorder: return with({"frames", "longest_hold"});
    case Fault::Corrupt: return with({"bit", "crc"});
    case Fault::Truncate: return with({"bytes", "crc"});
    case Fault::Rewrite: return with({"set"});
    case Fault::Silence: return {"action", "port", "from", "until", "times"};
    case Fault::Partition: return {"action", "ports", "from", "until", "times"};
    case Fault::LinkDown:
    case Fault::Cut: return with({"at", "for"});
    case Fault::Nos:
    case Fault::Ols:
    case Fault::LinkReset:
    case Fault::Lip:
    case Fault::Replug: return with({"at"});
    case Fault::LogOut: return with({"at", "implicit"});
    case Fault::IslDown: return with({"at", "for", "isl"});
    case Fault::SwitchDown: return with({"at", "for", "switch"});
  }
  return keys;
}

class FaultLoader {
 public:
  FaultLoader(const Tree& tree, const Names& names, std::size_t index)
      : names_(names), ports_(names.ports), fault_(read_choice(action_of(tree, index), "action", kinds)),
        map_(tree, "faults[" + std::to_string(index) + "]", keys_of(fault_)) {}
  /// Refuses what the topology does not have.
  void check(TopologyKind topology) const;
  void refuse_action() const;
  std::vector<FaultSpec> load();

 private:
  static const Tree& action_of(const Tree& tree, std::size_t index) {
    if (tree.kind != Tree::Kind::Map)
      fail_expected(tree, "faults[" + std::to_string(index) + "]", "a mapping with an action");
    const Tree* action = tree.find("action");
    if (action == nullptr) throw BadInput{tree.where + ": faults[" + std::to_string(index) + "]: action is missing"};
    return *action;
  }
  void load_match(FaultSpec& spec);
  void load_contents(faults::Match& match);
  void load_turns(FaultSpec& spec);
  void load_times(FaultSpec& spec, bool certain);
  void load_action(fc2::FaultAction& action);
  void load_patches(FaultSpec& spec);
  void load_event(FaultSpec& spec);
  std::vector<FaultSpec> partition();
  std::string note(const faults::Rule& rule) const;
  std::size_t port(std::string_view key) { return read_position(map_.require(key), key, ports_); }

  const Names& names_;
  const std::vector<std::string_view>& ports_;
  Fault fault_;
  MapReader map_;
};

void FaultLoader::load_contents(faults::Match& match) {
  if (const Tree* tree = map_.find("message")) match.message = read_known(*tree, "message", known_message_names());
  if (const Tree* tree = map_.find("flags")) match.flags = read_flags(*tree, "flags", match.message);
  if (const Tree* tree = map_.find("flags_clear")) match.flags_clear = read_flags(*tree, "flags_clear", match.message);
  map_.optional("reason", match.reason, read_reason);
  map_.optional("fields", match.fields, read_fields);
}

void FaultLoader::load_match(FaultSpec& spec) {
  faults::Match& match = spec.rule.match;
  if (map_.find("port") != nullptr) match.links = {port("port")};
  if (map_.find("peer") != nullptr && fault_ != Fault::LogOut) match.peers = {port("peer")};
  Direction direction = fault_ == Fault::Silence ? Direction::Both : Direction::Sent;
  if (const Tree* tree = map_.find("direction")) direction = read_choice(*tree, "direction", directions);
  match.sent = direction != Direction::Received;
  match.received = direction != Direction::Sent;
  map_.optional("from", match.from, read_duration, runtime::TimeNs{0}, max_time);
  map_.optional("until", match.until, read_duration, runtime::TimeNs{0}, max_time);
  if (match.from >= match.until) fail_expected(*map_.find("until"), "until", "later than from");
}

void FaultLoader::load_turns(FaultSpec& spec) {
  if (const Tree* tree = map_.find("nth")) {
    if (tree->kind == Tree::Kind::List)
      for (const Tree& item : tree->items) spec.rule.turns.push_back(read_number(item, "nth", {1, most_frames}));
    else
      spec.rule.turns = {read_number(*tree, "nth", {1, most_frames})};
  }
  if (const Tree* tree = map_.find("probability")) {
    char* end = nullptr;
    const double value = tree->kind == Tree::Kind::Scalar ? std::strtod(tree->scalar.c_str(), &end) : -1;
    if (!(value >= 0 && value <= 1) || end == tree->scalar.c_str() || *end != 0)
      fail_expected(*tree, "probability", "a number from 0 to 1");
    spec.rule.probability = value;
  }
}

// What is certain to happen once must happen: a rule that never came to its turn is a mistake in the scenario.
void FaultLoader::load_times(FaultSpec& spec, bool certain) {
  if (certain) spec.times.min = std::max<std::uint64_t>(1, spec.rule.turns.size());
  map_.optional("times", spec.times, read_bound);
}

// What only FC-VI frames have is not written into others.
void FaultLoader::load_patches(FaultSpec& spec) {
  const Tree& set = map_.require("set");
  for (const auto& [name, value] : MapReader(set, "set", faults::field_names()).tree().entries) {
    const faults::FrameField* field = faults::find_field(name);
    spec.rule.action->patches.push_back(field->patch(read_number(value, name, {0, field->max()})));
    if (field->fcvi) spec.rule.match.fields.push_back({faults::find_field("type"), fc_vi_type, fc_vi_type});
  }
}

void FaultLoader::load_action(fc2::FaultAction& action) {
  switch (fault_) {
    case Fault::Drop:
    case Fault::Silence: action.kind = Kind::Drop; break;
    case Fault::Duplicate: action.kind = Kind::Duplicate; break;
    case Fault::Delay:
      action.kind = Kind::Delay;
      static_cast<void>(map_.require("by"));
      break;
    case Fault::Reorder: action.kind = Kind::Reorder; break;
    case Fault::Corrupt: action.kind = Kind::Corrupt; break;
    case Fault::Truncate:
      action.kind = Kind::Truncate;
      action.size_bytes = static_cast<std::uint16_t>(read_bytes(map_.require("bytes"), "bytes", {0, 24 + 2112}));
      break;
    case Fault::Rewrite: action.kind = Kind::Rewrite; break;
    case Fault::Partition:
    case Fault::LinkDown:
    case Fault::LogOut:
    case Fault::IslDown:
    case Fault::SwitchDown:
    case Fault::Cut:
    case Fault::Nos:
    case Fault::Ols:
    case Fault::LinkReset:
    case Fault::Lip:
    case Fault::Replug: break;
  }
  map_.optional("by", action.delay, read_duration, runtime::TimeNs{0}, max_time);
  map_.optional("copies", action.frames, read_number, Range{1, 1000});
  map_.optional("frames", action.frames, read_number, Range{1, most_frames});
  map_.optional("longest_hold", action.longest_hold, read_duration, runtime::TimeNs{0}, max_time);
  map_.optional("bit", action.bit, read_number, Range{0, 8 * (24 + 2112) - 1});
  if (const Tree* tree = map_.find("crc")) action.crc_error = read_choice(*tree, "crc", crcs);
}

void FaultLoader::check(TopologyKind topology) const {
  if (!exists_in(fault_, topology)) refuse_action();
}

void FaultLoader::refuse_action() const {
  fail_expected(map_.require("action"), "action", "one that the topology has there");
}

void FaultLoader::load_event(FaultSpec& spec) {
  PortEvent event{.kind = event_of(fault_)->kind};
  if (fault_ == Fault::IslDown)
    event.port = read_position(map_.require("isl"), "isl", names_.switch_links);
  else if (fault_ == Fault::SwitchDown)
    event.port = read_position(map_.require("switch"), "switch", names_.switches);
  else if (!exists_at(fault_, names_.on_loop[event.port = port("port")]))
    refuse_action();
  if (fault_ == Fault::LogOut) {
    event.peer = port("peer");
    const Tree* implicit = map_.find("implicit");
    if (implicit != nullptr && read_bool(*implicit, "implicit")) event.kind = PortEvent::Kind::ImplicitLogOut;
    if (event.peer == event.port) fail_expected(*map_.find("peer"), "peer", "another port");
  }
  map_.optional("for", event.duration, read_duration, runtime::TimeNs{1}, max_time);
  map_.optional("at", spec.at, read_duration, runtime::TimeNs{0}, max_time);
  const bool by_frame = map_.find("message") != nullptr || map_.find("fields") != nullptr;
  if (spec.at.has_value() == by_frame)
    throw BadInput{map_.tree().where + ": expected either at (a time) or a message, at which it happens"};
  spec.event = event;
}

// Frames from either group to the other are lost; the fabric's services are heard by all.
std::vector<FaultSpec> FaultLoader::partition() {
  FaultSpec there;
  load_match(there);
  std::vector<std::size_t> group, others;
  for (const Tree& item : read_list(map_.require("ports"), "ports"))
    group.push_back(read_position(item, "ports", ports_));
  for (std::size_t i = 0; i < ports_.size(); ++i)
    if (std::find(group.begin(), group.end(), i) == group.end()) others.push_back(i);
  if (group.empty() || others.empty()) fail_expected(*map_.find("ports"), "ports", "some of the ports, not all");
  there.rule.action = fc2::FaultAction{};
  there.rule.note = "lost: partition";
  load_times(there, false);
  FaultSpec back = there;
  there.rule.match.links = back.rule.match.peers = group;
  there.rule.match.peers = back.rule.match.links = others;
  return {there, back};
}

std::string FaultLoader::note(const faults::Rule& rule) const {
  const fc2::FaultAction& action = *rule.action;
  switch (action.kind) {
    case Kind::Drop: return fault_ == Fault::Silence ? "lost: silence" : "lost";
    case Kind::Duplicate:
      return action.frames == 1 ? "duplicated" : "duplicated " + format_count(action.frames) + " times";
    case Kind::Delay: return "delayed by " + format_duration(action.delay);
    case Kind::Reorder:
      return "overtaken by " + format_count(action.frames) + (action.frames == 1 ? " frame" : " frames");
    case Kind::Corrupt: return "corrupted, bit " + std::to_string(action.bit) + (action.crc_error ? "" : ", CRC good");
    case Kind::Truncate: return "cut to " + format_bytes(action.size_bytes) + (action.crc_error ? "" : ", CRC good");
    case Kind::Rewrite: return "rewritten";
  }
  return "";
}

std::vector<FaultSpec> FaultLoader::load() {
  if (fault_ == Fault::Partition) return partition();
  FaultSpec spec;
  load_contents(spec.rule.match);
  load_match(spec);
  load_turns(spec);
  if (const EventOf* event = event_of(fault_)) {
    load_event(spec);
    spec.rule.note = event->note;
    if (!spec.at && spec.rule.turns.empty()) spec.rule.turns = {1};
    load_times(spec, true);
    return {spec};
  }
  if (fault_ == Fault::Silence) static_cast<void>(map_.require("port"));
  load_action(spec.rule.action.emplace());
  if (fault_ == Fault::Rewrite) load_patches(spec);
  spec.rule.note = note(spec.rule);
  load_times(spec, fault_ != Fault::Silence && spec.rule.probability >= 1);
  return {spec};
}

}  // namespace

std::vector<FaultSpec> load_faults(const Tree& tree, const Names& names, TopologyKind topology) {
  std::vector<FaultSpec> faults;
  std::size_t index = 0;
  for (const Tree& item : read_list(tree, "faults")) {
    if (index == max_faults) throw BadInput{item.where + ": more than " + std::to_string(max_faults) + " faults"};
    FaultLoader loader(item, names, index++);
    loader.check(topology);
    for (FaultSpec& spec : loader.load()) faults.push_back(std::move(spec));
  }
  return faults;
}

}  // namespace sim
