#include "tools/vitcp_portd/port_owner.hpp"

#include <fmt/format.h>

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>

namespace vitcp_portd {
using streams::Address;

namespace {
constexpr std::string_view listening = "0A";  // TCP_LISTEN of the kernel

template <class Number>
std::optional<Number> hex(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// "0100007F:211A", of IPv6 four such words: the kernel writes them as they lie in memory, here little-endian.
std::optional<Address> address_in(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon != 8 && colon != 32) return std::nullopt;
  Address address;
  if (colon == 8) address.ip = wire::IpAddress::v4(0, 0, 0, 0);
  std::uint8_t* to = address.ip.bytes.data() + (colon == 8 ? 12 : 0);
  for (std::size_t at = 0; at < colon; at += 8) {
    const auto word = hex<std::uint32_t>(text.substr(at, 8));
    if (!word) return std::nullopt;
    for (int octet = 0; octet < 4; ++octet) *to++ = static_cast<std::uint8_t>(*word >> 8 * octet);
  }
  const auto port = hex<std::uint16_t>(text.substr(colon + 1));
  if (!port) return std::nullopt;
  address.port = *port;
  return address;
}

bool is_any(const wire::IpAddress& ip) { return ip.is_unspecified() || ip == wire::IpAddress::v4(0, 0, 0, 0); }
bool collide(const Address& left, const Address& right) {
  return left.port == right.port && (left.ip == right.ip || is_any(left.ip) || is_any(right.ip));
}

std::string name_of(unsigned user) {
  const passwd* const entry = ::getpwuid(user);
  return entry != nullptr ? fmt::format("user {} ({})", user, entry->pw_name) : fmt::format("user {}", user);
}
}  // namespace

// Columns: number, local address, remote address, state, queues, timer, retransmissions, user.
std::optional<unsigned> owner_in(std::string_view table, const Address& address) {
  std::istringstream lines{std::string(table)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::array<std::string, 7> word;
    unsigned user = 0;
    for (std::string& one : word) words >> one;
    const auto local = address_in(word[1]);
    if (local && collide(*local, address) && word[3] == listening && words >> user) return user;
  }
  return std::nullopt;
}

std::optional<unsigned> owner_of(const Address& address) {
  for (const char* const path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    if (const auto user = owner_in(text.str(), address)) return user;
  }
  return std::nullopt;
}

static std::string who_has_it(std::optional<unsigned> owner, const std::optional<Address>& neighbour) {
  if (neighbour)
    return fmt::format("your own vitcp-portd has the port at {}; NICs that share a port listen at the same address",
                       to_string(*neighbour));
  const std::string who = !owner                  ? "another program"
                          : *owner == ::geteuid() ? "another program of yours"
                                                  : "a program of " + name_of(*owner);
  return "the port is in use by " + who +
         "; have that stopped, or give this NIC another port (port in its configuration)";
}

std::string listen_trouble(const Address& address, int error, std::optional<unsigned> owner,
                           const std::optional<Address>& neighbour) {
  const std::string where = "cannot listen at " + to_string(address) + ": ";
  switch (error) {
    case EADDRINUSE: return where + who_has_it(owner, neighbour);
    case EADDRNOTAVAIL:
      return where + "no interface of this host has that address; 0.0.0.0 and [::] mean all that it has";
    case EACCES: return where + "ports below 1024 are denied to this user; give this NIC another port";
    default: return where + std::strerror(error);
  }
}

}  // namespace vitcp_portd
