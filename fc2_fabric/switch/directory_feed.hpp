// Records of ports on their way from one switch to all of its fabric, where that takes time
// (FabricConfig::directory_delay): what a switch learns of its ports at one time is in the common directory a fixed
// delay later, before all else that happens then. So switches may be simulated apart, each with a copy of it.
#pragma once
#include <functional>
#include <map>
#include <utility>

#include "fc2_fabric/switch/directory_change.hpp"

namespace fc2 {

/// Hears of what the switches here learned, for copies of the directory elsewhere.
class DirectoryExport {
 public:
  /// To be in each copy of the directory at `due`. `origin`: see DirectoryFeed.
  virtual void exported(TimeNs due, std::size_t origin, const DirectoryChange& change) = 0;

 protected:
  ~DirectoryExport() = default;
};

class DirectoryFeed final : private Event {
 public:
  using Apply = std::function<void(std::size_t origin, const DirectoryChange& change)>;
  /// `apply` is called when a change is due: of one time by `origin`, the position of its switch in the fabric, and of
  /// one switch in the order in which it learned them. `delay` > 0.
  DirectoryFeed(Scheduler& scheduler, TimeNs delay, Apply apply)
      : scheduler_(scheduler), delay_(delay), apply_(std::move(apply)) {}

  /// A switch here learned it, now.
  void add(std::size_t origin, DirectoryChange change);
  /// A switch elsewhere did: it is due at that time, not before now.
  void import(TimeNs due, std::size_t origin, DirectoryChange change);
  /// One at a time; nullptr removes it. It outlives the feed, or is removed.
  void set_export(DirectoryExport* to) { export_ = to; }

 private:
  void fire(TimeNs now) override;

  Scheduler& scheduler_;
  const TimeNs delay_;
  const Apply apply_;
  DirectoryExport* export_ = nullptr;
  std::multimap<std::pair<TimeNs, std::size_t>, DirectoryChange> coming_;  // by when due, and origin
};

}  // namespace fc2
