// fcvi-fabricd: the fabric between the processes of one user on one machine, and hosts on Ethernet. Exit status: 0, 1
// it could not be done, 2 bad input.
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdio>
#include <filesystem>

#include "settings/file.hpp"
#include "settings/units.hpp"
#include "tools/fabricd/control_client.hpp"
#include "tools/fabricd/fault_rules.hpp"
#include "tools/fabricd/service.hpp"
#include "tools/service_common/daemonize.hpp"
#include "tools/service_common/log.hpp"

namespace {
using fc2::drivers::RuntimeDirectory;

struct Options {
  std::string runtime_directory, log_level = "info", failure_folder;
  std::string capture_file, capture_last, fault_file;
  fabricd::CaptureRequest capture;
  std::vector<std::string> interfaces;
  std::string fc_map;
  std::vector<std::string> allowed;
  int fka_period_ms = 2000, fcf_priority = 128, ethernet_priority = 3;
  fabricd::ServiceConfig service;
  bool daemonize = false, json = false, no_paths = false;
};

// When something fails they are copied while the fabric waits, some milliseconds. Frames of 64 bytes and their far ends
// fill 8 MiB with as many.
constexpr std::size_t most_history_frames = 262'144;
constexpr int takeovers = 10;  // programs may be faster again, but not for ever

int complain(const std::string& message, int status) {
  std::fprintf(stderr, "fcvi-fabricd: %s\n", message.c_str());
  return status;
}

bool another_runs(const services::Instance::Result& taken) {
  return !taken.instance && taken.failure == services::Instance::Failure::AnotherRuns;
}

// Programs start one without Ethernet by themselves, also while ours is being started anew: that one gives way. Their
// links come back to us.
services::Instance::Result take_place(const RuntimeDirectory& directory, int tries) {
  auto taken = services::Instance::take(fc2::drivers::fabric_place(directory), "fcvi-fabricd", SOCK_STREAM);
  if (tries == 0 || !another_runs(taken) || !fabricd::started_on_demand(directory)) return taken;
  fabricd::stop_service(directory);
  return take_place(directory, tries - 1);
}

int give_up(services::Starter& starter, const std::string& reason) {
  spdlog::error("{}", reason);
  starter.tell(fabricd::failure, reason);
  return fabricd::failure;
}

// Another one that runs is no fault when a program starts us: several may do so at once, and any will do. But it
// is no FCF.
int yield_to_another(const Options& options, services::Starter& starter, const std::string& reason) {
  if (!options.daemonize) return complain(reason, fabricd::failure);
  const bool any_will_do = options.interfaces.empty() && options.fault_file.empty();
  starter.tell(any_will_do ? fabricd::success : fabricd::failure, any_will_do ? std::string() : reason);
  return any_will_do ? fabricd::success : fabricd::failure;
}

// Why it could not serve. At the return nothing of it is left: a starter that gets the reason finds no listening
// socket.
std::string run_service(services::Instance instance, const Options& options, const RuntimeDirectory& directory,
                        services::Starter& starter) {
  boost::asio::io_context io(1);
  fabricd::Service service(io, std::move(instance), options.service);
  if (!service.trouble().empty()) return service.trouble();
  spdlog::info("fcvi-fabricd {} serves {}", FCVI_VERSION, directory.path());
  starter.tell(fabricd::success, {});
  io.run();
  return {};
}

int serve(const Options& options, const RuntimeDirectory& directory) {
  services::reset_process();
  auto starter = options.daemonize ? services::daemonize("fcvi-fabricd") : services::Starter();
  auto taken = take_place(directory, options.interfaces.empty() ? 0 : takeovers);
  if (another_runs(taken)) return yield_to_another(options, starter, taken.error);
  if (options.daemonize)
    services::log_to_file("fabricd", fc2::drivers::fabric_place(directory).log_path(), options.log_level);
  else
    services::log_to_terminal("fabricd", options.log_level);
  if (!taken.instance) return give_up(starter, taken.error);
  const std::string trouble = run_service(std::move(*taken.instance), options, directory, starter);
  return trouble.empty() ? fabricd::success : give_up(starter, trouble);
}

std::string check_interface(const std::string& text) {
  if (fc2::drivers::EthernetName::parse(text)) return {};
  return "expected " + std::string(fc2::drivers::EthernetName::expected);
}

// 0EFC00 to 0EFCFF are what FC-BB-5 keeps for it.
std::optional<std::uint32_t> fc_map_of(const std::string& text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && value >> 8 == wire::default_fc_map >> 8 ? std::optional(value) : std::nullopt;
}
std::string check_fc_map(const std::string& text) { return fc_map_of(text) ? "" : "expected 0EFC00 to 0EFCFF"; }

void describe_fcoe(CLI::App& app, Options& options) {
  fabricd::FcoeConfig& fcoe = options.service.fcoe;
  app.add_option(
         "--fcoe", options.interfaces,
         "be an FCF (FCoE forwarder) on this Ethernet interface, for hosts there; may be given several times. "
         "udp:LOCAL:REMOTE: Ethernet frames in UDP datagrams between these ports of 127.0.0.1, needs no privileges")
      ->type_name("IF")
      ->allow_extra_args(false)
      ->check(check_interface);
  app.add_option("--mtu", fcoe.mtu,
                 "FCoE: the largest Ethernet payload, if the interface allows more; full FC frames need 2158")
      ->check(CLI::Range(fc2::drivers::least_fcoe_mtu, fc2::drivers::greatest_fcoe_mtu));
  app.add_option(
         "--vlan", fcoe.fcf.vlan,
         "FCoE: serve this VLAN with tagged frames, and announce it to hosts that ask (default: untagged frames)")
      ->type_name("ID")
      ->check(CLI::Range(1, 4094));
  app.add_option("--ethernet-priority", options.ethernet_priority,
                 "FCoE: 802.1p priority of sent frames, see the manual page")
      ->check(CLI::Range(0, 7))
      ->capture_default_str();
  app.add_option("--fc-map", options.fc_map, "FCoE: prefix of the ports' MAC addresses (default: 0EFC00)")
      ->check(check_fc_map);
  app.add_option("--priority", options.fcf_priority, "FCoE: hosts prefer the FCF with the smallest")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  app.add_option("--fka-period", options.fka_period_ms,
                 "FCoE: milliseconds between advertisements, and between keep-alives")
      ->check(CLI::Range(500, 90'000))
      ->capture_default_str();
}

// "10:00:00:00:00:00:00:01", as names are written.
std::optional<wire::Wwn> name_of(std::string_view text) {
  constexpr std::size_t octets = 8, wide = 3 * octets - 1;
  wire::Wwn name;
  for (std::size_t i = 0; text.size() == wide && i < octets; ++i) {
    std::uint8_t octet = 0;
    const char* const begin = text.data() + 3 * i;
    const auto [end, error] = std::from_chars(begin, begin + 2, octet, 16);
    if (error != std::errc{} || end != begin + 2 || (i + 1 < octets && *end != ':')) return std::nullopt;
    name.value = name.value << 8 | octet;
  }
  return name.value != 0 ? std::optional(name) : std::nullopt;
}

// A MAC address has six bytes, a name eight.
bool allow(fc2::fcoe::FipLimits& limits, const std::string& text) {
  if (const auto mac = wire::MacAddress::from_string(text)) return limits.allowed_macs.push_back(*mac), true;
  if (const auto name = name_of(text)) return limits.allowed_names.push_back(*name), true;
  return false;
}
std::string check_allowed(const std::string& text) {
  fc2::fcoe::FipLimits any;
  return allow(any, text) ? "" : "expected a MAC address (02:00:00:00:00:01) or a name (10:00:00:00:00:00:00:01)";
}

void describe_limits(CLI::App& app, Options& options) {
  fc2::fcoe::FipLimits& limits = options.service.fcoe.fcf.limits;
  app.add_option("--allow", options.allowed,
                 "FCoE: who may log in, a host by its MAC address, a port by its Port_Name or Node_Name; may be "
                 "given several times. "
                 "Default: everybody")
      ->type_name("MAC|NAME")
      ->allow_extra_args(false)
      ->check(check_allowed);
  app.add_option("--requests-per-second", limits.requests_per_second,
                 "FCoE: solicitations and FLOGIs accepted from one MAC address; 0: no limit")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--logins-per-host", limits.logins_per_enode,
                 "FCoE: N_Ports that one host may log in (FLOGI and FDISC)")
      ->check(CLI::Range(1, 60'000))
      ->capture_default_str();
}

void take_fcoe(Options& options) {
  fabricd::FcoeConfig& fcoe = options.service.fcoe;
  for (const std::string& text : options.allowed) allow(fcoe.fcf.limits, text);
  for (const std::string& name : options.interfaces)
    fcoe.interfaces.push_back(*fc2::drivers::EthernetName::parse(name));
  if (!options.fc_map.empty()) fcoe.fcf.fc_map = *fc_map_of(options.fc_map);
  fcoe.fcf.priority = static_cast<std::uint8_t>(options.fcf_priority);
  fcoe.ethernet_priority = static_cast<std::uint8_t>(options.ethernet_priority);
  fcoe.fcf.period = options.fka_period_ms * runtime::millisecond;
}

void describe(CLI::App& app, Options& options) {
  app.set_version_flag("--version", std::string("fcvi-fabricd ") + FCVI_VERSION);
  app.add_option("--runtime-directory", options.runtime_directory,
                 "folder of the socket, lock and log (default: $FCVI_RUNTIME_DIR, else $XDG_RUNTIME_DIR/fcvi, else "
                 "/tmp/fcvi-UID)");
  app.add_option("--idle-seconds", options.service.idle_seconds, "end when there was no link for this time; 0: never")
      ->check(CLI::Range(0, 86'400))
      ->capture_default_str();
  app.add_option("--max-ports", options.service.max_ports, "the most links at once")
      ->check(CLI::Range(1, 60'000))
      ->capture_default_str();
  app.add_flag("--daemonize", options.daemonize, "leave the terminal; log to fabricd.log in the runtime directory");
  app.add_option("--log-level", options.log_level, "debug, info, warning or error")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->capture_default_str();
  app.add_option("--history-frames", options.service.history.frames,
                 "the last frames that are kept for capture --last and for failures")
      ->check(CLI::Range(std::size_t{1}, most_history_frames))
      ->capture_default_str();
  app.add_option(
         "--failure-folder", options.failure_folder,
         "where the last frames are written when something fails (default: $FCVI_FAILURE_FOLDER, else failures in "
         "the runtime directory)")
      ->envname("FCVI_FAILURE_FOLDER");
  app.add_option("--failure-files", options.service.failures.most_files, "the most of such files; 0: none")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option(
         "--faults", options.fault_file,
         "rules of faults from the start on, YAML as for fcvi-ctl fault add; those that come later end with the "
         "service")
      ->type_name("FILE");
  app.add_option(
         "--max-paths", options.service.max_paths,
         "the most pairs of ports at once whose frames go through memory, 4.4 MB each; others' go by the service")
      ->check(CLI::Range(std::size_t{1}, fabricd::Paths::max_pairs))
      ->capture_default_str();
  app.add_flag("--no-paths", options.no_paths, "all frames go by the service, so that it has all of the last ones");
  app.footer(
      "Without a command it serves, in the foreground. Programs that open a local NIC start it by themselves.\n"
      "Exit status: 0, 1 it could not be done, 2 bad input.");
}

std::string check_duration(const std::string& text) {
  return settings::parse_duration(text) ? "" : "expected a time with its unit: 10s, 500ms";
}

void describe_capture(CLI::App& app, Options& options) {
  CLI::App* capture = app.add_subcommand(
      "capture", "write the frames of every port as pcapng, until interrupted; or those of the last seconds");
  capture
      ->add_option("-w,FILE", options.capture_file, "where to; -: standard output, at once, for a program that reads")
      ->required();
  capture
      ->add_option("--port", options.capture.choice.ports,
                   "only frames from and to this port: a program's name, its process, an N_Port_ID or an Ethernet "
                   "interface; may be given several times")
      ->type_name("PORT")
      ->allow_extra_args(false);
  capture->add_option("--last", options.capture_last, "what the service still has of so much time until now: 10s")
      ->type_name("TIME")
      ->check(check_duration);
  capture->add_flag("--both-ends", options.capture.choice.both_ends,
                    "each frame as it was sent and as it was received; otherwise once");
  capture->add_option("-c,--count", options.capture.count, "end after so many frames")
      ->check(CLI::Range(1, 1'000'000'000));
}

fabricd::CaptureRequest capture_request(const Options& options) {
  fabricd::CaptureRequest request = options.capture;
  if (!options.capture_last.empty())
    request.last = static_cast<runtime::TimeNs>(*settings::parse_duration(options.capture_last));
  return request;
}

settings::Result<std::vector<fabricd::LiveRule>> rules_of(const std::string& file) {
  const auto text = settings::read_file(file, fabricd::max_rules_bytes);
  if (!text) return text.error();
  return fabricd::fault_rules_in(*text, file);
}

int dispatch(const CLI::App& app, const Options& options) {
  std::string error;
  const auto directory = RuntimeDirectory::open(options.runtime_directory, error);
  if (!directory) return complain(error, fabricd::bad_input);
  if (app.got_subcommand("status")) return fabricd::print_status(*directory, options.json);
  if (app.got_subcommand("stop")) return fabricd::stop_service(*directory);
  if (app.got_subcommand("capture"))
    return fabricd::capture_to(*directory, capture_request(options), options.capture_file);
  Options serving = options;
  serving.service.failures.folder = options.failure_folder.empty()
                                        ? directory->path() + "/failures"
                                        : std::filesystem::absolute(options.failure_folder).string();
  if (!options.fault_file.empty()) {
    auto rules = rules_of(options.fault_file);
    if (!rules) return complain(rules.error().message, fabricd::bad_input);
    serving.service.faults = std::move(*rules);
  }
  serving.service.failures.service = fabricd::service_of(std::filesystem::absolute(directory->path()).string());
  return serve(serving, *directory);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{
      "The fabric between processes of one user on this machine, and of hosts on Ethernet (FCoE): a Fibre Channel "
      "switch with a "
      "name server.",
      "fcvi-fabricd"};
  app.require_subcommand(0, 1);
  describe(app, options);
  describe_fcoe(app, options);
  describe_limits(app, options);
  CLI::App* status =
      app.add_subcommand("status", "print the ports of the running service, and this user's NICs on Ethernet");
  status->add_flag("--json", options.json, "as JSON");
  app.add_subcommand("stop", "end the running service; succeeds if there is none");
  describe_capture(app, options);
  try {
    app.parse(argc, argv);
    take_fcoe(options);
    options.service.max_sessions = options.service.max_ports + 256;
    if (options.no_paths) options.service.path_slots = 0;
    return dispatch(app, options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? fabricd::success : fabricd::bad_input;
  } catch (const std::exception& error) {
    return complain(error.what(), fabricd::failure);
  }
}
