#include "runtime/drivers/service_launcher.hpp"

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

// The C library's clone() under the name that ThreadSanitizer leaves alone: it takes clone() for a fork(), and what it
// does in the child ends its sight of this process's locks, since the memory is the same.
extern "C" int __clone(int (*body)(void*), void* stack, int flags, void* argument, ...);

namespace runtime::drivers {
namespace {
namespace fs = std::filesystem;
constexpr std::chrono::milliseconds start_again{1000};  // what was started may be on its way, or not able to stay

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

// The directory of the library, or program, that this code is in.
fs::path own_directory() {
  Dl_info info{};
  std::error_code error;
  static const char here = 0;
  fs::path file = ::dladdr(&here, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
  if (!file.is_absolute()) file = fs::read_symlink("/proc/self/exe", error);
  const fs::path real = fs::canonical(file, error);
  return (error ? file : real).parent_path();
}

constexpr std::size_t stack_bytes = 64 * 1024;

struct Start {
  const char* program;
  char* const* arguments;
  char* stack;  // of the grandchild
  int error;
};

// Both run in the starter's memory, while it waits: nothing but system calls.
__attribute__((no_sanitize("thread", "address"))) int run_grandchild(void* argument) {
  auto* start = static_cast<Start*>(argument);
  ::syscall(SYS_execve, start->program, start->arguments, environ);
  start->error = errno;
  ::syscall(SYS_exit, 127);
  return 127;
}

__attribute__((no_sanitize("thread", "address"))) int run_child(void* argument) {
  auto* start = static_cast<Start*>(argument);
  if (::__clone(run_grandchild, start->stack + stack_bytes, CLONE_VM | CLONE_VFORK | SIGCHLD, start) < 0)
    start->error = errno;
  ::syscall(SYS_exit, 0);
  return 0;
}

// As posix_spawn, with a child between, so that the program has no child that it does not know: the one between ends
// without a signal and is collected here (an execve would give it SIGCHLD back), the other one is nobody's. Signals are
// blocked meanwhile, since a handler must not run in either; the service unblocks them.
void spawn(Start& start) {
  void* stacks =
      ::mmap(nullptr, 2 * stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stacks == MAP_FAILED) {
    start.error = errno;
    return;
  }
  start.stack = static_cast<char*>(stacks);
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = ::__clone(run_child, start.stack + 2 * stack_bytes, CLONE_VM | CLONE_VFORK, &start);
  if (child < 0) start.error = errno;
  while (child > 0 && ::waitpid(child, nullptr, static_cast<int>(__WCLONE)) < 0 && errno == EINTR) {}
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::munmap(stacks, 2 * stack_bytes);
}

}  // namespace

std::string find_service_program(const char* program_name, const char* variable) {
  if (const char* program = ::secure_getenv(variable); program != nullptr && *program != '\0') return program;
  const fs::path own = own_directory();
  for (const char* place : {"../bin", "../../bin", "../libexec/fcvi", "."})
    if (const fs::path path = (own / place / program_name).lexically_normal(); is_program(path)) return path;
  if (const fs::path path = fs::path(FCVI_INSTALL_BINDIR) / program_name; is_program(path)) return path;
  const char* search = ::secure_getenv("PATH");
  std::string directories = search != nullptr ? search : "";
  for (std::size_t begin = 0; begin <= directories.size();) {
    const std::size_t end = std::min(directories.find(':', begin), directories.size());
    const fs::path path = fs::path(directories.substr(begin, end - begin)) / program_name;
    if (path.is_absolute() && is_program(path)) return path;
    begin = end + 1;
  }
  return {};
}

std::string start_service_program(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  Start start{program.c_str(), argv.data(), nullptr, 0};
  spawn(start);
  return start.error == 0 ? std::string() : program + ": cannot be started: " + std::strerror(start.error);
}

ServiceConnector::Outcome ServiceConnector::connect(const ServicePlace& place) {
  Outcome outcome;
  outcome.descriptor = connect_to_service(place, socket_type_);
  if (outcome.descriptor >= 0) return outcome;
  const int error = errno;
  outcome.trouble = place.socket_path() + ": " + std::strerror(error);
  if ((error != ENOENT && error != ECONNREFUSED) || !program_.start) return outcome;
  if (std::string failure = start(); !failure.empty()) outcome.trouble = std::move(failure);
  return outcome;
}

std::string ServiceConnector::start() {
  const auto now = std::chrono::steady_clock::now();
  if (started_ && now - *started_ < start_again) return start_failure_;
  started_ = now;
  const std::string path =
      program_.path.empty() ? find_service_program(program_.name, program_.variable) : program_.path;
  start_failure_ = path.empty() ? std::string(program_.name) + " is not found; " + program_.variable + " may name it"
                                : start_service_program(path, program_.arguments);
  return start_failure_;
}

}  // namespace runtime::drivers
