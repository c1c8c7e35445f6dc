// How a process ended whose link is gone, as far as the system still tells.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/drivers/descriptor.hpp"

namespace fabricd {

struct ProcessEnd {
  bool ended = false;           // or is about to; else it has only closed its link
  std::optional<int> status{};  // as waitpid() gives it; nullopt: its parent has it already, or it runs
  /// The signal that ended it; 0: none, or not known.
  [[nodiscard]] int signal() const { return status ? *status & 0x7F : 0; }
  /// A clause: "its process was killed by signal 9 (Killed)".
  [[nodiscard]] std::string to_string() const;
};

/// A process of this user whose end will be asked for, when its descriptors are closed or later. Looks at
/// /proc, and where its parent was faster asks Linux 6.15 or later, which remembers for those that watch.
class WatchedProcess {
 public:
  explicit WatchedProcess(std::uint32_t process_id);
  [[nodiscard]] ProcessEnd end() const;

 private:
  const std::uint32_t process_id_;
  const runtime::drivers::Descriptor pidfd_;  // none: the system has no more
};

/// What /proc/PID/stat says.
ProcessEnd parse_stat(const std::string& stat);

}  // namespace fabricd
