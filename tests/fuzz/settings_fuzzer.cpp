// Any text where people write something: a NIC configuration, a scenario, a hosts file, an assignment of --set, an
// interface's name, a value with a unit, the service's status. The first byte chooses. It is understood, or refused
// with a text that names the place.
#include "fc2_fabric/drivers/ethernet_name.hpp"
#include "property.hpp"
#include "settings/units.hpp"
#include "tools/fabricd/status.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"
#include "vipl/configuration/configuration.hpp"
#include "vipl/names/hosts_file.hpp"

namespace {
constexpr const char* name = "input";

template <class Value>
void check_error(const settings::Result<Value>& result) {
  if (result) return;
  if (result.error().message.empty()) wire::fuzz::fail("an error without a text", "settings");
  if (result.error().message.find(name) == std::string::npos)
    wire::fuzz::fail("an error without a place", result.error().message);
}

void check_assignment(const std::string& text) {
  auto tree = settings::parse_yaml("ports:\n  - name: a\n    count: 1\n", name);
  const auto result = settings::assign(*tree, text);
  if (!result && result.error().message.find("--set") == std::string::npos)
    wire::fuzz::fail("an error without a place", result.error().message);
}

void check_values(const std::string& text) {
  static_cast<void>(settings::parse_number(text));
  if (const auto bytes = settings::parse_bytes(text)) static_cast<void>(settings::format_bytes(*bytes));
  if (const auto duration = settings::parse_duration(text)) static_cast<void>(settings::format_duration(*duration));
  static_cast<void>(settings::parse_line_rate(text));
  if (const auto parsed = fc2::drivers::EthernetName::parse(text); parsed && parsed->text != text)
    wire::fuzz::fail("a name that changes", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string text(data + 1, data + size);
  switch (data[0] % 6) {
    case 0: {
      const auto configuration = vipl::parse_configuration(text, name);
      check_error(configuration);
      if (configuration && configuration->nics.empty()) wire::fuzz::fail("a configuration without a NIC", "settings");
      break;
    }
    case 1: check_error(sim::read_scenario(text, name, ".", {})); break;
    case 2: check_error(vipl::HostsFile::parse(text, name)); break;
    case 3: check_assignment(text); break;
    case 4: check_values(text); break;
    default: static_cast<void>(fabricd::to_text(text)), static_cast<void>(fabricd::tells_of_fcoe(text));
  }
  return 0;
}
