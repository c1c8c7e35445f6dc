// The filters of a command line: a frame passes that one of them takes.
#pragma once
#include <deque>

#include "tools/fcvi_sim/capture/selection.hpp"

namespace sim::capture {

class Filters {
 public:
  /// Returns what is wrong with one of them; empty: nothing.
  std::string set(const std::vector<std::string>& texts) {
    for (const std::string& text : texts)
      if (std::string error = filters_.emplace_back().set(text); !error.empty()) return error;
    return {};
  }
  /// Each counts for itself which frame is its turn.
  [[nodiscard]] bool take(const Seen& seen, const std::vector<Interface>& interfaces) {
    bool taken = filters_.empty();
    for (Filter& filter : filters_)
      if (filter.takes(seen, interfaces)) taken = true;
    return taken;
  }
  /// Empty where every port that they name is in the capture.
  [[nodiscard]] std::string warning() const {
    std::string text;
    for (const Filter& filter : filters_)
      for (const std::string& port : filter.unseen_ports()) text.append(text.empty() ? "" : ", ").append(port);
    return text.empty() ? text : "--filter: no frame of " + text + " (an interface of the capture, or an N_Port_ID)";
  }

 private:
  std::deque<Filter> filters_;
};

}  // namespace sim::capture
