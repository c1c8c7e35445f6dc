#include "tools/fcvi_sim/run/record.hpp"

namespace sim {

void RowLog::note(runtime::TimeNs at, std::size_t place, const FiredRow& row) {
  const auto [number, is_new] =
      numbers_.try_emplace(Key(row.machine.data(), row.index), static_cast<std::uint32_t>(rows_.size()));
  if (is_new) rows_.push_back({.row = row});
  Row& noted = rows_[number->second];
  ++noted.times;
  std::size_t& of_machine = kept_[row.machine.data()];
  if (of_machine == most_of_a_machine) return;
  ++of_machine;
  ++noted.kept;
  fired_.push_back({at, static_cast<std::uint32_t>(place), number->second});
}

}  // namespace sim
