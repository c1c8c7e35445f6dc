#include "tools/fcvi_sim/soak/out_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace sim::soak {
namespace {

/// "" or why no file can be made there.
std::string probe(const std::string& folder) {
  std::string name = folder + "/.probe-XXXXXX";
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return folder + ": cannot write there: " + std::strerror(errno);
  ::close(file);
  ::unlink(name.c_str());
  return {};
}

}  // namespace

OutFolder::~OutFolder() {
  for (auto path = made_.rbegin(); path != made_.rend(); ++path) ::rmdir(path->c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string OutFolder::make(const std::filesystem::path& path) {
  std::error_code ignored;
  if (path.empty() || std::filesystem::is_directory(path, ignored)) return {};
  if (std::string wrong = make(path.parent_path()); !wrong.empty()) return wrong;
  if (::mkdir(path.c_str(), 0777) == 0)
    made_.push_back(path);
  else if (errno != EEXIST || !std::filesystem::is_directory(path, ignored))
    return path.string() +
           (errno == EEXIST ? ": is no folder" : ": cannot be made: " + std::string(std::strerror(errno)));
  return {};
}

std::string OutFolder::open(const std::string& path, Use use) {
  if (path.empty()) return "--out: expected the name of a folder";
  if (std::string wrong = make(std::filesystem::path(path)); !wrong.empty()) return "--out: " + wrong;
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) return "--out: " + path + ": " + std::strerror(errno);
  if (use == Use::Alone && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0)
    return "--out: " + path + ": another soak works there, expected another folder";
  const std::string wrong = probe(path);
  return wrong.empty() ? "" : "--out: " + wrong;
}

}  // namespace sim::soak
