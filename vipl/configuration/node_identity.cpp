#include "vipl/configuration/node_identity.hpp"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>

#include "vipl/configuration/host_addresses.hpp"
#include "vipl/configuration/usual_places.hpp"

namespace vipl {
namespace {

constexpr std::size_t max_node_name_bytes = 255;  // of a symbolic name (FC-GS)
constexpr std::size_t max_program_bytes = 64;
constexpr std::array<std::uint8_t, 8> default_prefix{0xFD, 0xFC, 0x76, 0x69, 0, 0, 0, 0};

/// 64-bit FNV-1a: the same on every machine and for ever, because addresses come of it.
class Hash {
 public:
  Hash& add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<std::uint8_t>(c));
    return add_byte(0);  // so that "ab", "c" and "a", "bc" differ
  }
  Hash& add(std::uint64_t number) {
    for (int i = 0; i < 8; ++i) add_byte(static_cast<std::uint8_t>(number >> 8 * i));
    return *this;
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  Hash& add_byte(std::uint8_t byte) {
    value_ = (value_ ^ byte) * 0x00000100000001B3;
    return *this;
  }
  std::uint64_t value_ = 0xCBF29CE484222325;
};

std::uint64_t hash_of(std::string_view node_name) { return Hash().add(short_name(node_name)).value(); }

std::uint64_t hash_of_nic(const NicConfiguration& nic, const std::string& node_name, const ProcessFacts& process) {
  return Hash().add(short_name(node_name)).add(process.pid).add(process.start_time).add(nic.name).value();
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Field 22 of /proc/self/stat; the name of field 2 may hold blanks and parentheses.
std::uint64_t read_start_time() {
  std::ifstream file("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::size_t at = text.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = text.find(' ', at + 1);
  std::uint64_t ticks = 0;
  if (at != std::string::npos) std::from_chars(text.data() + at + 1, text.data() + text.size(), ticks);
  return ticks;
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data() : "localhost";
}

std::string program_name() {
  std::string name = program_invocation_short_name;
  name.resize(std::min(name.size(), max_program_bytes));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c <= ' ' || c >= '\x7F'; }, '?');
  return name;
}

}  // namespace

ConfigurationResult<ProcessFacts> read_process_facts() {
  ProcessFacts facts;
  facts.node_name = environment("FCVI_NODE");
  if (!facts.node_name.empty() && !is_node_name(facts.node_name))
    return ConfigurationError{"FCVI_NODE: expected a host name, got \"" + facts.node_name + "\""};
  facts.host_name = host_name();
  if (facts.node_name.empty()) facts.node_name = facts.host_name;
  facts.program = program_name();
  facts.pid = static_cast<std::uint32_t>(getpid());
  facts.start_time = read_start_time();
  facts.host_addresses = host_addresses();
  return facts;
}

NodeIdentity derive(const NicConfiguration& nic, const ProcessFacts& process) {
  NodeIdentity identity;
  identity.node_name = nic.node_name.empty() ? process.node_name : nic.node_name;
  identity.host_name = process.host_name;
  identity.node_hash = hash_of(identity.node_name);
  identity.nic_hash = hash_of_nic(nic, identity.node_name, process);
  identity.nic_of_process = process.program + "[" + std::to_string(process.pid) + "] " + nic.name;
  identity.addresses = nic.addresses;
  if (nic.tcp() != nullptr && nic.addresses.empty()) identity.addresses = process.host_addresses;
  if (identity.addresses.empty()) identity.addresses.push_back(default_address(identity.node_name));
  return identity;
}

std::string short_name(std::string_view node_name) {
  const bool is_address = wire::IpAddress::from_string(node_name).has_value();
  std::string name(is_address ? node_name : node_name.substr(0, node_name.find('.')));
  std::transform(name.begin(), name.end(), name.begin(), lower);
  return name;
}

wire::IpAddress default_address(std::string_view node_name) {
  const std::uint64_t hash = hash_of(node_name);
  wire::IpAddress address;
  std::copy(default_prefix.begin(), default_prefix.end(), address.bytes.begin());
  for (std::size_t i = 0; i < 8; ++i) address.bytes[8 + i] = static_cast<std::uint8_t>(hash >> (56 - 8 * i));
  return address;
}

bool is_default_address(const wire::IpAddress& address) {
  return std::equal(default_prefix.begin(), default_prefix.end(), address.bytes.begin());
}

bool is_node_name(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '_' || c == ':';
  };
  return !text.empty() && text.size() <= max_node_name_bytes && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), allowed);
}

NameMatch match(std::string_view asked, std::string_view known) {
  if (asked.ends_with('.')) asked.remove_suffix(1);  // a name that is complete (RFC 1034)
  const auto same = [](char left, char right) { return lower(left) == lower(right); };
  if (std::equal(asked.begin(), asked.end(), known.begin(), known.end(), same)) return NameMatch::Exact;
  const bool one_has_a_domain = (asked.find('.') == asked.npos) != (known.find('.') == known.npos);
  return one_has_a_domain && short_name(asked) == short_name(known) ? NameMatch::Short : NameMatch::None;
}

bool is_host_address(const wire::IpAddress& address) {
  if (address.is_unspecified()) return false;
  if (!address.is_v4_mapped()) return address.bytes[0] != 0xFF && address != *wire::IpAddress::from_string("::1");
  const std::uint8_t first = address.bytes[12];
  return first != 0 && first != 127 && first < 224;  // RFC 1122 3.2.1.3
}

bool is_reachable(const wire::IpAddress& address, const std::vector<wire::IpAddress>& own_addresses) {
  return is_host_address(address) || (is_loopback_address(address) && is_loopback_address(own_addresses.front()));
}

bool is_loopback_address(const wire::IpAddress& address) {
  return address.is_v4_mapped() ? address.bytes[12] == 127 : address == *wire::IpAddress::from_string("::1");
}

}  // namespace vipl
