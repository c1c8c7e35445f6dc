#include "tools/fcvi_sim/ranks/open.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "tools/fcvi_sim/ranks/module.hpp"

namespace sim::ranks {
namespace {

/// Beside the program, as the tree was built or installed; "" if it is not there.
std::filesystem::path module_path() {
  std::error_code missing;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", missing).parent_path();
  for (const char* place : {"../lib/fcvi", FCVI_BIN_TO_LIB "/fcvi"})
    if (const auto path = folder / place / module_file; std::filesystem::exists(path, missing)) return path;
  return {};
}

}  // namespace

std::unique_ptr<Ranks> open(std::string& wrong) {
  const std::filesystem::path path = module_path();
  if (path.empty()) {
    wrong = std::string(module_file) +
            " is not installed: of Debian's packages it is fcvi-tools-mpi; a build makes it " +
            "where Boost.MPI is found";
    return nullptr;
  }
  // MPI's own modules look for its names: RTLD_GLOBAL. It stays until the process ends, as its threads do.
  void* module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
  void* entry = module == nullptr ? nullptr : ::dlsym(module, entry_name);
  if (entry == nullptr) {
    const char* error = ::dlerror();
    wrong = error != nullptr ? error : path.string() + ": no module of fcvi-sim";
    return nullptr;
  }
  return std::unique_ptr<Ranks>(reinterpret_cast<Entry*>(entry)(wrong));
}

}  // namespace sim::ranks
