// The NIC configuration file: which NICs there are, their names, and their settings. Format
// and defaults: vipl/vipl.example.yaml.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/scheduler.hpp"
#include "settings/tree.hpp"
#include "vi/nic.hpp"
#include "vitcp/configuration.hpp"
#include "wire/ethernet.hpp"
#include "wire/types.hpp"

namespace vipl {

/// What was wrong with a configuration and where: "FILE:LINE:COLUMN: WHAT".
using ConfigurationError = settings::BadInput;
template <class T>
using ConfigurationResult = settings::Result<T>;

enum class FcoeMode : std::uint8_t {
  Fabric,  // log in at an FCF
  Vn2vn,   // N_Ports among themselves
};

/// Fibre Channel by an Ethernet interface.
struct FcoeChoices {
  std::string interface;  // fc2::drivers::EthernetName
  FcoeMode mode = FcoeMode::Fabric;
  std::uint16_t mtu = 0;                // 0: the interface's own
  std::uint8_t ethernet_priority = 3;   // 802.1p, 0 to 7
  std::uint16_t vlan = 0;               // 1 to 4094; 0: untagged, and those that FIP VLAN discovery finds
  std::optional<wire::MacAddress> mac;  // none: made of the Port_Name, so that processes may share the interface
  wire::Wwn fcf{};                      // switch name of the only FCF to log in at; 0: the best that shows itself
};

/// Fibre Channel through fcvi-fabricd, to all processes of this user on this host.
struct LocalFabricChoices {};
/// Fibre Channel to NICs of this process only.
struct InProcessChoices {};

struct FcTimeouts {
  runtime::TimeNs ulp = 0;                             // FCVI_ULP_TIMEOUT; 0: R_A_TOV (FC-VI 8.3)
  runtime::TimeNs farp = 0;                            // of one FARP-REQ; 0: 100 ms, 500 ms on Ethernet
  runtime::TimeNs name_service = 5 * runtime::second;  // of one question to the name server, retries included
  /// VipNSGetHostByName waits so long for a node that is about to start.
  runtime::TimeNs name_appears = 10 * runtime::second;
};

/// A NIC of the FC-VI provider.
struct FcChoices {
  std::variant<LocalFabricChoices, InProcessChoices, FcoeChoices> link;
  wire::Wwn port_name{};                          // zero: made unique; given: only one process can have the NIC open
  wire::Wwn node_wwn{};                           // Node_Name; zero: derived from the node name
  std::uint64_t reorder_pool_bytes = 256u << 20;  // fcvi::ProviderConfig::reorder_pool_bytes
  FcTimeouts timeouts = {};
};

/// A NIC of the loop-back transport: to VIs of this process, without a fabric.
struct LoopbackChoices {};

/// How a NIC of VI over TCP gets the connections that others set up.
enum class Listening : std::uint8_t {
  Shared,  // through vitcp-portd, so that all processes of this user share the port (ruling V-12)
  Own,     // this process has the port alone
  None,    // not at all: it only connects to others
};

/// A NIC of the VI/TCP provider.
struct TcpChoices {
  /// What its provider is configured with; the addresses are those of the NIC, and the number seed is the process's.
  vitcp::ProviderConfig provider = {};
  Listening listen = Listening::Shared;
  /// Where it listens; none: at each of the NIC's addresses where these are configured, else at all of the host's.
  std::optional<wire::IpAddress> listen_at;
};

/// What a NIC has unless it is configured otherwise. Programs keep attributes in an `int`, which VI-DG's VIP_ULONG once
/// fitted into: those that can be larger have these low 32 bits, so that such an `int` is positive and true. As many
/// bytes as Linux reads or writes at once; room for a header beside them.
inline constexpr std::uint32_t largest_int_like = 0x7FFFF000;
inline constexpr std::uint64_t default_max_region_bytes = std::uint64_t{0xFF} << 32 | largest_int_like;
inline constexpr std::uint64_t default_max_registered_bytes = std::uint64_t{0x3FFF} << 32 | largest_int_like;
inline vi::NicLimits default_limits() {
  vi::NicLimits limits;
  limits.max_transfer_size_bytes = largest_int_like;
  limits.memory.max_region_bytes = default_max_region_bytes;
  return limits;
}

struct NicConfiguration {
  std::string name;                                                // VIP_NIC_ATTRIBUTES.Name, 1 to 63 bytes
  std::vector<std::string> aliases;                                // other names that VipOpenNic takes for it
  std::variant<FcChoices, LoopbackChoices, TcpChoices> transport;  // what each needs
  std::string node_name;                    // empty: $FCVI_NODE, else the host's name (node_identity.hpp)
  std::vector<wire::IpAddress> addresses;   // the first is LocalNicAddress; empty: by the node name, TCP: the host's
  vi::NicLimits limits = default_limits();  // strict_tags stands here too
  std::uint64_t max_registered_bytes = default_max_registered_bytes;  // VIP_NIC_ATTRIBUTES.MaxRegisterBytes
  /// VipOpenNic waits so long until the NIC is ready; where that was lost other calls do.
  runtime::TimeNs open_timeout = 10 * runtime::second;
  std::string hosts_file;  // of the name service; empty: the usual places (name_service.hpp)

  /// nullptr: another transport.
  [[nodiscard]] const FcChoices* fibre_channel() const { return std::get_if<FcChoices>(&transport); }
  [[nodiscard]] FcChoices* fibre_channel() { return std::get_if<FcChoices>(&transport); }
  [[nodiscard]] const TcpChoices* tcp() const { return std::get_if<TcpChoices>(&transport); }
  [[nodiscard]] TcpChoices* tcp() { return std::get_if<TcpChoices>(&transport); }
  [[nodiscard]] bool is_loopback() const { return std::holds_alternative<LoopbackChoices>(transport); }
};
/// As the configuration file says it: local, in_process, fcoe, loopback, tcp.
[[nodiscard]] std::string_view transport_name(const NicConfiguration& nic);

/// The names of the loop-back NIC and of that of VI over TCP. Each is there unless the configuration gives the name to
/// another.
inline constexpr std::string_view loopback_name = "VILO", tcp_name = "VITCP0";

struct Configuration {
  std::string source;                  // the file; empty: built in
  std::vector<NicConfiguration> nics;  // at least one
  runtime::TimeNs fabric_idle_time =
      30 * runtime::second;  // fcvi-fabricd, where we start it, ends after so long unused
  /// Between processes, where messages come by memory: how long a call that waits, and one that polls, spins at most
  /// before it sleeps. 0: not at all; a poller as it does for other input.
  runtime::TimeNs wait_spin = 50 * runtime::microsecond, poll_spin = 50 * runtime::microsecond;
  /// How long a call that connects, accepts, waits for a connection or disconnects looks for the answer in its own
  /// thread before it sleeps. 0: not at all.
  runtime::TimeNs connect_spin = 30 * runtime::microsecond;

  /// The NIC with this name or alias, compared byte by byte; nullptr: there is none.
  [[nodiscard]] const NicConfiguration* find(std::string_view device_name) const;
};

/// VINIC, on the local fabric, with the names that existing programs use (clan0, nic0, /dev/via_lo, ...);
/// VILO and VITCP0.
[[nodiscard]] Configuration built_in_configuration();

/// `name` names the file in messages. All or nothing.
[[nodiscard]] ConfigurationResult<Configuration> parse_configuration(const std::string& text, const std::string& name);

/// The places where a configuration is looked for.
struct ConfigurationPlaces {
  std::string named;               // $FCVI_CONFIG: must be there; empty: not set
  std::vector<std::string> usual;  // nics.yaml (usual_places.hpp): the first that is there counts
};
[[nodiscard]] ConfigurationPlaces configuration_places();
/// Reads the file; if there is none, the built-in configuration.
[[nodiscard]] ConfigurationResult<Configuration> load_configuration(const ConfigurationPlaces& places);
/// The configuration of this process: read on the first call that succeeds, then kept for ever. nullptr: it has an
/// error, which is logged once for each message. Thread-safe; blocks on the file system.
[[nodiscard]] const Configuration* process_configuration();

/// vipl::simulate() knows no file: VINICn (VINIC and the built-in names are 0) is in-process device n of node "hostn",
/// with the address 10.0.0.(n + 1) and the Port_Name 20000C0001000000h + n. VILO is the loop-back NIC of node
/// "loopback", with the address 10.0.1.1. Empty: there is no such device.
[[nodiscard]] std::optional<NicConfiguration> simulated_nic(std::string_view device_name);

}  // namespace vipl
