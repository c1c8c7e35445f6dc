// The keys that say when messages or frames are due. Each function throws settings::BadInput.
#pragma once
#include "settings/reader.hpp"
#include "tools/fcvi_sim/scenario/keys.hpp"
#include "tools/fcvi_sim/scenario/workload.hpp"

namespace sim {

/// interval, rate, arrivals, burst.
const std::vector<Key>& pace_keys();
/// These, and think_time where the mapping has it. `message_bytes`: of each, for rates in bytes.
void load_pace(const settings::MapReader& map, std::uint64_t message_bytes, PaceSpec& pace);
/// reply. `longest`: that the VIs transfer.
void load_answer(const settings::MapReader& map, std::uint64_t longest, TransferSpec& transfer);

}  // namespace sim
