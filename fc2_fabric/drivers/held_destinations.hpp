// What the other end of a link is to keep back, and what it was told of that: the records wait for room, the last word
// counts.
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "wire/types.hpp"

namespace fc2::drivers {

/// As many entries as destinations are held, or were so when the other end was told last.
class HeldDestinations {
 public:
  struct Change {
    wire::FcId id;
    bool held;
  };
  void hold(wire::FcId id) {
    if (const auto found = find(id); found != entries_.end())
      found->held = true;
    else
      entries_.push_back({id, true, false});
  }
  void proceed(wire::FcId id) {
    const auto found = find(id);
    if (found == entries_.end()) return;
    found->held = false;
    if (!found->told) entries_.erase(found);
  }
  /// What the other end is to be told next; told() when it was.
  [[nodiscard]] std::optional<Change> untold() const {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [](const Entry& e) { return e.held != e.told; });
    if (found == entries_.end()) return std::nullopt;
    return Change{found->id, found->held};
  }
  void told(const Change& change) {
    const auto found = find(change.id);
    if (change.held)
      found->told = true;
    else
      entries_.erase(found);
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    wire::FcId id;
    bool held, told;
  };
  std::vector<Entry>::iterator find(wire::FcId id) {
    return std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.id == id; });
  }
  std::vector<Entry> entries_;
};

}  // namespace fc2::drivers
