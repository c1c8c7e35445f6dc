#include "tools/fabricd/process_end.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace fabricd {
namespace {
// proc(5): fields behind the name, which stands in parentheses and may hold anything.
constexpr int field_state = 3, field_flags = 9, field_exit_code = 52;
constexpr unsigned long exiting = 4;  // PF_EXITING of the kernel

// linux/pidfd.h of 6.15, which a build host may not have.
struct PidfdInfo {
  std::uint64_t mask = 0, control_group = 0;
  std::array<std::uint32_t, 11> ids{};  // of process, parent, users and groups
  std::int32_t exit_code = 0;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr unsigned long pidfd_get_info = _IOWR(0xFF, 11, PidfdInfo);
constexpr std::uint64_t pidfd_info_exit = 1 << 3;
}  // namespace

ProcessEnd parse_stat(const std::string& stat) {
  const std::size_t behind_name = stat.rfind(')');
  if (behind_name == std::string::npos) return {.ended = true};
  std::istringstream text(stat.substr(behind_name + 1));
  std::string state, field;
  unsigned long flags = 0;
  int exit_code = 0;
  text >> state;
  for (int number = field_state + 1; text >> field && number <= field_exit_code; ++number) {
    if (number == field_flags) flags = std::strtoul(field.c_str(), nullptr, 10);
    if (number == field_exit_code) exit_code = static_cast<int>(std::strtol(field.c_str(), nullptr, 10));
  }
  const bool ended = (flags & exiting) != 0 || state == "Z" || state == "X";
  return ended ? ProcessEnd{.ended = true, .status = exit_code} : ProcessEnd{};
}

// Empty: there is no such process, or, ESRCH, there is none any more. A stream would throw then.
static std::string read_stat(std::uint32_t process_id) {
  const std::string path = "/proc/" + std::to_string(process_id) + "/stat";
  const runtime::drivers::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> text;
  const ssize_t count = file ? ::read(file.number(), text.data(), text.size()) : 0;
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

WatchedProcess::WatchedProcess(std::uint32_t process_id)
    : process_id_(process_id), pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, process_id, 0))) {}

ProcessEnd WatchedProcess::end() const {
  const std::string stat = read_stat(process_id_);
  const ProcessEnd told = parse_stat(stat);
  pollfd exited{pidfd_.number(), POLLIN, 0};  // else another process has its number by now
  if (!stat.empty() && (told.ended || !pidfd_ || ::poll(&exited, 1, 0) <= 0)) return told;
  PidfdInfo info{.mask = pidfd_info_exit};
  const bool known =
      pidfd_ && ::ioctl(pidfd_.number(), pidfd_get_info, &info) == 0 && (info.mask & pidfd_info_exit) != 0;
  return {.ended = true, .status = known ? std::optional(info.exit_code) : std::nullopt};
}

std::string ProcessEnd::to_string() const {
  if (!ended) return "it closed its link";
  if (!status) return "its process has ended";
  if (signal() != 0) return fmt::format("its process was killed by signal {} ({})", signal(), ::strsignal(signal()));
  return fmt::format("its process ended with exit status {}", *status >> 8 & 0xFF);
}

}  // namespace fabricd
