// vitcp-portd: the port at which the processes of one user take connections of VI over TCP. Exit status: 0, 1 it could
// not be done, 2 bad input.
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <CLI/CLI.hpp>

#include <cstdio>

#include "settings/units.hpp"
#include "tools/service_common/daemonize.hpp"
#include "tools/service_common/log.hpp"
#include "tools/vitcp_portd/commands.hpp"
#include "tools/vitcp_portd/service.hpp"
#include "vitcp/drivers/place.hpp"

namespace {
using runtime::drivers::RuntimeDirectory;
using vitcp::drivers::program_name;
using namespace vitcp_portd;

struct Options {
  std::string listen, runtime_directory, log_level = "info", request_time = "10s";
  ServiceConfig service;
  bool daemonize = false, json = false;
};

int complain(const std::string& message, int status) {
  std::fprintf(stderr, "%s: %s\n", program_name, message.c_str());
  return status;
}

int give_up(services::Starter& starter, const std::string& reason) {
  spdlog::error("{}", reason);
  starter.tell(failure, reason);
  return failure;
}

// Another one that runs is no fault when a program starts us: several may do so at once, and any will do.
int yield_to_another(const Options& options, services::Starter& starter, const std::string& reason) {
  if (!options.daemonize) return complain(reason, failure);
  starter.tell(success, {});
  return success;
}

int run_service(services::Instance instance, const Options& options, services::Starter& starter) {
  boost::asio::io_context io(1);
  Service service(io, std::move(instance), options.service);
  spdlog::info("vitcp-portd {} serves {}", FCVI_VERSION, to_string(options.service.listen));
  starter.tell(success, {});
  io.run();
  return service.trouble().empty() ? success : failure;
}

int serve(const Options& options, const RuntimeDirectory& directory) {
  services::reset_process();
  auto starter = options.daemonize ? services::daemonize(program_name) : services::Starter();
  const auto place = vitcp::drivers::port_place(directory, options.service.listen);
  auto taken = services::Instance::take(place, program_name, SOCK_SEQPACKET);
  if (!taken.instance && taken.failure == services::Instance::Failure::AnotherRuns)
    return yield_to_another(options, starter, taken.error);
  if (options.daemonize)
    services::log_to_file(program_name, place.log_path(), options.log_level);
  else
    services::log_to_terminal(program_name, options.log_level);
  if (!taken.instance) return give_up(starter, taken.error);
  return run_service(std::move(*taken.instance), options, starter);
}

std::string check_address(const std::string& text) {
  const auto address = streams::address_from_string(text);
  return address && address->port != 0 ? "" : "expected ADDRESS:PORT: 127.0.0.1:8474, 0.0.0.0:8474, [::]:8474";
}

std::string check_time(const std::string& text) {
  return settings::parse_duration(text) ? "" : "expected a time with its unit: 10s, 500ms";
}

void describe(CLI::App& app, Options& options) {
  app.set_version_flag("--version", std::string(program_name) + " " + FCVI_VERSION);
  app.add_option("--listen", options.listen,
                 "where connections come to: an address of this host, 0.0.0.0 (all of IPv4) or [::] (all), and a port")
      ->type_name("ADDRESS:PORT")
      ->check(check_address);
  app.add_option("--runtime-directory", options.runtime_directory,
                 "folder of the sockets, locks and logs (default: $FCVI_RUNTIME_DIR, else $XDG_RUNTIME_DIR/fcvi, else "
                 "/tmp/fcvi-UID)");
  app.add_option("--idle-seconds", options.service.idle_seconds,
                 "end when there was no process for this time; 0: never")
      ->check(CLI::Range(0, 86'400))
      ->capture_default_str();
  app.add_option("--half-open", options.service.limits.half_open,
                 "the most connections at once whose ConnectRequest has not come, or whose refusal was not read")
      ->check(CLI::Range(std::size_t{1}, std::size_t{4096}))
      ->capture_default_str();
  app.add_option("--request-time", options.request_time, "how long a connection may take for its ConnectRequest")
      ->type_name("TIME")
      ->check(check_time)
      ->capture_default_str();
  app.add_flag("--daemonize", options.daemonize, "leave the terminal; log to a file in the runtime directory");
  app.add_option("--log-level", options.log_level, "debug, info, warning or error")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->capture_default_str();
  app.footer(
      "Without a command it serves, in the foreground. Programs that open a NIC of VI over TCP start it by "
      "themselves.\n"
      "Exit status: 0, 1 it could not be done, 2 bad input.");
}

int dispatch(const CLI::App& app, Options& options) {
  std::string error;
  const auto directory = RuntimeDirectory::open(options.runtime_directory, error);
  if (!directory) return complain(error, bad_input);
  const auto listen = streams::address_from_string(options.listen);
  if (app.got_subcommand("status")) return print_status(*directory, listen, options.json);
  if (app.got_subcommand("stop")) return stop_services(*directory, listen);
  if (!listen) return complain("--listen is missing: it says where connections come to, as 127.0.0.1:8474", bad_input);
  options.service.listen = *listen;
  options.service.limits.request_time = static_cast<runtime::TimeNs>(*settings::parse_duration(options.request_time));
  return serve(options, *directory);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{
      "The port at which the processes of one user on this host take connections of VI over TCP: it reads the "
      "ConnectRequest and gives the connection to the process that waits for its discriminator.",
      program_name};
  app.require_subcommand(0, 1);
  app.fallthrough();  // inherited: --listen may stand behind the command
  describe(app, options);
  CLI::App* status =
      app.add_subcommand("status", "print who waits at the running services, half-open connections, counters");
  status->add_flag("--json", options.json, "as JSON");
  app.add_subcommand("stop", "end the running services; succeeds if there is none");
  try {
    app.parse(argc, argv);
    return dispatch(app, options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? success : bad_input;
  } catch (const std::exception& error) {
    return complain(error.what(), failure);
  }
}
