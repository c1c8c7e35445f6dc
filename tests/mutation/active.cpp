// Which row this process runs changed: the environment says it (tools/mutation sets it).
//
//   FCVI_MUTATION=machine/State/Event/guard/way    one line of `mutation_rows`; way: remove, invert, stay,
//   retarget, drop EFFECT,
//                                                  swap EFFECT (with the next one)
//   FCVI_MUTATION_TRACE=FILE                       append the key of each row that fires
#include "state_machines/fsm_mutation.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

namespace fsm::mutation {
namespace {

constexpr int bad_request = 99;  // an exit status that tools/mutation does not take for a failing test

[[noreturn]] void refuse(const std::string& what) {
  std::fprintf(stderr, "FCVI_MUTATION: %s\n", what.c_str());
  std::_Exit(bad_request);
}

constexpr std::array<std::pair<std::string_view, Kind>, 6> ways{{{"remove", Kind::Remove},
                                                                 {"invert", Kind::Invert},
                                                                 {"stay", Kind::Stay},
                                                                 {"retarget", Kind::Retarget},
                                                                 {"drop ", Kind::Drop},
                                                                 {"swap ", Kind::Swap}}};

struct Request {
  std::string row;
  Choice choice;
};

Request parse(const std::string& text) {
  const auto slash = text.rfind('/');
  if (slash == std::string::npos) refuse("no row in \"" + text + "\"");
  const std::string way = text.substr(slash + 1);
  for (const auto& [name, kind] : ways) {
    if (name.ends_with(' ') ? way.starts_with(name) : way == name) {
      return {text.substr(0, slash), {kind, way.substr(name.size())}};
    }
  }
  refuse("no such way: \"" + way + "\"");
}

const Request& request() {
  static const Request asked = [] {
    const char* text = std::getenv("FCVI_MUTATION");
    return text == nullptr ? Request{} : parse(text);
  }();
  return asked;
}

thread_local std::optional<std::size_t> retargeted;  // since the event that is being processed

}  // namespace

void retarget(std::size_t wrong) { retargeted = wrong; }
std::uint8_t state_after(std::uint8_t state) {
  const auto wrong = std::exchange(retargeted, std::nullopt);
  return wrong ? static_cast<std::uint8_t>(*wrong) : state;
}

Choice choice_of(const std::string& row_key) { return request().row == row_key ? request().choice : Choice{}; }

void first_fired(const std::string& row_key) {
  const char* path = std::getenv("FCVI_MUTATION_TRACE");
  if (path == nullptr) return;
  const std::string line = row_key + "\n";
  const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0 || ::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    refuse(std::string("cannot write ") + path);
  }
  ::close(file);
}

}  // namespace fsm::mutation
