// Which frames: the keys that a fault of a scenario and a filter of a capture share. Each function throws
// settings::BadInput.
#pragma once
#include <string_view>
#include <vector>

#include "settings/reader.hpp"
#include "tools/faults/rules.hpp"

namespace sim {

inline constexpr std::string_view match_keys[] = {"message",     "port",   "direction", "peer",       "flags",
                                                  "flags_clear", "reason", "fields",    "from",       "until",
                                                  "nth",         "every",  "limit",     "probability"};
inline constexpr std::uint64_t most_frames = 1'000'000;
inline constexpr settings::Range frame_counts{1, most_frames};

/// That `direction` may have.
std::vector<std::string_view> direction_names();
/// message, flags, flags_clear, reason, fields.
void load_contents(const settings::MapReader& map, faults::Match& match);
/// direction, from, until; what is absent stays as it is.
void load_passage(const settings::MapReader& map, faults::Match& match);
/// nth, every, limit, probability.
void load_turns(const settings::MapReader& map, faults::Rule& rule);

}  // namespace sim
