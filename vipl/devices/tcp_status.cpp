#include "vipl/devices/tcp_status.hpp"

#include <unistd.h>

#include <cerrno>

#include "vipl/devices/json_object.hpp"

namespace vipl {
namespace {

std::string texts_of(const std::vector<wire::IpAddress>& addresses) {
  std::string list;
  for (const wire::IpAddress& address : addresses) list += (list.empty() ? "" : ",") + quoted(to_string(address));
  return "[" + list + "]";
}

std::string refusals_of(const vitcp::ProviderCounters& counters) {
  JsonObject object;
  counters.for_each_refusal([&](std::string_view reason, std::uint64_t times) { object.number(reason, times); });
  return object.end();
}

}  // namespace

std::string describe(std::string_view name, const vitcp::Provider& provider) {
  JsonObject nic;
  nic.text("nic", name).number("process_id", static_cast<std::uint64_t>(::getpid()));
  nic.text("program", program_invocation_short_name).raw("addresses", texts_of(provider.config().addresses));
  nic.number("port", provider.config().port).number("connected", provider.connected());
  nic.number("ending", provider.ending()).number("half_open", provider.half_open());
  provider.counters().for_each([&](std::string_view key, std::uint64_t value) { nic.number(key, value); });
  return nic.raw("refused", refusals_of(provider.counters())).end();
}

}  // namespace vipl
