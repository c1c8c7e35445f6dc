// Makes a scenario that fails small: what it can do without goes, numbers become smaller, until nothing more can go.
#pragma once
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "settings/tree.hpp"
#include "tools/fcvi_sim/soak/trial.hpp"

namespace sim::soak {

class Shrinker {
 public:
  /// Whether a scenario can be read, and still fails in the same way.
  using Fails = std::function<bool(const std::string& text)>;
  /// Pre: `root` fails. `most` trials at most.
  Shrinker(settings::Tree root, Fails fails, std::size_t most = 20'000);

  /// Names the frames that faults by chance, every n-th or within a time befell (Outcome::turns), where it fails all
  /// the same: then frames can go one by one.
  void name_turns(const Scenario& scenario, const Outcome& outcome);
  /// Ends when no single step is left: no item of a list, no half or quarter of one, no key, no smaller number, no
  /// port that can stand for another.
  const settings::Tree& shrink();
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::size_t trials() const { return tried_.size() - 1; }
  /// Trials were left out: there were too many.
  [[nodiscard]] bool is_cut_short() const { return cut_short_; }

 private:
  /// Positions of items and entries, from the root.
  using Path = std::vector<std::size_t>;
  using Change = std::function<void(settings::Tree& part)>;
  [[nodiscard]] settings::Tree& at(settings::Tree& root, const Path& path) const;
  [[nodiscard]] bool fails(const std::string& text);
  /// Keeps the change of that part if it fails all the same.
  bool try_change(const Path& path, const Change& change);
  bool shorten_list(const Path& path);
  bool drop_entries(const Path& path);
  bool lower_number(const Path& path);
  bool name_other_port(const Path& path);
  bool shrink_part(const Path& path, bool names_port);

  settings::Tree root_;
  Fails fails_;
  std::size_t most_;
  bool cut_short_ = false;
  std::unordered_map<std::string, bool> tried_;  // and whether it failed
};

}  // namespace sim::soak
