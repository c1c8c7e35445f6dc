#include "vipl/configuration/usual_places.hpp"

#include <algorithm>
#include <cstdlib>

namespace vipl {
namespace {

// XDG Base Directory Specification: what is not absolute is ignored.
void add_place(std::vector<std::string>& places, const std::string& directory, std::string_view name) {
  if (directory.starts_with('/')) places.push_back(directory + "/fcvi/" + std::string(name));
}

}  // namespace

std::string environment(const char* name) {
  const char* const value = secure_getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> usual_places(std::string_view name) {
  std::vector<std::string> places;
  const std::string own = environment("XDG_CONFIG_HOME"), home = environment("HOME");
  add_place(places, own.empty() ? home + "/.config" : own, name);
  std::string directories = environment("XDG_CONFIG_DIRS");
  if (directories.empty()) directories = "/etc/xdg";
  for (std::size_t begin = 0; begin <= directories.size();) {
    const std::size_t end = std::min(directories.find(':', begin), directories.size());
    add_place(places, directories.substr(begin, end - begin), name);
    begin = end + 1;
  }
  add_place(places, "/etc", name);
  return places;
}

}  // namespace vipl
