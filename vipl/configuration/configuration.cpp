#include "vipl/configuration/configuration.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>

#include "fc2_fabric/drivers/ethernet_name.hpp"
#include "settings/file.hpp"
#include "settings/reader.hpp"
#include "vipl/engine/log.hpp"
#include "vipl/configuration/node_identity.hpp"
#include "vipl/configuration/usual_places.hpp"

namespace vipl {
namespace {
using settings::BadInput;
using settings::MapReader;
using settings::Range;
using settings::Tree;

constexpr std::uint64_t max_file_bytes = 1u << 20;
constexpr std::size_t max_nics = 64, max_aliases = 256;
constexpr std::size_t max_addresses = 16;   // the name server keeps so many of a port
constexpr std::size_t max_name_bytes = 63;  // VIP_NIC_ATTRIBUTES.Name, less its NUL
constexpr runtime::TimeNs hour = 3600 * runtime::second;
constexpr runtime::TimeNs longest_spin = 10 * runtime::millisecond;
constexpr std::uint64_t max_memory_bytes = std::uint64_t{1} << 48;

// Ruling 86: what existing programs call their only NIC.
constexpr std::array<std::string_view, 8> built_in_names{"VINIC",       "VINIC0",      "/dev/clanvi0", "/dev/via_eth0",
                                                         "/dev/via_lo", "/etc/via_lo", "nic0",         "clan0"};

std::string read_device_name(const Tree& tree, std::string_view key) {
  constexpr std::string_view what = "a name of 1 to 63 visible characters";
  std::string name = settings::read_text(tree, key);
  const auto visible = [](char c) { return c > ' ' && c < '\x7F'; };
  if (name.size() > max_name_bytes || !std::all_of(name.begin(), name.end(), visible)) fail_expected(tree, key, what);
  return name;
}

std::string read_node_name(const Tree& tree, std::string_view key) {
  std::string name = settings::read_text(tree, key);
  if (!is_node_name(name)) fail_expected(tree, key, "a host name (letters, digits, '.', '-', '_', ':')");
  return name;
}

wire::IpAddress read_own_address(const Tree& tree, std::string_view key, const NicConfiguration& nic) {
  const wire::IpAddress address = settings::read_address(tree, key);
  if (nic.tcp() != nullptr && is_loopback_address(address)) return address;
  if (!is_host_address(address))
    fail_expected(tree, key, "an address that one host has, no multicast or loopback address");
  return address;
}

/// In the order of their names in the file.
enum class TransportName : std::uint8_t { Local, InProcess, Fcoe, Loopback, Tcp };

TransportName read_transport(const Tree& tree, std::string_view key) {
  static constexpr settings::Choice<TransportName> transports[] = {{"local", TransportName::Local},
                                                                   {"in_process", TransportName::InProcess},
                                                                   {"fcoe", TransportName::Fcoe},
                                                                   {"loopback", TransportName::Loopback},
                                                                   {"tcp", TransportName::Tcp}};
  return read_choice(tree, key, transports);
}

void choose_transport(TransportName name, NicConfiguration& nic) {
  switch (name) {
    case TransportName::Local: nic.transport = FcChoices{}; return;
    case TransportName::InProcess: nic.transport = FcChoices{.link = InProcessChoices{}}; return;
    case TransportName::Fcoe: nic.transport = FcChoices{.link = FcoeChoices{}}; return;
    case TransportName::Loopback: nic.transport = LoopbackChoices{}; return;
    case TransportName::Tcp: nic.transport = TcpChoices{}; return;
  }
}

std::string read_interface(const Tree& tree, std::string_view key) {
  std::string name = settings::read_text(tree, key);
  if (!fc2::drivers::EthernetName::parse(name)) fail_expected(tree, key, fc2::drivers::EthernetName::expected);
  return name;
}

FcoeMode read_mode(const Tree& tree, std::string_view key) {
  static constexpr settings::Choice<FcoeMode> modes[] = {{"fabric", FcoeMode::Fabric}, {"vn2vn", FcoeMode::Vn2vn}};
  return read_choice(tree, key, modes);
}

wire::MacAddress read_mac(const Tree& tree, std::string_view key) {
  const auto mac = wire::MacAddress::from_string(settings::read_text(tree, key));
  if (!mac || mac->is_group() || *mac == wire::MacAddress{})
    fail_expected(tree, key, "a MAC address of one station, as 02:00:00:00:00:01");
  return *mac;
}

Listening read_listening(const Tree& tree, std::string_view key) {
  static constexpr settings::Choice<Listening> ways[] = {
      {"shared", Listening::Shared}, {"own", Listening::Own}, {"none", Listening::None}};
  return read_choice(tree, key, ways);
}

wire::IpAddress read_listen_address(const Tree& tree, std::string_view key) {
  const auto address = wire::IpAddress::from_string(settings::read_text(tree, key));
  const bool is_any = address == wire::IpAddress{} || address == wire::IpAddress::v4(0, 0, 0, 0);
  if (!address || (!is_any && !is_host_address(*address) && !is_loopback_address(*address)))
    fail_expected(tree, key, "an address of this host, or :: or 0.0.0.0 for all that it has");
  return *address;
}

runtime::TimeNs read_timeout(const Tree& tree, std::string_view key) {
  return settings::read_duration(tree, key, runtime::millisecond, hour);
}

/// Paths are relative to the configuration's own folder.
std::string read_path(const Tree& tree, std::string_view key, const std::filesystem::path& folder) {
  return (folder / settings::read_text(tree, key)).lexically_normal().string();
}

void read_limits(const Tree& tree, NicConfiguration& nic) {
  const MapReader map(tree, "limits",
                      {"max_vis", "max_descriptors_per_queue", "max_segments_per_descriptor", "max_completion_queues",
                       "max_completion_queue_entries", "max_transfer_size", "max_regions", "max_region_bytes",
                       "max_registered_bytes", "max_ptags"});
  const auto number = [&](std::string_view key, std::uint32_t& target, std::uint64_t max) {
    map.optional(key, target, settings::read_number, Range{1, max});
  };
  vi::NicLimits& limits = nic.limits;
  number("max_vis", limits.max_vis, 1u << 20);
  number("max_descriptors_per_queue", limits.max_descriptors_per_queue, 1u << 20);
  number("max_segments_per_descriptor", limits.max_segments_per_descriptor, 0xFFFF);
  number("max_completion_queues", limits.max_completion_queues, 1u << 20);
  number("max_completion_queue_entries", limits.max_completion_queue_entries, 1u << 24);
  number("max_regions", limits.memory.max_regions, 1u << 23);
  number("max_ptags", limits.memory.max_ptags, 1u << 19);
  map.optional("max_transfer_size", limits.max_transfer_size_bytes, settings::read_bytes, Range{1, 0xFFFFFFFF});
  map.optional("max_region_bytes", limits.memory.max_region_bytes, settings::read_bytes, Range{1, max_memory_bytes});
  map.optional("max_registered_bytes", nic.max_registered_bytes, settings::read_bytes, Range{1, max_memory_bytes});
}

/// A key that this NIC's transport has no use for is a mistake. `whose` names the transports that have.
void refuse_keys(const MapReader& map, std::span<const std::string_view> keys, std::string_view whose,
                 const NicConfiguration& nic) {
  for (const std::string_view key : keys)
    if (const Tree* value = map.find(key))
      throw BadInput{value->where + ": " + std::string(key) + " is for " + std::string(whose) + ", this NIC's is " +
                     std::string(transport_name(nic))};
}

void read_timeouts(const Tree& tree, NicConfiguration& nic) {
  constexpr std::array<std::string_view, 4> of_fibre_channel{"ulp", "farp", "name_service", "name_appears"};
  constexpr std::array<std::string_view, 3> of_tcp{"request", "close", "segment"};
  const MapReader map(tree, "timeouts",
                      {"open", "ulp", "farp", "name_service", "name_appears", "request", "close", "segment"});
  map.optional("open", nic.open_timeout, read_timeout);
  if (TcpChoices* const tcp = nic.tcp(); tcp != nullptr) {
    map.optional("request", tcp->provider.request_timeout, read_timeout);
    map.optional("close", tcp->provider.close_timeout, read_timeout);
    map.optional("segment", tcp->provider.segment_timeout, read_timeout);
  } else {
    refuse_keys(map, of_tcp, "transport: tcp", nic);
  }
  FcChoices* const fc = nic.fibre_channel();
  if (fc == nullptr) return refuse_keys(map, of_fibre_channel, "transports of Fibre Channel", nic);
  map.optional("ulp", fc->timeouts.ulp, read_timeout);
  map.optional("farp", fc->timeouts.farp, read_timeout);
  map.optional("name_service", fc->timeouts.name_service, read_timeout);
  map.optional("name_appears", fc->timeouts.name_appears, settings::read_duration, runtime::TimeNs{0}, hour);
}

void read_fcoe(const MapReader& map, FcoeChoices& fcoe) {
  using fc2::drivers::greatest_fcoe_mtu, fc2::drivers::least_fcoe_mtu;
  fcoe.interface = read_interface(map.require("interface"), "interface");
  map.optional("mode", fcoe.mode, read_mode);
  map.optional("mtu", fcoe.mtu, settings::read_number, Range{least_fcoe_mtu, greatest_fcoe_mtu});
  map.optional("mac", fcoe.mac, read_mac);
  map.optional("vlan", fcoe.vlan, settings::read_number, Range{1, 4094});
  map.optional("ethernet_priority", fcoe.ethernet_priority, settings::read_number, Range{0, 7});
  map.optional("fcf", fcoe.fcf, settings::read_name);
  const Tree* fcf = map.find("fcf");
  if (fcf != nullptr && fcoe.mode == FcoeMode::Vn2vn)
    throw BadInput{fcf->where + ": fcf: with mode: vn2vn there is none"};
}

void read_fibre_channel(const MapReader& map, FcChoices& fc) {
  map.optional("port_name", fc.port_name, settings::read_name);
  map.optional("node_wwn", fc.node_wwn, settings::read_name);
  map.optional("reorder_pool", fc.reorder_pool_bytes, settings::read_bytes, Range{65536, 64ull << 30});
}

/// Of the CRC of VI-TCP 3.6: what a ConnectRequest asks for, and what a ConnectAccept grants.
enum class CrcUse : std::uint8_t { Ask, Grant, Refuse };

CrcUse read_crc(const Tree& tree, std::string_view key) {
  static constexpr settings::Choice<CrcUse> uses[] = {
      {"ask", CrcUse::Ask}, {"grant", CrcUse::Grant}, {"refuse", CrcUse::Refuse}};
  return read_choice(tree, key, uses);
}

void read_tcp(const MapReader& map, TcpChoices& tcp) {
  vitcp::ProviderConfig& provider = tcp.provider;
  map.optional("port", provider.port, settings::read_number, Range{1, 65535});
  map.optional("listen", tcp.listen, read_listening);
  map.optional("listen_at", tcp.listen_at, read_listen_address);
  if (const Tree* at = map.find("listen_at"); at != nullptr && tcp.listen == Listening::None)
    throw BadInput{at->where + ": listen_at: with listen: none there is none"};
  if (const Tree* crc = map.find("crc")) {
    const CrcUse use = read_crc(*crc, "crc");
    provider.ask_for_crc = use == CrcUse::Ask;
    provider.grant_crc = use != CrcUse::Refuse;
  }
  map.optional("urgent_marks", provider.take_urgent_marks, settings::read_bool);
  map.optional("descriptor_flow_control", provider.descriptor_flow_control, settings::read_bool);
  map.optional("rdma_read_window", provider.rdma_read_window, settings::read_number, Range{0, 65535});
  map.optional("segment_bytes", provider.segment_bytes, settings::read_bytes,
               Range{256, wire::vitcp::max_segment_bytes});
}

/// What stands there is used, or it is a mistake.
void read_transport_choices(const MapReader& map, NicConfiguration& nic) {
  constexpr std::array<std::string_view, 7> of_fcoe{"interface",        "mode", "mtu", "mac", "fcf", "vlan",
                                                    "ethernet_priority"};
  constexpr std::array<std::string_view, 3> of_fibre_channel{"port_name", "node_wwn", "reorder_pool"};
  constexpr std::array<std::string_view, 8> of_tcp{
      "port",         "listen", "listen_at", "crc", "urgent_marks", "descriptor_flow_control", "rdma_read_window",
      "segment_bytes"};
  if (const Tree* name = map.find("transport")) choose_transport(read_transport(*name, "transport"), nic);
  FcChoices* const fc = nic.fibre_channel();
  auto* const fcoe = fc == nullptr ? nullptr : std::get_if<FcoeChoices>(&fc->link);
  if (fcoe != nullptr)
    read_fcoe(map, *fcoe);
  else
    refuse_keys(map, of_fcoe, "transport: fcoe", nic);
  if (fc != nullptr)
    read_fibre_channel(map, *fc);
  else
    refuse_keys(map, of_fibre_channel, "transports of Fibre Channel", nic);
  if (TcpChoices* const tcp = nic.tcp(); tcp != nullptr)
    read_tcp(map, *tcp);
  else
    refuse_keys(map, of_tcp, "transport: tcp", nic);
}

NicConfiguration loopback_nic() {
  NicConfiguration nic;
  nic.name = loopback_name;
  nic.transport = LoopbackChoices{};
  return nic;
}

NicConfiguration tcp_nic() {
  NicConfiguration nic;
  nic.name = tcp_name;
  nic.transport = TcpChoices{};
  return nic;
}

/// Nothing may stand twice among all NICs: who has it already?
template <class Value>
class Unique {
 public:
  void add(const Tree& tree, std::string_view what, const Value& value, const std::string& text,
           const std::string& nic) {
    const auto [found, added] = owners_.try_emplace(value, nic);
    if (added) return;
    const std::string whose =
        found->second == nic ? "stands here twice" : "belongs to NIC " + found->second + " already";
    throw BadInput{tree.where + ": " + std::string(what) + " " + text + " " + whose};
  }
  [[nodiscard]] bool has(const Value& value) const { return owners_.contains(value); }

 private:
  std::map<Value, std::string> owners_;
};

class Loader {
 public:
  explicit Loader(const std::string& file) : folder_(std::filesystem::path(file).parent_path()) {
    configuration_.source = file;
  }

  Configuration load(const Tree& tree) {
    const MapReader map(tree, "the configuration",
                        {"nics", "hosts", "fabric_idle_time", "wait_spin", "poll_spin", "connect_spin"});
    if (const Tree* hosts = map.find("hosts")) hosts_file_ = read_path(*hosts, "hosts", folder_);
    map.optional("fabric_idle_time", configuration_.fabric_idle_time, settings::read_duration, runtime::second,
                 24 * hour);
    map.optional("wait_spin", configuration_.wait_spin, settings::read_duration, runtime::TimeNs{0}, longest_spin);
    map.optional("poll_spin", configuration_.poll_spin, settings::read_duration, runtime::TimeNs{0}, longest_spin);
    map.optional("connect_spin", configuration_.connect_spin, settings::read_duration, runtime::TimeNs{0},
                 longest_spin);
    if (const Tree* nics = map.find("nics"))
      read_nics(*nics);
    else
      configuration_.nics = built_in_configuration().nics;
    for (NicConfiguration& nic : configuration_.nics)
      if (nic.hosts_file.empty()) nic.hosts_file = hosts_file_;
    return std::move(configuration_);
  }

 private:
  void read_nics(const Tree& tree) {
    const std::vector<Tree>& items = settings::read_list(tree, "nics");
    if (items.empty() || items.size() > max_nics)
      fail_expected(tree, "nics", "1 to " + std::to_string(max_nics) + " NICs, each with a name");
    for (std::size_t i = 0; i < items.size(); ++i) read_nic(items[i], "nics[" + std::to_string(i) + "]");
    name_the_default();
    if (!names_.has(std::string(loopback_name))) configuration_.nics.push_back(loopback_nic());
    if (!names_.has(std::string(tcp_name))) configuration_.nics.push_back(tcp_nic());
  }

  void read_nic(const Tree& tree, const std::string& what) {
    const MapReader map(tree, what,
                        {"name",
                         "aliases",
                         "transport",
                         "interface",
                         "mode",
                         "mtu",
                         "mac",
                         "fcf",
                         "vlan",
                         "ethernet_priority",
                         "node_name",
                         "addresses",
                         "port_name",
                         "node_wwn",
                         "strict_tags",
                         "reorder_pool",
                         "port",
                         "listen",
                         "listen_at",
                         "crc",
                         "urgent_marks",
                         "descriptor_flow_control",
                         "rdma_read_window",
                         "segment_bytes",
                         "hosts",
                         "limits",
                         "timeouts"});
    NicConfiguration& nic = configuration_.nics.emplace_back();
    nic.name = read_device_name(map.require("name"), "name");
    names_.add(map.require("name"), "name", nic.name, nic.name, nic.name);
    if (const Tree* aliases = map.find("aliases")) read_aliases(*aliases, nic);
    read_transport_choices(map, nic);
    map.optional("node_name", nic.node_name, read_node_name);
    if (const Tree* addresses = map.find("addresses")) read_addresses(*addresses, nic);
    if (const Tree* name = map.find("port_name")) {
      const wire::Wwn port_name = nic.fibre_channel()->port_name;
      port_names_.add(*name, "port_name", port_name, to_string(port_name), nic.name);
    }
    map.optional("strict_tags", nic.limits.strict_tags, settings::read_bool);
    if (const Tree* hosts = map.find("hosts")) nic.hosts_file = read_path(*hosts, "hosts", folder_);
    if (const Tree* limits = map.find("limits")) read_limits(*limits, nic);
    if (const Tree* timeouts = map.find("timeouts")) read_timeouts(*timeouts, nic);
  }

  void read_aliases(const Tree& tree, NicConfiguration& nic) {
    const std::vector<Tree>& items = settings::read_list(tree, "aliases");
    if (items.size() > max_aliases) fail_expected(tree, "aliases", "at most " + std::to_string(max_aliases) + " names");
    for (const Tree& item : items) {
      nic.aliases.push_back(read_device_name(item, "aliases"));
      names_.add(item, "alias", nic.aliases.back(), nic.aliases.back(), nic.name);
    }
  }

  void read_addresses(const Tree& tree, NicConfiguration& nic) {
    const std::vector<Tree>& items = settings::read_list(tree, "addresses");
    if (items.empty() || items.size() > max_addresses)
      fail_expected(tree, "addresses", "1 to " + std::to_string(max_addresses) + " addresses");
    for (const Tree& item : items) {
      nic.addresses.push_back(read_own_address(item, "addresses", nic));
      const std::uint16_t port = nic.tcp() == nullptr ? 0 : nic.tcp()->provider.port;
      addresses_.add(item, "address", {nic.addresses.back(), port}, to_string(nic.addresses.back()), nic.name);
    }
  }

  /// The names that programs have built in and that are nobody's mean VINIC, or the first NIC where none has that name.
  void name_the_default() {
    auto& nics = configuration_.nics;
    const auto vinic = std::find_if(nics.begin(), nics.end(), [](const auto& nic) { return nic.name == "VINIC"; });
    NicConfiguration& standard = vinic == nics.end() ? nics.front() : *vinic;
    for (const std::string_view name : built_in_names)
      if (!names_.has(std::string(name))) standard.aliases.emplace_back(name);
  }

  const std::filesystem::path folder_;
  std::string hosts_file_;
  Configuration configuration_;
  Unique<std::string> names_;                                    // and aliases
  Unique<std::pair<wire::IpAddress, std::uint16_t>> addresses_;  // with the TCP port; 0: of another network
  Unique<wire::Wwn> port_names_;
};

bool is_there(const std::string& path) {
  std::error_code ignored;  // what cannot be looked for is not there
  return std::filesystem::exists(path, ignored);
}

ConfigurationResult<Configuration> load_file(const std::string& path) {
  const auto text = settings::read_file(path, max_file_bytes);
  if (!text) return text.error();
  return parse_configuration(*text, path);
}

}  // namespace

std::string_view transport_name(const NicConfiguration& nic) {
  struct Name {
    std::string_view operator()(const LocalFabricChoices&) const { return "local"; }
    std::string_view operator()(const InProcessChoices&) const { return "in_process"; }
    std::string_view operator()(const FcoeChoices&) const { return "fcoe"; }
    std::string_view operator()(const FcChoices& fc) const { return std::visit(*this, fc.link); }
    std::string_view operator()(const LoopbackChoices&) const { return "loopback"; }
    std::string_view operator()(const TcpChoices&) const { return "tcp"; }
  };
  return std::visit(Name{}, nic.transport);
}

const NicConfiguration* Configuration::find(std::string_view device_name) const {
  for (const NicConfiguration& nic : nics)
    if (nic.name == device_name || std::find(nic.aliases.begin(), nic.aliases.end(), device_name) != nic.aliases.end())
      return &nic;
  return nullptr;
}

Configuration built_in_configuration() {
  Configuration configuration;
  NicConfiguration& nic = configuration.nics.emplace_back();
  nic.name = built_in_names.front();
  nic.aliases.assign(built_in_names.begin() + 1, built_in_names.end());
  configuration.nics.push_back(loopback_nic());
  configuration.nics.push_back(tcp_nic());
  return configuration;
}

ConfigurationResult<Configuration> parse_configuration(const std::string& text, const std::string& name) {
  const auto tree = settings::parse_yaml(text, name, settings::Places::Columns);
  if (!tree) return tree.error();
  try {
    return Loader(name).load(*tree);
  } catch (const BadInput& error) {
    return error;
  }
}

ConfigurationPlaces configuration_places() { return {environment("FCVI_CONFIG"), usual_places("nics.yaml")}; }

ConfigurationResult<Configuration> load_configuration(const ConfigurationPlaces& places) {
  if (!places.named.empty()) return load_file(places.named);
  for (const std::string& place : places.usual)
    if (is_there(place)) return load_file(place);
  return built_in_configuration();
}

const Configuration* process_configuration() {
  struct Kept {
    std::mutex mutex;
    std::optional<Configuration> configuration;
    std::string logged;
  };
  static auto* const kept = new Kept;  // never destroyed: threads may call while the process exits
  const std::lock_guard lock(kept->mutex);
  if (kept->configuration) return &*kept->configuration;
  auto loaded = load_configuration(configuration_places());
  if (loaded) return &kept->configuration.emplace(std::move(*loaded));
  if (kept->logged != loaded.error().message) log().error("{}", kept->logged = loaded.error().message);
  return nullptr;
}

std::optional<NicConfiguration> simulated_nic(std::string_view device_name) {
  if (device_name == loopback_name) {
    NicConfiguration loopback = loopback_nic();
    loopback.node_name = "loopback";
    loopback.addresses = {wire::IpAddress::v4(10, 0, 1, 1)};
    return loopback;
  }
  constexpr unsigned max_devices = 250;  // addresses 10.0.0.1 to 10.0.0.250
  unsigned number = 0;
  if (std::find(built_in_names.begin(), built_in_names.end(), device_name) == built_in_names.end()) {
    if (!device_name.starts_with("VINIC")) return std::nullopt;
    const std::string_view digits = device_name.substr(5);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || end != digits.data() + digits.size() || digits.front() == '0') return std::nullopt;
    if (number >= max_devices) return std::nullopt;
  }
  NicConfiguration nic;
  nic.name = "VINIC" + std::to_string(number);
  nic.node_name = "host" + std::to_string(number);
  nic.addresses = {wire::IpAddress::v4(10, 0, 0, static_cast<std::uint8_t>(number + 1))};
  nic.transport = FcChoices{.link = InProcessChoices{},
                            .port_name = {0x2000'0C00'0100'0000U + number},
                            .node_wwn = {0x1000'0C00'0100'0000U + number}};
  return nic;
}

}  // namespace vipl
