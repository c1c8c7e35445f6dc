#include "vitcp/drivers/place.hpp"

#include <algorithm>
#include <filesystem>

namespace vitcp::drivers {
namespace {
constexpr std::string_view prefix = "vitcp-", suffix = ".sock";

std::optional<streams::Address> address_in(std::string_view name) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return std::nullopt;
  name = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto ip = std::string(name.substr(0, dash)), port = std::string(name.substr(dash + 1));
  return streams::address_from_string((ip.find(':') == std::string::npos ? ip : "[" + ip + "]") + ":" + port);
}
}  // namespace

runtime::drivers::ServicePlace port_place(const runtime::drivers::RuntimeDirectory& directory,
                                          const streams::Address& listen) {
  return {directory, std::string(prefix) + wire::to_string(listen.ip) + "-" + std::to_string(listen.port)};
}

std::vector<streams::Address> known_ports(const runtime::drivers::RuntimeDirectory& directory) {
  std::vector<streams::Address> known;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path(), ignored))
    if (const auto address = address_in(entry.path().filename().string())) known.push_back(*address);
  std::sort(known.begin(), known.end());
  return known;
}

runtime::drivers::ServiceConnector::Program port_program(std::string path) {
  return {.name = program_name, .variable = "FCVI_VITCP_PORTD", .path = std::move(path)};
}

}  // namespace vitcp::drivers
