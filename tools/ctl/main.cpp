// fcvi-ctl: faults, links, captures and the status of the running fabric service. Exit status: 0, 1 it could not be
// done, 2 bad input.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <iostream>
#include <iterator>

#include "settings/file.hpp"
#include "settings/tree.hpp"
#include "settings/units.hpp"
#include "tools/ctl/commands.hpp"
#include "tools/ctl/rule_words.hpp"
#include "tools/fabricd/downed_links.hpp"
#include "tools/fabricd/fault_rules.hpp"

namespace {
using fabricd::ExitStatus;
using fc2::drivers::RuntimeDirectory;

struct Options {
  std::string runtime_directory;
  std::vector<std::string> rule_words, ids, tap_ports;
  std::string rule_file, link_port, link_action, tap_file, tap_last;
  fabricd::CaptureRequest tap;
  unsigned watch_seconds = 2;
  bool json = false;
};

ExitStatus complain(const std::string& message, ExitStatus status) {
  std::fprintf(stderr, "fcvi-ctl: %s\n", message.c_str());
  return status;
}

void describe_faults(CLI::App& app, Options& options) {
  CLI::App* fault = app.add_subcommand("fault", "lose, delay, change frames by rules, as in scenarios of fcvi-sim");
  fault->require_subcommand(1);
  CLI::App* add = fault->add_subcommand("add", "add rules; returns when frames sent from then on follow them");
  add->add_option("RULE", options.rule_words,
                  "KEY=VALUE ... (one rule), or rules in braces: action=drop message=FCVI_SEND_RQST nth=2, "
                  "'{action: delay, by: 1ms, port: alice}'");
  add->add_option("-f,--file", options.rule_file, "a file of rules, YAML; -: standard input");
  CLI::App* list = fault->add_subcommand("list", "each rule, how often it matched and fired, and why it did not");
  list->add_flag("--json", options.json, "as JSON");
  fault->add_subcommand("clear", "remove rules")->add_option("ID", options.ids, "their numbers; none: all");
}

std::string check_link_action(const std::string& word) {
  if (fabricd::link_action_of(word)) return {};
  const std::string_view near = settings::nearest(word, {"down", "up", "reset"});
  return "expected down, up or reset: " + word + (near.empty() ? "" : "; did you mean \"" + std::string(near) + "\"?");
}

void describe_link(CLI::App& app, Options& options) {
  CLI::App* link = app.add_subcommand("link", "take the link of a port down or up, or both at once (reset)");
  link->add_option(
          "PORT", options.link_port,
          "a program's name, its process, node, N_Port_ID or Port_Name; an Ethernet interface, or a host there by "
          "its MAC address")
      ->required();
  link->add_option("ACTION", options.link_action, "down, up or reset")->required()->check(check_link_action);
}

std::string check_duration(const std::string& text) {
  return settings::parse_duration(text) ? "" : "expected a time with its unit: 10s, 500ms";
}

void describe_tap(CLI::App& app, Options& options) {
  CLI::App* tap =
      app.add_subcommand("tap", "write the frames of ports as pcapng until interrupted, as fcvi-fabricd capture");
  tap->add_option("PORT", options.tap.choice.ports, "a port as in link; none: all");
  tap->add_option("-w,--write", options.tap_file, "where to; -: standard output, at once")
      ->required()
      ->type_name("FILE");
  tap->add_option("--last", options.tap_last, "what the service still has of so much time until now: 10s")
      ->type_name("TIME")
      ->check(check_duration);
  tap->add_flag("--both-ends", options.tap.choice.both_ends, "each frame as it was sent and as it was received");
  tap->add_option("-c,--count", options.tap.count, "end after so many frames")->check(CLI::Range(1, 1'000'000'000));
}

void describe_status(CLI::App& app, Options& options) {
  CLI::App* status = app.add_subcommand(
      "status", "ports, names, logins, frames and their rates, fault rules, links down, what was discarded by reason");
  status->add_flag("--json", options.json, "as JSON, an object in a line");
  status->add_option("--watch", options.watch_seconds, "again every so many seconds (2), until interrupted")
      ->expected(0, 1)
      ->type_name("[SECONDS]")
      ->check(CLI::Range(1, 3600));
}

ExitStatus add_faults(const RuntimeDirectory& directory, const Options& options) {
  if (options.rule_words.empty() == options.rule_file.empty())
    return complain("fault add: expected either a rule or -f FILE", fabricd::bad_input);
  std::string error;
  if (!options.rule_words.empty()) {
    const auto rules = ctl::rules_of_words(options.rule_words, error);
    return rules ? ctl::add_faults(directory, *rules, "rule") : complain("fault add: " + error, fabricd::bad_input);
  }
  if (options.rule_file == "-") {
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    return ctl::add_faults(directory, text.substr(0, fabricd::max_rules_bytes + 1), "standard input");
  }
  const auto text = settings::read_file(options.rule_file, fabricd::max_rules_bytes);
  return text ? ctl::add_faults(directory, *text, options.rule_file)
              : complain(text.error().message, fabricd::bad_input);
}

ExitStatus tap(const RuntimeDirectory& directory, const Options& options) {
  fabricd::CaptureRequest request = options.tap;
  if (!options.tap_last.empty()) request.last = *settings::parse_duration(options.tap_last);
  return fabricd::capture_to(directory, request, options.tap_file);
}

ExitStatus dispatch_fault(const CLI::App& fault, const RuntimeDirectory& directory, const Options& options) {
  if (fault.got_subcommand("add")) return add_faults(directory, options);
  if (fault.got_subcommand("list")) return ctl::list_faults(directory, options.json);
  return ctl::clear_faults(directory, options.ids);
}

ExitStatus dispatch(const CLI::App& app, const Options& options) {
  std::string error;
  const auto directory = RuntimeDirectory::open(options.runtime_directory, error);
  if (!directory) return complain(error, fabricd::bad_input);
  if (app.got_subcommand("fault")) return dispatch_fault(*app.get_subcommand("fault"), *directory, options);
  if (app.got_subcommand("link")) return ctl::set_link(*directory, options.link_port, options.link_action);
  if (app.got_subcommand("tap")) return tap(*directory, options);
  const bool watches = app.get_subcommand("status")->get_option("--watch")->count() != 0;
  if (watches) return ctl::watch_status(*directory, options.watch_seconds, options.json);
  return fabricd::print_status(*directory, options.json);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Works on the fabric that fcvi-fabricd serves, while programs run: faults, links, captures, status.",
               "fcvi-ctl"};
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("fcvi-ctl ") + FCVI_VERSION);
  app.add_option("--runtime-directory", options.runtime_directory,
                 "folder of the service's socket (default: as of fcvi-fabricd)");
  describe_faults(app, options);
  describe_link(app, options);
  describe_tap(app, options);
  describe_status(app, options);
  app.footer("Exit status: 0, 1 it could not be done (no service runs), 2 bad input.");
  try {
    app.parse(argc, argv);
    const ExitStatus status = dispatch(app, options);
    const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    return written ? status : complain("cannot write to standard output", fabricd::failure);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? fabricd::success : fabricd::bad_input;
  } catch (const std::exception& error) {
    return complain(error.what(), fabricd::failure);
  }
}
