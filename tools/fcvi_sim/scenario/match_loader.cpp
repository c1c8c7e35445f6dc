#include "tools/fcvi_sim/scenario/match_loader.hpp"

#include "tools/fcvi_sim/scenario/keys.hpp"
#include "tools/fcvi_sim/scenario/message_names.hpp"
#include "tools/fcvi_sim/scenario/parts_loader.hpp"

namespace sim {
using namespace settings;
namespace {

enum class Direction : std::uint8_t { Sent, Received, Both };
constexpr Choice<Direction> directions[] = {
    {"sent", Direction::Sent}, {"received", Direction::Received}, {"both", Direction::Both}};

}  // namespace

std::vector<std::string_view> direction_names() { return names_in<directions>(); }

void load_contents(const MapReader& map, faults::Match& match) {
  if (const Tree* tree = map.find("message")) match.message = read_known(*tree, "message", known_message_names());
  if (const Tree* tree = map.find("flags")) match.flags = read_flags(*tree, "flags", match.message);
  if (const Tree* tree = map.find("flags_clear")) match.flags_clear = read_flags(*tree, "flags_clear", match.message);
  map.optional("reason", match.reason, read_reason);
  map.optional("fields", match.fields, read_fields);
}

void load_passage(const MapReader& map, faults::Match& match) {
  if (const Tree* tree = map.find("direction")) {
    const Direction direction = read_choice(*tree, "direction", directions);
    match.sent = direction != Direction::Received;
    match.received = direction != Direction::Sent;
  }
  map.optional("from", match.from, read_duration, runtime::TimeNs{0}, max_time);
  map.optional("until", match.until, read_duration, runtime::TimeNs{0}, max_time);
  if (match.from >= match.until) fail_expected(*map.find("until"), "until", "later than from");
}

void load_turns(const MapReader& map, faults::Rule& rule) {
  if (const Tree* tree = map.find("nth")) {
    if (tree->kind == Tree::Kind::List && tree->items.empty()) fail_expected(*tree, "nth", "one at least");
    if (tree->kind == Tree::Kind::List)
      for (const Tree& item : tree->items) rule.turns.push_back(read_number(item, "nth", frame_counts));
    else
      rule.turns = {read_number(*tree, "nth", frame_counts)};
  }
  map.optional("every", rule.every, read_number, frame_counts);
  if (map.find("nth") != nullptr && map.find("every") != nullptr)
    throw BadInput{map.find("every")->where + ": every: expected without nth, which counts the same frames"};
  map.optional("limit", rule.limit, read_number, frame_counts);
  map.optional("probability", rule.probability, read_share);
}

}  // namespace sim
