// Frames per second of an F_Port: over the last 5 to 10 seconds, at least over one.
#pragma once
#include <cstdint>
#include <map>
#include <utility>

#include "fc2_fabric/switch/f_port.hpp"
#include "runtime/scheduler.hpp"

namespace fabricd {

class Rates {
 public:
  static constexpr runtime::TimeNs interval = 5 * runtime::second;
  static constexpr runtime::TimeNs least = runtime::second;  // a frame just after a sample is not a hundred per second
  struct PerSecond {
    double in = 0, out = 0;
  };

  /// Called every `interval`: begins the sample that lasts until the next call.
  void begin_sample(runtime::TimeNs now) {
    before_ = std::exchange(latest_, {});
    latest_.at = now;
  }
  void sample(const fc2::FPort& port) {
    latest_.counts[port.number()] = {port.frames_from_port(), port.frames_to_port()};
  }
  /// 0 if it is not known long enough.
  [[nodiscard]] PerSecond of(const fc2::FPort& port, runtime::TimeNs now) const {
    const Sample& base = before_.counts.contains(port.number()) ? before_ : latest_;
    const auto found = base.counts.find(port.number());
    const double seconds = static_cast<double>(now - base.at) / static_cast<double>(runtime::second);
    const bool known = found != base.counts.end() && now - base.at >= least;
    if (!known || found->second.in > port.frames_from_port() || found->second.out > port.frames_to_port())
      return {};  // counted anew
    return {static_cast<double>(port.frames_from_port() - found->second.in) / seconds,
            static_cast<double>(port.frames_to_port() - found->second.out) / seconds};
  }

 private:
  struct Counts {
    std::uint64_t in = 0, out = 0;
  };
  struct Sample {
    runtime::TimeNs at = 0;
    std::map<std::size_t, Counts> counts{};  // by the F_Port's number
  };
  Sample before_, latest_;
};

}  // namespace fabricd
