#include "runtime/drivers/process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "runtime/drivers/descriptor.hpp"

namespace runtime::drivers {

// proc(5): "PID (NAME) STATE ...", where the name may hold anything.
bool is_stopped(std::uint32_t process_id) {
  const std::string path = "/proc/" + std::to_string(process_id) + "/stat";
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[256];
  const ssize_t size = file ? ::read(file.number(), text, sizeof text) : -1;
  if (size <= 0) return false;
  const std::string_view line(text, static_cast<std::size_t>(size));
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 >= line.size()) return false;
  return std::string_view("TtZX").find(line[name_end + 2]) != std::string_view::npos;
}

}  // namespace runtime::drivers
