#include "vipl/engine/trace.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "vipl/engine/cancellation.hpp"
#include "vipl/engine/futex.hpp"

namespace vipl::trace {
namespace {

constexpr std::array kinds = {"object", "NIC", "VI", "completion queue", "connection", "protection tag"};
constexpr unsigned kind_mask = 7;

std::string& reason() {
  thread_local std::string text;
  return text;
}

Choices read_environment() {
  if (const char* text = ::secure_getenv("FCVI_TRACE")) configure(text);
  return chosen;
}

/// What a program expects, and asks for in loops.
bool is_expected(VIP_RETURN result) {
  return result == VIP_SUCCESS || result == VIP_NOT_DONE || result == VIP_TIMEOUT || result == VIP_NO_MATCH;
}

}  // namespace

Choices chosen;
[[maybe_unused]] const Choices from_environment = read_environment();

bool configure(std::string_view text) {
  chosen = {};
  bool understood = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, end);
    if (word == "calls")
      chosen.calls = true;
    else if (word == "errors")
      chosen.errors = true;
    else if (!word.empty())
      understood = false, tell(fmt::format("FCVI_TRACE: \"{}\" is not known; known: calls, errors", word));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  chosen.any = chosen.calls || chosen.errors;
  return understood;
}

// With one system call, so that lines of several threads and processes stay whole.
void tell(std::string_view text) {
  const std::string line = fmt::format("vipl[{}.{}] {:.6f} {}\n", ::getpid(), ::syscall(SYS_gettid),
                                       static_cast<double>(monotonic_now()) / runtime::second, text);
  const Cancellation held(Cancellation::Held);  // a line may be told with the engine's lock
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

void because(std::string text) { reason() = std::move(text); }

void because_of_handle(const void* handle, unsigned wanted_kind) {
  const unsigned kind = reinterpret_cast<std::uintptr_t>(handle) & kind_mask;
  const std::string wanted = kinds[wanted_kind];
  if (handle == nullptr) return because("the handle of a " + wanted + " is NULL");
  const bool other = kind != wanted_kind && kind != 0 && kind < kinds.size();
  because(fmt::format(
      "{} is no handle of a {}: {}", handle, wanted,
      other ? fmt::format("it looks like one of a {}", kinds[kind]) : "it was destroyed, or never given out"));
}

Traced::Traced(const char* name) : name_(name), began_(monotonic_now()) { reason().clear(); }

VIP_RETURN Traced::ended(VIP_RETURN result) const {
  const std::string why = std::exchange(reason(), {});
  const bool error = chosen.errors && !is_expected(result);
  if (!error && (!chosen.calls || result == VIP_NOT_DONE)) return result;
  const double took = static_cast<double>(monotonic_now() - began_) / runtime::microsecond;
  tell(fmt::format("{} returned {} after {:.1f} us{}{}", name_, name_of(result), took, why.empty() ? "" : ": ", why));
  return result;
}

std::string_view name_of(VIP_RETURN value) {
  constexpr std::array names = {"VIP_SUCCESS",
                                "VIP_NOT_DONE",
                                "VIP_INVALID_PARAMETER",
                                "VIP_ERROR_RESOURCE",
                                "VIP_TIMEOUT",
                                "VIP_REJECT",
                                "VIP_INVALID_RELIABILITY_LEVEL",
                                "VIP_INVALID_MTU",
                                "VIP_INVALID_QOS",
                                "VIP_INVALID_PTAG",
                                "VIP_INVALID_RDMAREAD",
                                "VIP_DESCRIPTOR_ERROR",
                                "VIP_INVALID_STATE",
                                "VIP_ERROR_NAMESERVICE",
                                "VIP_NO_MATCH",
                                "VIP_NOT_REACHABLE",
                                "VIP_ERROR_NOT_SUPPORTED"};
  const auto number = static_cast<std::size_t>(value);
  return number < names.size() ? names[number] : "an unknown value";
}

}  // namespace vipl::trace
