// iwarp-run: runs a program that uses verbs upon RDMA over TCP. Exit status: the program's; 1 it cannot be run, 2 bad
// input.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace {
namespace fs = std::filesystem;

constexpr const char* usage =
    "usage: iwarp-run [--config FILE] [--libraries FOLDER] PROGRAM [ARGUMENT...]\n"
    "       iwarp-run --help | --version\n";

int complain(const std::string& message, int status) {
  std::fprintf(stderr, "iwarp-run: %s\n", message.c_str());
  return status;
}

/// Where they were installed, or built: beside this program.
std::string libraries() {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* const place : {IWARP_LIBRARIES, "../lib/iwarp"})
    if (const fs::path folder = own / place; fs::exists(folder / "libibverbs.so.1", error))
      return fs::canonical(folder, error).string();
  return {};
}

void put_before(const char* variable, const std::string& value) {
  const char* const before = std::getenv(variable);
  const std::string whole = before == nullptr || *before == '\0' ? value : value + ":" + before;
  ::setenv(variable, whole.c_str(), 1);
}

int run(const std::string& folder, char** program) {
  if (folder.empty()) return complain("there is no libibverbs.so.1 beside this program; see --libraries", 1);
  put_before("LD_LIBRARY_PATH", folder);
  ::execvp(*program, program);
  std::perror(("iwarp-run: " + std::string(*program)).c_str());
  return 1;
}

}  // namespace

int main(int, char** arguments) {
  std::string folder;
  for (++arguments; *arguments != nullptr && **arguments == '-'; ++arguments) {
    const std::string_view option = *arguments;
    if (option == "--help") return std::fputs(usage, stdout), 0;
    if (option == "--version") return std::printf("iwarp-run %s\n", FCVI_VERSION), 0;
    if (option == "--") {
      ++arguments;
      break;
    }
    if ((option != "--config" && option != "--libraries") || arguments[1] == nullptr)
      return std::fputs(usage, stderr), 2;
    const char* const value = *++arguments;
    if (option == "--libraries") folder = value;
    if (option == "--config") ::setenv("IWARP_CONFIG", fs::absolute(value).c_str(), 1);
  }
  if (*arguments == nullptr) return std::fputs(usage, stderr), 2;
  return run(folder.empty() ? libraries() : folder, arguments);
}
