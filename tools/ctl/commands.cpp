#include "tools/ctl/commands.hpp"

#include <unistd.h>

#include <boost/json.hpp>

#include <csignal>
#include <cstdio>
#include <ctime>

#include "tools/fabricd/control_words.hpp"
#include "tools/fabricd/fault_status.hpp"

namespace ctl {
namespace json = boost::json;
namespace word = fabricd::control_word;
using fabricd::ControlClient;

namespace {

ExitStatus complain(const std::string& message, ExitStatus status) {
  std::fprintf(stderr, "fcvi-ctl: %s\n", message.c_str());
  return status;
}

ExitStatus print(const std::string& text) {
  return std::fputs(text.c_str(), stdout) < 0 ? fabricd::failure : fabricd::success;
}

// What the service refuses is bad input. `answer` is its text otherwise.
ExitStatus ask(const RuntimeDirectory& directory, const std::string& request, std::string& answer) {
  ControlClient client;
  client.be_interruptible();
  if (client.connect(directory) && client.request(request) && client.receive_answer(answer)) return fabricd::success;
  return complain(client.error(), client.refused() ? fabricd::bad_input : fabricd::failure);
}

ExitStatus not_understood() { return complain("the service's answer cannot be understood", fabricd::failure); }

// nullopt: it is no JSON.
std::optional<json::value> parse(const std::string& answer) {
  boost::system::error_code error;
  json::value value = json::parse(answer, error);
  return error ? std::nullopt : std::optional(std::move(value));
}

ExitStatus print_added(const json::object& answer) {
  print(fabricd::text_of_faults(answer.at("rules").as_array()));
  for (const json::value& link : answer.at("passed_by").as_array())
    complain(std::string(link.as_string()) + " does not answer: some of its frames may still pass the service by",
             fabricd::success);
  return fabricd::success;
}

}  // namespace

ExitStatus add_faults(const RuntimeDirectory& directory, const std::string& text, const std::string& name) {
  std::string answer;
  const ExitStatus status = ask(directory, std::string(word::fault_add) + name + "\n" + text, answer);
  if (status != fabricd::success) return status;
  const auto value = parse(answer);
  try {
    return value ? print_added(value->as_object()) : not_understood();
  } catch (const std::exception&) {  // a member is missing, or of another kind
    return not_understood();
  }
}

ExitStatus list_faults(const RuntimeDirectory& directory, bool as_json) {
  std::string answer;
  const ExitStatus status = ask(directory, std::string(word::fault_list), answer);
  if (status != fabricd::success) return status;
  if (as_json) return print(answer + "\n");
  const auto value = parse(answer);
  try {
    if (!value) return not_understood();
    return print(value->as_array().empty() ? "no fault rules\n" : fabricd::text_of_faults(value->as_array()));
  } catch (const std::exception&) {
    return not_understood();
  }
}

ExitStatus clear_faults(const RuntimeDirectory& directory, const std::vector<std::string>& ids) {
  std::string request(word::fault_clear), answer;
  for (const std::string& id : ids) request += id + "\n";
  return ask(directory, request, answer);
}

ExitStatus set_link(const RuntimeDirectory& directory, const std::string& port, const std::string& action) {
  std::string answer;
  return ask(directory, std::string(word::link) + port + "\n" + action, answer);
}

ExitStatus watch_status(const RuntimeDirectory& directory, unsigned seconds, bool as_json) {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, signal);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);
  const timespec pause{.tv_sec = static_cast<time_t>(seconds), .tv_nsec = 0};
  const bool clears = !as_json && ::isatty(STDOUT_FILENO) != 0;
  bool interrupted = false;
  do {
    if (clears) std::fputs("\x1b[H\x1b[2J", stdout);
    fabricd::print_status(directory, as_json, &interrupted);
    if (interrupted) return fabricd::success;
    if (std::fflush(stdout) != 0) return fabricd::failure;
  } while (::sigtimedwait(&ends, nullptr, &pause) < 0);
  return fabricd::success;
}

}  // namespace ctl
