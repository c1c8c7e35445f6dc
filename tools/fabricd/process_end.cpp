#include "tools/fabricd/process_end.hpp"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

namespace fabricd {
namespace {
// proc(5): fields behind the name, which stands in parentheses and may hold anything.
constexpr int field_state = 3, field_flags = 9, field_exit_code = 52;
constexpr unsigned long exiting = 4;  // PF_EXITING of the kernel
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
    if (number == field_flags) flags = std::stoul(field);
    if (number == field_exit_code) exit_code = std::stoi(field);
  }
  const bool ended = (flags & exiting) != 0 || state == "Z" || state == "X";
  return ended ? ProcessEnd{.ended = true, .status = exit_code} : ProcessEnd{};
}

ProcessEnd end_of_process(std::uint32_t process_id) {
  std::ifstream file("/proc/" + std::to_string(process_id) + "/stat");
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  return stat.empty() ? ProcessEnd{.ended = true} : parse_stat(stat);
}

std::string ProcessEnd::to_string() const {
  if (!ended) return "it closed its link";
  if (!status) return "its process has ended";
  if (signal() != 0) return fmt::format("its process was killed by signal {} ({})", signal(), ::strsignal(signal()));
  return fmt::format("its process ended with exit status {}", *status >> 8 & 0xFF);
}

}  // namespace fabricd
