// The NIC configuration file: which NICs there are, their names, and their settings. Format
// and defaults: vipl/vipl.example.yaml.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/scheduler.hpp"
#include "settings/tree.hpp"
#include "vi/nic.hpp"
#include "wire/ethernet.hpp"
#include "wire/types.hpp"

namespace vipl {

/// What was wrong with a configuration and where: "FILE:LINE:COLUMN: WHAT".
using ConfigurationError = settings::BadInput;
template <class T>
using ConfigurationResult = settings::Result<T>;

/// How frames leave the process.
enum class NicTransport : std::uint8_t {
  Local,      // through fcvi-fabricd, to all processes of this user on this host
  InProcess,  // only to NICs of this process
  Fcoe,       // by an Ethernet interface
};
[[nodiscard]] std::string_view to_string(NicTransport transport);

enum class FcoeMode : std::uint8_t {
  Fabric,  // log in at an FCF
  Vn2vn,   // N_Ports among themselves
};

struct FcoeChoices {
  std::string interface;  // fc2::drivers::EthernetName
  FcoeMode mode = FcoeMode::Fabric;
  std::uint16_t mtu = 0;                // 0: the interface's own
  std::uint8_t ethernet_priority = 3;   // 802.1p, 0 to 7
  std::uint16_t vlan = 0;               // 1 to 4094; 0: untagged, and those that FIP VLAN discovery finds
  std::optional<wire::MacAddress> mac;  // none: made of the Port_Name, so that processes may share the interface
  wire::Wwn fcf{};                      // switch name of the only FCF to log in at; 0: the best that shows itself
};

struct NicTimeouts {
  runtime::TimeNs open =
      10 * runtime::second;  // VipOpenNic waits so long for login and registration; where they were lost others do
  runtime::TimeNs ulp = 0;   // FCVI_ULP_TIMEOUT; 0: R_A_TOV (FC-VI 8.3)
  runtime::TimeNs farp = 0;  // of one FARP-REQ; 0: 100 ms
  runtime::TimeNs name_service = 5 * runtime::second;  // of one question to the fabric's name server, retries included
  runtime::TimeNs name_appears =
      10 * runtime::second;  // VipNSGetHostByName waits so long for a node that is about to start
};

/// Defaults of a NIC. Programs keep attributes in an `int`, into which VI-DG's VIP_ULONG once fitted. Attributes that
/// can be larger have these low 32 bits, so that such an `int` is positive and no larger than the attribute. It is as
/// much as Linux reads or writes at once, and leaves room for a header.
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
  std::string name;                  // VIP_NIC_ATTRIBUTES.Name, 1 to 63 bytes
  std::vector<std::string> aliases;  // other names that VipOpenNic takes for it
  NicTransport transport = NicTransport::Local;
  FcoeChoices fcoe;                         // where the transport is Fcoe
  std::string node_name;                    // empty: $FCVI_NODE, else the host's name (node_identity.hpp)
  std::vector<wire::IpAddress> addresses;   // the first is LocalNicAddress; empty: derived from the node name
  wire::Wwn port_name{};                    // zero: made unique; given: only one process can have the NIC open
  wire::Wwn node_wwn{};                     // Node_Name; zero: derived from the node name
  vi::NicLimits limits = default_limits();  // strict_tags stands here too
  std::uint64_t max_registered_bytes = default_max_registered_bytes;  // VIP_NIC_ATTRIBUTES.MaxRegisterBytes
  std::uint64_t reorder_pool_bytes = 256u << 20;                      // fcvi::ProviderConfig::reorder_pool_bytes
  NicTimeouts timeouts;
  std::string hosts_file;  // of the name service; empty: the usual places (name_service.hpp)
};

struct Configuration {
  std::string source;                  // the file; empty: built in
  std::vector<NicConfiguration> nics;  // at least one
  runtime::TimeNs fabric_idle_time =
      30 * runtime::second;  // fcvi-fabricd, where we start it, ends after so long unused

  /// The NIC with this name or alias, compared byte by byte; nullptr: there is none.
  [[nodiscard]] const NicConfiguration* find(std::string_view device_name) const;
};

/// One NIC, VINIC, on the local fabric, with the names that existing programs use (clan0, nic0, /dev/via_lo, ...).
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

/// For vipl::simulate(), which reads no file: VINICn (VINIC and the built-in names are 0) is in-process device n
/// of node "hostn", with the address 10.0.0.(n + 1) and the Port_Name 20000C0001000000h + n. nullopt: there is
/// no such device.
[[nodiscard]] std::optional<NicConfiguration> simulated_nic(std::string_view device_name);

}  // namespace vipl
