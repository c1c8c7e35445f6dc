#include "fc2_fabric/switch/directory_feed.hpp"

#include "fc2_fabric/switch/fabric_config.hpp"

namespace fc2 {

void DirectoryFeed::add(std::size_t origin, DirectoryChange change) {
  const TimeNs due = scheduler_.now() + delay_;
  if (export_ != nullptr) export_->exported(due, origin, change);
  import(due, origin, std::move(change));
}

void DirectoryFeed::import(TimeNs due, std::size_t origin, DirectoryChange change) {
  coming_.emplace(std::pair(due, origin), std::move(change));
  scheduler_.schedule_first(*this, coming_.begin()->first.first, instant_rank::directory);
}

void DirectoryFeed::fire(TimeNs now) {
  while (!coming_.empty() && coming_.begin()->first.first <= now) {
    const auto next = coming_.extract(coming_.begin());
    apply_(next.key().second, next.mapped());
  }
  if (!coming_.empty()) scheduler_.schedule_first(*this, coming_.begin()->first.first, instant_rank::directory);
}

}  // namespace fc2
