#include "fc2_fabric/drivers/ethernet_name.hpp"

#include <arpa/inet.h>
#include <net/if.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "fc2_fabric/drivers/packet_socket.hpp"
#include "fc2_fabric/drivers/udp_ethernet.hpp"

namespace fc2::drivers {
namespace {

constexpr std::string_view udp_prefix = "udp:";

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ':')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

bool is_address(const std::string& text) {
  in_addr address{};
  return ::inet_pton(AF_INET, text.c_str(), &address) == 1;
}

// 1 to 65535; 0: it is none.
std::uint16_t port_of(const std::string& text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() ? port : std::uint16_t{0};
}

// The kernel's rule for names.
bool is_interface_name(std::string_view text) {
  const auto allowed = [](char c) { return c > ' ' && c < '\x7F' && c != '/' && c != ':'; };
  return !text.empty() && text.size() < IFNAMSIZ && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(), allowed);
}

std::optional<EthernetName> parse_udp(std::string_view text) {
  EthernetName name;
  name.text = text;
  name.udp = true;
  std::vector<std::string> parts = split(text.substr(udp_prefix.size()));
  if (parts.size() == 4) {
    name.local_address = parts[0];
    name.remote_address = parts[2];
    parts = {parts[1], parts[3]};
  }
  if (parts.size() != 2 || !is_address(name.local_address) || !is_address(name.remote_address)) return {};
  name.local_port = port_of(parts[0]);
  name.remote_port = port_of(parts[1]);
  if (name.local_port == 0 || name.remote_port == 0) return {};
  return name;
}

// Locally administered, and another one at the other end of a cable on one host.
wire::MacAddress mac_of_port(std::uint16_t port) {
  return {{0x02, 0xFC, 0xFC, 0x00, static_cast<std::uint8_t>(port >> 8), static_cast<std::uint8_t>(port)}};
}

OpenedEthernet open_udp(const CoreAccess& access, const EthernetName& name, const EthernetChoices& choices) {
  UdpEthernetOptions options;
  options.name = name.text;
  options.mac = choices.mac.value_or(mac_of_port(name.local_port));
  options.mtu = choices.mtu == 0 ? udp_mtu : choices.mtu;
  options.priority = choices.priority;
  options.local_address = name.local_address;
  options.remote_address = name.remote_address;
  options.local_port = name.local_port;
  options.remote_port = name.remote_port;
  auto opened = UdpEthernet::open(access, options);
  return {std::move(opened.port), std::move(opened.error)};
}

OpenedEthernet open_packet_socket(const CoreAccess& access, const EthernetName& name, const EthernetChoices& choices) {
  PacketSocketOptions options;
  options.interface = name.text;
  options.mac = choices.mac;
  options.priority = choices.priority;
  if (choices.mtu != 0) options.max_mtu = choices.mtu;
  auto opened = PacketSocket::open(access, options);
  return {std::move(opened.port), std::move(opened.error)};
}

}  // namespace

std::optional<EthernetName> EthernetName::parse(std::string_view text) {
  if (text.starts_with(udp_prefix)) return parse_udp(text);
  if (!is_interface_name(text)) return {};
  EthernetName name;
  name.text = text;
  return name;
}

OpenedEthernet open_ethernet(const CoreAccess& access, const EthernetName& name, const EthernetChoices& choices) {
  OpenedEthernet opened = name.udp ? open_udp(access, name, choices) : open_packet_socket(access, name, choices);
  if (opened.port == nullptr || opened.port->interface().mtu >= least_fcoe_mtu) return opened;
  opened.error = name.text + ": its MTU is " + std::to_string(opened.port->interface().mtu) + ", FCoE needs " +
                 std::to_string(least_fcoe_mtu) + " at least (2158 for full frames)";
  opened.port.reset();
  return opened;
}

}  // namespace fc2::drivers
