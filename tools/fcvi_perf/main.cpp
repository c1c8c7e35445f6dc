// fcvi-perf: latency, bandwidth and message rate of VIPL, on vipl.h alone. fcvi-perf(1).
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <future>
#include <thread>

#include "tools/fcvi_perf/report.hpp"

namespace perf {
namespace {

/// This thread, and those that it starts.
void pin(int cpu) {
  if (cpu < 0) return;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<unsigned>(cpu), &only);
  if (::sched_setaffinity(0, sizeof only, &only) != 0) refuse("--cpus: %d: %s", cpu, std::strerror(errno));
}

int run_client(const Options& options, const Address& server, Endpoint& end) {
  Report report(options);
  measure(
      end, options, server, [&] { report.begin(); }, [&](const Result& result) { report.add(result); });
  return report.end() ? EXIT_DONE : EXIT_FAILED;
}

/* ---- both ends here -------------------------------------------------------------------------------------- */

std::string own_discriminator() { return "fcvi-perf." + std::to_string(::getpid()); }

int with_threads(const Options& options) {
  std::promise<Address> serving;
  std::thread server([&] {
    pin(options.server_cpu);
    Endpoint end(options.server_device);
    Address where;
    local_address(end.nic(), own_discriminator().c_str(), &where);
    serve(end, own_discriminator(), [&] { serving.set_value(where); });
  });
  pin(options.client_cpu);
  int status = EXIT_FAILED;
  {
    Endpoint end(options.device);
    status = run_client(options, serving.get_future().get(), end);
  }
  server.join();
  return status;
}

/// The child of with_processes().
[[noreturn]] void serve_parent(const Options& options, const std::string& discriminator, int tell) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  pin(options.server_cpu);
  {
    Endpoint end(options.server_device);
    Address where;
    local_address(end.nic(), discriminator.c_str(), &where);
    serve(end, discriminator, [&] {
      if (::write(tell, &where, sizeof where) != static_cast<ssize_t>(sizeof where)) fail("the client end is gone");
      ::close(tell);
    });
  }
  std::exit(EXIT_DONE);
}

/// Waits for it: its exit status, EXIT_FAILED after a signal.
int end_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

int with_processes(const Options& options) {
  const std::string discriminator = own_discriminator();
  int ends[2];
  if (::pipe(ends) != 0) fail(std::string("pipe: ") + std::strerror(errno));
  const pid_t child = ::fork();
  if (child < 0) fail(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    ::close(ends[0]);
    serve_parent(options, discriminator, ends[1]);
  }
  ::close(ends[1]);
  Address server;
  if (::read(ends[0], &server, sizeof server) != static_cast<ssize_t>(sizeof server)) {
    const int code = end_of(child);  // it said why
    return code == EXIT_DONE ? EXIT_FAILED : code;
  }
  ::close(ends[0]);
  pin(options.client_cpu);
  int status = EXIT_FAILED;
  {
    Endpoint end(options.device);
    status = run_client(options, server, end);
  }
  return end_of(child) == EXIT_DONE ? status : EXIT_FAILED;
}

/* ---- elsewhere ------------------------------------------------------------------------------------------- */

int with_server(const Options& options) {
  pin(options.client_cpu);
  Endpoint end(options.device);
  Address server;
  check(remote_address(end.nic(), options.host.c_str(), options.discriminator.c_str(), &server), options.host);
  return run_client(options, server, end);
}

[[noreturn]] void serve_one(const Options& options, bool announce, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(EXIT_FAILED);  // it was gone before
  pin(options.server_cpu);
  {
    Endpoint end(options.server_device);
    serve(end, options.discriminator, [&] {
      if (!announce) return;
      Address where;
      char name[512];
      local_address(end.nic(), options.discriminator.c_str(), &where);
      host_name_of(end.nic(), &where, name, sizeof name);
      std::printf("fcvi-perf: serving as %s:%s\n", name, options.discriminator.c_str());
      std::fflush(stdout);
    });
  }
  std::exit(EXIT_DONE);
}

volatile std::sig_atomic_t stop_requested = 0;
volatile pid_t serving_child = 0;
void on_signal(int) {
  stop_requested = 1;
  if (serving_child > 0) ::kill(serving_child, SIGKILL);
}

/// A process for each client: one that fails takes nothing with it.
int as_server(const Options& options) {
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  sigset_t both, before;
  sigemptyset(&both);
  sigaddset(&both, SIGINT);
  sigaddset(&both, SIGTERM);
  const pid_t own = ::getpid();
  for (bool first = true; stop_requested == 0; first = false) {
    ::sigprocmask(SIG_BLOCK, &both, &before);  // the handler knows the child, or there is none
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGINT, SIG_DFL);
      ::signal(SIGTERM, SIG_DFL);
      ::sigprocmask(SIG_SETMASK, &before, nullptr);
      serve_one(options, first, own);
    }
    serving_child = child;
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    if (child < 0) fail(std::string("fork: ") + std::strerror(errno));
    const int code = end_of(child);
    serving_child = 0;
    if (stop_requested != 0) break;
    if (options.once || code == EXIT_USAGE) return code;
    if (code != EXIT_DONE) ::usleep(100'000);  // a NIC that does not open is tried again without haste
  }
  return EXIT_DONE;
}

int run(const Options& options) {
  switch (options.ends) {
    case Ends::Processes: return with_processes(options);
    case Ends::Threads: return with_threads(options);
    case Ends::Client: return with_server(options);
    case Ends::Server: return as_server(options);
  }
  return EXIT_USAGE;
}

}  // namespace
}  // namespace perf

int main(int count, char** words) {
  program_name = "fcvi-perf";
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  return perf::run(perf::read_options(count, words));
}
