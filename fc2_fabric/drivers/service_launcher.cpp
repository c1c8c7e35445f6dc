#include "fc2_fabric/drivers/service_launcher.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace fc2::drivers {
namespace {
namespace fs = std::filesystem;
constexpr const char* program_name = "fcvi-fabricd";

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

// The directory of the library, or program, that this code is in.
fs::path own_directory() {
  Dl_info info{};
  std::error_code error;
  const void* here = program_name;
  fs::path file = ::dladdr(here, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
  if (!file.is_absolute()) file = fs::read_symlink("/proc/self/exe", error);
  const fs::path real = fs::canonical(file, error);
  return (error ? file : real).parent_path();
}

struct Child {
  const char* program;
  char* const* arguments;
  int error;
};

// In the parent's memory, while the parent waits: nothing but system calls.
__attribute__((no_sanitize("thread", "address"))) int run_child(void* argument) {
  auto* child = static_cast<Child*>(argument);
  ::syscall(SYS_execve, child->program, child->arguments, environ);
  child->error = errno;
  ::syscall(SYS_exit, 127);
  return 127;
}

// As posix_spawn, but with no signal at the child's end: a program's own SIGCHLD handler or wait() must not meet it.
// Signals are blocked meanwhile, since a handler must not run in the child; the service unblocks them.
pid_t spawn(Child& child) {
  constexpr std::size_t stack_bytes = 64 * 1024;
  void* stack = ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) {
    child.error = errno;
    return -1;
  }
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::clone(run_child, static_cast<char*>(stack) + stack_bytes, CLONE_VM | CLONE_VFORK, &child);
  if (pid < 0) child.error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::munmap(stack, stack_bytes);
  return pid;
}

}  // namespace

std::string find_service_program() {
  if (const char* program = std::getenv("FCVI_FABRICD"); program != nullptr && *program != '\0') return program;
  const fs::path own = own_directory();
  for (const char* place : {"../bin", "../../bin", "../libexec/fcvi", "."})
    if (const fs::path path = (own / place / program_name).lexically_normal(); is_program(path)) return path;
  if (const fs::path path = fs::path(FCVI_INSTALL_BINDIR) / program_name; is_program(path)) return path;
  const char* search = std::getenv("PATH");
  std::string directories = search != nullptr ? search : "";
  for (std::size_t begin = 0; begin <= directories.size();) {
    const std::size_t end = std::min(directories.find(':', begin), directories.size());
    const fs::path path = fs::path(directories.substr(begin, end - begin)) / program_name;
    if (path.is_absolute() && is_program(path)) return path;
    begin = end + 1;
  }
  return {};
}

ServiceLauncher::~ServiceLauncher() { reap(); }

std::string ServiceLauncher::start(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  Child child{program.c_str(), argv.data(), 0};
  const pid_t pid = spawn(child);
  if (pid > 0) children_.push_back(pid);
  return child.error == 0 ? std::string() : program + ": cannot be started: " + std::strerror(child.error);
}

bool ServiceLauncher::reap() {
  std::erase_if(children_, [](pid_t child) { return ::waitpid(child, nullptr, WNOHANG | __WCLONE) != 0; });
  return children_.empty();
}

}  // namespace fc2::drivers
